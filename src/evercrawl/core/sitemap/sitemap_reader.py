"""Read a sitemap or feed from its bytes.
The bytes decide what it is, not its name or type. If strict XML parsing fails, the tags are read one by one, and the
result with more entries wins. Nothing is raised and nothing is fetched."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

from isal import isal_zlib
from selectolax.lexbor import LexborHTMLParser

from evercrawl.core.document.bounds import truncate_fragment
from evercrawl.core.document.media_type import sniff_media_type
from evercrawl.core.sitemap.sitemap_entries import (
    atom_entries,
    extended_entries,
    item_entries,
    listed_entries,
    read_plain,
)
from evercrawl.core.sitemap.sitemap_markup import (
    EntryCollector,
    EntryElement,
    EntryParser,
    LimitExceeded,
    NotWellFormed,
    TagHandler,
    as_utf8,
    is_html,
    markup_of,
    parse_tags,
    parse_xml,
)
from evercrawl.core.sitemap.sitemap_values import absolute_url
from evercrawl.core.url import site_of
from evercrawl.model.document import Document
from evercrawl.model.fetch import Headers, header
from evercrawl.model.sitemap import Sitemap, SitemapEntry, SitemapLimits, SitemapPage, SitemapType

LLMS_PATH = "/llms.txt"
MAX_TITLE_CHARS = 200
MAX_LISTED = 500  # Links of a written file. Readers have little room; the sitemap has the rest.
MAX_SECTIONS = 30
_LINK = re.compile(r"\[([^\[\]\n]{0,300})\]\([ \t]{0,9}<?([^\s()<>]{1,2048})")
_FEED_TITLE = re.compile(rb"<title[^<>]{0,99}>([^<]{1,999})")
_BARE = re.compile(r"[ \t]{0,9}[-*+][ \t]{1,9}<?(https?://[^\s<>()]{1,2048})")
_MARKUP = re.compile(r"[\[\]<>\\`*_]")


def is_llms_txt(url: str) -> bool:
    """Return whether a URL names an llms.txt."""
    return url.partition("#")[0].partition("?")[0].endswith(LLMS_PATH)


def read_llms_txt(document: bytes, url: str, *, limits: SitemapLimits) -> Sitemap:
    """Read the links of a file in UTF-8, each once, with their texts."""
    found: dict[str, str] = {}
    for text, target in islice(_links_in(document), limits.max_elements):
        page = absolute_url(target, url)
        if page is not None:
            found.setdefault(page, " ".join(text.split())[:MAX_TITLE_CHARS])
            if len(found) >= limits.max_entries:
                break
    entries = tuple(SitemapEntry(page, text=text or None) for page, text in found.items())
    return Sitemap(SitemapType.TEXT, entries, None if entries else "no links")


def _links_in(document: bytes) -> Iterator[tuple[str, str]]:
    """Yield text and target of every link; a line without any may be a bare URL."""
    for line in document.decode("utf-8", "replace").splitlines():
        has_link = False
        for link in _LINK.finditer(line):
            has_link = True
            yield link[1], link[2]
        if not has_link:
            yield from (("", bare[1]) for bare in _BARE.finditer(line))


def write_llms_txt(pages: Sequence[SitemapPage], base_url: str) -> bytes:
    """Return the file for the pages of a site: a section per folder, the pages nearest to the root first."""
    nearest = sorted(pages, key=lambda page: (_below(page.url, base_url).count("/"), page.url))[:MAX_LISTED]
    title = next((page.anchor_text for page in pages if page.url == base_url and page.anchor_text), "")
    sections: dict[str, list[str]] = {}
    for page in nearest:
        folder, slash, _ = _below(page.url, base_url).partition("/")
        name = _plain(folder) if slash and (folder in sections or len(sections) < MAX_SECTIONS) else ""
        sections.setdefault(name or "Pages", []).append(_line(page.url, page.anchor_text))
    lines = [f"# {_plain(title) or site_of(base_url).partition('//')[2]}", ""]
    for name, entries in sections.items():
        lines += [f"## {name}", "", *entries, ""]
    if len(nearest) < len(pages):
        lines += ["## Optional", "", _line(f"{base_url}sitemap.xml", f"Sitemap of all {len(pages):,} pages"), ""]
    return "\n".join(lines).encode()


def _below(url: str, base_url: str) -> str:
    return url.removeprefix(base_url).partition("?")[0]


def _line(url: str, title: str) -> str:
    return f"- [{_plain(title) or url}]({_escaped(url)})"


def _plain(text: str) -> str:
    """Return a title without characters that Markdown gives a meaning."""
    return " ".join(_MARKUP.sub(" ", text).split())[:MAX_TITLE_CHARS]


def _escaped(url: str) -> str:
    return url.replace("(", "%28").replace(")", "%29")


def named_in(urls: Iterable[str]) -> list[str]:
    """Return those of some URLs that name an llms.txt."""
    return [url for url in urls if url.endswith(LLMS_PATH)]


GZIP_MAGIC = b"\x1f\x8b"
MAX_LAYERS = 2  # A gzip file sent with a gzip coding that was not removed.
MAX_MEMBERS = 1000

_GZIP = 31
_SLICE_BYTES = 16 * 1024
_BAD_DATA: Any = isal_zlib.error  # typed as an instance in its stubs


class UnpackedBody(NamedTuple):
    """The bytes, and what was wrong with the compression."""

    data: bytes
    error: str | None = None


def unpack_body(body: bytes, *, max_bytes: int) -> UnpackedBody:
    """Remove gzip, recognised by its first bytes."""
    error: str | None = None
    for _ in range(MAX_LAYERS):
        if not body.startswith(GZIP_MAGIC):
            break
        body, wrong = _gunzip(body, max_bytes)
        error = error or wrong
    if body.startswith(GZIP_MAGIC):
        return UnpackedBody(b"", error or f"compressed more than {MAX_LAYERS} times")
    if len(body) > max_bytes:
        return UnpackedBody(body[:max_bytes], error or _too_long(max_bytes))
    return UnpackedBody(body, error)


def _too_long(max_bytes: int) -> str:
    return f"longer than {max_bytes} bytes; the rest was not read"


def _gunzip(body: bytes, max_bytes: int) -> UnpackedBody:
    """Decompress all members. Output before damage is kept, bytes after the last member are ignored."""
    out, at, members = bytearray(), 0, 0
    while body.startswith(GZIP_MAGIC, at) and members < MAX_MEMBERS:
        members += 1
        member = isal_zlib.decompressobj(wbits=_GZIP)
        while not member.eof:
            piece = body[at : at + _SLICE_BYTES]
            if not piece:
                return UnpackedBody(bytes(out), "the gzip data end too early")
            try:
                out += member.decompress(piece, max_bytes + 1 - len(out))
            except _BAD_DATA as damage:
                return UnpackedBody(bytes(out), f"the gzip data are damaged: {damage}")
            if len(out) > max_bytes:
                del out[max_bytes:]
                return UnpackedBody(bytes(out), _too_long(max_bytes))
            at += len(piece) - len(member.unused_data)
    return UnpackedBody(bytes(out))


MAX_BROKEN_BYTES = 16 * 1024 * 1024  # Bytes of a broken document that are read tag by tag.

_ENTRY_PARSERS: dict[SitemapType, EntryParser] = {
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
    """Read the entries of a body from `url`. Anything else has the type unknown and an error."""
    unpacked = unpack_body(body, max_bytes=limits.max_bytes)
    sitemap = _read(as_utf8(unpacked.data, content_type), url, limits=limits)
    return sitemap if unpacked.error is None else replace(sitemap, error=unpacked.error)


def _read(document: bytes, url: str, *, limits: SitemapLimits) -> Sitemap:
    if not document:
        return Sitemap(SitemapType.UNKNOWN, error="empty")
    if is_html(document):
        return Sitemap(SitemapType.UNKNOWN, error="a web page, not a sitemap")
    markup = markup_of(document)
    if is_llms_txt(url) and markup is None:
        return read_llms_txt(document, url, limits=limits)
    if markup is None:
        return read_plain(document, url, limits=limits)
    return _read_markup(markup, url, limits=limits)


def _read_markup(markup: bytes, url: str, *, limits: SitemapLimits) -> Sitemap:
    strict, is_broken = _collect(lambda handler: parse_xml(markup, handler), url, limits=limits)
    if not is_broken:
        return strict
    lenient, _ = _collect(
        lambda handler: parse_tags(markup[:MAX_BROKEN_BYTES].decode("utf-8", "replace"), handler), url, limits=limits
    )
    return replace(lenient, error=strict.error) if len(lenient.entries) > len(strict.entries) else strict


def _collect(
    feed: Callable[[TagHandler], NotWellFormed | None], url: str, *, limits: SitemapLimits
) -> tuple[Sitemap, bool]:
    """Return what one parser found, and whether the XML is broken."""
    collector = EntryCollector(url, _ENTRY_PARSERS, limits=limits)
    broken, refused = None, None
    try:
        broken = feed(collector)
    except LimitExceeded as limit:
        refused = str(limit)
    refused = refused or collector.finish()
    if broken is not None:
        refused = refused or f"not well-formed: {broken.message}"
    return _result(collector, refused), broken is not None


def _result(collector: EntryCollector, error: str | None) -> Sitemap:
    kind = collector.type
    if kind is SitemapType.UNKNOWN and collector.entries:
        kind = SitemapType.EXTENDED
    elif kind is SitemapType.UNKNOWN:
        error = error or f"the root element {collector.root[:40]!r} is not a sitemap's"
    elif kind is SitemapType.URLSET and any(entry.text is not None for entry in collector.entries):
        kind = SitemapType.EXTENDED
    return Sitemap(kind, tuple(collector.entries), error, collector.feed_lastmod)


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
    """Return titles and summaries, one per line, of an empty feed its title; None: not a feed, or broken."""
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
    title = _FEED_TITLE.search(markup) or [b"", b""]
    texts = [entry.text for entry in collector.entries if entry.text]
    return "\n".join(texts) or _plain_text(title[1].decode("utf-8", "replace"))


def _entry_lines(record: EntryElement) -> list[SitemapEntry]:
    own = {field.name: field.text for field in reversed(record.fields) if not field.parent}
    summary = next((text for name in _TEXTS if (text := own.get(name, "").strip())), "")
    lines = [_plain_text(own.get("title", "")), _plain_text(summary)[:MAX_SUMMARY_CHARS]]
    return [SitemapEntry("", text="\n".join(line for line in lines if line))]


def _plain_text(text: str) -> str:
    """Return a text without markup on one line."""
    if "<" in text or "&" in text:
        body = LexborHTMLParser(truncate_fragment(text)).body
        text = body.text(separator=" ") if body is not None else ""
    return " ".join(text.split())
