"""A minimal breadth-first crawl of one simulated site with all trap rules."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from evercrawl.core.document.html import parse_document
from evercrawl.core.duplicates.minhash import is_near_duplicate, text_signature
from evercrawl.core.traps.not_found import ProbeAnswer
from evercrawl.core.traps.pattern_probe import after_probe, next_probe
from evercrawl.core.traps.pattern_stats import PatternState
from evercrawl.core.traps.trap_state import TrapState, observe_visit, record_visit, trap_state_bytes, trap_state_of
from evercrawl.core.traps.trap_verdict import TrapAction, check_link, check_queued
from evercrawl.core.traps.url_check import url_verdict
from evercrawl.core.url import canonical_of_href
from evercrawl.model.document import Document
from evercrawl.model.settings import ParseSettings
from tests.worlds.traps.sites import TrapSite

PRIORITIES = 16
RESTART_EVERY = 200
LIMITS = ParseSettings()
HEADERS = (("content-type", "text/html; charset=utf-8"),)


@dataclass(slots=True)
class Duplicates:
    """Texts seen so far; near duplicates share a priority of their signatures."""

    priorities: dict[bytes, tuple[bytes, int, str]] = field(default_factory=dict)

    def original(self, text: str, url: str) -> str:
        """Return the URL of an equal or near-duplicate text, and remember this one."""
        sign, width = text_signature(text), 64 // PRIORITIES
        keys = [bytes([priority]) + sign[priority * width : (priority + 1) * width] for priority in range(PRIORITIES)]
        near = [
            where
            for other, size, where in {self.priorities[key] for key in keys if key in self.priorities}
            if is_near_duplicate(sign, other, sizes=(len(text), size))
        ]
        for key in keys:
            self.priorities.setdefault(key, (sign, len(text), url))
        return min(near, key=len, default="")


@dataclass(slots=True)
class Crawl:
    """State and results of a crawl of one simulated site."""

    site: TrapSite
    most: int
    fetched: list[str] = field(default_factory=list)
    probes: int = 0
    reached: set[str] = field(default_factory=set)
    refused: dict[str, str] = field(default_factory=dict)
    trap_state: TrapState = field(default_factory=TrapState)
    duplicates: Duplicates = field(default_factory=Duplicates)
    known: set[str] = field(default_factory=set)
    now: deque[str] = field(default_factory=deque)
    later: deque[str] = field(default_factory=deque)

    @property
    def requests(self) -> int:
        """Number of requests, with probes."""
        return len(self.fetched) + self.probes

    @property
    def share_reached(self) -> float:
        """Share of the real pages that were reached."""
        return len(self.reached) / self.site.real_pages if self.site.real_pages else 1.0

    def blocked_patterns(self) -> list[str]:
        """Return the blocked patterns."""
        return [name for name, record in self.trap_state.patterns.items() if record.state is PatternState.BLOCKED]

    def run(self) -> Crawl:
        """Crawl until nothing is left or the request limit is reached."""
        self._offer(self.site.seed)
        while (self.now or self.later) and self.requests < self.most:
            url = self.now.popleft() if self.now else self.later.popleft()
            self._turn(url, is_last_chance=not self.now)
        return self

    def _offer(self, url: str) -> None:
        if url in self.known:
            return
        self.known.add(url)
        verdict = url_verdict(url)
        if verdict.trap:
            self.refused[url] = verdict.reason
            return
        ruled = check_link(self.trap_state, url)
        if ruled.action is TrapAction.BLOCK:
            self.refused[url] = ruled.evidence
            return
        (self.now if ruled.action is TrapAction.ALLOW else self.later).append(url)

    def _turn(self, url: str, *, is_last_chance: bool) -> None:
        ruled = check_queued(self.trap_state, url)
        if ruled.action is TrapAction.BLOCK:
            self.refused[url] = ruled.evidence
        elif ruled.action is TrapAction.THROTTLE and not is_last_chance:
            self.later.append(url)
        else:
            self._visit(url)
            self._probe()
            self._restart()

    def _visit(self, url: str) -> None:
        status, document, links = self._ask(url)
        self.fetched.append(url)
        real = self.site.page_of(url)
        if real is not None and status == 200:
            self.reached.add(real)
        new = [link for link in links if link not in self.known]
        duplicate_of = self.duplicates.original(document.text, url) if status == 200 else ""
        seen, trap_state = observe_visit(
            self.trap_state,
            url,
            status=status,
            text=document.text,
            duplicate=bool(duplicate_of),
            new_links=new,
            duplicate_of=duplicate_of,
        )
        self.trap_state = record_visit(trap_state, seen)
        for link in new:
            self._offer(link)

    def _ask(self, url: str) -> tuple[int, Document, list[str]]:
        reply = self.site.answer(url)
        document = parse_document(url, HEADERS, reply.html.encode(), agent="evercrawl", limits=LIMITS)
        links = (canonical_of_href(link.url) for link in document.links)
        home = self.site.seed[: self.site.seed.index("/", 8)]
        return reply.status, document, [link for link in links if link is not None and link.startswith(home)]

    def _probe(self) -> None:
        wanted = next_probe(self.trap_state, seed=len(self.fetched))
        if wanted is None:
            return
        answers = []
        for url in wanted.urls:
            status, document, links = self._ask(url)
            new = sum(link not in self.known for link in links)
            answers.append(ProbeAnswer(status, document.text, len(links), new))
        self.probes += len(answers)
        self.trap_state = after_probe(self.trap_state, wanted.pattern, (answers[0], answers[1]))

    def _restart(self) -> None:
        """Restart from the stored state every now and then."""
        if len(self.fetched) % RESTART_EVERY == 0:
            self.trap_state = trap_state_of(trap_state_bytes(self.trap_state))
