"""A revisit record as the response that it stands for, so that it needs no other record."""

from __future__ import annotations

from base64 import b32encode
from hashlib import sha1

from evercrawl.adapters.warc.parse import Record
from evercrawl.adapters.warc.record import urn

_KEPT = {
    "warc-target-uri": b"WARC-Target-URI",
    "warc-ip-address": b"WARC-IP-Address",
    "warc-payload-digest": b"WARC-Payload-Digest",
}


def resolved_id(record_id: bytes) -> bytes:
    """The UUID of the response made from a revisit: another record, and always the same one for it."""
    raw = bytearray(sha1(b"resolved revisit " + record_id, usedforsecurity=False).digest()[:16])
    raw[6] = raw[6] & 0x0F | 0x50  # version 5, RFC 9562 section 5.5
    raw[8] = raw[8] & 0x3F | 0x80
    return bytes(raw)


def resolved_response(revisit: Record, record_id: bytes, *, head: bytes, body: bytes, concurrent: str | None) -> bytes:
    """A response record with the head of the revisit and the body of the record that it refers to."""
    fields = _fields(b"response", record_id, revisit)
    if concurrent is not None:
        fields.append((b"WARC-Concurrent-To", concurrent.encode()))
    return _record(fields, b"response", head + body)


def request_for(request: Record, response_id: bytes) -> bytes:
    """A request record that belongs to another response record than before."""
    own = request.headers.get("warc-record-id", "").encode()
    fields = _fields(b"request", None, request)
    fields += [(b"WARC-Record-ID", own), (b"WARC-Concurrent-To", urn(response_id))]
    return _record(fields, b"request", request.block)


def _fields(kind: bytes, record_id: bytes | None, record: Record) -> list[tuple[bytes, bytes]]:
    fields = [(b"WARC-Type", kind), (b"WARC-Date", record.headers["warc-date"].encode())]
    if record_id is not None:
        fields.append((b"WARC-Record-ID", urn(record_id)))
    fields += [(name, record.headers[key].encode()) for key, name in _KEPT.items() if key in record.headers]
    return fields


def _record(fields: list[tuple[bytes, bytes]], msgtype: bytes, block: bytes) -> bytes:
    fields += [
        (b"Content-Type", b"application/http; msgtype=" + msgtype),
        (b"WARC-Block-Digest", b"sha1:" + b32encode(sha1(block, usedforsecurity=False).digest())),
        (b"Content-Length", b"%d" % len(block)),
    ]
    lines = b"".join(b"%b: %b\r\n" % field for field in fields)
    return b"WARC/1.1\r\n%b\r\n%b\r\n\r\n" % (lines, block)
