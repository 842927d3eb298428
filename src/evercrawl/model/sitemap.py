"""What a sitemap or a feed says about the pages of a site."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from evercrawl.model.document import Alternate


class SitemapType(StrEnum):
    """The formats that are understood; the word that the tools print."""

    URLSET = "urlset"
    INDEX = "index"
    TEXT = "text"
    RSS = "rss"
    ATOM = "atom"
    EXTENDED = "extended"
    """Paper C's: ANCHOR_TEXT, URL and LAST_UPDATED in milliseconds."""
    UNKNOWN = "unknown"


class SitemapEntry(NamedTuple):
    """One page or, in an index, one sitemap; `url` is absolute, as the site wrote it where that is a URL."""

    url: str
    lastmod: datetime | None = None
    """In UTC; a date alone stands for its first moment."""
    changefreq: str | None = None
    priority: float | None = None
    text: str | None = None
    """The anchor text of an extended sitemap, the title of a feed's entry."""
    alternates: tuple[Alternate, ...] = ()
    images: tuple[str, ...] = ()
    videos: tuple[dict[str, str], ...] = ()
    news: dict[str, str] | None = None


class SitemapPage(NamedTuple):
    """One page that an owner's sitemap is to announce."""

    url: str
    lastmod: datetime | None = None
    anchor_text: str = ""


@dataclass(frozen=True, slots=True)
class Sitemap:
    """A sitemap or feed as it was read; with an `error`, the entries are those that could be saved."""

    type: SitemapType
    entries: tuple[SitemapEntry, ...] = ()
    error: str | None = None
    feed_lastmod: datetime | None = None
    """When a feed says that it was last made."""


@dataclass(frozen=True, slots=True)
class SitemapLimits:
    """How much of a sitemap is read; what lies behind is not looked at."""

    max_bytes: int = 50 * 1024 * 1024
    """Unpacked; the most that the protocol allows in one file."""
    max_entries: int = 100_000
    """Twice what the protocol allows in one file."""
    max_elements: int = 2_000_000
    max_depth: int = 64
    """Of elements inside each other."""
    max_fields: int = 20_000
    """Elements inside one entry."""
