"""One page of a collection with its versions, and what each of them was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evercrawl.adapters.media import InstalledHandlers
from evercrawl.adapters.schemes import installed_schemes
from evercrawl.adapters.sqlite.moves import CONFIRMING
from evercrawl.adapters.sqlite.reader import StateReader
from evercrawl.adapters.warc.reader import ArchivedResponse, read_record
from evercrawl.core.change.versions import choose_version, names_version
from evercrawl.core.document.html import parse_document
from evercrawl.core.document.media_type import media_type
from evercrawl.core.http.content_coding import DecodeLimits, decoded_body
from evercrawl.core.url import PAGE_SCHEMES, canonical, key_of, shard_of_site, site_of
from evercrawl.engine.interpret import BUILT_IN_TYPES
from evercrawl.errors import ConfigError
from evercrawl.model.document import Document
from evercrawl.model.fetch import Headers
from evercrawl.model.listing import PageRecord, VersionRecord, VisitRecord
from evercrawl.model.page import OriginalRecord
from evercrawl.model.settings import Settings
from evercrawl.model.time import from_us

MOST_VISITS = 10_000


def present() -> datetime:
    """The present moment."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page, its versions oldest first, and its visits newest first."""

    shard: int
    page: PageRecord
    versions: tuple[VersionRecord, ...]
    visits: tuple[VisitRecord, ...]
    analyses: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    """Version -> what analysers said about it."""

    def chosen(self, which: str | None, *, now: datetime) -> VersionRecord:
        """The version that is meant; None: the newest."""
        if which is None:
            return self.versions[-1]
        marks = [(kept.version.number, from_us(kept.seen_us)) for kept in self.versions]
        return self.versions[choose_version(marks, which, now=now)]


def page_name(url: str) -> str:
    """The canonical form of a URL that this installation could fetch; ConfigError where there is none."""
    name = canonical(url, (*PAGE_SCHEMES, *(f"{scheme}://" for scheme in installed_schemes())))
    if name is None:
        raise ConfigError(f"{url!r} is not a URL that can name a page; write it like https://example.org/")
    return name


def stored_page(collection: Path, settings: Settings, url: str) -> StoredPage:
    """The page with at least one version; ConfigError where there is none."""
    name = page_name(url)
    found = _look_up(collection, settings, name)
    if found is None or not found.versions:
        raise ConfigError(f"no version of {name} is stored; ask for the reason with: evercrawl why {name}")
    return found


def _look_up(collection: Path, settings: Settings, name: str) -> StoredPage | None:
    reader = StateReader(collection)
    shard = shard_of_site(site_of(name), settings.store.shards)
    if shard not in reader.shards():
        return None
    with reader.shard(shard) as state:
        page = state.page(key_of(name))
        if page is None:
            return None
        versions, visits = state.versions(page.id), state.visits(page.id, MOST_VISITS)
        analyses = state.analyses(page.id)
    return StoredPage(shard, page, tuple(versions), tuple(visits), analyses)


def split_moment(collection: Path, settings: Settings, text: str) -> tuple[str, str | None]:
    """URL and version of `URL[@VERSION]`; an @ that belongs to a known page's URL stays there."""
    url, at, which = text.rpartition("@")
    if not at or not url or not names_version(which, now=present()):
        return text, None
    if canonical(text) is not None and _look_up(collection, settings, page_name(text)) is not None:
        return text, None
    return url, which


# Reading back


@dataclass(frozen=True, slots=True)
class ReadBack:
    """A version as the archive has it; a revisit record has a head of its own and another's body."""

    head: bytes
    headers: Headers
    wire_body: bytes
    body: bytes
    """Decoded."""


def read_back(collection: Path, settings: Settings, shard: int, kept: VersionRecord) -> ReadBack:
    """The answer that a version was stored from."""
    place = kept.version
    folder = collection / "archive"
    record = read_record(folder, place.file, place.offset, place.length)
    source = record
    if record.refers_to is not None:
        with StateReader(collection).shard(shard) as state:
            source = _source(folder, state.original(place.digest), record)
    limits = DecodeLimits(settings.http.decoded_bytes, settings.http.ratio)
    body = decoded_body(source.headers, source.wire_body, limits=limits)
    return ReadBack(record.head, record.headers, source.wire_body, body)


def _source(folder: Path, original: OriginalRecord | None, record: ArchivedResponse) -> ArchivedResponse:
    if original is None:
        return record
    return read_record(folder, original.file, original.offset, original.length)


def document_of(url: str, headers: Headers, body: bytes, settings: Settings) -> Document:
    """The document as a crawl reads it: by a handler where its media type has one."""
    kind = media_type(headers, body)
    handler = None if kind in BUILT_IN_TYPES else InstalledHandlers().get(kind)
    if handler is not None:
        return handler.parse(url, headers, body)
    return parse_document(url, headers, body, agent=settings.identity.product, limits=settings.parse)


def seen_until(versions: Sequence[VersionRecord], visits: Sequence[VisitRecord]) -> dict[int, int]:
    """Version -> the last visit that found the page so, in microseconds."""
    until = {kept.version.number: kept.seen_us for kept in versions}
    for visit in visits:
        if visit.outcome in CONFIRMING and visit.version in until:
            until[visit.version] = max(until[visit.version], visit.at_us)
    return until
