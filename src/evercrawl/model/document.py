"""A parsed document: text, links, metadata and directives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from evercrawl.model.usage import UsageTerms


class Link(NamedTuple):
    """A link: absolute WHATWG URL without fragment, anchor text, and whether it is nofollow."""

    url: str
    text: str
    nofollow: bool


class Alternate(NamedTuple):
    """An alternate form of the page: a translation, a feed, a format."""

    url: str
    hreflang: str | None
    type: str | None


class Refresh(NamedTuple):
    """A meta refresh (or Refresh header): after `delay` seconds go to `url`."""

    delay: float
    url: str


@dataclass(frozen=True, slots=True)
class Directives:
    """The robots directives that apply to us, from meta elements and X-Robots-Tag."""

    noindex: bool = False
    nofollow: bool = False
    noarchive: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed response. Links are absolute, without fragment, in document order, each once."""

    encoding: str
    base_url: str
    title: str | None = None
    lang: str | None = None
    links: tuple[Link, ...] = ()
    embeds: tuple[str, ...] = ()
    canonical: str | None = None
    alternates: tuple[Alternate, ...] = ()
    feeds: tuple[str, ...] = ()
    refresh: Refresh | None = None
    robots: Directives = field(default_factory=Directives)
    terms: UsageTerms = field(default_factory=UsageTerms)  # What the elements of the page say about its use.
    text: str = ""
    author: str | None = None
    published: str | None = None  # ISO 8601, with the precision of the page.
    modified: str | None = None
    headings: tuple[str, ...] = ()  # Headings of the first three levels, in document order; empty if not requested.
    snapshot: bytes | None = None  # The packed snapshot for comparisons; None: not requested, or not HTML.
    is_list: bool = False  # A feed: its text is a list of entries.
    unread: int = 0  # Bytes at the end of the body that were not parsed, because of nesting or size limits.
    stopped: str | None = None  # Why the parser was ended early, so that text and links may be missing.


class Outline(NamedTuple):
    """Headings and links of a page."""

    headings: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    noindex: bool = False  # The page is marked noindex.


FieldValue = str | int | float | bool | None  # A value that JSON, SQL and a search index all know.
