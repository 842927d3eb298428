"""Sitemaps and feeds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from evercrawl.model.document import Alternate


class SitemapType(StrEnum):
    """The supported formats."""

    URLSET = "urlset"
    INDEX = "index"
    TEXT = "text"
    RSS = "rss"
    ATOM = "atom"
    EXTENDED = "extended"  # The format of paper C: ANCHOR_TEXT, URL and LAST_UPDATED in milliseconds.
    UNKNOWN = "unknown"


class SitemapEntry(NamedTuple):
    """A page or, in an index, a sitemap; `url` is absolute."""

    url: str
    lastmod: datetime | None = None  # In UTC; a date without time means midnight.
    changefreq: str | None = None
    priority: float | None = None
    text: str | None = None  # The anchor text in an extended sitemap, the title in a feed.
    alternates: tuple[Alternate, ...] = ()
    images: tuple[str, ...] = ()
    videos: tuple[dict[str, str], ...] = ()
    news: dict[str, str] | None = None


class SitemapPage(NamedTuple):
    """A page to list in a generated sitemap."""

    url: str
    lastmod: datetime | None = None
    anchor_text: str = ""


@dataclass(frozen=True, slots=True)
class Sitemap:
    """A parsed sitemap or feed; with an `error`, the entries before the error."""

    type: SitemapType
    entries: tuple[SitemapEntry, ...] = ()
    error: str | None = None
    feed_lastmod: datetime | None = None  # The date of a feed.


@dataclass(frozen=True, slots=True)
class SitemapLimits:
    """Limits for reading a sitemap."""

    max_bytes: int = 50 * 1024 * 1024  # Decompressed; the limit of the protocol for one file.
    max_entries: int = 100_000  # Twice the limit of the protocol for one file.
    max_elements: int = 2_000_000
    max_depth: int = 64  # Nesting of elements.
    max_fields: int = 20_000  # Elements per entry.
