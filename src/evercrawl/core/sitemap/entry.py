"""What does a record of a sitemap say? sitemaps.org's protocol, Google's image, video and news elements, and
the fields of paper C.
"""

from __future__ import annotations

from evercrawl.core.sitemap.address import absolute, is_absolute
from evercrawl.core.sitemap.collect import Field, Record
from evercrawl.core.sitemap.date import moment_of, moment_of_milliseconds
from evercrawl.model.document import Alternate
from evercrawl.model.sitemap import SitemapEntry

CHANGE_FREQUENCIES = frozenset({"always", "hourly", "daily", "weekly", "monthly", "yearly", "never"})
EXTENDED_FIELDS = frozenset({"last_updated", "anchor_text"})
"""What makes a sitemap an extended one."""

_STANDARD_FIELDS = frozenset({"loc", "lastmod", "changefreq", "priority"})
_NEWS_FIELDS = frozenset(
    {"name", "language", "title", "keywords", "publication_date", "genres", "access", "stock_tickers"}
)
_EXTENDED_NAMES = {
    "url": "url", "loc": "url", "link": "url", "href": "url",
    "last_updated": "last_updated", "lastupdated": "last_updated", "last-updated": "last_updated",
    "anchor_text": "anchor_text", "anchortext": "anchor_text", "anchor-text": "anchor_text",
}  # fmt: skip


def listed_entries(record: Record) -> list[SitemapEntry]:
    """The entry of a `url` or `sitemap` element; none where it names no page."""
    # What stands in a loc stands there because the loc was never ended.
    own = {field.name: field.text for field in reversed(record.fields) if field.parent in ("", "loc")}
    written = own.get("loc") or own.get(":loc") or own.get("url") or ""
    if not written and is_absolute(record.text.strip()):
        written = record.text
    url = absolute(written, record.base)
    if url is None:
        return []
    entry = SitemapEntry(
        url,
        moment_of(own.get("lastmod")),
        _frequency(own["changefreq"]) if "changefreq" in own else None,
        _priority(own["priority"]) if "priority" in own else None,
    )
    if len(own) == len(record.fields) and own.keys() <= _STANDARD_FIELDS:
        return [entry]
    return [_with_extensions(entry, own, record)]


def _frequency(written: str) -> str | None:
    frequency = written.strip().lower()
    return frequency if frequency in CHANGE_FREQUENCIES else None


def _priority(written: str) -> float | None:
    try:
        priority = float(written)
    except ValueError:
        return None
    return priority if 0 <= priority <= 1 else None


def _with_extensions(entry: SitemapEntry, own: dict[str, str], record: Record) -> SitemapEntry:
    fields = record.fields
    updated = own.get("last_updated") or own.get(":last_updated")
    anchor = own.get("anchor_text") or own.get(":anchor_text")
    images = (absolute(it.text, record.base) for it in fields if _is_in(it, "image") and _bare(it) == "loc")
    return entry._replace(
        lastmod=moment_of_milliseconds(updated) or entry.lastmod,
        text=_line(anchor or "") if anchor is not None or updated is not None else None,
        alternates=_alternates(record),
        images=tuple(image for image in images if image is not None),
        videos=_videos(fields),
        news=_news(fields),
    )


def _bare(field: Field) -> str:
    return field.name.removeprefix(":")


def _is_in(field: Field, container: str) -> bool:
    return field.parent.removeprefix(":") == container


def _line(text: str) -> str:
    return " ".join(text.split())


def _alternates(record: Record) -> tuple[Alternate, ...]:
    """The `xhtml:link` elements: translations and other forms of the same page."""
    found = []
    for field in record.fields:
        if field.name in (":link", "link") and field.attributes.get("rel", "").lower() == "alternate":
            url = absolute(field.attributes.get("href", ""), record.base)
            if url is not None:
                found.append(Alternate(url, field.attributes.get("hreflang"), field.attributes.get("type")))
    return tuple(found)


def _videos(fields: list[Field]) -> tuple[dict[str, str], ...]:
    """Of every video its parts, each once. The video's own element ends behind its parts."""
    videos: list[dict[str, str]] = []
    parts: dict[str, str] = {}
    for field in fields:
        if _is_in(field, "video"):
            parts.setdefault(_bare(field), field.text.strip())
        elif _bare(field) == "video" and not field.parent:
            videos.append(parts)
            parts = {}
    return tuple(videos)


def _news(fields: list[Field]) -> dict[str, str] | None:
    found = {
        _bare(field): field.text.strip()
        for field in reversed(fields)
        if (_is_in(field, "news") or _is_in(field, "publication")) and _bare(field) in _NEWS_FIELDS
    }
    return found or None


def extended_entries(record: Record) -> list[SitemapEntry]:
    """The pages of an element of an unknown vocabulary that has paper C's fields, as elements or attributes.

    A field that comes again begins the next page, so that a list around the pages does no harm.
    """
    pages: list[dict[str, str]] = [{}]
    for name, text in _extended_fields(record):
        if name in pages[-1]:
            pages.append({})
        pages[-1][name] = text
    entries = (extended_entry(page, record.base) for page in pages)
    return [entry for entry in entries if entry is not None]


def _extended_fields(record: Record) -> list[tuple[str, str]]:
    found = list(record.attributes.items())
    for field in record.fields:
        found += field.attributes.items()
        found.append((_bare(field), field.text))
    return [(_EXTENDED_NAMES[name.lower()], text) for name, text in found if name.lower() in _EXTENDED_NAMES]


def extended_entry(page: dict[str, str], base: str) -> SitemapEntry | None:
    """The page of one row of an extended sitemap; None where the row has no URL or nothing beside it."""
    if not EXTENDED_FIELDS & page.keys():
        return None
    url = absolute(page.get("url", ""), base)
    if url is None:
        return None
    return SitemapEntry(url, moment_of_milliseconds(page.get("last_updated")), text=_line(page.get("anchor_text", "")))
