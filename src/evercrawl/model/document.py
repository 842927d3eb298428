"""What a parser found in the bytes of one answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Link(NamedTuple):
    """One link: absolute WHATWG URL without fragment, anchor text, and whether we are asked not to follow."""

    url: str
    text: str
    nofollow: bool


class Alternate(NamedTuple):
    """Another form of the same page: a translation, a feed, a format."""

    url: str
    hreflang: str | None
    type: str | None


class Refresh(NamedTuple):
    """A meta refresh (or Refresh header): after `delay` seconds go to `url`."""

    delay: float
    url: str


@dataclass(frozen=True, slots=True)
class Directives:
    """What the page asks of robots, from meta elements and X-Robots-Tag together, for us."""

    noindex: bool = False
    nofollow: bool = False
    noarchive: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed answer. Links are absolute, without fragment, in document order, each once."""

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
    text: str = ""
    author: str | None = None
    published: str | None = None
    """In ISO 8601, as exact as the page states it."""
    modified: str | None = None
    headings: tuple[str, ...] = ()
    """Of the first three levels, in document order; empty where nobody asked for them."""
    snapshot: bytes | None = None
    """What later versions are compared with, in its stored form; None: not asked for, or not HTML."""
    unread: int = 0
    """Bytes at the end of the body that were not read, because it is too deep or too dense there."""


class Outline(NamedTuple):
    """The skeleton of the newest sight of a page."""

    headings: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    noindex: bool = False
    """The page asks to be kept out of published search."""
