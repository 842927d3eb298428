"""What was stored as a version: its records, its bytes as they came, its decoded body, its document.

A revisit record holds no body; the version that had the content first does. Whoever reads a version through
here never notices.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from evercrawl.adapters.media import InstalledHandlers
from evercrawl.adapters.sqlite.stored import StoredReader, StoredVersion
from evercrawl.adapters.warc.member import RECORD_LIMIT, unpack, unpack_at
from evercrawl.adapters.warc.parse import HttpParts, Record, http_parts, parse_record
from evercrawl.adapters.warc.place import read_bytes
from evercrawl.core.document.html import parse_document
from evercrawl.core.document.media_type import media_type
from evercrawl.core.http.content_coding import BadCoding, DecodeLimits, decode
from evercrawl.core.http.http1 import split_list
from evercrawl.engine.interpret import BUILT_IN_TYPES
from evercrawl.errors import StoreUnavailable
from evercrawl.model.document import Document
from evercrawl.model.fetch import Truncation
from evercrawl.model.settings import Settings

REQUEST_LIMIT = 256 * 1024
"""Packed bytes behind a response in which its request is looked for."""
_NO_RATIO = 1e9
"""What was decoded once is decoded again, however well it was packed; the number of bytes is the limit."""


class StoredAnswer(NamedTuple):
    """An answer with its body, wherever that lies."""

    packed: bytes
    """The version's own record as it lies in the archive."""
    record: Record
    http: HttpParts
    """Head and fields of the own record; the body is that of the original where the record is a revisit."""
    is_revisit: bool


def stored_answer(archive: Path, reader: StoredReader, version: StoredVersion) -> StoredAnswer:
    """The answer of a version; StoreUnavailable says which record is damaged or not there."""
    packed, record = _record_at(archive, version.file, version.offset, version.length)
    http = _http_of(record, version.file, version.offset)
    if record.kind != "revisit":
        return StoredAnswer(packed, record, http, False)
    original = reader.original(version.digest)
    if original is None or original.record_id == version.record_id:
        raise StoreUnavailable(
            f"the archive's record in {version.file} at {version.offset} refers to a body that is not stored"
        )
    _, holder = _record_at(archive, original.file, original.offset, original.length)
    body = _http_of(holder, original.file, original.offset).body
    return StoredAnswer(packed, record, http._replace(body=body), True)


def _record_at(archive: Path, file: str, offset: int, length: int) -> tuple[bytes, Record]:
    packed = read_bytes(archive, file, offset, min(length, RECORD_LIMIT))
    try:
        return packed, parse_record(unpack(packed), 0, offset=offset)[0]
    except ValueError as error:
        raise StoreUnavailable(f"the archive's record in {file} at {offset} is damaged: {error}") from error


def _http_of(record: Record, file: str, offset: int) -> HttpParts:
    try:
        return http_parts(record.block)
    except ValueError as error:
        raise StoreUnavailable(f"the archive's record in {file} at {offset} is damaged: {error}") from error


def request_of(archive: Path, version: StoredVersion, answer: StoredAnswer) -> tuple[bytes, Record] | None:
    """The request that an answer belongs to, packed and parsed: it lies behind its answer, if it was kept."""
    try:
        behind = read_bytes(archive, version.file, version.offset + version.length, REQUEST_LIMIT)
        unpacked, end = unpack_at(behind, 0)
        record, _ = parse_record(unpacked, 0, offset=0)
    except (StoreUnavailable, ValueError):
        return None
    own = answer.record.headers.get("warc-record-id")
    if record.kind != "request" or record.headers.get("warc-concurrent-to") != own:
        return None
    return behind[:end], record


def decoded_body(version: StoredVersion, http: HttpParts) -> bytes:
    """The body without its content codings, cut where it was cut when it was stored."""
    codings = split_list([value for name, value in http.headers if name.lower() == "content-encoding"])
    room = version.body_bytes if version.truncated else version.body_bytes + 1
    limits = DecodeLimits(max(room, 1), _NO_RATIO)
    complete = version.truncated != Truncation.WIRE
    try:
        body, _ = decode(http.body, codings, limits=limits, complete=complete)
    except BadCoding as error:
        raise StoreUnavailable(f"the body in {version.file} at {version.offset} cannot be decoded: {error}") from error
    return body


def document_of(version: StoredVersion, http: HttpParts, body: bytes, settings: Settings) -> Document:
    """The document as a crawl reads it: by a handler where its media type has one."""
    kind = media_type(http.headers, body)
    handler = None if kind in BUILT_IN_TYPES else _handlers().get(kind)
    if handler is not None:
        return handler.parse(version.url, http.headers, body)
    agent, limits = settings.identity.product, settings.parse
    return parse_document(version.url, http.headers, body, agent=agent, limits=limits)


@lru_cache(maxsize=1)
def _handlers() -> InstalledHandlers:
    return InstalledHandlers()
