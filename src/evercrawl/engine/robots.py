"""Asking a site for its robots.txt: conditionally, hop by hop, and never faster than its pace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evercrawl.core.frontier import AskRobots, RunErrand
from evercrawl.core.moment import to_us
from evercrawl.core.robots_policy import (
    RobotsGate,
    compile_record,
    judge_robots_answer,
    robots_after_too_many_redirects,
)
from evercrawl.engine.ask import ask
from evercrawl.model.fetch import FetchResult, Moved, Request
from evercrawl.model.reason import Reason
from evercrawl.model.site import RobotsRecord

if TYPE_CHECKING:
    from evercrawl.engine.shard import Shard


async def ask_robots(turn: AskRobots, shard: Shard) -> None:
    """Learn what the site's robots.txt says; while it cannot be read the site is closed."""
    lane = turn.lane
    before = lane.site.robots
    url = lane.site.name + "/robots.txt"
    result = await ask(_request(url, before, shard), lane, shard)
    _write(turn, url, result, shard)
    record = await _follow(result, before, shard)
    gate = compile_record(record, agent=shard.around.agent)
    shard.learned_robots(lane, gate)
    if gate.is_unreachable:
        reason = f"{Reason.ROBOTS_UNREACHABLE}: {record.detail}"
        shard.frontier.close_site(lane, until_us=record.expires_us, reason=reason)
    shard.note_site(lane)


def _request(url: str, before: RobotsRecord | None, shard: Shard) -> Request:
    limit = shard.around.settings.robots.body_bytes
    if before is None or before.stance != "obey":
        return Request(url, body_limit=limit)
    return Request(url, etag=before.etag, last_modified=before.last_modified, body_limit=limit)


async def _follow(result: FetchResult, before: RobotsRecord | None, shard: Shard) -> RobotsRecord:
    """Follow redirects, also to other sites; the last answer belongs to the site that was asked first."""
    settings = shard.around.settings.robots
    for _ in range(settings.redirects):
        if not isinstance(result, Moved):
            break
        result = await shard.errands.run(Request(result.target, body_limit=settings.body_bytes))
    now = shard.around.clock.now()
    if isinstance(result, Moved):
        return robots_after_too_many_redirects(now=now, settings=settings)
    return judge_robots_answer(before, result, now=now, settings=settings)


async def run_errand(turn: RunErrand, shard: Shard) -> None:
    """One request to this site for somebody else."""
    request = shard.errands.request_of(turn.errand)
    result = await ask(request, turn.lane, shard)
    _write(turn, request.url, result, shard)
    shard.errands.done(turn.errand, result)


def _write(turn: AskRobots | RunErrand, url: str, result: FetchResult, shard: Shard) -> None:
    """Archive the exchange and let the pace know of it."""
    if result.exchange is not None:
        shard.archive.append(url, result.exchange)
    shard.answered(turn.lane, result, now_us=to_us(shard.around.clock.now()))


__all__ = ["RobotsGate", "ask_robots", "run_errand"]
