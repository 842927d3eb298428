"""One export under way: the selected versions one after the other, counted, damaged ones left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from evercrawl.adapters.sqlite.stored import StoredReader, StoredVersion
from evercrawl.collection.exchange.selection import Selection, selected
from evercrawl.collection.exchange.stored import StoredAnswer, decoded_body, document_of, stored_answer
from evercrawl.errors import StoreUnavailable
from evercrawl.model.document import Document
from evercrawl.model.settings import Settings

MOST_DAMAGE = 100
"""Damaged records that are named one by one; all are counted."""


@dataclass(slots=True)
class ExchangeReport:
    """What was taken out."""

    path: str | None = None
    """Where it lies; None: it went to standard output."""
    pages: int = 0
    versions: int = 0
    bytes: int = 0
    """Bytes of stored records that were read."""
    damaged: int = 0
    damage: list[str] = field(default_factory=list)
    """What is wrong with the first of them."""


OnProgress = Callable[[ExchangeReport], None]


class Answer(NamedTuple):
    """A version and the answer that it was stored from."""

    version: StoredVersion
    stored: StoredAnswer


class PageCopy(NamedTuple):
    """A version with all that can be read out of it."""

    version: StoredVersion
    stored: StoredAnswer
    body: bytes
    document: Document
    analysis: Mapping[str, Any]
    """What analysers said about it when it was new."""


@dataclass(slots=True)
class ExportRun:
    """The versions of one export. Invariant: whatever was given out is counted, whatever was not is named."""

    collection: Path
    settings: Settings
    selection: Selection
    on_progress: OnProgress | None = None
    report: ExchangeReport = field(default_factory=ExchangeReport)
    _last_page: tuple[int, int] | None = None

    @property
    def archive(self) -> Path:
        """The folder of the collection's WARC files."""
        return self.collection / "archive"

    def answers(self) -> Iterator[Answer]:
        """Every selected version that can be read."""
        for reader, version in selected(self.collection, self.selection):
            try:
                answer = Answer(version, stored_answer(self.archive, reader, version))
            except StoreUnavailable as error:
                self._note_damage(version, error)
                continue
            yield answer
            self._count(reader, version)

    def pages(self) -> Iterator[PageCopy]:
        """The same, decoded and parsed."""
        for reader, version in selected(self.collection, self.selection):
            try:
                stored = stored_answer(self.archive, reader, version)
                body = decoded_body(version, stored.http)
            except StoreUnavailable as error:
                self._note_damage(version, error)
                continue
            document = document_of(version, stored.http, body, self.settings)
            analysis = reader.analyses(version.page_id).get(version.number, {})
            yield PageCopy(version, stored, body, document, analysis)
            self._count(reader, version)

    def _count(self, reader: StoredReader, version: StoredVersion) -> None:
        page = id(reader), version.page_id
        self.report.pages += page != self._last_page
        self._last_page = page
        self.report.versions += 1
        self.report.bytes += version.length
        if self.on_progress is not None:
            self.on_progress(self.report)

    def _note_damage(self, version: StoredVersion, error: StoreUnavailable) -> None:
        self.report.damaged += 1
        if len(self.report.damage) < MOST_DAMAGE:
            self.report.damage.append(f"version {version.number} of {version.url}: {error}")
