"""Write sitemaps: sitemaps.org files with an index, and the extended sitemap of paper C.
The same pages in the same order give the same bytes, so unchanged files need not be written."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from evercrawl.model.sitemap import SitemapPage
from evercrawl.model.time import to_us

MAX_URLS = 50_000
MAX_BYTES = 50 * 1024 * 1024  # The protocol's limits of one file, before compression.
NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"

_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
_GZIP = 31
_LEVEL = 9
# Characters that XML cannot contain in any form (XML 1.0 section 2.2).
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;", "\r": "&#13;"})


class SitemapFile(NamedTuple):
    """A file to serve; `lastmod` is the newest date in it."""

    name: str
    data: bytes
    lastmod: datetime | None = None


def escape_xml(text: str) -> str:
    """Escape text for XML and drop characters that XML cannot hold."""
    return _FORBIDDEN.sub("", text).translate(_ESCAPES)


def gzip_bytes(data: bytes) -> bytes:
    """Compress without name and time: the same data give the same bytes."""
    return zlib.compress(data, _LEVEL, _GZIP)


def sitemap_files(
    pages: Iterable[SitemapPage],
    folder_url: str,
    *,
    extended: bool = False,
    stem: str = "sitemap",
    max_urls: int = MAX_URLS,
    max_bytes: int = MAX_BYTES,
) -> Iterator[SitemapFile]:
    """Yield the files of a standard or extended sitemap, `<stem>.xml` last.
    That file contains the pages if they fit, else it is the standard index of the compressed files."""
    form = _EXTENDED if extended else _STANDARD
    return _files(_parts(pages, form, max_urls=max_urls, max_bytes=max_bytes), form, folder_url, stem=stem)


class _Part(NamedTuple):
    data: bytes
    lastmod: datetime | None


class _Form(NamedTuple):
    """How a document begins and ends, and how it writes a page."""

    document: Callable[[str], bytes]
    line: Callable[[SitemapPage], str]


def _files(found: Iterable[_Part], form: _Form, folder_url: str, *, stem: str) -> Iterator[SitemapFile]:
    parts: list[SitemapFile] = []
    pending: _Part | None = None
    for part in found:
        if pending is not None:
            compressed = SitemapFile(f"{stem}-{len(parts) + 1}.xml.gz", gzip_bytes(pending.data), pending.lastmod)
            yield compressed
            parts.append(compressed._replace(data=b""))
        pending = part
    last = pending or _Part(form.document(""), None)
    if not parts:
        yield SitemapFile(f"{stem}.xml", last.data, last.lastmod)
        return
    compressed = SitemapFile(f"{stem}-{len(parts) + 1}.xml.gz", gzip_bytes(last.data), last.lastmod)
    yield compressed
    yield _index(f"{stem}.xml", [*parts, compressed], folder_url)


def _parts(pages: Iterable[SitemapPage], form: _Form, *, max_urls: int, max_bytes: int) -> Iterator[_Part]:
    """Split the pages into documents within the limits. A single page always fits."""
    room = max_bytes - len(form.document(""))
    lines: list[str] = []
    used, newest = 0, None
    for page in pages:
        line = form.line(page)
        size = len(line.encode())
        if lines and (len(lines) >= max_urls or used + size > room):
            yield _Part(form.document("".join(lines)), newest)
            lines, used, newest = [], 0, None
        lines.append(line)
        used += size
        newest = max(filter(None, (newest, page.lastmod)), default=None)
    if lines:
        yield _Part(form.document("".join(lines)), newest)


def _index(name: str, parts: list[SitemapFile], folder_url: str) -> SitemapFile:
    lines = (_element("sitemap", folder_url + part.name, part.lastmod) for part in parts)
    newest = max((part.lastmod for part in parts if part.lastmod is not None), default=None)
    return SitemapFile(name, _document("sitemapindex", "".join(lines)), newest)


def _document(root: str, content: str) -> bytes:
    return f'{_DECLARATION}<{root} xmlns="{NAMESPACE}">\n{content}</{root}>\n'.encode()


def _element(name: str, url: str, lastmod: datetime | None) -> str:
    date = "" if lastmod is None else f"<lastmod>{w3c_datetime(lastmod)}</lastmod>"
    return f"<{name}><loc>{escape_xml(url)}</loc>{date}</{name}>\n"


def w3c_datetime(moment: datetime) -> str:
    """Format a moment in UTC (NOTE-datetime)."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def extended_sitemap(pages: Iterable[SitemapPage]) -> bytes:
    """Write paper C's sitemap (section 4.1): anchor text, URL and last change in milliseconds."""
    return _extended_document("".join(_extended_row(page) for page in pages))


def _extended_document(rows: str) -> bytes:
    return f"{_DECLARATION}<EXTENDED_SITEMAP>\n{rows}</EXTENDED_SITEMAP>\n".encode()


def _extended_row(page: SitemapPage) -> str:
    updated = "" if page.lastmod is None else str(to_us(page.lastmod) // 1000)
    return (
        f"<PAGE><ANCHOR_TEXT>{escape_xml(page.anchor_text)}</ANCHOR_TEXT><URL>{escape_xml(page.url)}</URL>"
        f"<LAST_UPDATED>{updated}</LAST_UPDATED></PAGE>\n"
    )


_STANDARD = _Form(
    document=lambda lines: _document("urlset", lines), line=lambda page: _element("url", page.url, page.lastmod)
)
_EXTENDED = _Form(document=_extended_document, line=_extended_row)
