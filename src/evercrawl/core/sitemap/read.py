"""Which pages does a sitemap or feed name, and when did each change?

The bytes decide what it is, not its name or type. Well-formed XML is read by expat; where that fails, the
tags are read one by one, and the reading that found more entries stands. Nothing raises, nothing is fetched.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from evercrawl.core.sitemap.collect import Collector, Meaning
from evercrawl.core.sitemap.entry import extended_entries, listed_entries
from evercrawl.core.sitemap.feed import atom_entries, item_entries
from evercrawl.core.sitemap.plain import read_plain
from evercrawl.core.sitemap.prolog import as_utf8, is_html, markup_of
from evercrawl.core.sitemap.soup import Sink, feed_soup
from evercrawl.core.sitemap.unpack import unpacked
from evercrawl.core.sitemap.xml import NotWellFormed, Refused, feed_xml
from evercrawl.model.sitemap import Sitemap, SitemapLimits, SitemapType

LONGEST_SOUP = 16 * 1024 * 1024
"""Bytes of a broken document that are read tag by tag."""

_MEANINGS: dict[SitemapType, Meaning] = {
    SitemapType.URLSET: listed_entries,
    SitemapType.INDEX: listed_entries,
    SitemapType.RSS: item_entries,
    SitemapType.ATOM: atom_entries,
    SitemapType.EXTENDED: extended_entries,
}
_DEFAULT_LIMITS = SitemapLimits()


def read_sitemap(
    body: bytes, url: str, *, content_type: str | None = None, limits: SitemapLimits = _DEFAULT_LIMITS
) -> Sitemap:
    """The entries of a body that came from `url`; what is no sitemap has the type unknown and an error."""
    packed = unpacked(body, most_bytes=limits.most_bytes)
    sitemap = _read(as_utf8(packed.data, content_type), url, limits=limits)
    return sitemap if packed.error is None else replace(sitemap, error=packed.error)


def _read(document: bytes, url: str, *, limits: SitemapLimits) -> Sitemap:
    if not document:
        return Sitemap(SitemapType.UNKNOWN, error="empty")
    if is_html(document):
        return Sitemap(SitemapType.UNKNOWN, error="a web page, not a sitemap")
    markup = markup_of(document)
    if markup is None:
        return read_plain(document, url, limits=limits)
    return _read_markup(markup, url, limits=limits)


def _read_markup(markup: bytes, url: str, *, limits: SitemapLimits) -> Sitemap:
    strict, is_broken = _collected(lambda sink: feed_xml(markup, sink), url, limits=limits)
    if not is_broken:
        return strict
    lenient, _ = _collected(
        lambda sink: feed_soup(markup[:LONGEST_SOUP].decode("utf-8", "replace"), sink), url, limits=limits
    )
    return replace(lenient, error=strict.error) if len(lenient.entries) > len(strict.entries) else strict


def _collected(
    feed: Callable[[Sink], NotWellFormed | None], url: str, *, limits: SitemapLimits
) -> tuple[Sitemap, bool]:
    """What one way of reading found, and whether it was stopped because the XML is broken."""
    collector = Collector(url, _MEANINGS, limits=limits)
    broken, refused = None, None
    try:
        broken = feed(collector)
    except Refused as limit:
        refused = str(limit)
    refused = refused or collector.finish()
    if broken is not None:
        refused = refused or f"not well-formed: {broken.message}"
    return _result(collector, refused), broken is not None


def _result(collector: Collector, error: str | None) -> Sitemap:
    kind = collector.type
    if kind is SitemapType.UNKNOWN and collector.entries:
        kind = SitemapType.EXTENDED
    elif kind is SitemapType.UNKNOWN:
        error = error or f"the root element {collector.root[:40]!r} is not a sitemap's"
    elif kind is SitemapType.URLSET and any(entry.text is not None for entry in collector.entries):
        kind = SitemapType.EXTENDED
    return Sitemap(kind, tuple(collector.entries), error, collector.feed_lastmod)
