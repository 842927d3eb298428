"""Read the entries of sitemaps and feeds.
Covers the sitemaps.org protocol, Google's image, video and news elements, paper C's fields, RSS 0.9x to 2.0, Atom 0.3
and 1.0 (RFC 4287), and plain lists of URLs."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from datetime import datetime
from itertools import islice

from evercrawl.core.sitemap.sitemap_markup import EntryElement, EntryField
from evercrawl.core.sitemap.sitemap_values import absolute_url, is_absolute, parse_date, parse_milliseconds
from evercrawl.model.document import Alternate
from evercrawl.model.sitemap import Sitemap, SitemapEntry, SitemapLimits, SitemapType

CHANGE_FREQUENCIES = frozenset({"always", "hourly", "daily", "weekly", "monthly", "yearly", "never"})
EXTENDED_FIELDS = frozenset({"last_updated", "anchor_text"})  # Fields that make a sitemap an extended one.

_STANDARD_FIELDS = frozenset({"loc", "lastmod", "changefreq", "priority"})
_NEWS_FIELDS = frozenset(
    {"name", "language", "title", "keywords", "publication_date", "genres", "access", "stock_tickers"}
)
_EXTENDED_NAMES = {
    "url": "url", "loc": "url", "link": "url", "href": "url",
    "last_updated": "last_updated", "lastupdated": "last_updated", "last-updated": "last_updated",
    "anchor_text": "anchor_text", "anchortext": "anchor_text", "anchor-text": "anchor_text",
}  # fmt: skip


def listed_entries(record: EntryElement) -> list[SitemapEntry]:
    """Return the entry of a `url` or `sitemap` element; empty if it names no page."""
    # Elements inside a loc mean that its end tag is missing.
    own = {field.name: field.text for field in reversed(record.fields) if field.parent in ("", "loc")}
    written = own.get("loc") or own.get(":loc") or own.get("url") or ""
    if not written and is_absolute(record.text.strip()):
        written = record.text
    url = absolute_url(written, record.base)
    if url is None:
        return []
    entry = SitemapEntry(
        url,
        parse_date(own.get("lastmod")),
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


def _with_extensions(entry: SitemapEntry, own: dict[str, str], record: EntryElement) -> SitemapEntry:
    fields = record.fields
    updated = own.get("last_updated") or own.get(":last_updated")
    anchor = own.get("anchor_text") or own.get(":anchor_text")
    images = (absolute_url(it.text, record.base) for it in fields if _is_in(it, "image") and _bare(it) == "loc")
    return entry._replace(
        lastmod=parse_milliseconds(updated) or entry.lastmod,
        text=_line(anchor or "") if anchor is not None or updated is not None else None,
        alternates=_alternates(record),
        images=tuple(image for image in images if image is not None),
        videos=_videos(fields),
        news=_news(fields),
    )


def _bare(field: EntryField) -> str:
    return field.name.removeprefix(":")


def _is_in(field: EntryField, container: str) -> bool:
    return field.parent.removeprefix(":") == container


def _line(text: str) -> str:
    return " ".join(text.split())


def _alternates(record: EntryElement) -> tuple[Alternate, ...]:
    """Return the `xhtml:link` elements: translations and other forms of the page."""
    found = []
    for field in record.fields:
        if field.name in (":link", "link") and field.attributes.get("rel", "").lower() == "alternate":
            url = absolute_url(field.attributes.get("href", ""), record.base)
            if url is not None:
                found.append(Alternate(url, field.attributes.get("hreflang"), field.attributes.get("type")))
    return tuple(found)


def _videos(fields: list[EntryField]) -> tuple[dict[str, str], ...]:
    """Return the parts of each video. The video element ends after its parts."""
    videos: list[dict[str, str]] = []
    parts: dict[str, str] = {}
    for field in fields:
        if _is_in(field, "video"):
            parts.setdefault(_bare(field), field.text.strip())
        elif _bare(field) == "video" and not field.parent:
            videos.append(parts)
            parts = {}
    return tuple(videos)


def _news(fields: list[EntryField]) -> dict[str, str] | None:
    found = {
        _bare(field): field.text.strip()
        for field in reversed(fields)
        if (_is_in(field, "news") or _is_in(field, "publication")) and _bare(field) in _NEWS_FIELDS
    }
    return found or None


def extended_entries(record: EntryElement) -> list[SitemapEntry]:
    """Return the pages of an unknown element with paper C's fields, as elements or attributes.
    A repeated field begins the next page, so a list around the pages does no harm."""
    pages: list[dict[str, str]] = [{}]
    for name, text in _extended_fields(record):
        if name in pages[-1]:
            pages.append({})
        pages[-1][name] = text
    entries = (extended_entry(page, record.base) for page in pages)
    return [entry for entry in entries if entry is not None]


def _extended_fields(record: EntryElement) -> list[tuple[str, str]]:
    found = list(record.attributes.items())
    for field in record.fields:
        found += field.attributes.items()
        found.append((_bare(field), field.text))
    return [(_EXTENDED_NAMES[name.lower()], text) for name, text in found if name.lower() in _EXTENDED_NAMES]


def extended_entry(page: dict[str, str], base: str) -> SitemapEntry | None:
    """Return the entry of one extended row; None without a URL or another field."""
    if not EXTENDED_FIELDS & page.keys():
        return None
    url = absolute_url(page.get("url", ""), base)
    if url is None:
        return None
    return SitemapEntry(url, parse_milliseconds(page.get("last_updated")), text=_line(page.get("anchor_text", "")))


# A modification date says more than a creation date.
_ITEM_DATES = (":updated", ":modified", "pubdate", ":date", "date", ":issued", ":created", ":published")
_ATOM_DATES = ("updated", "modified", "published", "issued", "created", ":updated", ":modified", ":date")
_MAX_TITLE_CHARS = 500


def item_entries(record: EntryElement) -> list[SitemapEntry]:
    """Return the page of an RSS item: its link, else a permanent guid."""
    own = _own_fields(record)
    url = absolute_url(_item_link(own), record.base) or absolute_url(_alternate_link(record, ":link"), record.base)
    return [] if url is None else [SitemapEntry(url, _moment(own, _ITEM_DATES), text=_title(own))]


def _item_link(own: dict[str, EntryField]) -> str:
    link = own.get("link")
    if link is not None and (written := link.text.strip() or link.attributes.get("href", "")):
        return written
    guid = own.get("guid")
    if guid is not None and guid.attributes.get("isPermaLink", "true").strip().lower() != "false":
        return guid.text if is_absolute(guid.text.strip()) else ""
    return ""


def atom_entries(record: EntryElement) -> list[SitemapEntry]:
    """Return the page of an Atom entry: the alternate link, else the address of its content."""
    own = _own_fields(record)
    url = absolute_url(_alternate_link(record, "link"), record.base)
    if url is None and (content := own.get("content")) is not None:
        url = absolute_url(content.attributes.get("src", ""), _link_base(content, record.base))
    return [] if url is None else [SitemapEntry(url, _moment(own, _ATOM_DATES), text=_title(own))]


def _alternate_link(record: EntryElement, name: str) -> str:
    """Return the best alternate link of that name: HTML or untyped before anything else."""
    best = ""
    for field in record.fields:
        if field.parent or field.name != name or not _is_alternate(field):
            continue
        url = absolute_url(field.attributes.get("href", ""), _link_base(field, record.base))
        if url is not None and "html" in field.attributes.get("type", "html").lower():
            return url
        best = best or url or ""
    return best


def _is_alternate(link: EntryField) -> bool:
    # RFC 4287 section 4.2.7.2: a missing rel means alternate; a registered relation may be a whole IRI.
    return link.attributes.get("rel", "alternate").strip().lower().rpartition("/")[2] == "alternate"


def _link_base(field: EntryField, base: str) -> str:
    written = field.attributes.get("xml:base", "")
    return absolute_url(written, base) or base if written else base


def _own_fields(record: EntryElement) -> dict[str, EntryField]:
    """Return the first child of each name."""
    return {field.name: field for field in reversed(record.fields) if not field.parent}


def _moment(own: dict[str, EntryField], names: tuple[str, ...]) -> datetime | None:
    for name in names:
        if name in own and (moment := parse_date(own[name].text)) is not None:
            return moment
    return None


def _title(own: dict[str, EntryField]) -> str | None:
    title = own.get("title")
    return None if title is None else " ".join(title.text.split())[:_MAX_TITLE_CHARS] or None


MIN_URL_SHARE = 0.5  # Share of lines that are URLs. Below it, a text is prose.
MAX_HEADING_CHARS = 1000
MAX_ROW_CHARS = 100_000
SEPARATORS = "\t|;,"

_LINE = re.compile(rb"[^\r\n]+")


def read_plain(document: bytes, url: str, *, limits: SitemapLimits) -> Sitemap:
    """Read a plain text in UTF-8: a list of URLs or a table."""
    lines = list(islice(_lines(document), limits.max_entries + 1))
    error = None
    if len(lines) > limits.max_entries:
        error = f"more than {limits.max_entries} lines; the rest was not read"
        lines.pop()
    separator = _separator_of(lines[0]) if lines else None
    return _table(lines, separator, url, error) if separator is not None else _list(lines, url, error)


def _lines(document: bytes) -> Iterator[str]:
    for found in _LINE.finditer(document):
        line = found[0].decode("utf-8", "replace").strip()
        if line and not line.startswith("#"):
            yield line


def _list(lines: list[str], url: str, error: str | None) -> Sitemap:
    written = [line.split(None, 1)[0] for line in lines if is_absolute(line)]
    if not written or len(written) < MIN_URL_SHARE * len(lines):
        return Sitemap(SitemapType.UNKNOWN, error="neither markup nor a list of URLs")
    found = (absolute_url(line, url) for line in written)
    return Sitemap(SitemapType.TEXT, tuple(SitemapEntry(page) for page in found if page is not None), error)


def _separator_of(heading: str) -> str | None:
    """Return the field separator if the first line is the heading of an extended sitemap."""
    if len(heading) > MAX_HEADING_CHARS:
        return None
    for separator in SEPARATORS:
        names = set(_names(heading, separator))
        if "url" in names and names & EXTENDED_FIELDS:
            return separator
    return None


def _names(heading: str, separator: str) -> list[str]:
    return [name.strip().strip('"').lower() for name in heading.split(separator)]


def _table(lines: list[str], separator: str, url: str, error: str | None) -> Sitemap:
    names, entries = _names(lines[0], separator), []
    sound = [line for line in lines[1:] if len(line) <= MAX_ROW_CHARS]
    if len(sound) < len(lines) - 1:
        error = f"the table is damaged: a row is longer than {MAX_ROW_CHARS} characters"
    rows = csv.reader(sound, delimiter=separator, skipinitialspace=True)
    try:
        for row in rows:
            entry = extended_entry(dict(zip(names, row, strict=False)), url)
            if entry is not None:
                entries.append(entry)
    except csv.Error as damage:
        error = f"the table is damaged: {damage}"
    return Sitemap(SitemapType.EXTENDED, tuple(entries), error)
