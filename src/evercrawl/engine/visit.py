"""One page's way through the crawler, from left to right: fetch, parse, judge, keep, pass on.

Everything that has to wait (the network, the store) comes first; then archive record, outcome and new pages
are written into the batch in one step without waiting, so that one commit acknowledges all of them or none.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, assert_never

from evercrawl.core.digest import content_digest
from evercrawl.core.frontier import Visit
from evercrawl.core.revisit.site_model import SiteModel
from evercrawl.core.traps.trap_state import TrapState
from evercrawl.core.url import key_of, site_of
from evercrawl.core.visit.outcome import VisitOutcome, fresh_for
from evercrawl.engine.analysis import look_into
from evercrawl.engine.ask import ask
from evercrawl.engine.credit import CreditShares, Parcels, Placed
from evercrawl.engine.duplicates import send_for_repeats
from evercrawl.engine.heed import requeue_reopened
from evercrawl.engine.hidden import offer_hidden
from evercrawl.engine.interpret import (
    VisitResult,
    interpret_failed,
    interpret_fetched,
    interpret_moved,
    interpret_not_modified,
    request_for,
    robots_refusal,
)
from evercrawl.engine.ports import Stored
from evercrawl.engine.records import archive_answer, visited_of
from evercrawl.engine.site_state import SiteState
from evercrawl.model.fetch import Failed, Fetched, FetchResult, Moved, NotModified, header
from evercrawl.model.page import Page
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.time import to_us

if TYPE_CHECKING:
    from evercrawl.engine.shard import Shard


async def visit(turn: Visit, shard: Shard) -> None:
    """One page, from left to right."""
    now = shard.around.clock.now()
    refused = robots_refusal(turn, now=now)
    refused = refused or await _trap_refusal(turn, shard, now=now) or await _mirrored(turn, shard, now=now)
    if refused is not None:
        _write_refused(turn, refused, shard)
        return
    notes = await shard.revisits.outlooks.of(turn.page.site_id)
    shard.revisits.chosen(turn.page, notes, now_us=to_us(now))
    conditional = shard.revisits.is_conditional(turn.page, notes) and not await shard.twins.doubts(turn.page)
    result = await ask(request_for(turn.page, conditional=conditional), turn.queue, shard)
    seen = await _see(turn, result, shard)
    traps = await shard.traps.load(turn.page.site_id, pages=shard.intake.pages_of(turn.queue.site))
    seen = await shard.made_up.absent.marked(turn.page, seen, traps)
    offer_hidden(turn.page, seen, shard.around)
    look_into(turn.page, seen, shard.around, shard.tally)
    own, parcels = shard.sort_out(seen.offers.candidates)
    placed = await shard.intake.place(await shard.intake.unknown(own))
    await _learn_hosts(turn, seen, placed, shard)
    _learn_yield(turn, seen, placed, traps, shard)
    # The archive may fail; from there on nothing does, so that a page that has paid is also written down.
    stored = archive_answer(turn.page, seen, shard.archive)
    paid = _pay(turn.page, seen, placed, parcels, shard)
    _write(turn, seen, notes, shard, stored=stored, paid=paid)
    shard.pass_on(paid.placed, paid.parcels, seen.offers.refusals)
    if shard.traps.has_opened(turn.page.site_id):
        await requeue_reopened(shard, turn.queue.site)
    await send_for_repeats(turn.page, seen, shard)
    if isinstance(result, (Fetched, NotModified)):
        await shard.signals.visited(turn.queue, turn.page, seen.document.feeds if seen.document else ())


async def _trap_refusal(turn: Visit, shard: Shard, *, now: datetime) -> VisitOutcome | None:
    pages = shard.intake.pages_of(turn.queue.site)
    notes = await shard.traps.load(turn.page.site_id, pages=pages)
    return shard.traps.on_turn(turn.page, notes, now=now)


async def _learn_hosts(turn: Visit, seen: VisitResult, placed: Placed, shard: Shard) -> None:
    """The hosts of its domain that a page names are booked where it was seen for the first time."""
    if turn.page.version or seen.document is None:
        return
    site, hosts = turn.queue.site, shard.traps.hosts
    await hosts.load(site, [its for _, its in placed])
    fresh = [its for _, its in placed if shard.intake.pages_of(its) == 0]
    hosts.learn(site, [link.url for link in seen.document.links], fresh)


def _learn_yield(
    turn: Visit, seen: VisitResult, placed: Placed, notes: SiteState[TrapState] | None, shard: Shard
) -> None:
    """What the page brought is booked before its links are judged by it; refused links are nothing."""
    site = turn.queue.site
    own = [candidate for candidate, its in placed if its.id == site.id and not shard.intake.refuses(candidate, its)]
    if shard.traps.learn(turn.page, seen, notes, new_links=[candidate.url for candidate in own]):
        shard.made_up.consider(site, notes)
    shard.made_up.consider_absent(site, turn.page, seen)


async def _mirrored(turn: Visit, shard: Shard, *, now: datetime) -> VisitOutcome | None:
    return await shard.twins.of_mirror(turn.page, turn.queue.site.name, now=now)


async def _see(turn: Visit, result: FetchResult, shard: Shard) -> VisitResult:
    page = turn.page
    match result:
        case Fetched(body=body):
            digest = content_digest(body)
            original = await shard.ledger.recall(digest)
            past = await shard.comparisons.past_of(page, digest)
            seen = interpret_fetched(page, result, original, shard.around, digest=digest, past=past)
            await shard.twins.judge(page, seen)
            return seen
        case NotModified():
            await shard.comparisons.rested(page)
            return interpret_not_modified(result, await shard.store.version_original(page.id))
        case Moved(target=target):
            shard.twins.mirrors.moved(page.url, target)
            loops = await _leads_back(page, target, shard)
            return interpret_moved(page, result, shard.around, loops=loops, forbidden=_forbidden(turn, target))
        case Failed():
            return interpret_failed(page, result, shard.around)
        case unknown:
            assert_never(unknown)


async def _leads_back(page: Page, target: str, shard: Shard) -> bool:
    """Does the redirect's target, as far as we know it, redirect back to this page?"""
    return target == page.url or await shard.store.moved_to(key_of(target)) == page.url


def _forbidden(turn: Visit, target: str) -> tuple[Reason, str] | None:
    """robots.txt of the same site forbids the redirect's target; other sites decide when their turn comes."""
    gate = turn.queue.robots
    if gate is None or site_of(target) != turn.queue.site.name:
        return None
    verdict = gate.verdict(target)
    return None if verdict.allowed else (Reason.ROBOTS, verdict.detail)


def _pay(page: Page, seen: VisitResult, placed: Placed, parcels: Parcels, shard: Shard) -> CreditShares:
    """The links get the page's credit, but for those of duplicates, whose links the other page has paid.

    Where the links were not seen (304, a fault that may pass) the page holds on to it.
    """
    judgement = seen.judgement
    if isinstance(seen.result, NotModified) or (judgement.changed is None and judgement.due_us is not None):
        return shard.credits.keep(placed, parcels)
    expands = judgement.outcome is not Outcome.DUPLICATE
    return shard.credits.pay(page, seen.offers, placed=placed, parcels=parcels, expands=expands)


def _write(
    turn: Visit,
    seen: VisitResult,
    notes: SiteState[SiteModel],
    shard: Shard,
    *,
    stored: Stored | None,
    paid: CreditShares,
) -> None:
    page, now = turn.page, shard.around.clock.now()
    judgement, belief = _scheduled(page, seen, notes, shard, now_us=to_us(now))
    visited = visited_of(page, judgement, now=now, seen=seen, stored=stored, belief=belief, spent=paid.spent)
    shard.write_visited(page, visited)
    shard.ledger.write_share(page, paid.waited, generation=shard.credits.generation)
    shard.answered(turn.queue, seen.result, now_us=to_us(now))


def _scheduled(
    page: Page, seen: VisitResult, notes: SiteState[SiteModel], shard: Shard, *, now_us: int
) -> tuple[VisitOutcome, bytes | None]:
    """When to come again, where that is not the fault's to say; and what the visit taught."""
    judgement, result = seen.judgement, seen.result
    if judgement.changed is None:
        return judgement, None
    if isinstance(result, Fetched) and judgement.changed and page.version:
        etag, date = header(result.headers, "etag"), header(result.headers, "last-modified")
        shard.revisits.audited(page, notes, etag=etag, date=date)
    fresh = fresh_for(result.headers) if isinstance(result, (Fetched, NotModified)) else timedelta(0)
    # What the visit has found out about doubles counts at once.
    as_found = page._replace(duplicate_of=seen.duplicate_of) if isinstance(result, Fetched) else page
    planned = shard.revisits.after_visit(as_found, notes, judgement, now_us=now_us, fresh=fresh)
    return judgement._replace(due_us=planned.due_us, interval_s=planned.interval_s), planned.belief


def _write_refused(turn: Visit, judgement: VisitOutcome, shard: Shard) -> None:
    shard.write_visited(turn.page, visited_of(turn.page, judgement, now=shard.around.clock.now()))
    shard.skipped(turn.queue)
