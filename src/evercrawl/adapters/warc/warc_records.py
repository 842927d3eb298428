"""Build WARC/1.1 records (ISO 28500:2017).
Remote content cannot forge headers: URLs are percent-encoded, addresses are validated, and all other values are our own
numbers and digests."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha1
from types import MappingProxyType
from typing import NamedTuple
from uuid import NAMESPACE_URL, uuid5

from evercrawl.adapters.warc.reader import WarcRecord
from evercrawl.core.native import load_native
from evercrawl.engine.ports import RenderedRecord
from evercrawl.model.fetch import Exchange
from evercrawl.model.page import OriginalRecord

PROFILE_IDENTICAL = b"http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
PROFILE_NOT_MODIFIED = b"http://netpreserve.org/warc/1.1/revisit/server-not-modified"
CONFORMS_TO = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"

TRUNCATED_VALUES = frozenset({"length", "time", "disconnect", "unspecified"})
DECODING_LIMITS = frozenset({"length-decoded", "length-ratio"})
"""Truncations during decoding, where the block still holds the whole body as sent."""

_EPOCH = datetime(1970, 1, 1)
_NOT_VISIBLE = re.compile(r"[^\x21-\x7e]")
_ADDRESS = re.compile(r"[0-9A-Fa-f:.]{2,45}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")
_RECORD_END = b"\r\n\r\n"
_COMPRESSED_MAGIC = (b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"\x89PNG", b"\xff\xd8\xff", b"PK\x03\x04")
"""First bytes of gzip, zstd, PNG, JPEG and ZIP."""

_HEAD = (
    b"WARC/1.1\r\nWARC-Type: %b\r\nWARC-Record-ID: %b\r\nWARC-Date: %b\r\n"
    b"WARC-Target-URI: %b\r\n%b%bContent-Type: application/http; msgtype=%b\r\n"
    b"WARC-Block-Digest: sha1:%b\r\n%bContent-Length: %d\r\n\r\n"
)
_INFO_HEAD = (
    b"WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: %b\r\nWARC-Date: %b\r\nWARC-Filename: %b\r\n"
    b"Content-Type: application/warc-fields\r\nWARC-Block-Digest: sha1:%b\r\nContent-Length: %d\r\n\r\n"
)


_HEAD_END = b"\r\n\r\n"
_BLANKS = bytes(code for code in range(128) if chr(code).isspace())
_BLANK_LINE = re.compile(rb"\n[" + re.escape(_BLANKS.replace(b"\n", b"")) + rb"]*\n")
_HTTP2_VERSION = re.compile(rb"HTTP/[23](?:\.0)?(?=[ \r\n]|\Z)")
_FRAMING_FIELD = re.compile(rb"(?im)^(?=(?:transfer-encoding|content-length)[ \t]*:)")
_PSEUDO_FIELD = re.compile(rb"(?m)^:[^\n]*\n")
ORIGINAL_PREFIX = b"X-Archive-Orig-"
_COPIED_HEADERS = {
    "warc-target-uri": b"WARC-Target-URI",
    "warc-ip-address": b"WARC-IP-Address",
    "warc-payload-digest": b"WARC-Payload-Digest",
}

_NATIVE = load_native()
b32encode: Callable[[bytes], bytes] = base64.b32encode if _NATIVE is None else _NATIVE.base32


class WarcInfo(NamedTuple):
    """What the warcinfo record says about the writer of a file."""

    software: str
    fields: Mapping[str, str] = MappingProxyType({})


class ExchangeRecords(NamedTuple):
    """Two uncompressed records and the response record's UUID."""

    response: bytes
    request: bytes  # Empty if the request is unknown, as in some imported archives.
    record_id: bytes
    packed: int  # Number of already compressed bytes at the end of the response record.


def random_uuid() -> bytes:
    """Return a version 4 UUID (RFC 9562 section 5.4) as 16 bytes."""
    raw = bytearray(os.urandom(16))
    raw[6] = raw[6] & 0x0F | 0x40
    raw[8] = raw[8] & 0x3F | 0x80
    return bytes(raw)


def record_urn(record_id: bytes) -> bytes:
    """Return the WARC-Record-ID of a UUID."""
    text = record_id.hex()
    return f"<urn:uuid:{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}>".encode()


def warc_date(moment: datetime) -> bytes:
    """Format a time in UTC with microseconds."""
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return b"%bZ" % moment.replace(tzinfo=None).isoformat(timespec="microseconds").encode()


def warc_date_of_us(at_us: int) -> bytes:
    """Format microseconds since the epoch."""
    return b"%bZ" % (_EPOCH + timedelta(microseconds=at_us)).isoformat(timespec="microseconds").encode()


def target_uri(url: str) -> bytes:
    """Return the URL with everything but visible ASCII percent-encoded."""
    if url.isascii() and url.isprintable() and " " not in url:
        return url.encode()
    return _NOT_VISIBLE.sub(_percent_encoded, url).encode()


def _percent_encoded(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "surrogatepass"))


def truncated_value(truncated: str | None) -> str | None:
    """Return the value of WARC-Truncated, or None if the block is complete."""
    if truncated is None or truncated in DECODING_LIMITS:
        return None
    return truncated if truncated in TRUNCATED_VALUES else "unspecified"


def warcinfo_record(file: str, info: WarcInfo, *, now: datetime) -> bytes:
    """Return the first record of a file."""
    fields = {"software": info.software, "format": "WARC File Format 1.1", "conformsTo": CONFORMS_TO, **info.fields}
    lines = (f"{_one_line(name)}: {_one_line(value)}\r\n" for name, value in fields.items())
    block = "".join(lines).encode()
    digest = b32encode(sha1(block).digest())
    head = _INFO_HEAD % (record_urn(random_uuid()), warc_date(now), file.encode(), digest, len(block))
    return head + block + _RECORD_END


def _one_line(text: str) -> str:
    return _CONTROL.sub(" ", text).strip()


def exchange_records(
    url: str,
    exchange: Exchange,
    *,
    truncated: str | None,
    payload_sha1: bytes | None,
    revisit: OriginalRecord | None,
    not_modified: bool,
) -> ExchangeRecords:
    """Return the request and response records of an exchange, with references to each other.
    The response becomes a revisit record if it repeats the payload of `revisit`. Equal content in other wire bytes
    (compressed differently) is not the same payload, because it could not be replayed."""
    record_id, request_id = random_uuid(), random_uuid()
    own, other = record_urn(record_id), record_urn(request_id)
    body, cut = exchange.wire_body, truncated_value(truncated)
    digest = payload_sha1 or sha1(body).digest()
    body_bytes = None if not_modified or cut else len(body)
    block = response_block_head(exchange.response_head, body_bytes=body_bytes)
    if revisit is not None and (not_modified or digest == revisit.payload_sha1):
        kind, extra = b"revisit", _revisit_fields(revisit, not_modified=not_modified)
        packed = 0
    else:
        kind, extra, block = b"response", _payload_digest(digest), block + body
        packed = len(body) + len(_RECORD_END) if body.startswith(_COMPRESSED_MAGIC) else 0
    if cut is not None:
        extra += b"WARC-Truncated: %b\r\n" % cut.encode()
    where = warc_date(exchange.began), target_uri(url), _address_field(exchange.ip)
    if not exchange.request_head:
        alone = _record(kind, own, where, concurrent=None, msgtype=b"response", extra=extra, block=block)
        return ExchangeRecords(alone, b"", record_id, packed)
    response = _record(kind, own, where, concurrent=other, msgtype=b"response", extra=extra, block=block)
    sent = request_block(exchange.request_head)
    request = _record(b"request", other, where, concurrent=own, msgtype=b"request", extra=b"", block=sent)
    return ExchangeRecords(response, request, record_id, packed)


class DerivedRecord(NamedTuple):
    """An uncompressed record of something made from a response, and its UUID."""

    block: bytes
    record_id: bytes


def rendered_records(url: str, rendered: RenderedRecord, response_id: bytes, *, at: datetime) -> list[DerivedRecord]:
    """Return the rendered document as a conversion of the response (WARC 1.1 section 6.8), and its screenshot as a
    resource under the URI that Browsertrix uses."""
    record_id, picture_id = random_uuid(), random_uuid()
    fields = [(b"WARC-Target-URI", target_uri(url)), (b"WARC-Refers-To", record_urn(response_id))]
    dom = _derived_record(b"conversion", record_id, fields, b"text/html; charset=utf-8", rendered.dom, at)
    found = [DerivedRecord(dom, record_id)]
    if rendered.screenshot is not None:
        fields = [(b"WARC-Target-URI", b"urn:view:" + target_uri(url)), (b"WARC-Refers-To", record_urn(record_id))]
        kind = b"image/png" if rendered.screenshot.startswith(b"\x89PNG") else b"image/webp"
        picture = _derived_record(b"resource", picture_id, fields, kind, rendered.screenshot, at)
        found.append(DerivedRecord(picture, picture_id))
    return found


def tombstone_record(target: str, fields: Mapping[str, str], *, now: datetime) -> bytes:
    """Return a metadata record in the place of removed ones: when and on whose request, not what they held."""
    block = "".join(f"{_one_line(name)}: {_one_line(value)}\r\n" for name, value in fields.items()).encode()
    uri = [(b"WARC-Target-URI", target_uri(target))]
    return _derived_record(b"metadata", random_uuid(), uri, b"application/warc-fields", block, now)


def metadata_record(url: str, fields: Mapping[str, str], response: str, *, at: datetime) -> bytes:
    """Return what is known about a response (its record id, as written) as a metadata record (WARC 1.1 section 6.6)."""
    block = "".join(f"{_one_line(name)}: {_one_line(value)}\r\n" for name, value in fields.items()).encode()
    about = [(b"WARC-Target-URI", target_uri(url)), (b"WARC-Concurrent-To", response.encode())]
    return _derived_record(b"metadata", random_uuid(), about, b"application/warc-fields", block, at)


def repointed_revisit(revisit: bytes, holder: Sequence[str] | None) -> bytes:
    """Return an uncompressed revisit record that refers to another record, by id, URL and date; None: to none."""
    head, _, rest = revisit.partition(b"\r\n\r\n")
    lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"warc-refers-to")]
    names = (b"WARC-Refers-To", b"WARC-Refers-To-Target-URI", b"WARC-Refers-To-Date")
    lines += [
        b"%b: %b" % (name, value.encode()) for name, value in zip(names, holder or ("",) * 3, strict=True) if value
    ]
    return b"\r\n".join(lines) + b"\r\n\r\n" + rest


def _derived_record(
    kind: bytes, record_id: bytes, fields: list[tuple[bytes, bytes]], media_type: bytes, block: bytes, at: datetime
) -> bytes:
    digest = b"sha1:" + b32encode(sha1(block).digest())
    fields = [
        (b"WARC-Type", kind),
        (b"WARC-Record-ID", record_urn(record_id)),
        (b"WARC-Date", warc_date(at)),
        *fields,
        (b"Content-Type", media_type),
        (b"WARC-Block-Digest", digest),
        (b"WARC-Payload-Digest", digest),
        (b"Content-Length", b"%d" % len(block)),
    ]
    lines = b"".join(b"%b: %b\r\n" % field for field in fields)
    return b"WARC/1.1\r\n%b\r\n%b\r\n\r\n" % (lines, block)


def _record(
    kind: bytes,
    own: bytes,
    where: tuple[bytes, bytes, bytes],
    *,
    concurrent: bytes | None,
    msgtype: bytes,
    extra: bytes,
    block: bytes,
) -> bytes:
    digest = b32encode(sha1(block).digest())
    other = b"WARC-Concurrent-To: %b\r\n" % concurrent if concurrent is not None else b""
    head = _HEAD % (kind, own, *where, other, msgtype, digest, extra, len(block))
    return b"".join((head, block, _RECORD_END))


def _payload_digest(digest: bytes) -> bytes:
    return b"WARC-Payload-Digest: sha1:%b\r\n" % b32encode(digest)


def _address_field(ip: str | None) -> bytes:
    if ip is None or not _ADDRESS.fullmatch(ip):
        return b""
    return b"WARC-IP-Address: %b\r\n" % ip.encode()


def _revisit_fields(original: OriginalRecord, *, not_modified: bool) -> bytes:
    """Return the profile and references of a revisit (WARC 1.1 section 6.7)."""
    return (
        b"%bWARC-Profile: %b\r\nWARC-Refers-To: %b\r\n"
        b"WARC-Refers-To-Target-URI: %b\r\nWARC-Refers-To-Date: %b\r\n"
        % (
            _payload_digest(original.payload_sha1),
            PROFILE_NOT_MODIFIED if not_modified else PROFILE_IDENTICAL,
            record_urn(original.record_id),
            target_uri(original.url),
            warc_date_of_us(original.at_us),
        )
    )


def response_block_head(head: bytes, *, body_bytes: int | None) -> bytes:
    """Return a response head for a body without transfer coding, so that readers of the block are not misled.
    Framing fields are renamed (RFC 9112 section 7), lines end in CRLF with one empty line at the end (FastWARC and
    warcio disagree on others), and HTTP/2 becomes HTTP/1.1 text. `body_bytes` None omits the length."""
    clean = _well_formed(head)
    if b"\ntransfer-encoding" not in clean.lower():
        return clean
    renamed = _FRAMING_FIELD.sub(ORIGINAL_PREFIX, clean)
    if body_bytes is None:
        return renamed
    return b"%bContent-Length: %d\r\n\r\n" % (renamed[:-2], body_bytes)


def request_block(sent: bytes) -> bytes:
    """Return a request; that of a POST has its body."""
    head, end, body = sent.partition(_HEAD_END) if sent.startswith(b"POST ") else (sent, b"", b"")
    return _well_formed(head + end) + body


def _well_formed(head: bytes) -> bytes:
    if not _is_well_formed(head):
        lines = [line.rstrip(b"\r") for line in head.split(b"\n")]
        head = b"\r\n".join([line for line in lines if line.strip(_BLANKS)]) + _HEAD_END
    if b"\n:" in head or b"HTTP/2" in head or b"HTTP/3" in head:
        head = _PSEUDO_FIELD.sub(b"", head)
        first, newline, rest = head.partition(b"\n")
        head = _HTTP2_VERSION.sub(b"HTTP/1.1", first, count=1) + newline + rest
    return head


def _is_well_formed(head: bytes) -> bool:
    blank = _BLANK_LINE.search(head)
    ends_once = blank is not None and blank[0] == b"\n\r\n" and blank.end() == len(head)
    return ends_once and head.count(b"\n") == head.count(b"\r\n") and not head.startswith(b"\r\n")


def resolved_record_id(record_id: bytes) -> bytes:
    """Return the UUID of the response made from a revisit, always the same for the same revisit."""
    raw = bytearray(sha1(b"resolved revisit " + record_id, usedforsecurity=False).digest()[:16])
    raw[6] = raw[6] & 0x0F | 0x50  # version 5, RFC 9562 section 5.5
    raw[8] = raw[8] & 0x3F | 0x80
    return bytes(raw)


def resolved_response(
    revisit: WarcRecord, record_id: bytes, *, head: bytes, body: bytes, concurrent: str | None
) -> bytes:
    """Return a response record with the revisit's head and the body of the record it refers to."""
    fields = _copied_fields(b"response", record_id, revisit)
    if concurrent is not None:
        fields.append((b"WARC-Concurrent-To", concurrent.encode()))
    return _http_record(fields, b"response", head + body)


def request_record_for(request: WarcRecord, response_id: bytes) -> bytes:
    """Return a request record that refers to another response record."""
    own = request.headers.get("warc-record-id", "").encode()
    fields = _copied_fields(b"request", None, request)
    fields += [(b"WARC-Record-ID", own), (b"WARC-Concurrent-To", record_urn(response_id))]
    return _http_record(fields, b"request", request.block)


def _copied_fields(kind: bytes, record_id: bytes | None, record: WarcRecord) -> list[tuple[bytes, bytes]]:
    fields = [(b"WARC-Type", kind), (b"WARC-Date", record.headers["warc-date"].encode())]
    if record_id is not None:
        fields.append((b"WARC-Record-ID", record_urn(record_id)))
    fields += [(name, record.headers[key].encode()) for key, name in _COPIED_HEADERS.items() if key in record.headers]
    return fields


def _http_record(fields: list[tuple[bytes, bytes]], msgtype: bytes, block: bytes) -> bytes:
    fields += [
        (b"Content-Type", b"application/http; msgtype=" + msgtype),
        (b"WARC-Block-Digest", b"sha1:" + b32encode(sha1(block, usedforsecurity=False).digest())),
        (b"Content-Length", b"%d" % len(block)),
    ]
    lines = b"".join(b"%b: %b\r\n" % field for field in fields)
    return b"WARC/1.1\r\n%b\r\n%b\r\n\r\n" % (lines, block)


def response_record(url: str, at: datetime, kind: str, body: bytes, more: Iterable[tuple[str, str]] = ()) -> bytes:
    """Return a response record for a page saved without its header; the same page and time give the same id."""
    return response_of(url, at, (200, "OK"), [("Content-Type", kind), ("Content-Length", str(len(body))), *more], body)


def response_of(
    url: str, at: datetime, status: tuple[int, str], headers: Iterable[tuple[str, str]], body: bytes
) -> bytes:
    """Return a response record; the same page and time give the same id."""
    fields = "".join(f"{_one_line(name)}: {_one_line(value)}\r\n" for name, value in headers)
    block = f"HTTP/1.1 {status[0]} {_one_line(status[1])}\r\n{fields}\r\n".encode("latin-1", "replace") + body
    record_id = uuid5(NAMESPACE_URL, f"{url} {at.isoformat()}")
    head = (
        b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:" + str(record_id).encode() + b">\r\n"
        b"WARC-Date: " + warc_date(at) + b"\r\nWARC-Target-URI: " + target_uri(url) + b"\r\n"
        b"Content-Type: application/http;msgtype=response\r\nContent-Length: " + str(len(block)).encode() + b"\r\n\r\n"
    )
    return head + block + b"\r\n\r\n"
