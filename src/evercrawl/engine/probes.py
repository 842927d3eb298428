"""Asking for addresses that nobody linked to: does a site know its pages, or answer everything?

Two requests for a pattern that explodes or brings nothing, within the site's pace and its robots.txt.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from typing import TYPE_CHECKING

from evercrawl.core.traps.not_found import ProbeAnswer, ProbeOutcome
from evercrawl.core.traps.pattern_probe import ProbeRequest, after_probe, next_probe
from evercrawl.core.traps.url_pattern import shape_of
from evercrawl.core.url import canonical_of_href, key_of, site_of
from evercrawl.engine.absent import Soft404Pages
from evercrawl.engine.interpret import VisitResult, parse
from evercrawl.engine.records import status_of
from evercrawl.engine.runtime import TaskSet
from evercrawl.model.fetch import Fetched, FetchResult, Moved, Request

if TYPE_CHECKING:
    from evercrawl.core.traps.trap_state import TrapState
    from evercrawl.engine.shard import Shard
    from evercrawl.engine.site_state import SiteState
    from evercrawl.model.document import Document
    from evercrawl.model.page import Page
    from evercrawl.model.site import Site

log = logging.getLogger("evercrawl")

MOST_AT_A_TIME = 8
"""Sites of a shard that are tried at the same time."""
LINKS_LOOKED_AT = 100
"""Links of an answer that are looked up."""
SAYS_NOTHING = frozenset((408, 425, 429, 502, 503, 504))
"""Answers of the moment, which prove nothing; 500 is how many sites say that they cannot make sense of it."""


class Probes:
    """The tries of one shard; at most one at a time for each site, and only so many in a run."""

    def __init__(self, shard: Shard) -> None:
        self.tasks = TaskSet()
        self.absent = Soft404Pages(shard)
        self._shard = shard
        self._trying: set[int] = set()
        self._tries: Counter[int] = Counter()
        self._unclear: set[tuple[int, str]] = set()
        """Patterns whose answers proved nothing; they are not tried again in this run."""

    @property
    def is_busy(self) -> bool:
        """Some answer is awaited."""
        return bool(self.tasks)

    def consider(self, site: Site, notes: SiteState[TrapState] | None) -> None:
        """Try the pattern that most deserves it, if there is one."""
        most = self._shard.traps.guard.settings.max_probed_patterns
        is_full = len(self.tasks) >= MOST_AT_A_TIME or self._tries[site.id] >= most
        if notes is None or is_full or site.id in self._trying:
            return
        wanted = next_probe(notes.memory, seed=notes.memory.requests)
        if wanted is None or (site.id, wanted.pattern) in self._unclear:
            return
        self._tries[site.id] += 1
        self._trying.add(site.id)
        task = asyncio.create_task(self._try(site, wanted))
        self.tasks.add(task)
        task.add_done_callback(self._ended)

    def consider_absent(self, site: Site, page: Page, seen: VisitResult) -> None:
        """Ask what the site says for addresses that do not exist, if what was seen looks like that."""
        urls = self.absent.suspect(page, site, seen)
        if urls is None:
            return
        task = asyncio.create_task(self._ask_absent(site, page, seen, urls))
        self.tasks.add(task)
        task.add_done_callback(self._ended)

    async def _ask_absent(self, site: Site, page: Page, seen: VisitResult, urls: tuple[str, str]) -> None:
        results = [await self._asked(url, site) for url in urls]
        found = [result for result in results if result is not None]
        if len(found) == len(urls):
            answers = [
                (result, await self._measured(result, url, site)) for url, result in zip(urls, found, strict=True)
            ]
            await self.absent.learn(page, seen, answers)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self.tasks.discard(task)
        self._shard.wake.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            self._shard.break_off(error)

    async def _try(self, site: Site, wanted: ProbeRequest) -> None:
        try:
            one, other = [await self._answer(url, site) for url in wanted.urls]
        finally:
            self._trying.discard(site.id)
        if one is None or other is None:
            self._unclear.add((site.id, wanted.pattern))
            return
        notes = await self._shard.traps.yields.of(site.id)
        notes.learn(after_probe(notes.memory, wanted.pattern, (one, other)))
        record = notes.memory.patterns.get(wanted.pattern)
        if record is not None and record.probe_outcome is ProbeOutcome.INVENTED:
            log.info("trap: %s%s invents a page for every address", site.name, wanted.pattern)

    async def _answer(self, url: str, site: Site) -> ProbeAnswer | None:
        """How a made-up address is answered; None: it must not be asked for, or nobody can tell now.

        One redirect within the site is followed: some make up the address that they lead to.
        """
        result = await self._asked(url, site)
        if isinstance(result, Moved) and result.target != url and site_of(result.target) == site.name:
            result = await self._asked(result.target, site) or result
        return None if result is None else await self._measured(result, url, site)

    async def _asked(self, url: str, site: Site) -> FetchResult | None:
        gate = self._shard.gate_of(site)
        if gate is None or not gate.verdict(url).allowed:
            return None
        result = await self._shard.errands.run(Request(url))
        status = status_of(result)
        return None if status is None or status in SAYS_NOTHING else result

    async def _measured(self, result: FetchResult, asked: str, site: Site) -> ProbeAnswer:
        status = status_of(result) or 0
        document = parse(result, self._shard.around) if isinstance(result, Fetched) else None
        if document is None:
            return ProbeAnswer(status)
        own = _own_links(document, site)
        known = await self._shard.intake.known([key_of(url) for url in own])
        new = [url for url in own if key_of(url) not in known]
        shape = shape_of(asked)
        further = sum(shape_of(link) == shape for link in new)
        return ProbeAnswer(status, document.text, len(own), len(new), further, document.title or "")


def _own_links(document: Document, site: Site) -> list[str]:
    """Different links to pages of the site, as far as they are looked at."""
    names = (canonical_of_href(link.url) for link in document.links[:LINKS_LOOKED_AT])
    return list(dict.fromkeys(name for name in names if name is not None and site_of(name) == site.name))
