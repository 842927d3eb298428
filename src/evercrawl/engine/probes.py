"""Probes: requests for invented URLs that show whether a site answers every URL with a page (soft 404).
A pattern that explodes or yields nothing, or a page that looks like an error message, gets two probes, within the
site's pace and its robots.txt. Pages like the answer to an invented URL are flagged, and their links not followed."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from evercrawl.core.traps.not_found import (
    ProbeAnswer,
    ProbeOutcome,
    common_not_found_phrases,
    invented_urls,
    is_soft_404,
    not_found_phrases,
    says_not_found,
    says_only_not_found,
    soft_404_page,
)
from evercrawl.core.traps.pattern_probe import ProbeRequest, after_probe
from evercrawl.core.traps.trap_state import TrapState
from evercrawl.core.traps.url_pattern import shape_of
from evercrawl.core.url import canonical_of_href, key_of, path_of, site_of
from evercrawl.core.visit.links import FoundLinks
from evercrawl.engine.decision import Decision, Policy, Suspicion, VisitFacts
from evercrawl.engine.interpret import parse, status_of
from evercrawl.engine.robots import SiteAccess
from evercrawl.engine.runtime import BackgroundTasks
from evercrawl.engine.traps import Traps
from evercrawl.model.document import Document
from evercrawl.model.fetch import Fetched, FetchResult, Moved, Request
from evercrawl.model.page import Page
from evercrawl.model.reason import REASON_TEXT, Outcome, Reason
from evercrawl.model.site import Site

log = logging.getLogger("evercrawl")

MAX_TASKS = 8  # Sites of a shard that are probed at the same time.
MAX_LINKS = 100  # Links of an answer that are checked for being new.
TEMPORARY_STATUSES = frozenset((408, 425, 429, 502, 503, 504))
"""Temporary answers, which prove nothing. 500 is not among them: many sites answer invalid URLs with it."""
MAX_SOFT_404_PROBES = 2  # Per site and run.
MAX_SOFT_404_PAGES = 4  # Remembered per site.
MAX_SITES = 100_000  # Sites that are remembered as having soft 404 pages or none.
MAX_SUSPECTS = 20  # Pages of one site that are visited again when its soft 404 page is known.
COPIES_BEFORE_PROBE = 3  # Copies on one site before it is probed; a few are normal.


# Judgements


def flag_soft_404(facts: VisitFacts, decision: Decision) -> Decision:
    """Flag a page that equals its site's answer to unknown URLs, and do not follow its links."""
    state = facts.related.knowledge.traps or facts.related.knowledge.soft_404
    if state is None or facts.policy.traps.user_rule(facts.page.url) is not None:
        return decision
    document = decision.content.document if decision.content is not None else None
    evidence = soft_404_evidence(facts.answer, document, state)
    if evidence:
        return _flag(decision, f"{evidence}, as for URLs that do not exist", expand=False)
    if facts.related.says_not_found and document is not None and says_only_not_found(document.title, document.text):
        return _flag(decision, REASON_TEXT[Reason.SOFT_404], expand=True)
    return decision


def _flag(decision: Decision, detail: str, *, expand: bool) -> Decision:
    outcome = decision.outcome._replace(outcome=Outcome.FETCHED, reason=Reason.SOFT_404, detail=detail)
    found = decision.found if expand or isinstance(decision.answer, Moved) else FoundLinks()
    return decision._replace(outcome=outcome, found=found)


def looks_like_not_found(page: Page, answer: FetchResult, document: Document | None) -> bool:
    """Return whether an answer apologises or leads to the home page."""
    match answer:
        case Fetched():
            return document is not None and says_not_found(document.title, document.text)
        case Moved(target=target):
            is_home = path_of(target) == "/" and site_of(target) == site_of(page.url)
            return is_home and path_of(page.url) != "/"
        case _:
            return False


def soft_404_evidence(answer: FetchResult, document: Document | None, site: TrapState) -> str:
    """Return what an answer has in common with those to invented URLs; empty: nothing."""
    match answer:
        case Moved(target=target) if target in site.not_found_redirects:
            return f"redirects to {target}"
        case Fetched() if document is not None:
            if any(is_soft_404(document.text, known) for known in site.not_found_pages):
                return "the same text"
            if site.not_found_phrases and not_found_phrases(document.title, document.text).intersection(
                site.not_found_phrases
            ):
                return "the same apology"
            return ""
        case _:
            return ""


def suspect_soft_404(facts: VisitFacts, decision: Decision) -> Decision:
    """Suspect a page that apologises, leads home, or copies another page of its site."""
    is_copy = _is_own_copy(facts.page, decision)
    if not facts.policy.traps.settings.enabled or not (is_copy or facts.related.says_not_found):
        return decision
    return decision._replace(suspicion=Suspicion(is_copy, facts.related.says_not_found))


def _is_own_copy(page: Page, decision: Decision) -> bool:
    """Return whether another page of the same site has the same bytes."""
    if decision.outcome.reason is not Reason.DUPLICATE or decision.original is None:
        return False
    return site_of(decision.original.url) == site_of(page.url)


def learn_soft_404(site: TrapState, results: Sequence[tuple[FetchResult, ProbeAnswer]]) -> TrapState:
    """Return the state of a site after it has answered invented URLs."""
    targets = {result.target if isinstance(result, Moved) else "" for result, _ in results}
    if len(targets) == 1 and (target := targets.pop()):
        return replace(site, not_found_redirects=(*site.not_found_redirects, target)[-MAX_SOFT_404_PAGES:])
    answers = [answer for result, answer in results if 200 <= (status_of(result) or 0) < 300]
    if len(answers) < len(results) or not answers[0].text.strip():
        return site
    same = soft_404_page(answers[0].text)
    if not all(is_soft_404(answer.text, same) for answer in answers[1:]):
        common = common_not_found_phrases(answers)
        return (
            replace(site, not_found_phrases=(*site.not_found_phrases, *common)[-MAX_SOFT_404_PAGES:])
            if common
            else site
        )
    soft, absent = (*site.soft_404, same)[-MAX_SOFT_404_PAGES:], (*site.not_found_pages, same)[-MAX_SOFT_404_PAGES:]
    return replace(site, soft_404=soft, not_found_pages=absent)


# State


class Probes:
    """The probes of one shard: at most one at a time for each site, and a limited number in a run."""

    def __init__(
        self,
        traps: Traps,
        policy: Policy,
        *,
        access: SiteAccess,
        known_keys: Callable[[Sequence[bytes]], Awaitable[set[bytes]]],
        enqueue: Callable[[Page], None],
        commit: Callable[[], Awaitable[None]],
        tasks: BackgroundTasks,
    ) -> None:
        """`known_keys` returns the keys that are pages already."""
        self.tasks = tasks
        self._traps = traps
        self._policy = policy
        self._access = access
        self._known_keys = known_keys
        self._enqueue = enqueue
        self._commit = commit
        self._probing: set[int] = set()
        self._probes: Counter[int] = Counter()
        self._unclear: set[tuple[int, str]] = set()
        """Patterns with inconclusive probes; they are not probed again in this run."""
        self._soft_404_probes: Counter[int] = Counter()
        self._soft_404_running: set[int] = set()
        self._copies: Counter[int] = Counter()
        self._has_soft_404: dict[int, bool] = {}
        self._suspects: dict[int, list[Page]] = {}
        """Pages that were visited before the soft 404 page of their site was known."""

    def may_probe(self, site_id: int) -> bool:
        """Return whether one more pattern of the site may be probed."""
        is_full = (
            len(self.tasks) >= MAX_TASKS or self._probes[site_id] >= self._policy.traps.settings.max_probed_patterns
        )
        return not is_full and site_id not in self._probing

    def apply(self, site: Site, page: Page, decision: Decision) -> None:
        """Start the probes that a visit asks for."""
        wanted = decision.probe
        if wanted is not None and (site.id, wanted.pattern) not in self._unclear:
            self._probes[site.id] += 1
            self._probing.add(site.id)
            self.tasks.start(self._probe_pattern(site, wanted))
        if decision.suspicion is not None and self._is_soft_404_probe_due(site, page, decision, decision.suspicion):
            self.tasks.start(self._probe_soft_404(site, page, decision))

    # Soft 404

    async def soft_404_state(self, site_id: int, *, looks_like_not_found: bool) -> TrapState | None:
        """Return the state of a small site, if it may identify a page as a soft 404."""
        if not looks_like_not_found:
            if site_id not in self._has_soft_404:
                if len(self._has_soft_404) >= MAX_SITES:
                    self._has_soft_404.clear()
                site = (await self._traps.states.of(site_id)).value
                self._has_soft_404[site_id] = bool(
                    site.not_found_pages or site.not_found_redirects or site.not_found_phrases
                )
            if not self._has_soft_404[site_id]:
                return None
        return (await self._traps.states.of(site_id)).value

    def _is_soft_404_probe_due(self, site: Site, page: Page, decision: Decision, suspicion: Suspicion) -> bool:
        self._copies[site.id] += suspicion.is_copy
        suspects = self._suspects.setdefault(site.id, [])
        if len(suspects) < MAX_SUSPECTS and decision.outcome.reason is not Reason.SOFT_404:
            suspects.append(page)
        is_due = suspicion.says_not_found or self._copies[site.id] == COPIES_BEFORE_PROBE
        is_over = self._soft_404_probes[site.id] >= MAX_SOFT_404_PROBES or site.id in self._soft_404_running
        if not is_due or is_over:
            return False
        self._soft_404_probes[site.id] += 1
        self._soft_404_running.add(site.id)
        return True

    async def _probe_soft_404(self, site: Site, page: Page, decision: Decision) -> None:
        urls = invented_urls(page.url, seed=page.id)
        results = [await self._answer_to(url, site) for url in urls]
        found = [result for result in results if result is not None]
        if len(found) < len(urls):
            return
        answers = [(result, await self._measure(result, url, site)) for url, result in zip(urls, found, strict=True)]
        self._soft_404_running.discard(site.id)
        state = await self._traps.states.of(site.id)
        known = learn_soft_404(state.value, answers)
        if known is state.value:
            return
        state.update(known)
        self._has_soft_404[site.id] = True
        document = decision.content.document if decision.content is not None else None
        if decision.answer is not None and soft_404_evidence(decision.answer, document, known):
            await self._commit()
            for suspect in self._suspects.pop(site.id, ()):
                self._enqueue(suspect)

    # Patterns

    async def _probe_pattern(self, site: Site, wanted: ProbeRequest) -> None:
        try:
            one, other = [await self._answer(url, site) for url in wanted.urls]
        finally:
            self._probing.discard(site.id)
        if one is None or other is None:
            self._unclear.add((site.id, wanted.pattern))
            return
        state = await self._traps.states.of(site.id)
        state.update(after_probe(state.value, wanted.pattern, (one, other)))
        record = state.value.patterns.get(wanted.pattern)
        if record is not None and record.probe_outcome is ProbeOutcome.INVENTED:
            log.info("trap: %s%s returns a page for every URL", site.name, wanted.pattern)

    async def _answer(self, url: str, site: Site) -> ProbeAnswer | None:
        """Return the answer to an invented URL; None: it must not be fetched, or proves nothing.
        One redirect within the site is followed: some sites invent the URL that they lead to."""
        result = await self._answer_to(url, site)
        if isinstance(result, Moved) and result.target != url and site_of(result.target) == site.name:
            result = await self._answer_to(result.target, site) or result
        return None if result is None else await self._measure(result, url, site)

    async def _answer_to(self, url: str, site: Site) -> FetchResult | None:
        rules = self._access.robots_of(site)
        if rules is None or not rules.verdict(url).allowed:
            return None
        result = await self._access.fetch(Request(url))
        status = status_of(result)
        return None if status is None or status in TEMPORARY_STATUSES else result

    async def _measure(self, result: FetchResult, asked: str, site: Site) -> ProbeAnswer:
        status = status_of(result) or 0
        document = parse(result, self._policy) if isinstance(result, Fetched) else None
        if document is None:
            return ProbeAnswer(status)
        own = _own_links(document, site)
        known = await self._known_keys([key_of(url) for url in own])
        new = [url for url in own if key_of(url) not in known]
        shape = shape_of(asked)
        further = sum(shape_of(link) == shape for link in new)
        return ProbeAnswer(status, document.text, len(own), len(new), further, document.title or "")


def _own_links(document: Document, site: Site) -> list[str]:
    """Return different links to pages of the site."""
    names = (canonical_of_href(link.url) for link in document.links[:MAX_LINKS])
    return list(dict.fromkeys(name for name in names if name is not None and site_of(name) == site.name))
