"""In-memory archive and near-duplicate index, for simulations."""

from __future__ import annotations

from typing import NamedTuple

from evercrawl.adapters.warc.reader import parse_http_block
from evercrawl.core.duplicates.minhash import (
    SignatureEntry,
    SignatureMatch,
    best_match,
    is_indexable,
    signature_bands,
    top_candidates,
)
from evercrawl.engine.ports import RenderedRecord, Stored
from evercrawl.model.fetch import Exchange, Headers
from evercrawl.model.page import ArchiveEnd, OriginalRecord

RENDERED_HEADERS = (("Content-Type", "text/html; charset=utf-8"),)
FILE = "memory.warc.gz"


class ArchivedExchange(NamedTuple):
    """One archived exchange."""

    url: str
    offset: int
    length: int
    is_revisit: bool


class MemoryArchive:
    """Implements `Archive` for one shard. It survives a simulated crash and can be truncated like a file."""

    def __init__(self, shard: int, *, keeps_bodies: bool = False) -> None:
        """With `keeps_bodies`, records can be read again, at the cost of memory."""
        self.entries: list[ArchivedExchange] = []
        self._shard = shard
        self._size = 0
        self._records = 0
        self._bodies: dict[int, tuple[Headers, bytes]] | None = {} if keeps_bodies else None

    def append(
        self,
        url: str,
        exchange: Exchange,
        *,
        truncated: str | None = None,
        payload_sha1: bytes | None = None,
        revisit: OriginalRecord | None = None,
        not_modified: bool = False,
        rendered: RenderedRecord | None = None,
    ) -> Stored:
        """Record one exchange; a rendered document takes the place of the body."""
        body = exchange.wire_body if rendered is None else rendered.dom
        is_revisit = revisit is not None
        length = len(exchange.response_head) + (0 if is_revisit else len(body))
        self.entries.append(ArchivedExchange(url, self._size, length, is_revisit))
        if self._bodies is not None and not is_revisit:
            headers = parse_http_block(exchange.response_head).headers if rendered is None else RENDERED_HEADERS
            self._bodies[self._size] = headers, body
        stored = Stored(FILE, self._size, length, self._record_id())
        self._size += length
        return stored

    def _record_id(self) -> bytes:
        self._records += 1
        return self._shard.to_bytes(8, "big") + self._records.to_bytes(8, "big")

    def flush(self) -> ArchiveEnd | None:
        """Return the end of the archive."""
        return ArchiveEnd(FILE, self._size)

    async def sync(self) -> None:
        """There is no disk."""

    def truncate_to(self, end: ArchiveEnd | None) -> int:
        """Remove what lies after the acknowledged end; return the number of missing bytes."""
        size = end.size if end is not None else 0
        self.entries = [entry for entry in self.entries if entry.offset < size]
        missing = max(0, size - self._size)
        self._size = min(self._size, size)
        return missing

    def acknowledge(self, end: ArchiveEnd) -> None:
        """Nothing survives this process."""

    def read(self, place: OriginalRecord) -> tuple[Headers, bytes] | None:
        """Return headers and body of a record; None if bodies are not kept."""
        return self._bodies.get(place.offset) if self._bodies is not None else None

    def close(self) -> None:
        """Nothing is held open."""


class MemoryNear:
    """Implements `NearTexts`."""

    def __init__(self) -> None:
        self._entries: list[SignatureEntry] = []
        self._priorities: dict[tuple[int, int], list[int]] = {}

    def find(self, signature: bytes, *, chars: int) -> SignatureMatch | None:
        """Return the page with the most similar text, if one is similar enough."""
        if not is_indexable(signature):
            return None
        found = [n for place in enumerate(signature_bands(signature)) for n in self._priorities.get(place, ())]
        return best_match(signature, chars, (self._entries[number] for number in top_candidates(found)))

    def add(self, page: int, signature: bytes, *, chars: int) -> None:
        """Index the text of a page."""
        if is_indexable(signature):
            for place in enumerate(signature_bands(signature)):
                self._priorities.setdefault(place, []).append(len(self._entries))
            self._entries.append(SignatureEntry(page, signature, chars))

    def flush(self) -> None:
        """Nothing is buffered."""

    def close(self) -> None:
        """Nothing is held open."""
