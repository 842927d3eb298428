"""Asking a site for its robots.txt: conditionally, hop by hop, and never faster than its pace."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from evercrawl.core.frontier import FetchRobots, FetchSide
from evercrawl.core.politeness import SideRequest
from evercrawl.core.robots.robots_rules import RobotsRules, compile_robots, redirect_loop_record, robots_record_of
from evercrawl.engine.ask import ask
from evercrawl.model.fetch import FetchResult, Moved, Request
from evercrawl.model.reason import Reason
from evercrawl.model.site import RobotsRecord, Site
from evercrawl.model.time import to_us

if TYPE_CHECKING:
    from evercrawl.engine.shard import Shard


async def fetch_robots(turn: FetchRobots, shard: Shard) -> None:
    """Learn what the site's robots.txt says; while it cannot be read the site is closed."""
    queue = turn.queue
    before = queue.site.robots
    url = queue.site.name + "/robots.txt"
    result = await ask(_request(url, before, shard), queue, shard)
    _write(turn, url, result, shard)
    record = await _follow(result, before, shard)
    gate = compile_robots(record, agent=shard.around.agent)
    shard.learned_robots(queue, gate)
    if gate.is_unreachable:
        reason = f"{Reason.ROBOTS_UNREACHABLE}: {record.detail}"
        shard.frontier.close_site(queue, until_us=record.expires_us, reason=reason)
    shard.note_site(queue)


def _request(url: str, before: RobotsRecord | None, shard: Shard) -> Request:
    limit = shard.around.settings.robots.max_bytes
    if before is None or before.policy != "obey":
        return Request(url, body_limit=limit)
    return Request(url, etag=before.etag, last_modified=before.last_modified, body_limit=limit)


async def _follow(result: FetchResult, before: RobotsRecord | None, shard: Shard) -> RobotsRecord:
    """Follow redirects, also to other sites; the last answer belongs to the site that was asked first."""
    settings = shard.around.settings.robots
    for _ in range(settings.max_redirects):
        if not isinstance(result, Moved):
            break
        result = await shard.errands.run(Request(result.target, body_limit=settings.max_bytes))
    now = shard.around.clock.now()
    if isinstance(result, Moved):
        return redirect_loop_record(now=now, settings=settings)
    return robots_record_of(before, result, now=now, settings=settings)


async def fetch_side(turn: FetchSide, shard: Shard) -> None:
    """One request to this site for somebody else."""
    request = shard.errands.request_of(turn.side_request)
    result = await ask(request, turn.queue, shard)
    _write(turn, request.url, result, shard)
    shard.errands.done(turn.side_request, result)


def _write(turn: FetchRobots | FetchSide, url: str, result: FetchResult, shard: Shard) -> None:
    """Archive the exchange and let the pace know of it."""
    if result.exchange is not None:
        shard.archive.append(url, result.exchange)
    shard.answered(turn.queue, result, now_us=to_us(shard.around.clock.now()))


__all__ = ["RobotsRules", "fetch_robots", "fetch_side"]


MOST_GATES = 2000


class RobotsCache:
    """The gates that were asked for lately; a changed record is compiled anew."""

    def __init__(self, agent: str, *, allow_private: bool = False) -> None:
        self._agent = agent
        self._allow_private = allow_private
        self._held: dict[str, tuple[RobotsRecord, RobotsRules]] = {}

    def of(self, site: Site) -> RobotsRules | None:
        """What the site's robots.txt says; None: it was not read yet."""
        record = site.robots
        if record is None or (record.policy == "private" and self._allow_private):
            return None
        held = self._held.get(site.name)
        if held is not None and held[0] == record:
            return held[1]
        gate = compile_robots(record, agent=self._agent)
        if len(self._held) >= MOST_GATES:
            self._held.pop(next(iter(self._held)))
        self._held[site.name] = (record, gate)
        return gate


class SideRequests:
    """Errands under way, of all shards of one process; each is run by the shard that owns its site."""

    def __init__(self, send: Callable[[SideRequest], Awaitable[None]]) -> None:
        self._send = send
        self._next_token = 0
        self._requests: dict[int, Request] = {}
        self._answers: dict[int, asyncio.Future[FetchResult]] = {}

    async def run(self, request: Request) -> FetchResult:
        """The answer to a request, once the site's pace has allowed it."""
        token = self._next_token
        self._next_token += 1
        answer: asyncio.Future[FetchResult] = asyncio.get_running_loop().create_future()
        self._requests[token] = request
        self._answers[token] = answer
        try:
            await self._send(SideRequest(request.url, token))
            return await answer
        finally:
            self._requests.pop(token, None)
            self._answers.pop(token, None)

    def request_of(self, errand: SideRequest) -> Request:
        """What the errand asks for."""
        return self._requests.get(errand.token, Request(errand.url))

    def done(self, errand: SideRequest, result: FetchResult) -> None:
        """Hand the answer to whoever waits for it."""
        answer = self._answers.get(errand.token)
        if answer is not None and not answer.done():
            answer.set_result(result)
