"""A worker's side: the neighbours of its crawl are reached through the process that started it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from evercrawl.cluster.workers.counts import SharedCounts
from evercrawl.cluster.workers.message import (
    Adopted,
    Answer,
    Ask,
    Bring,
    Confirm,
    Offer,
    Over,
    Quiet,
    Reborn,
    Stop,
    next_message,
)
from evercrawl.engine.crawl import Crawl
from evercrawl.engine.runtime import Ended, StopSignal
from evercrawl.model.fetch import FetchResult, Request
from evercrawl.model.page import Candidate, LinkBatch


class Link:
    """Implements `Neighbours`."""

    def __init__(self, number: int, workers: int, *, counts: SharedCounts, send: Callable[[object], None]) -> None:
        self._number = number
        self._workers = workers
        self._counts = counts
        self._send = send
        self._heard = 0
        self._is_over = False
        self._said: Quiet | None = None
        self._next_token = 0
        self._answers: dict[int, asyncio.Future[FetchResult]] = {}

    def owns(self, shard: int) -> bool:
        return shard % self._workers == self._number

    def is_first(self) -> bool:
        return self._number == 0

    def may_ask(self) -> bool:
        return True

    def bring(self, parcel: LinkBatch) -> None:
        self._send(Bring(parcel))

    def fetches(self) -> bool:
        return False

    def confirm(self, source: int, target: int, seq: int) -> None:
        self._send(Confirm(source, target, seq))

    def offer(self, candidate: Candidate, shard: int) -> None:
        self._send(Offer(candidate, shard))

    def adopted(self, seed: str, target: str) -> None:
        self._send(Adopted(seed, target))

    def spent(self, visits: int, wire_bytes: int) -> tuple[int, int]:
        return self._counts.spent(visits, wire_bytes)

    def agree(self, ended: Ended) -> bool:
        """Everybody rests when all have said so after the last message that was passed on to them."""
        quiet = Quiet(ended, self._heard)
        if not self._is_over and quiet != self._said:
            self._said = quiet
            self._send(quiet)
        return self._is_over

    async def ask(self, request: Request, shard: int) -> FetchResult:
        token = self._next_token
        self._next_token += 1
        answer: asyncio.Future[FetchResult] = asyncio.get_running_loop().create_future()
        self._answers[token] = answer
        self._send(Ask(request, shard, self._number, token))
        try:
            return await answer
        finally:
            del self._answers[token]

    async def listen(self, reader: asyncio.StreamReader, crawl: Crawl, stop: StopSignal) -> None:
        """Do what others ask for, until they are gone; then the run ends, for nobody holds it together."""
        while (message := await next_message(reader)) is not None:
            match message:
                case Over():
                    self._is_over = True
                case Stop(stage=stage):
                    stop.finish() if stage == 1 else stop.cancel()
                case Reborn(number=number):
                    crawl.post.begin_soon(crawl.post.bring_again(lambda shard: shard % self._workers == number))
                case _:
                    self._heard += 1
                    self._take(message, crawl)
            crawl.wake()
        stop.cancel()

    def _take(self, message: object, crawl: Crawl) -> None:
        match message:
            case Bring(parcel=parcel):
                crawl.post.bring(parcel)
            case Confirm(source=source, target=target, seq=seq):
                crawl.post.confirmed(source, target, seq)
            case Offer(candidate=candidate):
                crawl.post.begin_soon(crawl.offering.offer(candidate))
            case Adopted(seed=seed, target=target):
                crawl.scope.adopt(seed, target)
            case Ask():
                crawl.post.begin_soon(self._run(message, crawl))
            case Answer(token=token, result=result):
                waiting = self._answers.get(token)
                if waiting is not None and not waiting.done():
                    waiting.set_result(result)

    async def _run(self, asked: Ask, crawl: Crawl) -> None:
        result = await crawl.answer(asked.request)
        self._send(Answer(result, asked.sender, asked.token))
