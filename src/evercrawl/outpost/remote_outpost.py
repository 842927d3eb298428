"""One outpost as home sees it: its lease, its queue, and what it was asked for."""

from __future__ import annotations

import asyncio
import zlib
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from evercrawl.core.document.compression import make_patch
from evercrawl.model.fetch import Exchange, Failed, Fault, Fetched, FetchResult, Request
from evercrawl.model.settings import HttpSettings
from evercrawl.model.time import to_us
from evercrawl.outpost.answers import SharedExchange, decode_exchange, decode_result, join_exchange, wire_digest
from evercrawl.outpost.channel import SecureChannel
from evercrawl.outpost.coordinator_state import OutpostRow, StoredResult
from evercrawl.outpost.messages import MOST_JOBS, JobResult, ResultBatch, ResultKind, encode_message
from evercrawl.outpost.routing import GrantedLease

MAX_ABANDONED = 4096
"""Jobs that were handed out and whose asker has gone; their results are still welcome."""


class FetchDirectly(NamedTuple):
    """The crawler has to ask itself, when the site has had its rest."""

    rest_us: int = 0


@dataclass(eq=False)
class PendingFetch:
    """One fetch of the engine that waits for an outpost."""

    number: int
    request: Request
    answer: asyncio.Future[FetchResult | FetchDirectly]


@dataclass(eq=False)
class RemoteOutpost:
    """Home's side of one outpost.

    Invariant: an ask stands in `waiting` (first come, first served) or in `given`, never in both.
    """

    row: OutpostRow
    grant: GrantedLease
    taken: int
    link: SecureChannel | None = None
    is_ready: bool = False
    room: int = 0
    waiting: deque[PendingFetch] = field(default_factory=deque)
    given: dict[int, PendingFetch] = field(default_factory=dict)
    handed_out: dict[int, Request] = field(default_factory=dict)
    more: asyncio.Event = field(default_factory=asyncio.Event)
    counted: tuple[int, int] = (0, 0)
    """Bytes of the present link that are counted already."""

    def add(self, ask: PendingFetch) -> None:
        """Line up."""
        self.waiting.append(ask)
        self.more.set()

    def remove(self, ask: PendingFetch) -> None:
        """Nobody waits for this any more."""
        if self.given.pop(ask.number, None) is None and ask in self.waiting:
            self.waiting.remove(ask)

    def next_asks(self) -> list[PendingFetch]:
        """As many as the outpost has room for, in order; they count as given."""
        chosen: list[PendingFetch] = []
        while self.is_ready and self.waiting and len(self.given) < min(self.room, MOST_JOBS):
            ask = self.waiting.popleft()
            self.given[ask.number] = ask
            self._remember(ask)
            chosen.append(ask)
        return chosen

    def _remember(self, ask: PendingFetch) -> None:
        self.handed_out[ask.number] = ask.request
        if len(self.handed_out) > MAX_ABANDONED:
            self.handed_out.pop(next(iter(self.handed_out)))

    def came_up(self, link: SecureChannel) -> None:
        """The outpost has proved itself on a new connection; an older one is closed."""
        if self.link is not None:
            self.link.close()
        self.link, self.is_ready, self.counted = link, False, (0, 0)

    def became_ready(self, running: tuple[int, ...], room: int) -> None:
        """What was given and is neither delivered nor under way is given again, in the old order."""
        lost = sorted(number for number in self.given if number not in running)
        for number in reversed(lost):
            self.waiting.appendleft(self.given.pop(number))
        self.is_ready, self.room = True, room
        self.more.set()

    def went_down(self, link: SecureChannel) -> None:
        """A connection ended."""
        if self.link is link:
            self.link, self.is_ready = None, False

    def uncounted(self) -> dict[str, int]:
        """Bytes of the link since the last call."""
        if self.link is None:
            return {}
        now = self.link.bytes_in, self.link.bytes_out
        new = {"bytes_in": now[0] - self.counted[0], "bytes_out": now[1] - self.counted[1]}
        self.counted = now
        return new


GZIP_LEVEL = 6
KEEP_LEVEL = 3
_COUNTED_AS = {
    ResultKind.SAME: "same",
    ResultKind.CHANGED: "changed",
    ResultKind.WITHHELD: "withheld",
    ResultKind.NOT_MINE: "not_mine",
}

RequestOf = Callable[[JobResult], tuple[int | None, Request] | None]
"""The job's number in this run of home (None: of an earlier one) and its request; None: not its own."""


class BatchDecoder:
    """One batch. What is damaged, or not of the outpost's sites, is counted and has no effect."""

    def __init__(
        self,
        now: datetime,
        http: HttpSettings,
        *,
        request_of: RequestOf,
        held_of: Callable[[str], SharedExchange | None],
    ) -> None:
        self._now = now
        self._http = http
        self._request_of = request_of
        self._held_of = held_of
        self.intake: list[StoredResult] = []
        self.held: dict[str, SharedExchange] = {}
        self.counts: dict[str, int] = {}
        self.results: list[tuple[int | None, str, FetchResult | FetchDirectly]] = []
        """Number of the job, URL, result."""

    def add(self, item: JobResult) -> None:
        """Rebuild one item."""
        asked = self._request_of(item)
        if asked is None:
            self._count("refused", 1)
            return
        number, request = asked
        began = self._now - timedelta(microseconds=item.age_us)
        try:
            exchange, new = self._exchange(item, request.url, began)
        except ValueError as error:
            self._count("refused", 1)
            failed = Failed(request.url, Fault.INCOMPLETE, f"from an outpost: {error}", timedelta(0))
            self.results.append((number, request.url, failed))
            return
        self._count_item(item, exchange)
        if item.verdict is ResultKind.NOT_MINE:
            self.results.append((number, request.url, FetchDirectly(item.took_us)))
            return
        result = decode_result(item, request, exchange, http=self._http)
        if new is not None and is_whole(result):
            self.held[request.url] = new
        stored = _self_contained(item, exchange)
        self.intake.append(StoredResult(request.url, to_us(self._now), to_us(began), stored))
        self.results.append((number, request.url, result))

    def _exchange(self, item: JobResult, url: str, began: datetime) -> tuple[Exchange | None, SharedExchange | None]:
        if not item.blob:
            return None, None
        held = self.held.get(url) or self._held_of(url)
        return decode_exchange(item, held, began=began, most_bytes=max_exchange_bytes(self._http))

    def _count_item(self, item: JobResult, exchange: Exchange | None) -> None:
        was_asked = exchange is not None or item.fault is not None or bool(item.digest)
        self._count("requests", int(was_asked))
        self._count(_COUNTED_AS.get(item.verdict) or ("failed" if item.fault else "whole"), 1)
        if exchange is not None:
            heads = len(exchange.request_head) + len(exchange.response_head)
            self._count("bytes_plain", heads + len(exchange.wire_body))
            self._count("bytes_plain_gzip", heads + len(zlib.compress(exchange.wire_body, GZIP_LEVEL)))

    def _count(self, name: str, value: int) -> None:
        self.counts[name] = self.counts.get(name, 0) + value


def is_whole(result: FetchResult) -> bool:
    """Both sides hold whole answers only."""
    return isinstance(result, Fetched) and result.truncated is None


def max_exchange_bytes(http: HttpSettings) -> int:
    """No exchange is longer."""
    return http.wire_bytes + 2 * http.header_bytes


def _self_contained(item: JobResult, exchange: Exchange | None) -> bytes:
    """The item so that it can be read without what was held before."""
    if exchange is not None:
        plain = join_exchange(exchange.request_head, exchange.response_head, exchange.wire_body)
        blob = make_patch(plain, b"", level=KEEP_LEVEL)
        item = item._replace(verdict=ResultKind.CHANGED, digest=wire_digest(exchange.wire_body), base=b"", blob=blob)
    return encode_message(ResultBatch(0, (item,)))
