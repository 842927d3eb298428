"""Compare, encode and decode answers.
An answer travels as a patch of the raw exchange against the one that the coordinator holds, which parses it as its own.
Outposts send new content immediately (B11) and withhold pages that change at every visit (B12)."""

from __future__ import annotations

from datetime import datetime, timedelta
from hashlib import blake2b
from typing import NamedTuple

from evercrawl.core.document.compression import apply_patch, make_patch
from evercrawl.core.http.content_coding import DecodeLimits
from evercrawl.core.http.http1 import BadResponse, ReadLimits, parse_response_head
from evercrawl.core.http.message import RawResponse, fetch_result
from evercrawl.model.fetch import Exchange, Failed, Fault, Fetched, FetchResult, Request, Truncation
from evercrawl.model.settings import HttpSettings
from evercrawl.outpost.messages import (
    DIGEST_BYTES,
    EXCHANGE_DIGEST_BYTES,
    LEVEL,
    MAX_DETAIL_CHARS,
    FetchJob,
    JobResult,
    ResultKind,
)

_LENGTHS = 8
LARGE_BYTES, LARGE_LEVEL = 256 * 1024, 3
WITHHELD_DETAIL = "changes at every visit; the outpost will send it again later"
FAST_CHANGES = 5  # Consecutive visits with a change after which a page counts as changing faster than it is visited.


class SharedExchange(NamedTuple):
    """An exchange that both sides hold: the digest of its body, and its bytes as `join_exchange` returns them."""

    digest: bytes
    data: bytes

    @property
    def exchange_digest(self) -> bytes:
        """Identify the exchange, heads included; a patch names its base by this digest."""
        return blake2b(self.data, digest_size=EXCHANGE_DIGEST_BYTES).digest()


def join_exchange(request_head: bytes, response_head: bytes, body: bytes) -> bytes:
    """Return an exchange as one byte string."""
    lengths = len(request_head).to_bytes(4, "big") + len(response_head).to_bytes(4, "big")
    return lengths + request_head + response_head + body


def split_exchange(data: bytes) -> tuple[bytes, bytes, bytes]:
    """Return request head, response head and body; raise ValueError if the lengths do not fit."""
    request_head, response_head = int.from_bytes(data[:4], "big"), int.from_bytes(data[4:_LENGTHS], "big")
    end = _LENGTHS + request_head + response_head
    if len(data) < end:
        raise ValueError("the exchange is truncated")
    return data[_LENGTHS : _LENGTHS + request_head], data[_LENGTHS + request_head : end], data[end:]


def failure_result(job: FetchJob, failed: Failed) -> JobResult:
    """Return the result of a request that got no response."""
    took_us = failed.took // timedelta(microseconds=1)
    detail = failed.detail[:MAX_DETAIL_CHARS]
    return JobResult(job.number, ResultKind.FIRST, b"", b"", b"", took_us, took_us, fault=failed.fault, detail=detail)


def unfetched_result(job: FetchJob, kind: ResultKind, detail: str, *, delay_us: int = 0) -> JobResult:
    """Return the result of a job without an answer. `delay_us`: how long to leave a site alone that was contacted."""
    return JobResult(job.number, kind, b"", b"", b"", delay_us, 0, detail=detail[:MAX_DETAIL_CHARS])


def encode_answer(
    job: FetchJob, result: FetchResult, exchange: Exchange, *, kind: ResultKind, shared: SharedExchange | None
) -> JobResult:
    """Encode an answer as a patch against `shared` if the coordinator holds the same exchange."""
    base = shared if shared is not None and job.base is not None and shared.exchange_digest == job.base else None
    is_withheld = kind is ResultKind.WITHHELD
    is_sent = kind in (ResultKind.FIRST, ResultKind.CHANGED)
    plain = join_exchange(exchange.request_head, exchange.response_head, exchange.wire_body if is_sent else b"")
    failed = result if isinstance(result, Failed) else None
    took_us = exchange.took // timedelta(microseconds=1)
    return JobResult(
        job.number,
        kind,
        b"" if kind is ResultKind.SAME else wire_digest(exchange.wire_body),
        b"" if is_withheld else make_patch(plain, base.data if base is not None else b"", level=_level(plain)),
        base.exchange_digest if base is not None and not is_withheld else b"",
        took_us,
        took_us,
        exchange.ip,
        isinstance(result, Fetched) and result.truncated is Truncation.WIRE,
        failed.fault if failed is not None else None,
        failed.detail[:MAX_DETAIL_CHARS] if failed is not None else "",
    )


def _level(plain: bytes) -> int:
    """Use a faster level for large bodies, where zstd's tables would need too much memory."""
    return LEVEL if len(plain) <= LARGE_BYTES else LARGE_LEVEL


def decode_exchange(
    item: JobResult, shared: SharedExchange | None, *, began: datetime, max_bytes: int
) -> tuple[Exchange, SharedExchange]:
    """Restore an exchange and return it with the copy to hold from now on; raise ValueError if it is damaged."""
    if item.base and (shared is None or shared.exchange_digest != item.base):
        raise ValueError("the patch builds on an exchange that the coordinator does not hold")
    base = shared.data if item.base and shared is not None else b""
    request_head, response_head, body = split_exchange(apply_patch(item.blob, base, most_bytes=max_bytes))
    digest = item.digest
    if item.kind is ResultKind.SAME:
        if shared is None:
            raise ValueError("the result repeats an exchange that the coordinator does not hold")
        body, digest = split_exchange(shared.data)[2], shared.digest
    if wire_digest(body) != digest:
        raise ValueError("the body does not match its digest")
    exchange = Exchange(request_head, response_head, body, item.ip, began, timedelta(microseconds=item.took_us))
    return exchange, SharedExchange(digest, join_exchange(request_head, response_head, body))


def decode_result(item: JobResult, request: Request, exchange: Exchange | None, *, http: HttpSettings) -> FetchResult:
    """Return the fetch result as if the coordinator had made the request."""
    took = timedelta(microseconds=item.took_us)
    if item.kind is ResultKind.WITHHELD:
        return Failed(request.url, Fault.WITHHELD, item.detail or WITHHELD_DETAIL, took)
    if exchange is None:
        return Failed(request.url, item.fault or Fault.INTERNAL, item.detail, took)
    header_limits = http.max_header_bytes, http.max_headers
    try:
        head = parse_response_head(exchange.response_head, ReadLimits(*header_limits, http.max_wire_bytes))
    except BadResponse as error:
        return Failed(request.url, error.fault, error.detail, took)
    if item.fault is not None:
        return Failed(request.url, item.fault, item.detail, took, head.status, head.headers, exchange)
    limit = http.max_decoded_bytes if request.body_limit is None else min(request.body_limit, http.max_decoded_bytes)
    answer = RawResponse(head, exchange, is_cut=item.is_cut)
    return fetch_result(request, answer, limits=DecodeLimits(limit, http.max_compression_ratio))


class ChangeHistory(NamedTuple):
    """What an outpost remembers about the visits of a page."""

    digest: bytes | None = None  # Digest of the last answer.
    run: int = 0  # Consecutive visits that found a change.
    sent_us: int = 0  # When the page was last sent.


def wire_digest(body: bytes) -> bytes:
    """Return the digest of a body as received."""
    return blake2b(body, digest_size=DIGEST_BYTES).digest()


def classify_answer(
    digest: bytes, *, known_digest: bytes | None, history: ChangeHistory, now_us: int, resend_us: int | None
) -> ResultKind:
    """Decide what to do with an answer. Without `resend_us`, every change is sent."""
    if known_digest is None:
        return ResultKind.FIRST
    if digest == known_digest:
        return ResultKind.SAME
    is_fast = next_history(history, digest, now_us=now_us, sent=False).run >= FAST_CHANGES
    if resend_us is not None and is_fast and now_us - history.sent_us < resend_us:
        return ResultKind.WITHHELD
    return ResultKind.CHANGED


def next_history(history: ChangeHistory, digest: bytes, *, now_us: int, sent: bool) -> ChangeHistory:
    """Return the history after a visit; the first visit is not a change."""
    is_new = history.digest is not None and digest != history.digest
    return ChangeHistory(digest, history.run + 1 if is_new else 0, now_us if sent else history.sent_us)
