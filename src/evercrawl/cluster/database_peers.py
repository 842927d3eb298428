"""Exchange links, requests and results between workers through a shared database."""

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
REMOTE_FETCH_TIMEOUT_S = 300.0  # How long to wait for the result of another worker's site.


_ALLOWED = frozenset({("datetime", name) for name in ("datetime", "timedelta", "timezone")})


class DatabasePeers:
    """Implements `Peers`. Links stay in the sender's outbox until the receiver confirms them; both sides poll once a
    second."""

    def __init__(self, membership: Membership) -> None:
        self.owned: set[int] = set()
        self.idle: Ended | None = None
        self._membership = membership
        self._queries = membership.queries
        self._is_over = False
        self._idle_checks = 0
        self._visits = self._bytes = 0
        self._spent_elsewhere = (0, 0)
        self._received: dict[tuple[int, int], int] = {}
        self._pending: dict[UUID, asyncio.Future[FetchResult]] = {}
        self._running: set[UUID] = set()
        self._offers: list[tuple[Candidate, int]] = []
        self._moved_seeds: list[tuple[str, str]] = []
        self._last_moved_seed = 0

    def owns(self, shard: int) -> bool:
        return shard in self.owned

    def is_first(self) -> bool:
        return 0 in self.owned

    def may_fetch(self) -> bool:
        return self._membership.holds()

    def send_links(self, batch: LinkBatch) -> None:
        """Do nothing: the receiver reads the links from the outbox."""

    def polls_outbox(self) -> bool:
        return True

    def confirm_links(self, source: int, target: int, seq: int) -> None:
        """Do nothing: the confirmation is committed with the links."""

    def offer_url(self, candidate: Candidate, shard: int) -> None:
        self._offers.append((candidate, shard))

    def report_moved_seed(self, seed: str, target: str) -> None:
        self._moved_seeds.append((seed, target))

    def report_spent(self, visits: int, wire_bytes: int) -> tuple[int, int]:
        self._visits, self._bytes = visits, wire_bytes
        return visits + self._spent_elsewhere[0], wire_bytes + self._spent_elsewhere[1]

    def report_idle(self, ended: Ended) -> bool:
        self.idle = ended
        return self._is_over

    async def fetch_remotely(self, request: Request, shard: int) -> FetchResult:
        number = uuid4()
        self._pending[number] = answer = asyncio.get_running_loop().create_future()
        try:
            await self._queries.rows("send_request", id=number, shard_number=shard, request=dump_value(request))
            async with asyncio.timeout(REMOTE_FETCH_TIMEOUT_S):
                result: FetchResult = await answer
                return result
        except TimeoutError:
            detail = "the worker that owns the site did not answer"
            return Failed(request.url, Fault.INTERNAL, detail, timedelta(seconds=REMOTE_FETCH_TIMEOUT_S))
        finally:
            del self._pending[number]

    async def send_heartbeat(self, crawl: Crawl) -> None:
        """Renew the lease, report this worker's totals and read those of the others."""
        if crawl.end_if_quiet() is None:  # Also while pages wait for their turn, so that nobody else ends the run.
            self.idle, self._idle_checks, self._is_over = None, 0, False
        await self._membership.renew(
            quiet=None if self.idle is None else self.idle.value, visits=self._visits, wire_bytes=self._bytes
        )
        self._spent_elsewhere = await self._membership.spent_by_others()

    async def exchange_messages(self, crawl: Crawl) -> None:
        """Process messages from other workers and check whether all of them are idle."""
        await self._send(crawl)
        await self._receive_links(crawl)
        await self._receive_confirmations(crawl)
        await self._run_remote_fetches(crawl)
        await self._receive_results()
        await self._receive_moved_seeds(crawl)
        if self.idle is not None and await self._membership.is_finished():
            self._idle_checks += 1
            # Require two idle checks in a row: the second sees work that started during the first.
            self._is_over = self._idle_checks > 1
            crawl.wake()

    async def _send(self, crawl: Crawl) -> None:
        offered, self._offers = self._offers, []
        for candidate, shard in offered:
            crawl.forward_url(candidate, shard)
        moved, self._moved_seeds = self._moved_seeds, []
        for seed, target in moved:
            await self._queries.rows("add_moved_seed", seed=seed, target=target)

    async def _receive_links(self, crawl: Crawl) -> None:
        for row in await self._queries.rows("incoming_links", shards=list(self.owned), most=MAX_BATCHES):
            batch = LinkBatch(*row)
            route = (batch.source, batch.target)
            if batch.seq > self._received.get(route, 0) and batch.target in self.owned:
                self._received[route] = batch.seq
                crawl.router.receive(batch)

    async def _receive_confirmations(self, crawl: Crawl) -> None:
        for source, target, seq in await self._queries.rows("received_links", shards=list(self.owned)):
            crawl.router.drop_confirmed(source, target, seq)

    async def _run_remote_fetches(self, crawl: Crawl) -> None:
        for number, request in await self._queries.rows("open_requests", shards=list(self.owned)):
            if number not in self._running:
                self._running.add(number)
                crawl.router.start(self._run(number, load_value(request), crawl))

    async def _run(self, number: UUID, request: Request, crawl: Crawl) -> None:
        result = await crawl.fetch_for_peer(request)
        await self._queries.rows("answer_request", id=number, answer=dump_value(result))

    async def _receive_results(self) -> None:
        if not self._pending:
            return
        found = await self._queries.rows("answered_requests", ids=list(self._pending))
        for number, answer in found:
            pending = self._pending.get(number)
            if pending is not None and not pending.done():
                pending.set_result(load_value(answer))
        await self._queries.rows("delete_requests", ids=[number for number, _ in found])

    async def _receive_moved_seeds(self, crawl: Crawl) -> None:
        for number, seed, target in await self._queries.rows("moved_seeds", after=self._last_moved_seed):
            self._last_moved_seed = number
            crawl.scope.add_moved_seed(seed, target)

    def release_shard(self, shard: int) -> None:
        """Stop owning a shard."""
        self.owned.discard(shard)
        self._received = {route: seq for route, seq in self._received.items() if route[1] != shard}


class _ModelUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if module.startswith("evercrawl.model.") or (module, name) in _ALLOWED:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} may not be loaded")


def dump_value(value: object) -> bytes:
    """Serialise a model value."""
    return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)


def load_value(stored: bytes) -> Any:
    """Deserialise a model value; raise ValueError for anything else, so that the database cannot run code here."""
    try:
        return _ModelUnpickler(io.BytesIO(stored)).load()
    except (pickle.UnpicklingError, EOFError, AttributeError, TypeError, IndexError) as error:
        raise ValueError(f"not a valid stored value: {error}") from error
