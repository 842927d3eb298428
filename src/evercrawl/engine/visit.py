"""One page's way through the crawler, from left to right: fetch, parse, judge, keep, pass on.

Everything that has to wait (the network, the store) comes first; then archive record, outcome and new pages
are written into the batch in one step without waiting, so that one commit acknowledges all of them or none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from evercrawl.core.digest import content_digest
from evercrawl.core.frontier import Visit
from evercrawl.core.judgement import Judgement
from evercrawl.core.moment import to_us
from evercrawl.core.url import key_of, site_of
from evercrawl.engine.keep import keep, visited_of
from evercrawl.engine.see import (
    Seen,
    plan_request,
    robots_refusal,
    see_failed,
    see_fetched,
    see_moved,
    see_not_modified,
)
from evercrawl.model.fetch import Failed, Fetched, FetchResult, Moved, NotModified
from evercrawl.model.page import Page
from evercrawl.model.reason import Reason

if TYPE_CHECKING:
    from evercrawl.engine.shard import Shard


async def visit(turn: Visit, shard: Shard) -> None:
    """One page, from left to right."""
    refused = robots_refusal(turn, now=shard.around.clock.now())
    if refused is not None:
        _write_refused(turn, refused, shard)
        return
    result = await shard.around.fetcher.fetch(plan_request(turn.page))
    seen = await _see(turn, result, shard)
    own, parcels = shard.sort_out(seen.offers.candidates)
    placed = await shard.intake.place(await shard.intake.unknown(own))
    _write(turn, seen, shard)
    shard.pass_on(placed, parcels, seen.offers.refusals)


async def _see(turn: Visit, result: FetchResult, shard: Shard) -> Seen:
    page = turn.page
    match result:
        case Fetched(body=body):
            digest = content_digest(body)
            original = await shard.ledger.recall(digest)
            past = await shard.comparisons.past_of(page, digest)
            return see_fetched(page, result, original, shard.around, digest=digest, past=past)
        case NotModified():
            await shard.comparisons.rested(page)
            return see_not_modified(page, result, await shard.store.version_original(page.id), shard.around)
        case Moved(target=target):
            loops = await _leads_back(page, target, shard)
            return see_moved(page, result, shard.around, loops=loops, forbidden=_forbidden(turn, target))
        case Failed():
            return see_failed(page, result, shard.around)
        case unknown:
            assert_never(unknown)


async def _leads_back(page: Page, target: str, shard: Shard) -> bool:
    """Does the redirect's target, as far as we know it, redirect back to this page?"""
    return target == page.url or await shard.store.moved_to(key_of(target)) == page.url


def _forbidden(turn: Visit, target: str) -> tuple[Reason, str] | None:
    """robots.txt of the same site forbids the redirect's target; other sites decide when their turn comes."""
    gate = turn.lane.gate
    if gate is None or site_of(target) != turn.lane.site.name:
        return None
    verdict = gate.verdict(target)
    return None if verdict.allowed else (Reason.ROBOTS, verdict.detail)


def _write(turn: Visit, seen: Seen, shard: Shard) -> None:
    page, now = turn.page, shard.around.clock.now()
    stored = keep(page, seen, shard.archive)
    visited = visited_of(page, seen.judgement, now=now, seen=seen, stored=stored)
    shard.write_visited(page, visited)
    shard.answered(turn.lane, seen.result, now_us=to_us(now))


def _write_refused(turn: Visit, judgement: Judgement, shard: Shard) -> None:
    shard.write_visited(turn.page, visited_of(turn.page, judgement, now=shard.around.clock.now()))
    shard.concluded_without_request(turn.lane)
