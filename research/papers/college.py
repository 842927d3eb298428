"""The example site of the sitemap paper (section 7, tables 1 to 3) in virtual time.

Pages take the download times of the paper's tables. robots.txt, the sitemap and 304 responses take no time, because
the paper does not count them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from evercrawl.core.http.content_coding import DecodeLimits
from evercrawl.core.http.http1 import ResponseHead
from evercrawl.core.http.message import RawResponse, constant_headers, fetch_result, request_bytes
from evercrawl.core.sitemap.sitemap_writer import extended_sitemap, sitemap_files
from evercrawl.core.url import path_of
from evercrawl.engine.ports import Clock
from evercrawl.model.fetch import Exchange, FetchResult, Headers, Request
from evercrawl.model.settings import HttpSettings
from evercrawl.model.sitemap import SitemapPage
from evercrawl.model.time import from_us, to_us

ORIGIN = "http://www.xyz.com"
FIRST_VISIT_MS = 1_308_111_730_000
SECOND_VISIT_MS = 1_309_453_215_000
SITEMAP, EXTENDED = "/sitemap.xml", "/sitemap.xml?XTND"


class CollegePage(NamedTuple):
    """A row of the paper's tables, with the download times of the first and the second visit."""

    anchor_text: str
    path: str
    first_ms: int | None
    """None: the page was added later."""
    second_ms: int
    updated_ms: int

    @property
    def url(self) -> str:
        """The page's URL."""
        return ORIGIN + self.path


PAGES = (
    CollegePage("Home", "/index.html", 538, 538, 1_272_964_276_000),
    CollegePage("About us", "/about.html", 235, 235, 1_272_964_523_000),
    CollegePage("Courses Offered", "/courses.html", 256, 256, 1_272_964_705_000),
    CollegePage("B. Tech.", "/courses/btech.html", 327, 327, 1_272_964_720_000),
    CollegePage("Pharmacy", "/courses/pharmacy.html", 423, 423, 1_272_964_736_000),
    CollegePage("Facilities", "/facilities.html", 498, 498, 1_276_682_653_000),
    CollegePage("Photo Gallery", "/photo_gallery.html", 890, 890, 1_276_683_322_000),
    CollegePage("Faculty", "/faculty.html", 348, 348, 1_273_576_124_000),
    CollegePage("Teaching", "/faculty/teaching.html", 459, 515, 1_308_473_192_000),
    CollegePage("Non Teaching", "/faculty/nonteaching.html", 450, 450, 1_273_576_523_000),
    CollegePage("University Toppers", "/results.html", 236, 351, 1_308_473_495_000),
    CollegePage("Placement", "/placement.html", 365, 360, 1_308_473_616_000),
    CollegePage("Our Alumnus", "/alumni.html", None, 673, 1_309_334_004_000),
    CollegePage("Contact us", "/contact.html", 287, 287, 1_272_964_754_000),
)
"""In the order of table 2. Where table 3 has no time, that of table 1 applies, as in the paper's sum."""
UPDATED = tuple(page for page in PAGES if page.updated_ms > FIRST_VISIT_MS)


class Download(NamedTuple):
    """One request as the site saw it."""

    path: str
    status: int
    sent_ms: int
    took_ms: int
    body_bytes: int


class College:
    """The site. Responses depend on the time alone. `sitemap` is extended, standard or none."""

    def __init__(self, *, sitemap: str, validators: bool = False) -> None:
        self._sitemap = sitemap
        self._validators = validators
        self._clock: Clock | None = None
        self._constant = constant_headers("evercrawl/lab", None)
        self.downloads: list[Download] = []

    def use_clock(self, clock: Clock) -> None:
        """Continue under another clock."""
        self._clock = clock

    async def fetch(self, request: Request) -> FetchResult:
        """Return the response after the paper's download time."""
        clock = self._clock
        assert clock is not None
        began = clock.now()
        now_ms = to_us(began) // 1000
        path = path_of(request.url)
        status, headers, body, took_ms = self._answer(path, request, now_ms)
        await asyncio.sleep(took_ms / 1000)
        self.downloads.append(Download(path, status, now_ms, took_ms, len(body)))
        headers = (*headers, ("Content-Length", str(len(body)))) if status != 304 else headers
        raw = _raw_head(status, headers)
        exchange = Exchange(request_bytes(request, self._constant), raw, body, "198.18.0.1", began, clock.now() - began)
        limits = DecodeLimits(HttpSettings().max_decoded_bytes, HttpSettings().max_compression_ratio)
        return fetch_result(request, RawResponse(ResponseHead(status, 1, headers, {}, raw), exchange), limits=limits)

    async def close(self) -> None:
        """Nothing is held open."""

    def _answer(self, path: str, request: Request, now_ms: int) -> tuple[int, Headers, bytes, int]:
        if path in (SITEMAP, EXTENDED):
            document = self.sitemap_at(now_ms, is_extended=path == EXTENDED)
            if document is not None:
                return 200, (("Content-Type", "application/xml"),), document, 0
        page = next((page for page in self._pages_at(now_ms) if page.path == path), None)
        if page is None:
            return 404, (("Content-Type", "text/plain"),), b"not found", 0
        is_second = now_ms >= SECOND_VISIT_MS
        headers: Headers = (("Content-Type", "text/html; charset=utf-8"),)
        if self._validators:
            etag = '"second"' if is_second and page in UPDATED else '"first"'
            headers = (*headers, ("ETag", etag))
            if request.etag == etag:
                return 304, headers, b"", 0
        took_ms = page.second_ms if is_second else page.first_ms or page.second_ms
        return 200, headers, self._html(page, now_ms), took_ms

    def _pages_at(self, now_ms: int) -> list[CollegePage]:
        return [page for page in PAGES if page.first_ms is not None or page.updated_ms <= now_ms]

    def sitemap_at(self, now_ms: int, *, is_extended: bool) -> bytes | None:
        """Return the sitemap at that time. The paper does not give earlier dates of updated pages; use the oldest."""
        if self._sitemap == "none":
            return None
        oldest = min(page.updated_ms for page in PAGES)
        pages = [
            SitemapPage(
                page.url, from_us((page.updated_ms if page.updated_ms <= now_ms else oldest) * 1000), page.anchor_text
            )
            for page in self._pages_at(now_ms)
        ]
        if is_extended and self._sitemap == "extended":
            return extended_sitemap(pages)
        return list(sitemap_files(pages, ORIGIN + "/"))[-1].data

    def _html(self, page: CollegePage, now_ms: int) -> bytes:
        edition = "second" if page in UPDATED and page.updated_ms <= now_ms else "first"
        words = " ".join(f"{page.anchor_text} {number}" for number in range(20))
        return _document(page, words, edition, self._links(page, now_ms)).encode()

    def _links(self, page: CollegePage, now_ms: int) -> Sequence[CollegePage]:
        """Return the links of figure 1; a changed page links to the new one."""
        pages = self._pages_at(now_ms)
        if page.path == "/index.html":
            return [other for other in pages if other.path.count("/") == 1 and other.path != "/alumni.html"]
        folder = page.path.removesuffix(".html") + "/"
        below = [other for other in pages if other.path.startswith(folder)]
        if page.path == "/placement.html":
            below += [other for other in pages if other.path == "/alumni.html"]
        return below


def _document(page: CollegePage, words: str, edition: str, links: Sequence[CollegePage]) -> str:
    listed = "".join(f'<li><a href="{other.path}">{other.anchor_text}</a></li>' for other in links)
    return (
        f"<!doctype html><title>{page.anchor_text}</title><main><h1>{page.anchor_text}</h1><p>{words}</p>"
        f"<p>The {edition} edition of what the college has to say about this.</p></main><ul>{listed}</ul>"
    )


def _raw_head(status: int, headers: Headers) -> bytes:
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
    return f"HTTP/1.1 {status} \r\n{lines}\r\n".encode("latin-1")
