"""What the parts of a site have yielded: learned from first visits, asked for links and for turns.

A site with few pages is not judged: it costs nothing, and there is nothing to walk out of.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from xxhash import xxh32_intdigest

from evercrawl.core.traps.irrelevant_parts import learn_parts
from evercrawl.core.traps.pattern_stats import DUPLICATES_ABOVE, GROWTH_ABOVE, PatternState, PatternStats, evidence
from evercrawl.core.traps.trap_state import TrapState, observe_visit, record_visit
from evercrawl.core.traps.trap_verdict import TrapAction, TrapVerdict, allows_all, check_link, check_queued
from evercrawl.core.traps.url_pattern import patterns_of
from evercrawl.core.traps.user_rules import Refusal, TrapFilter, rule_refusal
from evercrawl.core.url import site_of
from evercrawl.core.visit.outcome import VisitOutcome, judge_refused
from evercrawl.engine.hosts import HostTraps
from evercrawl.engine.interpret import VisitResult
from evercrawl.engine.ports import ShardStore
from evercrawl.engine.records import status_of
from evercrawl.engine.site_state import TRAPS, SiteState, SiteStates
from evercrawl.model.fetch import Failed, Fetched, Moved
from evercrawl.model.page import Page
from evercrawl.model.reason import Reason
from evercrawl.model.site import Site

log = logging.getLogger("evercrawl")

MOST_YIELDS = 1000
"""Sites over all shards whose yield is held in memory, some ten to two hundred kilobytes each."""
FENCED_RECHECK = timedelta(days=7)
"""A page behind a fence is considered again after this time, without a request while the fence stands."""

SAMPLED_FROM = 4
MOST_OPENINGS = 20
"""Times in one run that what a fence of one site kept out is looked through."""
TRUSTED_FROM = 80
LOOK_AT_ONE_IN = 8
"""Of a kind of pages that is known so well only this part is looked at from then on."""


class Offered(NamedTuple):
    """What is said about a link: refused with evidence, or behind all others, or neither."""

    refused: Refusal | None = None
    is_last: bool = False


WELCOME = Offered()


class Traps:
    """The traps of one shard's sites."""

    def __init__(self, store: ShardStore, guard: TrapFilter, *, shards: int) -> None:
        self.guard = guard
        self.yields = SiteStates(store, TRAPS, most=max(1, MOST_YIELDS // shards))
        self.hosts = HostTraps(store)
        self._asked: tuple[TrapState | None, bool] = (None, True)
        """The yield that was asked last, and whether it has nothing to say about any URL."""
        self._silent: set[int] = set()
        """Sites whose yield had nothing to say when it was read last; it changes only by visits."""
        self._opened: set[int] = set()
        """Sites with a fence that was found wrong."""
        self._openings: Counter[int] = Counter()
        self._kept_out: Counter[tuple[int, str]] = Counter()
        self._samples: set[int] = set()
        """Pages from behind a fence that are on their way."""

    def is_judged(self, pages: int) -> bool:
        """A site with so many known pages is large enough to be judged by its yield."""
        settings = self.guard.settings
        return settings.enabled and pages >= settings.min_pages

    async def load(self, site_id: int, *, pages: int) -> SiteState[TrapState] | None:
        """What is known about the site; None: it is too small to be judged."""
        return await self.yields.of(site_id) if self.is_judged(pages) else None

    async def load_for_links(self, site_id: int, *, pages: int) -> None:
        """Have at hand what is known about a site that links lead to, where that says anything."""
        if site_id in self._silent or self.yields.held(site_id) is not None:
            return
        notes = await self.load(site_id, pages=pages)
        if notes is not None and allows_all(notes.memory):
            self._silent.add(site_id)

    # Before a request

    def on_offer(self, url: str, *, site_id: int, year: int, is_asked_for: bool) -> Offered:
        """What to do with a new link; the notes on a site count where they were loaded."""
        refused = self.guard.refusal(url, year=year, is_requested=is_asked_for)
        if refused is not None:
            return Offered(refused)
        notes = self.yields.held(site_id)
        if notes is None or is_asked_for or self._says_nothing(notes.memory):
            return WELCOME
        if self.guard.user_rule(url) is not None:
            return WELCOME
        ruled = check_link(notes.memory, url)
        if ruled.action is TrapAction.BLOCK:
            return Offered(_fenced(ruled))
        return Offered(is_last=ruled.action is TrapAction.THROTTLE)

    def on_first_offer(self, url: str, site: Site) -> Offered:
        """What to do with a link to a site that was never asked for anything."""
        if not self.guard.settings.enabled or self.guard.user_rule(url) is not None:
            return WELCOME
        refused = self.hosts.refusal(site)
        return WELCOME if refused is None else Offered(refused)

    def on_turn(self, page: Page, notes: SiteState[TrapState] | None, *, now: datetime) -> VisitOutcome | None:
        """A page whose turn has come: None, or why it is not asked for after all.

        Fences are for pages that were never seen: others have shown what they are worth.
        """
        rule = self.guard.user_rule(page.url)
        if rule is not None:
            refused = rule_refusal(rule)
            return None if refused is None else judge_refused(page, *refused, now=now)
        if notes is None or page.version or page.depth == 0 or self._says_nothing(notes.memory):
            return None
        ruled = check_queued(notes.memory, page.url)
        if ruled.action is not TrapAction.BLOCK or self._is_sample(page, ruled.pattern):
            return None
        return judge_refused(page, *_fenced(ruled), now=now, wait=FENCED_RECHECK)

    def on_first_turn(self, page: Page, site: Site, *, now: datetime) -> VisitOutcome | None:
        """The same for a page of a site that was never asked for anything."""
        refused = self.on_first_offer(page.url, site).refused if page.depth else None
        return None if refused is None else judge_refused(page, *refused, now=now, wait=FENCED_RECHECK)

    def _is_sample(self, page: Page, pattern: str) -> bool:
        """Every time that as many again were kept out, one goes through: few, from all over what waits.

        It is asked when the page is read from the queue and again when its request begins.
        """
        if page.id in self._samples:
            self._samples.discard(page.id)
            return True
        fence = (page.site_id, pattern)
        self._kept_out[fence] += 1
        times = self._kept_out[fence]
        is_sample = times >= SAMPLED_FROM and times & (times - 1) == 0
        if is_sample:
            self._samples.add(page.id)
        return is_sample

    def _says_nothing(self, site: TrapState) -> bool:
        if self._asked[0] is not site:
            self._asked = (site, allows_all(site))
        return self._asked[1]

    # After it

    def learn(
        self, page: Page, seen: VisitResult, notes: SiteState[TrapState] | None, *, new_links: Sequence[str]
    ) -> bool:
        """Book what a first visit brought to the patterns of its URL; False: it says nothing that matters."""
        if notes is None or not _is_first_sight(page, seen):
            return False
        self._silent.discard(page.site_id)
        before = notes.memory
        text = seen.document.text if seen.document is not None else ""
        links = seen.document.links if seen.document is not None else ()
        if not _is_worth_a_look(before, page.url):
            parameters = learn_parts(
                before.url_parts, page.url, text, links=links, new_links=new_links, with_names=before.is_suspicious
            )
            if parameters is not before.url_parts:
                notes.learn(replace(before, url_parts=parameters))
            return False
        is_copy = seen.judgement.reason is Reason.DUPLICATE
        observed, after = observe_visit(
            before,
            page.url,
            status=status_of(seen.result) or 0,
            text=text,
            duplicate=is_copy,
            new_links=new_links,
            duplicate_of=seen.original.url if is_copy and seen.original is not None else "",
            links=links,
            redirects_back=not new_links and _stays(page, seen),
        )
        notes.learn(record_visit(after, observed))
        _say_fences(page.url, before, notes.memory)
        if _opens_fence(page.url, before, notes.memory):
            self._openings[page.site_id] += 1
            if self._openings[page.site_id] <= MOST_OPENINGS:
                self._opened.add(page.site_id)
        return True

    def has_opened(self, site_id: int) -> bool:
        """A fence on the site was found wrong since this was asked last."""
        if site_id not in self._opened:
            return False
        self._opened.remove(site_id)
        for fence in [fence for fence in self._kept_out if fence[0] == site_id]:
            del self._kept_out[fence]
        return True


def _is_worth_a_look(site: TrapState, url: str) -> bool:
    """Measuring a text costs as much as finding its links: what is trusted is looked at now and then."""
    patterns = patterns_of(url)
    # A name of its own at the top of a site is a shape of its own: then its skeleton says what to expect.
    record = site.patterns.get(patterns[0].name) or site.patterns.get(patterns[-1].name)
    if record is None or record.requests < TRUSTED_FROM or not _is_settled(record):
        return True
    return xxh32_intdigest(url.encode("utf-8", "surrogatepass")) % LOOK_AT_ONE_IN == 0


def _is_settled(record: PatternStats) -> bool:
    """It keeps bringing new text, or it comes to an end by itself and is no set of copies."""
    ends = record.growth < GROWTH_ABOVE and record.duplicates < DUPLICATES_ABOVE / 2
    return record.is_proven or (ends and record.state is not PatternState.BLOCKED)


def _is_first_sight(page: Page, seen: VisitResult) -> bool:
    """The same page again brings nothing new, which says nothing; nor does what cannot be read."""
    match seen.result:
        case Fetched():
            return page.version == 0 and seen.document is not None
        case Moved() | Failed():
            return page.visits == 0
        case _:
            return False


def _stays(page: Page, seen: VisitResult) -> bool:
    """It was redirected within its site."""
    return isinstance(seen.result, Moved) and site_of(seen.result.target) == site_of(page.url)


def _fenced(ruled: TrapVerdict) -> Refusal:
    return Reason.TRAP, f"{ruled.pattern}: {ruled.evidence}"


def _opens_fence(url: str, before: TrapState, after: TrapState) -> bool:
    names = [name for name, _ in patterns_of(url)]
    return any(_is_fenced(before, name) and not _is_fenced(after, name) for name in names)


def _is_fenced(site: TrapState, name: str) -> bool:
    record = site.patterns.get(name)
    return record is not None and record.state is PatternState.BLOCKED


def _say_fences(url: str, before: TrapState, after: TrapState) -> None:
    for name, _ in patterns_of(url):
        was, now = before.patterns.get(name), after.patterns.get(name)
        is_new = (
            now is not None and now.state is PatternState.BLOCKED and (was is None or was.state < PatternState.BLOCKED)
        )
        if is_new and now is not None:
            log.info("trap: %s like %s are left out: %s", name, url, evidence(now))
