"""The text of a feed that is crawled as a page: titles and summaries of its entries, without dates."""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser

from evercrawl.core.document.bounds import truncate_fragment
from evercrawl.core.document.media_type import sniff_media_type
from evercrawl.core.sitemap.sitemap_markup import (
    EntryCollector,
    EntryElement,
    LimitExceeded,
    as_utf8,
    is_html,
    markup_of,
    parse_xml,
)
from evercrawl.model.document import Document
from evercrawl.model.fetch import Headers, header
from evercrawl.model.sitemap import SitemapEntry, SitemapLimits, SitemapType

XML_TYPES = frozenset(("application/rss+xml", "application/atom+xml", "application/xml", "text/xml"))
MAX_SUMMARY_CHARS = 2000
LIMITS = SitemapLimits(max_bytes=8 * 1024 * 1024, max_entries=2000)
_TEXTS = (":encoded", "content", "description", "summary", ":content", ":description", ":summary")  # The fullest first.


def feed_document(url: str, headers: Headers, body: bytes) -> Document | None:
    """Return a feed as a document without links, since feeds are also polled; None: it is not a feed."""
    if sniff_media_type(headers, body) not in XML_TYPES:
        return None
    text = feed_text(body, url, content_type=header(headers, "content-type"))
    return None if text is None else Document(encoding="utf-8", base_url=url, text=text, is_list=True)


def feed_text(body: bytes, url: str, *, content_type: str | None = None) -> str | None:
    """Return titles and summaries, one per line; None: not a feed, or broken."""
    document = as_utf8(body[: LIMITS.max_bytes], content_type)
    markup = None if not document or is_html(document) else markup_of(document)
    if markup is None:
        return None
    parsers = dict.fromkeys(SitemapType, _entry_lines)
    collector = EntryCollector(url, parsers, limits=LIMITS)
    try:
        broken = parse_xml(markup, collector)
    except LimitExceeded:
        return None
    if broken is not None or collector.type not in (SitemapType.RSS, SitemapType.ATOM):
        return None
    return "\n".join(entry.text for entry in collector.entries if entry.text)


def _entry_lines(record: EntryElement) -> list[SitemapEntry]:
    own = {field.name: field.text for field in reversed(record.fields) if not field.parent}
    summary = next((text for name in _TEXTS if (text := own.get(name, "").strip())), "")
    lines = [_plain(own.get("title", "")), _plain(summary)[:MAX_SUMMARY_CHARS]]
    return [SitemapEntry("", text="\n".join(line for line in lines if line))]


def _plain(text: str) -> str:
    """Return a text without markup on one line."""
    if "<" in text or "&" in text:
        body = LexborHTMLParser(truncate_fragment(text)).body
        text = body.text(separator=" ") if body is not None else ""
    return " ".join(text.split())
