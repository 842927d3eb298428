"""Pages that are none: a site says 200, or leads home, for addresses that do not exist (soft 404).

What looks like an apology, a copy or a way home makes the site be asked for two addresses that nobody linked
to. What it answers to them is no page wherever it comes again: it is kept and flagged, and not expanded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from evercrawl.core.traps.not_found import (
    ProbeAnswer,
    common_not_found_phrases,
    invented_urls,
    is_soft_404,
    not_found_phrases,
    says_not_found,
    says_only_not_found,
    soft_404_page,
)
from evercrawl.core.traps.trap_state import TrapState
from evercrawl.core.url import path_of, site_of
from evercrawl.core.visit.links import FoundLinks
from evercrawl.engine.interpret import VisitResult
from evercrawl.engine.records import status_of
from evercrawl.model.fetch import Fetched, FetchResult, Moved
from evercrawl.model.page import Page, Requeue
from evercrawl.model.reason import REASON_TEXT, Outcome, Reason

if TYPE_CHECKING:
    from evercrawl.engine.shard import Shard
    from evercrawl.engine.site_state import SiteState
    from evercrawl.model.document import Document
    from evercrawl.model.site import Site

MOST_TRIES = 2
"""Of one site in one run."""
MOST_KNOWN = 4
MOST_SITES = 100_000
"""Sites of which it is at hand whether anything is known."""
MOST_SUSPECTS = 20
"""Pages of one site that are looked at again when it is known what they are."""
COPIES_UNTIL_ASKED = 3
"""Copies on one site before it is asked: a few are normal."""


class Soft404Pages:
    """What the sites of one shard say for addresses that do not exist."""

    def __init__(self, shard: Shard) -> None:
        self._shard = shard
        self._tries: Counter[int] = Counter()
        self._copies: Counter[int] = Counter()
        self._known: dict[int, bool] = {}
        self._asked: set[int] = set()
        self._suspects: dict[int, list[Page]] = {}
        """Pages that were seen before it was known what they are."""

    async def marked(self, page: Page, seen: VisitResult, notes: SiteState[TrapState] | None) -> VisitResult:
        """What was seen, flagged where it is what the site says for addresses that do not exist."""
        looks = _looks_absent(page, seen)
        if notes is None and (looks or await self._says_something(page.site_id)):
            notes = await self._shard.traps.yields.of(page.site_id)
        if notes is None or self._shard.traps.guard.user_rule(page.url) is not None:
            return seen
        why = _known_absent(seen, notes.memory)
        if why:
            return _flagged(seen, f"{why}, as for addresses that do not exist", expand=False)
        document = seen.document
        if looks and document is not None and says_only_not_found(document.title, document.text):
            return _flagged(seen, REASON_TEXT[Reason.SOFT_404], expand=True)
        return seen

    async def _says_something(self, site_id: int) -> bool:
        """It is known what a small site says for addresses that do not exist; looked up once in a run."""
        if site_id not in self._known:
            if len(self._known) >= MOST_SITES:
                self._known.clear()
            site = (await self._shard.traps.yields.of(site_id)).memory
            self._known[site_id] = bool(site.not_found_pages or site.not_found_redirects or site.not_found_phrases)
        return self._known[site_id]

    def suspect(self, page: Page, site: Site, seen: VisitResult) -> tuple[str, str] | None:
        """The two addresses that the site should be asked for because of what was seen; None: no need."""
        is_copy = _is_own_copy(page, seen)
        looks = _looks_absent(page, seen)
        if not self._shard.traps.guard.settings.enabled or not (is_copy or looks):
            return None
        self._copies[site.id] += is_copy
        suspects = self._suspects.setdefault(site.id, [])
        if len(suspects) < MOST_SUSPECTS and seen.judgement.reason is not Reason.SOFT_404:
            suspects.append(page)
        is_due = looks or self._copies[site.id] == COPIES_UNTIL_ASKED
        if not is_due or self._tries[site.id] >= MOST_TRIES or site.id in self._asked:
            return None
        self._tries[site.id] += 1
        self._asked.add(site.id)
        return invented_urls(page.url, seed=page.id)

    async def learn(self, page: Page, seen: VisitResult, results: Sequence[tuple[FetchResult, ProbeAnswer]]) -> None:
        """Remember what made-up addresses were answered with, and look again at what made us ask."""
        self._asked.discard(page.site_id)
        notes = await self._shard.traps.yields.of(page.site_id)
        known = _with_answers(notes.memory, results)
        if known is notes.memory:
            return
        notes.learn(known)
        self._known[page.site_id] = True
        if _known_absent(seen, known):
            await self._shard.commit()
            for other in self._suspects.pop(page.site_id, ()):
                seq = self._shard.intake.next_seq()
                self._shard.ledger.batch.requeued.append(Requeue(other.id, other.site_id, other.band, seq))


def _is_own_copy(page: Page, seen: VisitResult) -> bool:
    """The same bytes as another page of the same site; what two sites share says nothing of either."""
    if seen.judgement.reason is not Reason.DUPLICATE or seen.original is None:
        return False
    return site_of(seen.original.url) == site_of(page.url)


def _looks_absent(page: Page, seen: VisitResult) -> bool:
    match seen.result:
        case Fetched():
            return seen.document is not None and says_not_found(seen.document.title, seen.document.text)
        case Moved(target=target):
            is_home = path_of(target) == "/" and site_of(target) == site_of(page.url)
            return is_home and path_of(page.url) != "/"
        case _:
            return False


def _known_absent(seen: VisitResult, site: TrapState) -> str:
    """In words, what the site said that it also says for made-up addresses; empty: nothing."""
    match seen.result:
        case Moved(target=target) if target in site.not_found_redirects:
            return f"redirects to {target}"
        case Fetched() if seen.document is not None:
            return _known_text(seen.document, site)
        case _:
            return ""


def _known_text(document: Document, site: TrapState) -> str:
    if any(is_soft_404(document.text, known) for known in site.not_found_pages):
        return "the same text"
    if site.not_found_phrases and not_found_phrases(document.title, document.text).intersection(site.not_found_phrases):
        return "the same apology"
    return ""


def _flagged(seen: VisitResult, detail: str, *, expand: bool) -> VisitResult:
    judgement = seen.judgement._replace(outcome=Outcome.FETCHED, reason=Reason.SOFT_404, detail=detail)
    offers = seen.offers if expand or isinstance(seen.result, Moved) else FoundLinks()
    return replace(seen, judgement=judgement, offers=offers)


def _with_answers(site: TrapState, results: Sequence[tuple[FetchResult, ProbeAnswer]]) -> TrapState:
    targets = {result.target if isinstance(result, Moved) else "" for result, _ in results}
    if len(targets) == 1 and (target := targets.pop()):
        return replace(site, not_found_redirects=(*site.not_found_redirects, target)[-MOST_KNOWN:])
    answers = [answer for result, answer in results if 200 <= (status_of(result) or 0) < 300]
    if len(answers) < len(results) or not answers[0].text.strip():
        return site
    same = soft_404_page(answers[0].text)
    if not all(is_soft_404(answer.text, same) for answer in answers[1:]):
        common = common_not_found_phrases(answers)
        return replace(site, not_found_phrases=(*site.not_found_phrases, *common)[-MOST_KNOWN:]) if common else site
    soft, absent = (*site.soft_404, same)[-MOST_KNOWN:], (*site.not_found_pages, same)[-MOST_KNOWN:]
    return replace(site, soft_404=soft, not_found_pages=absent)
