"""What an answer is held against: the last sight of its page, and what the pages of its site have taught us.

Everything that has to be read is read first (`Comparisons.past_of`); the verdict itself (`compared`) does
not wait, so that visits to one site never lose each other's lessons.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from evercrawl.core.change.change_history import PageChangeHistory, SiteChangeHistory
from evercrawl.core.change.detectors import DEFAULT_DETECTOR, FetchedContent, detect_change, text_change
from evercrawl.core.change.learning import classify_visit, learn_page
from evercrawl.core.change.snapshot import Snapshot, unpack_snapshot
from evercrawl.core.document.html import parse_document
from evercrawl.core.http.content_coding import BadCoding, DecodeLimits, decoded_body
from evercrawl.engine.ports import Archive, ShardStore
from evercrawl.engine.site_state import SiteState, SiteStates
from evercrawl.model.change import Change
from evercrawl.model.document import Document
from evercrawl.model.fetch import Headers
from evercrawl.model.page import Baseline, OriginalRecord, Page
from evercrawl.model.settings import Settings

MOST_MET = 30
"""So many pages of a site are looked through at their first visit for what its pages have in common."""


@dataclass(frozen=True, slots=True)
class Past:
    """What a comparison needs to know; for the first visit to a page only the notes on its site."""

    notes: SiteState[SiteChangeHistory]
    is_same: bool = False
    """The same bytes as at the last visit."""
    text: str | None = None
    """Main text of the newest version."""
    body: bytes = b""
    """Of the newest version; empty where the detector needs none."""
    look: Baseline | None = None
    snapshot: Snapshot | None = None
    """Of the last sight; None: there is none, or it cannot be read."""

    def wants_snapshot(self, page: Page) -> bool:
        """The new answer's snapshot will be asked for."""
        if page.version == 0:
            return self.notes.memory.pages < MOST_MET
        return not self.is_same


class Compared(NamedTuple):
    """The verdict, and what the next visit needs."""

    change: Change
    snapshot: bytes | None = None
    memory: bytes = b""


def compared(
    page: Page, document: Document | None, body: bytes, past: Past, *, detector: str, now: datetime
) -> Compared:
    """How an answer differs from the last sight of its page; the site's notes learn from it."""
    if document is None or document.snapshot is None or detector != DEFAULT_DETECTOR:
        text = document.text if document is not None else None
        return Compared(detect_change(detector, FetchedContent(past.body, past.text), FetchedContent(body, text)))
    after = unpack_snapshot(document.snapshot)
    memory = PageChangeHistory() if past.look is None else PageChangeHistory.from_bytes(past.look.memory)
    if past.snapshot is None or after is None:
        change = text_change(past.text, document.text)
    else:
        change, memory, site = classify_visit(
            past.snapshot, after, memory, past.notes.memory, now=now, page_url=page.url, visit=page.visits + 1
        )
        past.notes.learn(site)
    return Compared(change, document.snapshot, memory.to_bytes())


def met(page: Page, document: Document | None, past: Past) -> None:
    """The site's notes learn from a page that is seen for the first time."""
    packed = document.snapshot if document is not None else None
    snapshot = unpack_snapshot(packed) if packed is not None else None
    if snapshot is not None:
        past.notes.learn(learn_page(snapshot, past.notes.memory, page_url=page.url))


class Comparisons:
    """Reads for the visits of one shard what they compare with."""

    def __init__(
        self,
        store: ShardStore,
        archive: Archive,
        memories: SiteStates[SiteChangeHistory],
        *,
        settings: Settings,
        agent: str,
    ) -> None:
        self.memories = memories
        self._store = store
        self._archive = archive
        self._settings = settings
        self._agent = agent

    async def past_of(self, page: Page, digest: bytes) -> Past:
        """What the new content with this digest is held against."""
        notes = await self.memories.of(page.site_id)
        if page.version == 0:
            return Past(notes)
        look = await self._store.look(page.id)
        if digest == page.digest:
            return Past(notes, is_same=True, look=look)
        text = await self._store.text(page.id, page.version)
        before = unpack_snapshot(look.snapshot) if look is not None else None
        if before is not None and self._settings.change.detector == DEFAULT_DETECTOR:
            return Past(notes, text=text, look=look, snapshot=before)
        headers, body = await self._newest_version(page)
        document = parse_document(
            page.url, headers, body, agent=self._agent, limits=self._settings.parse, wants_snapshot=True
        )
        before = unpack_snapshot(document.snapshot) if document.snapshot is not None else None
        return Past(notes, text=text, body=body, look=look, snapshot=before)

    async def rested(self, page: Page) -> None:
        """The page was found as it was: that speaks for calm, and for edits that stay."""
        look = await self._store.look(page.id)
        notes = await self.memories.of(page.site_id)
        rest(look, notes)

    async def _newest_version(self, page: Page) -> tuple[Headers, bytes]:
        """The newest version as the archive has it; nothing where it cannot be read."""
        place = await self._store.version_original(page.id)
        record = self._archive.read(place) if place is not None else None
        if record is None:
            return (), b""
        headers, wire_body = record
        limits = DecodeLimits(self._settings.http.max_decoded_bytes, self._settings.http.max_compression_ratio)
        try:
            return headers, decoded_body(headers, wire_body, limits=limits)
        except BadCoding:
            return (), b""


def sight_of(page: Page, look: Baseline) -> OriginalRecord:
    """The last sight of a page as something that a revisit record can refer to."""
    place = (look.record_id, look.payload_sha1, look.file, look.offset, look.length)
    return OriginalRecord(page.id, page.url, look.seen_us, *place)


def rest(look: Baseline | None, notes: SiteState[SiteChangeHistory]) -> None:
    """The site's notes after a visit that found a page as it was."""
    memory = PageChangeHistory() if look is None else PageChangeHistory.from_bytes(look.memory)
    notes.learn(notes.memory.rested(memory))
