"""Requests that one site's robots.txt causes at another site (or again at the same): they wait for that
site's pace.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from evercrawl.core.lane import Errand
from evercrawl.model.fetch import FetchResult, Request


class Errands:
    """Errands under way, of all shards of one process; each is run by the shard that owns its site."""

    def __init__(self, send: Callable[[Errand], Awaitable[None]]) -> None:
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
            await self._send(Errand(request.url, token))
            return await answer
        finally:
            self._requests.pop(token, None)
            self._answers.pop(token, None)

    def request_of(self, errand: Errand) -> Request:
        """What the errand asks for."""
        return self._requests.get(errand.token, Request(errand.url))

    def done(self, errand: Errand, result: FetchResult) -> None:
        """Hand the answer to whoever waits for it."""
        answer = self._answers.get(errand.token)
        if answer is not None and not answer.done():
            answer.set_result(result)
