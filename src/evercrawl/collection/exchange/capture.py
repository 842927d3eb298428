"""What an archived record says: was this the answer to a visit, and how did the visit end?"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from evercrawl.adapters.warc.http_head import response_block_head
from evercrawl.adapters.warc.parse import HttpParts, Record, http_parts
from evercrawl.collection.exchange.source import digest_holds
from evercrawl.core.http.content_coding import DecodeLimits
from evercrawl.core.http.http1 import BadResponse, ReadLimits, parse_response_head, split_list
from evercrawl.core.http.message import RawResponse, fetch_result
from evercrawl.model.fetch import Exchange, FetchResult, Request
from evercrawl.model.settings import HttpSettings

IMPORTED_TAG = '"imported"'
"""Stands for whatever condition the archived request had: without one, 304 would be no answer."""
CHUNK_LINE_BYTES = 4096


class Damaged(Exception):
    """The record does not hold what it says."""


class ImportedAnswer(NamedTuple):
    """An answer of the past, as far as a record has it."""

    url: str
    date: datetime
    ip: str | None
    is_cut: bool
    http: HttpParts
    request_head: bytes


def response_parts(record: Record) -> HttpParts:
    """Head and body of a response record, its digests checked and its transfer coding removed."""
    try:
        parts = http_parts(record.block)
    except ValueError as error:
        raise Damaged(str(error)) from error
    block = digest_holds(record.headers.get("warc-block-digest"), record.block)
    if block is False:
        raise Damaged("the block is not what its digest says")
    plain = dechunked(parts)
    said = record.headers.get("warc-payload-digest")
    is_whole = "warc-truncated" not in record.headers
    if block is None and is_whole and not _is_payload(said, (plain, parts.body)):
        raise Damaged("the payload is not what its digest says")
    return parts._replace(body=plain)


def _is_payload(said: str | None, forms: tuple[bytes, ...]) -> bool:
    """Writers differ in whether the transfer coding belongs to the payload."""
    return any(digest_holds(said, form) is not False for form in forms)


def dechunked(parts: HttpParts) -> bytes:
    """The body without chunks; many writers remove them and leave the field that announces them."""
    codings = split_list([value for name, value in parts.headers if name.lower() == "transfer-encoding"])
    if "chunked" not in codings:
        return parts.body
    plain = _joined_chunks(parts.body)
    return parts.body if plain is None else plain


def _joined_chunks(body: bytes) -> bytes | None:
    """What the chunks hold; None: these are no chunks (RFC 9112 section 7.1)."""
    pieces: list[bytes] = []
    at = 0
    while True:
        end = body.find(b"\n", at, at + CHUNK_LINE_BYTES)
        size = body[at:end].partition(b";")[0].strip() if end >= 0 else b""
        if not size or len(size) > 8 or size.strip(b"0123456789abcdefABCDEF"):
            return None
        length = int(size, 16)
        if length == 0:
            return b"".join(pieces)
        piece = body[end + 1 : end + 1 + length]
        at = end + 1 + length
        at += 2 if body[at : at + 2] == b"\r\n" else 1
        if len(piece) < length or body[at - 1 : at] != b"\n":
            return None
        pieces.append(piece)


def result_of_capture(capture: ImportedAnswer, settings: HttpSettings) -> FetchResult:
    """How the visit ended, by the rules of a crawl."""
    body = capture.http.body
    head = response_block_head(capture.http.head, body_bytes=None if capture.is_cut else len(body))
    limits = ReadLimits(settings.header_bytes, settings.header_count, settings.wire_bytes)
    try:
        parsed = parse_response_head(head, limits)
    except BadResponse as error:
        raise Damaged(error.detail) from error
    exchange = Exchange(
        request_head=capture.request_head,
        response_head=capture.http.head,
        wire_body=body,
        ip=capture.ip,
        began=capture.date,
        took=timedelta(0),
    )
    answer = RawResponse(parsed, exchange, cut=capture.is_cut)
    decode_limits = DecodeLimits(settings.decoded_bytes, settings.ratio)
    return fetch_result(Request(capture.url, etag=IMPORTED_TAG), answer, limits=decode_limits)
