"""Exchanges and archives for the tests of the WARC adapter."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from hashlib import sha1
from pathlib import Path

from evercrawl.adapters.warc import WarcArchive
from evercrawl.adapters.warc.warc_records import WarcInfo
from evercrawl.adapters.warc.writer import FileOwner
from evercrawl.engine.ports import Stored
from evercrawl.model.fetch import Exchange
from evercrawl.model.page import OriginalRecord
from evercrawl.model.settings import ArchiveSettings

URL = "https://example.org/page?x=1"
BEGAN = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
REQUEST_HEAD = b"GET /page?x=1 HTTP/1.1\r\nHost: example.org\r\nUser-Agent: evercrawl/0.1\r\n\r\n"
RESPONSE_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n"
NOT_MODIFIED_HEAD = b'HTTP/1.1 304 Not Modified\r\nETag: "v1"\r\n\r\n'
BODY = b"<html><title>A page</title><p>Some words.</p></html>\n" * 20


class FixedClock:
    """A clock with a fixed time."""

    def now(self) -> datetime:
        return BEGAN

    async def sleep_until(self, moment: datetime) -> None:
        raise AssertionError("the archive does not sleep")


def exchange(
    body: bytes = BODY,
    *,
    head: bytes | None = None,
    request: bytes = REQUEST_HEAD,
    ip: str | None = "192.0.2.7",
    began: datetime = BEGAN,
) -> Exchange:
    """Return an exchange with a well-formed response, unless a head is given."""
    answer = RESPONSE_HEAD % len(body) if head is None else head
    return Exchange(request, answer, body, ip, began, timedelta(milliseconds=40))


def archive(
    folder: Path, *, shard: int = 7, roll_bytes: int = 10**9, durable: bool = False, owner: FileOwner | None = None
) -> WarcArchive:
    """Return a new archive, as after the start of a process."""
    settings = ArchiveSettings(max_file_bytes=roll_bytes)
    info = WarcInfo("evercrawl/test", {"operator": "tests@example.org", "isPartOf": "a collection"})
    return WarcArchive(folder, shard, settings=settings, clock=FixedClock(), info=info, durable=durable, owner=owner)


def original_of(stored: Stored, *, url: str = URL, body: bytes = BODY, began: datetime = BEGAN) -> OriginalRecord:
    """Return the store's record of an archived response."""
    at_us = round((began - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(microseconds=1))
    return OriginalRecord(
        1, url, at_us, stored.record_id, sha1(body).digest(), stored.file, stored.offset, stored.length
    )


def every_kind_of_record(folder: Path) -> dict[str, Stored]:
    """Write a response, both revisits, truncated, empty and chunked bodies, and unusual heads."""
    warc = archive(folder)
    stored = {"response": warc.append(URL, exchange())}
    original = original_of(stored["response"])
    later = exchange(began=datetime(2026, 3, 2, tzinfo=UTC))
    stored["identical"] = warc.append("https://example.org/copy", later, revisit=original)
    unchanged = exchange(b"", head=NOT_MODIFIED_HEAD)
    stored["not-modified"] = warc.append(URL, unchanged, revisit=original, not_modified=True)
    stored["304-unknown"] = warc.append(URL, unchanged, not_modified=True)
    stored["cut"] = warc.append(URL, exchange(BODY[:100]), truncated="length")
    stored["decoded"] = warc.append(URL, exchange(), truncated="length-ratio")
    stored["empty"] = warc.append(URL, exchange(b""))
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: b\r\n\r\n"
    stored["chunked"] = warc.append(URL, exchange(head=chunked))
    stored["bare-lf"] = warc.append(URL, exchange(head=b"HTTP/1.0 200 OK\nA: b\n\n"))
    stored["no-end"] = warc.append(URL, exchange(head=b"HTTP/1.0 200 OK\r\nA: b"))
    stored["two-ends"] = warc.append(URL, exchange(head=b"\r\nHTTP/1.0 200 OK\n\nA: b\r\n\r\n"))
    stored["http2"] = warc.append(URL, exchange(head=b"HTTP/2 200\r\n:status: 200\r\na: b\r\n\r\n"))
    warc.close()
    return stored
