"""The messages between coordinator and outposts, and their encoding.
A message is one byte for its type, a table (compressed if that is shorter) and the blobs that the table counts. A table
has one JSON value per line, so that no line is parsed that is longer than a row may be.
Decoding is strict and bounded: invalid input raises NotUnderstood."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import islice
from typing import Any, NamedTuple

from evercrawl.core.document.compression import apply_patch, make_patch
from evercrawl.core.scope.selection import Selection
from evercrawl.model.fetch import NO_CONDITIONS, Fault, ResponseConditions

EXCHANGE_DIGEST_BYTES = 6
MAX_TABLE_BYTES = 4 * 1024 * 1024
MAX_ROW_BYTES = 128 * 1024
MAX_JOBS = 128
MAX_RESULTS = 32
MAX_WIRE_BYTES = 1024 * 1024  # Largest body that an outpost reads. The crawler fetches larger ones itself.
MAX_URL_CHARS = 16_384
MAX_VALIDATOR_CHARS = 1024  # A page with a longer ETag or Last-Modified is fetched without it.
MAX_NUMBER = 2**62
MAX_DETAIL_CHARS = 500
MAX_SPAN_US = 10**15
MAX_PATTERNS = 1000  # Media types in one list.
MAX_ROWS = 2 * MAX_JOBS  # Each job may have its own conditions.
SMALL_TABLE = 96  # Tables shorter than this are not compressed.
LEVEL = 12
_HEAD_BYTES = 6
DIGEST_BYTES = 16


class ResultKind(StrEnum):
    """What the outpost does with an answer."""

    FIRST = "first"  # The coordinator holds nothing to compare with: send the whole answer immediately.
    CHANGED = "changed"
    SAME = "same"
    WITHHELD = "withheld"
    DECLINED = "declined"  # The outpost will not fetch this URL; the crawler may.


class NotUnderstood(ValueError):
    """Raised for bytes that are not a valid message."""


class FetchJob(NamedTuple):
    """A request for the outpost to make.
    `known_digest` is that of the body (B5), `base` that of the exchange for patches, as the coordinator holds them."""

    number: int
    url: str
    etag: str | None = None
    last_modified: str | None = None
    body_limit: int | None = None
    known_digest: bytes | None = None
    base: bytes | None = None
    resend_us: int | None = None
    conditions: ResponseConditions = NO_CONDITIONS  # A body that does not meet them is not downloaded.


class JobResult(NamedTuple):
    """The result of one job. `run` and `url` are set if the coordinator may no longer know the job."""

    number: int
    kind: ResultKind
    digest: bytes  # Digest of the body; empty if the coordinator already holds that body.
    blob: bytes  # A patch with both heads, and the body unless the coordinator holds it.
    base: bytes  # Digest of the exchange that the patch builds on; empty if there is none.
    took_us: int
    age_us: int
    """Time from the start of the request until the result is sent; the coordinator dates it by its own clock."""
    ip: str | None = None
    is_cut: bool = False
    fault: Fault | None = None
    detail: str = ""
    run: str | None = None
    url: str | None = None


class Heartbeat(NamedTuple):
    """Sent by the agent to renew its lease."""

    number: int


class LeaseRenewal(NamedTuple):
    """The reply to a heartbeat: the lease lasts this long, counted from the heartbeat."""

    number: int
    lease_us: int


class AgentReady(NamedTuple):
    """Sent once all earlier results are delivered: the jobs still running, and how many jobs fit."""

    running: tuple[int, ...]
    capacity: int


class JobBatch(NamedTuple):
    """Jobs, in the order in which to run them."""

    jobs: tuple[FetchJob, ...]


class ResultBatch(NamedTuple):
    """Results under an increasing number. The coordinator stores each number once."""

    batch: int
    items: tuple[JobResult, ...]


class Acknowledgement(NamedTuple):
    """The coordinator has stored the batch."""

    batch: int


class Welcome(NamedTuple):
    """The coordinator accepted the outpost. `run` identifies this run of the coordinator."""

    run: str
    name: str
    acknowledged: int
    lease_us: int


class Goodbye(NamedTuple):
    """The agent is shutting down and gives up its lease and its unstarted jobs."""


Message = Heartbeat | LeaseRenewal | AgentReady | JobBatch | ResultBatch | Acknowledgement | Welcome | Goodbye
_KINDS: tuple[type[Any], ...] = (
    Heartbeat,
    LeaseRenewal,
    AgentReady,
    JobBatch,
    ResultBatch,
    Acknowledgement,
    Welcome,
    Goodbye,
)


def encode_message(message: Message) -> bytes:
    """Return the payload of a frame."""
    rows, blobs = _rows_of(message)
    text = "\n".join(json.dumps(row, separators=(",", ":"), ensure_ascii=True) for row in rows).encode()
    packed = make_patch(text, b"", level=LEVEL) if len(text) >= SMALL_TABLE else text
    is_packed = len(packed) < len(text)
    chosen = packed if is_packed else text
    kind = _KINDS.index(type(message))
    return bytes((kind, is_packed)) + len(chosen).to_bytes(4, "big") + chosen + b"".join(blobs)


def decode_message(payload: bytes) -> Message:
    """Parse a payload; raise NotUnderstood if it is not a message."""
    try:
        kind = _KINDS[payload[0]]
        end = _HEAD_BYTES + int.from_bytes(payload[2:_HEAD_BYTES], "big")
        text = payload[_HEAD_BYTES:end]
        if len(text) != end - _HEAD_BYTES:
            raise ValueError("the table is truncated")
        if payload[1]:
            text = apply_patch(text, b"", most_bytes=MAX_TABLE_BYTES)
        if len(text) > MAX_TABLE_BYTES or text.count(b"\n") > MAX_ROWS:
            raise ValueError("the table is too large")
        return _message(kind, (_row(line) for line in text.split(b"\n")), payload[end:])
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
        raise NotUnderstood(f"not a message: {error}"[:MAX_DETAIL_CHARS]) from None


def _row(line: bytes) -> list[Any]:
    if len(line) > MAX_ROW_BYTES:
        raise ValueError("a row is too long")
    row = json.loads(line)
    if not isinstance(row, list):
        raise ValueError("a row is not a list")
    return row


def _rows_of(message: Message) -> tuple[list[list[Any]], Sequence[bytes]]:
    match message:
        case JobBatch(jobs):
            others = [each for each in dict.fromkeys(job.conditions for job in jobs) if each not in _USUAL]
            numbers = {each: number for number, each in enumerate((*_USUAL, *others))}
            rows = [_job_row(job, numbers[job.conditions]) for job in jobs]
            return [[len(others)], *map(list, others), *rows], ()
        case ResultBatch(batch, items):
            return [[batch], *(_item_row(item) for item in items)], [item.blob for item in items]
        case _:
            return [list(message)], ()


_USUAL = (NO_CONDITIONS, Selection().conditions(is_seed=True), Selection().conditions(is_seed=False))
"""The conditions of the default settings, which both sides know. Others are sent once per batch."""


def _job_row(job: FetchJob, conditions: int) -> list[Any]:
    digests = [part.hex() if part else None for part in (job.known_digest, job.base)]
    return [*job[:5], *digests, job.resend_us, conditions]


def _item_row(item: JobResult) -> list[Any]:
    """Return the table row of a result, without the trailing fields if all of them have their defaults."""
    sent = (item.number, item.kind.value[0], item.digest.hex(), len(item.blob), item.base.hex())
    row: list[Any] = [*sent, item.took_us, item.age_us, item.ip]
    rare: list[Any] = [int(item.is_cut), item.fault, item.detail, item.run, item.url]
    return row + rare if any(rare) else row


_RESULT_KINDS = {kind.value[0]: kind for kind in ResultKind}


def _message(kind: type[Any], rows: Iterator[list[Any]], blobs: bytes) -> Message:
    head = next(rows)
    if kind is ResultBatch:
        (batch,) = head
        return ResultBatch(_natural(batch), _items(rows, blobs))
    if blobs:
        raise ValueError("trailing bytes")
    if kind is JobBatch:
        (others,) = head
        conditions = (*_USUAL, *map(_conditions, islice(rows, _natural(others))))
        jobs = tuple(_job(row, conditions) for row in rows)
        if len(jobs) > MAX_JOBS:
            raise ValueError("too many jobs")
        return JobBatch(jobs)
    if next(rows, None) is not None:
        raise ValueError("trailing rows")
    if kind is AgentReady:
        running, capacity = head
        return AgentReady(tuple(_natural(number) for number in _bounded(running, MAX_JOBS)), _natural(capacity))
    if kind is Welcome:
        run, name, acknowledged, lease_us = head
        return Welcome(_text(run, 64), _text(name, 200), _natural(acknowledged), _natural(lease_us))
    message: Message = kind(*(_natural(value) for value in head))
    return message


def _conditions(row: list[Any]) -> ResponseConditions:
    *types, max_bytes, types_text, size_text = row
    media_types, excluded, for_links = (
        tuple(_text(one, MAX_DETAIL_CHARS) for one in _bounded(each, MAX_PATTERNS)) for each in types
    )
    most = None if max_bytes is None else _natural(max_bytes)
    texts = _text(types_text, MAX_URL_CHARS), _text(size_text, MAX_URL_CHARS)
    return ResponseConditions(media_types, excluded, for_links, most, *texts)


def _job(row: list[Any], conditions: Sequence[ResponseConditions]) -> FetchJob:
    number, url, etag, last_modified, limit, digest, base, resend_us, which = row
    return FetchJob(
        _natural(number),
        _text(url, MAX_URL_CHARS),
        None if etag is None else _header(etag),
        None if last_modified is None else _header(last_modified),
        None if limit is None else _natural(limit),
        None if digest is None else _bytes(digest, DIGEST_BYTES),
        None if base is None else _bytes(base, EXCHANGE_DIGEST_BYTES),
        None if resend_us is None else _natural(resend_us),
        conditions[_natural(which)],
    )


def _items(rows: Iterator[list[Any]], blobs: bytes) -> tuple[JobResult, ...]:
    items: list[JobResult] = []
    at = 0
    for row in rows:
        if len(items) == MAX_RESULTS:
            raise ValueError("too many results")
        item, size = _item(row)
        items.append(item._replace(blob=blobs[at : at + size]))
        at += size
    if at != len(blobs):
        raise ValueError("the blobs do not match the lengths in the table")
    return tuple(items)


def _item(row: list[Any]) -> tuple[JobResult, int]:
    number, kind, digest, size, base, took_us, age_us, ip = row[:8]
    is_cut, fault, detail, run, url = row[8:] or (0, None, "", None, None)
    item = JobResult(
        _natural(number),
        _RESULT_KINDS[kind],
        _bytes(digest, DIGEST_BYTES) if digest else b"",
        b"",
        _bytes(base, EXCHANGE_DIGEST_BYTES) if base else b"",
        min(_natural(took_us), MAX_SPAN_US),
        min(_natural(age_us), MAX_SPAN_US),
        None if ip is None else _text(ip, 64),
        bool(is_cut),
        None if fault is None else Fault(fault),
        _text(detail, MAX_DETAIL_CHARS),
        None if run is None else _text(run, 64),
        None if url is None else _text(url, MAX_URL_CHARS),
    )
    return item, _natural(size)


def _natural(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_NUMBER:
        raise ValueError("expected a number")
    return value


def _text(value: Any, longest: int) -> str:
    if not isinstance(value, str) or len(value) > longest:
        raise ValueError("expected a string")
    return value


def _header(value: Any) -> str:
    """Return the value of a header field, which cannot add another one."""
    text = _text(value, MAX_VALIDATOR_CHARS)
    if not text.isprintable():
        raise ValueError("expected the value of a header field")
    return text


def _bytes(value: Any, size: int) -> bytes:
    raw = bytes.fromhex(_text(value, 2 * size))
    if len(raw) != size:
        raise ValueError("expected a digest")
    return raw


def _bounded(rows: Any, limit: int) -> list[Any]:
    if not isinstance(rows, list) or len(rows) > limit:
        raise ValueError("expected a list within the length limit")
    return rows
