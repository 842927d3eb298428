"""A batch as home reads it: every answer rebuilt and checked before anything of it is written."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from datetime import datetime, timedelta

from evercrawl.core.moment import to_us
from evercrawl.core.patch import patch
from evercrawl.model.fetch import Exchange, Failed, Fault, Fetched, FetchResult, Request
from evercrawl.model.settings import HttpSettings
from evercrawl.outpost.home_book import StoredResult
from evercrawl.outpost.post import FetchDirectly
from evercrawl.outpost.protocol.answer import SharedExchange, decode_exchange, decode_result, join_exchange
from evercrawl.outpost.protocol.compare import ResultKind, wire_digest
from evercrawl.outpost.protocol.message import JobResult, ResultBatch, encode_message

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
        blob = patch(plain, b"", level=KEEP_LEVEL)
        item = item._replace(verdict=ResultKind.CHANGED, digest=wire_digest(exchange.wire_body), base=b"", blob=blob)
    return encode_message(ResultBatch(0, (item,)))
