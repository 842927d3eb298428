"""What differs between two versions of a page: blocks and words, links, metadata."""

from __future__ import annotations

from pathlib import Path

from evercrawl.adapters.sqlite.reader import StateReader
from evercrawl.collection.past.stored import StoredPage, document_of, present, read_back, stored_page
from evercrawl.core.change.text_diff import text_difference
from evercrawl.model.change import FieldChange, VersionDiff, VersionMark
from evercrawl.model.document import Document
from evercrawl.model.fetch import header
from evercrawl.model.listing import VersionRecord
from evercrawl.model.settings import Settings
from evercrawl.model.time import from_us

TOLD_HEADERS = ("content-type", "content-language", "x-robots-tag")
"""Header fields that say something about the page itself."""


def page_difference(
    collection: Path, settings: Settings, url: str, a: str | None = None, b: str | None = None
) -> VersionDiff:
    """From version `a` (otherwise the one before the newest) to `b` (otherwise the newest)."""
    stored = stored_page(collection, settings, url)
    now = present()
    before = stored.versions[max(0, len(stored.versions) - 2)] if a is None else stored.chosen(a, now=now)
    return difference_between(collection, settings, stored, before, stored.chosen(b, now=now))


def difference_between(
    collection: Path, settings: Settings, stored: StoredPage, before: VersionRecord, after: VersionRecord
) -> VersionDiff:
    """What differs between these two; texts as they were stored, the rest as the archive has it."""
    name = stored.page.url
    marks = _mark(before), _mark(after)
    if before.version.number == after.version.number:
        return VersionDiff(name, *marks, same_bytes=True)
    sides = [_side(collection, settings, stored, kept) for kept in (before, after)]
    (old, old_fields, old_text), (new, new_fields, new_text) = sides
    text = text_difference(old_text, new_text)
    old_links, new_links = _links(old), _links(new)
    return VersionDiff(
        name,
        *marks,
        edits=text.edits,
        links_added=tuple(link for link in new_links if link not in old_links),
        links_removed=tuple(link for link in old_links if link not in new_links),
        fields=_changed_fields(old_fields, new_fields),
        size=round(text.size, 4),
        same_bytes=before.version.digest == after.version.digest,
    )


def _mark(kept: VersionRecord) -> VersionMark:
    return VersionMark(kept.version.number, from_us(kept.seen_us))


def _side(
    collection: Path, settings: Settings, stored: StoredPage, kept: VersionRecord
) -> tuple[Document, dict[str, str | None], str]:
    back = read_back(collection, settings, stored.shard, kept)
    document = document_of(stored.page.url, back.headers, back.body, settings)
    with StateReader(collection).shard(stored.shard) as state:
        text = state.text(stored.page.id, kept.version.number)
    fields: dict[str, str | None] = {
        "title": document.title,
        "lang": document.lang,
        "canonical": document.canonical,
        "robots": _robots(document),
        "status": None if kept.status is None else str(kept.status),
    }
    fields |= {name: header(back.headers, name) for name in TOLD_HEADERS}
    return document, fields, document.text if text is None else text


def _robots(document: Document) -> str | None:
    asked = document.robots
    wishes = {"noindex": asked.noindex, "nofollow": asked.nofollow, "noarchive": asked.noarchive}
    return ", ".join(name for name, is_asked in wishes.items() if is_asked) or None


def _links(document: Document) -> dict[str, None]:
    return dict.fromkeys(link.url for link in document.links)


def _changed_fields(old: dict[str, str | None], new: dict[str, str | None]) -> tuple[FieldChange, ...]:
    return tuple(FieldChange(name, old[name], new[name]) for name in old if old[name] != new[name])
