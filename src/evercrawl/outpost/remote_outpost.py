"""One outpost as the coordinator sees it: its lease, its queue and the batches it sends."""

from __future__ import annotations

import asyncio
import zlib
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from evercrawl.core.document.compression import make_patch
from evercrawl.model.fetch import Exchange, Failed, Fault, Fetched, FetchResult, Request
from evercrawl.model.settings import HttpSettings
from evercrawl.model.time import from_us, to_us
from evercrawl.outpost.answers import SharedExchange, decode_exchange, decode_result, join_exchange, wire_digest
from evercrawl.outpost.channel import SecureChannel
from evercrawl.outpost.coordinator_state import OutpostRow, StoredResult
from evercrawl.outpost.messages import (
    MAX_JOBS,
    MAX_RESULTS,
    MAX_WIRE_BYTES,
    JobResult,
    ResultBatch,
    ResultKind,
    encode_message,
)
from evercrawl.outpost.routing import GrantedLease

MAX_ABANDONED = 4096  # Requests to remember after their caller has gone; their results are still stored.
MAX_BATCH_PLAIN_BYTES = 2 * MAX_RESULTS * MAX_WIRE_BYTES  # Received and decoded bodies of one batch.
GZIP_LEVEL = 6
KEEP_LEVEL = 3
_COUNTED_AS = {
    ResultKind.SAME: "same",
    ResultKind.CHANGED: "changed",
    ResultKind.WITHHELD: "withheld",
    ResultKind.DECLINED: "declined",
}


class SentRequest(NamedTuple):
    """A request that an outpost was told to make, and when."""

    request: Request
    at_us: int
    number: int | None = None  # The job in this run; None: one of an earlier run.


RequestOf = Callable[[JobResult], SentRequest | None]  # None: the result is not one of the outpost's jobs.


class FetchDirectly(NamedTuple):
    """The crawler has to fetch the page itself after `delay_us`."""

    delay_us: int = 0


@dataclass(eq=False)
class PendingFetch:
    """A fetch of the engine that waits for an outpost."""

    number: int
    request: Request
    future: asyncio.Future[FetchResult | FetchDirectly]


@dataclass(eq=False)
class RemoteOutpost:
    """The coordinator's state of one outpost.
    Invariant: a pending fetch is either in `queue` (first in, first out) or in `assigned`."""

    row: OutpostRow
    lease: GrantedLease
    acknowledged: int
    channel: SecureChannel | None = None
    is_ready: bool = False
    capacity: int = 0
    queue: deque[PendingFetch] = field(default_factory=deque)
    assigned: dict[int, PendingFetch] = field(default_factory=dict)
    sent_requests: dict[int, SentRequest] = field(default_factory=dict)
    has_work: asyncio.Event = field(default_factory=asyncio.Event)
    earliest_us: int = 0  # When a result of an earlier run can have begun.
    reported: tuple[int, int] = (0, 0)  # Bytes received and sent on this channel that are already counted.

    def add(self, pending: PendingFetch) -> None:
        """Queue a fetch."""
        self.queue.append(pending)
        self.has_work.set()

    def remove(self, pending: PendingFetch) -> None:
        """Drop a fetch that nobody waits for."""
        if self.assigned.pop(pending.number, None) is None and pending in self.queue:
            self.queue.remove(pending)

    def next_fetches(self, now_us: int) -> list[PendingFetch]:
        """Assign as many queued fetches as the outpost has capacity for."""
        chosen: list[PendingFetch] = []
        while self.is_ready and self.queue and len(self.assigned) < min(self.capacity, MAX_JOBS):
            pending = self.queue.popleft()
            self.assigned[pending.number] = pending
            self.sent_requests.setdefault(pending.number, SentRequest(pending.request, now_us, pending.number))
            if len(self.sent_requests) > MAX_ABANDONED:
                self.sent_requests.pop(next(iter(self.sent_requests)))
            chosen.append(pending)
        return chosen

    def attach(self, channel: SecureChannel) -> None:
        """Use a new authenticated connection and close an older one."""
        if self.channel is not None:
            self.channel.close()
        self.channel, self.is_ready, self.reported = channel, False, (0, 0)

    def mark_ready(self, running: tuple[int, ...], capacity: int) -> None:
        """Requeue assigned fetches that the outpost no longer runs, in their old order."""
        lost = sorted(number for number in self.assigned if number not in running)
        for number in reversed(lost):
            self.queue.appendleft(self.assigned.pop(number))
        self.is_ready, self.capacity = True, capacity
        self.has_work.set()

    def detach(self, channel: SecureChannel) -> None:
        """Forget a closed connection."""
        if self.channel is channel:
            self.channel, self.is_ready = None, False

    def new_traffic(self) -> dict[str, int]:
        """Return the bytes received and sent since the last call."""
        if self.channel is None:
            return {}
        now = self.channel.bytes_in, self.channel.bytes_out
        new = {"bytes_in": now[0] - self.reported[0], "bytes_out": now[1] - self.reported[1]}
        self.reported = now
        return new


class BatchDecoder:
    """Decode one batch. Results that are damaged or for other sites are counted and otherwise ignored."""

    def __init__(
        self,
        now: datetime,
        http: HttpSettings,
        *,
        request_of: RequestOf,
        exchange_of: Callable[[str], SharedExchange | None],
    ) -> None:
        self._now = now
        self._http = http
        self._request_of = request_of
        self._exchange_of = exchange_of
        self._room = MAX_BATCH_PLAIN_BYTES
        self.stored: list[StoredResult] = []
        self.exchanges: dict[str, SharedExchange] = {}
        self.counts: dict[str, int] = {}
        self.results: list[tuple[int | None, str, FetchResult | FetchDirectly]] = []
        """Job number, URL and result."""

    def add(self, item: JobResult) -> None:
        """Decode one result."""
        known = self._request_of(item)
        if known is None:
            self._count("refused", 1)
            return
        request, sent_us, number = known
        # A job cannot have begun before it was sent, whatever the outpost says.
        began = max(self._now - timedelta(microseconds=item.age_us), from_us(sent_us))
        if item.kind is not ResultKind.DECLINED:  # There it is a delay to come.
            item = item._replace(took_us=min(item.took_us, to_us(self._now) - to_us(began)))
        try:
            if self._room <= 0:
                raise ValueError("the batch is too large")
            exchange, new = self._exchange(item, request.url, began)
        except ValueError as error:
            self._count("refused", 1)
            failed = Failed(request.url, Fault.INCOMPLETE, f"from an outpost: {error}", timedelta(0))
            self.results.append((number, request.url, failed))
            return
        self._count_item(item, exchange)
        if item.kind is ResultKind.DECLINED:
            self.results.append((number, request.url, FetchDirectly(item.took_us)))
            return
        result = self._decode(item, request, exchange)
        if new is not None and is_whole(result):
            self.exchanges[request.url] = new
        stored = _self_contained(item, exchange)
        self.stored.append(StoredResult(request.url, to_us(self._now), to_us(began), stored))
        self.results.append((number, request.url, result))

    def _decode(self, item: JobResult, request: Request, exchange: Exchange | None) -> FetchResult:
        """Return the result; what all results of the batch decode to is limited."""
        self._room -= 0 if exchange is None else len(exchange.response_head) + len(exchange.wire_body)
        most = max(1, min(self._room, self._http.max_decoded_bytes))
        result = decode_result(item, request, exchange, http=replace(self._http, max_decoded_bytes=most))
        self._room -= len(result.body) if isinstance(result, Fetched) else 0
        return result

    def _exchange(self, item: JobResult, url: str, began: datetime) -> tuple[Exchange | None, SharedExchange | None]:
        if not item.blob:
            return None, None
        shared = self.exchanges.get(url) or self._exchange_of(url)
        return decode_exchange(item, shared, began=began, max_bytes=max_exchange_bytes(self._http))

    def _count_item(self, item: JobResult, exchange: Exchange | None) -> None:
        was_asked = exchange is not None or item.fault is not None or bool(item.digest)
        self._count("requests", int(was_asked))
        self._count(_COUNTED_AS.get(item.kind) or ("failed" if item.fault else "whole"), 1)
        if exchange is not None:
            heads = len(exchange.request_head) + len(exchange.response_head)
            self._count("bytes_plain", heads + len(exchange.wire_body))
            self._count("bytes_plain_gzip", heads + len(zlib.compress(exchange.wire_body, GZIP_LEVEL)))

    def _count(self, name: str, value: int) -> None:
        self.counts[name] = self.counts.get(name, 0) + value


def is_whole(result: FetchResult) -> bool:
    """Check whether the answer is complete; both sides hold only complete answers."""
    return isinstance(result, Fetched) and result.truncated is None


def max_exchange_bytes(http: HttpSettings) -> int:
    """Return the size limit of an exchange."""
    return min(http.max_wire_bytes, MAX_WIRE_BYTES) + 2 * http.max_header_bytes


def _self_contained(item: JobResult, exchange: Exchange | None) -> bytes:
    """Encode a result so that it can be read without the exchange it builds on."""
    if exchange is not None:
        plain = join_exchange(exchange.request_head, exchange.response_head, exchange.wire_body)
        blob = make_patch(plain, b"", level=KEEP_LEVEL)
        item = item._replace(kind=ResultKind.CHANGED, digest=wire_digest(exchange.wire_body), base=b"", blob=blob)
    return encode_message(ResultBatch(0, (item,)))
