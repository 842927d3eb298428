"""Read a sitemap or feed from its bytes.
The bytes decide what it is, not its name or type. If strict XML parsing fails, the tags are read one by one, and the
result with more entries wins. Nothing is raised and nothing is fetched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from isal import isal_zlib

from evercrawl.core.sitemap.llms_txt import is_llms_txt, read_llms_txt
from evercrawl.core.sitemap.sitemap_entries import (
    atom_entries,
    extended_entries,
    item_entries,
    listed_entries,
    read_plain,
)
from evercrawl.core.sitemap.sitemap_markup import (
    EntryCollector,
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
from evercrawl.model.sitemap import Sitemap, SitemapLimits, SitemapType

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
