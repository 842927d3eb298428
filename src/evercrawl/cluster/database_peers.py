"""The neighbours of a crawl whose shards lie in a database: everything goes through it."""

from __future__ import annotations

import asyncio
import io
import pickle
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from evercrawl.adapters.postgres.membership import Membership
from evercrawl.engine.crawl import Crawl
from evercrawl.engine.runtime import Ended
from evercrawl.model.fetch import Failed, Fault, FetchResult, Request
from evercrawl.model.page import Candidate, LinkBatch

MAX_BATCHES = 500
REMOTE_FETCH_TIMEOUT_S = 300.0
"""How long an answer from a site of another worker is waited for."""


_ALLOWED = frozenset({("datetime", name) for name in ("datetime", "timedelta", "timezone")})


class DatabasePeers:
    """Implements `Neighbours`. Links lie in the sender's outbox until the receiver's mark has passed them;
    the owners of both look there once a second.
    """

    def __init__(self, membership: Membership) -> None:
        self.owned: set[int] = set()
        self.quiet: Ended | None = None
        self._membership = membership
        self._is_over = False
        self._rested = 0
        self._visits = self._bytes = 0
        self._elsewhere = (0, 0)
        self._brought: dict[tuple[int, int], int] = {}
        self._waiting: dict[UUID, asyncio.Future[FetchResult]] = {}
        self._running: set[UUID] = set()
        self._to_offer: list[tuple[Candidate, int]] = []
        self._to_adopt: list[tuple[str, str]] = []
        self._adopted_upto = 0

    def owns(self, shard: int) -> bool:
        return shard in self.owned

    def is_first(self) -> bool:
        return 0 in self.owned

    def may_ask(self) -> bool:
        return self._membership.holds()

    def bring(self, parcel: LinkBatch) -> None:
        """It lies in the outbox, where its receiver finds it."""

    def fetches(self) -> bool:
        return True

    def confirm(self, source: int, target: int, seq: int) -> None:
        """The mark that was committed with it says so."""

    def offer(self, candidate: Candidate, shard: int) -> None:
        self._to_offer.append((candidate, shard))

    def adopted(self, seed: str, target: str) -> None:
        self._to_adopt.append((seed, target))

    def spent(self, visits: int, wire_bytes: int) -> tuple[int, int]:
        self._visits, self._bytes = visits, wire_bytes
        return visits + self._elsewhere[0], wire_bytes + self._elsewhere[1]

    def agree(self, ended: Ended) -> bool:
        self.quiet = ended
        return self._is_over

    async def ask(self, request: Request, shard: int) -> FetchResult:
        number = uuid4()
        self._waiting[number] = answer = asyncio.get_running_loop().create_future()
        try:
            await self._membership.rows("ask", number, shard, dump_value(request))
            async with asyncio.timeout(REMOTE_FETCH_TIMEOUT_S):
                result: FetchResult = await answer
                return result
        except TimeoutError:
            waited = "the worker that owns the site did not answer"
            return Failed(request.url, Fault.INTERNAL, waited, timedelta(seconds=REMOTE_FETCH_TIMEOUT_S))
        finally:
            del self._waiting[number]

    async def beat(self, crawl: Crawl) -> None:
        """The heartbeat, with what everybody should know of us, and what we should know of them."""
        is_busy = not crawl.is_quiet()
        if is_busy:
            self.quiet, self._rested = None, 0
        await self._membership.renew(
            quiet=None if self.quiet is None else self.quiet.value, visits=self._visits, wire_bytes=self._bytes
        )
        self._elsewhere = await self._membership.spent_by_others()

    async def look_around(self, crawl: Crawl) -> None:
        """Take in what others have for us, and see whether anybody has anything left to do."""
        await self._send(crawl)
        await self._take_parcels(crawl)
        await self._take_marks(crawl)
        await self._run_errands(crawl)
        await self._take_answers()
        await self._take_adopted(crawl)
        if self.quiet is not None and await self._membership.all_rest():
            self._rested += 1
            # Twice in a row: what a worker had just begun at the first look is seen by the second.
            self._is_over = self._rested > 1
            crawl.wake()

    async def _send(self, crawl: Crawl) -> None:
        offered, self._to_offer = self._to_offer, []
        for candidate, shard in offered:
            crawl.pass_on(candidate, shard)
        moved, self._to_adopt = self._to_adopt, []
        for seed, target in moved:
            await self._membership.rows("adopt", seed, target)

    async def _take_parcels(self, crawl: Crawl) -> None:
        for row in await self._membership.rows("parcels_for", list(self.owned), MAX_BATCHES):
            parcel = LinkBatch(*row)
            way = (parcel.source, parcel.target)
            if parcel.seq > self._brought.get(way, 0) and parcel.target in self.owned:
                self._brought[way] = parcel.seq
                crawl.post.bring(parcel)

    async def _take_marks(self, crawl: Crawl) -> None:
        for source, target, seq in await self._membership.rows("taken_from", list(self.owned)):
            crawl.post.confirmed(source, target, seq)

    async def _run_errands(self, crawl: Crawl) -> None:
        for number, request in await self._membership.rows("errands_for", list(self.owned)):
            if number not in self._running:
                self._running.add(number)
                crawl.post.begin_soon(self._run(number, load_value(request), crawl))

    async def _run(self, number: UUID, request: Request, crawl: Crawl) -> None:
        result = await crawl.answer(request)
        await self._membership.rows("answer", number, dump_value(result))

    async def _take_answers(self) -> None:
        if not self._waiting:
            return
        found = await self._membership.rows("answered", list(self._waiting))
        for number, answer in found:
            waiting = self._waiting.get(number)
            if waiting is not None and not waiting.done():
                waiting.set_result(load_value(answer))
        await self._membership.rows("forget_errands", [number for number, _ in found])

    async def _take_adopted(self, crawl: Crawl) -> None:
        for number, seed, target in await self._membership.rows("adopted_since", self._adopted_upto):
            self._adopted_upto = number
            crawl.scope.add_moved_seed(seed, target)

    def forget(self, shard: int) -> None:
        """The shard is not ours any more."""
        self.owned.discard(shard)
        self._brought = {way: seq for way, seq in self._brought.items() if way[1] != shard}


class _ModelUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if module.startswith("evercrawl.model.") or (module, name) in _ALLOWED:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} is not a value of ours")


def dump_value(value: object) -> bytes:
    """The value as bytes."""
    return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)


def load_value(stored: bytes) -> Any:
    """The value; ValueError where the bytes are none of ours."""
    try:
        return _ModelUnpickler(io.BytesIO(stored)).load()
    except (pickle.UnpicklingError, EOFError, AttributeError, TypeError, IndexError) as error:
        raise ValueError(f"not a stored value: {error}") from error
