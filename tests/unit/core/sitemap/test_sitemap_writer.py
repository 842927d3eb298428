from __future__ import annotations

import gzip
from datetime import UTC, datetime, timedelta

import pytest

from evercrawl.core.sitemap.sitemap_reader import read_sitemap
from evercrawl.core.sitemap.sitemap_writer import (
    MAX_BYTES,
    MAX_URLS,
    escape_xml,
    extended_sitemap,
    gzip_bytes,
    sitemap_files,
)
from evercrawl.model.sitemap import SitemapEntry, SitemapPage, SitemapType

SITE = "http://site.test/"
START = datetime(2024, 5, 6, tzinfo=UTC)


def pages(count: int) -> list[SitemapPage]:
    return [SitemapPage(f"{SITE}{number}", START + timedelta(minutes=number)) for number in range(count)]


def entries_of(listed: list[SitemapPage]) -> tuple[SitemapEntry, ...]:
    return tuple(SitemapEntry(page.url, page.lastmod) for page in listed)


def test_few_pages_are_one_file():
    (only,) = sitemap_files(pages(3), SITE)
    assert (only.name, only.lastmod) == ("sitemap.xml", START + timedelta(minutes=2))
    assert read_sitemap(only.data, SITE).entries == entries_of(pages(3))


def test_no_pages_are_an_empty_file():
    (only,) = sitemap_files([], SITE)
    found = read_sitemap(only.data, SITE)
    assert (only.lastmod, found.type, found.entries, found.error) == (None, SitemapType.URLSET, (), None)


@pytest.mark.parametrize("limits", [{"max_urls": 4}, {"max_bytes": 110 + 4 * 85}])
def test_many_pages_are_an_index_and_compressed_files(limits: dict[str, int]):
    *parts, index = sitemap_files(pages(10), SITE, stem="map", **limits)
    assert [part.name for part in parts] == ["map-1.xml.gz", "map-2.xml.gz", "map-3.xml.gz"]
    listing = read_sitemap(index.data, SITE)
    assert (index.name, listing.type, index.lastmod) == ("map.xml", SitemapType.INDEX, parts[-1].lastmod)
    assert listing.entries == tuple(SitemapEntry(SITE + part.name, part.lastmod) for part in parts)
    read = [entry for part in parts for entry in read_sitemap(part.data, SITE).entries]
    assert tuple(read) == entries_of(pages(10))


def test_no_file_exceeds_the_limits():
    for file in sitemap_files(pages(200), SITE, max_bytes=2000):
        raw = gzip.decompress(file.data) if file.name.endswith(".gz") else b""
        assert len(raw) <= 2000


def test_the_limits_are_the_protocols():
    assert (MAX_URLS, MAX_BYTES) == (50_000, 52_428_800)


def test_the_same_pages_give_the_same_bytes():
    first, second = (list(sitemap_files(pages(9), SITE, max_urls=4)) for _ in range(2))
    assert first == second
    assert gzip_bytes(b"x")[4:8] == b"\0\0\0\0"


def test_pages_without_dates():
    (only,) = sitemap_files([SitemapPage(SITE)], SITE)
    assert (only.lastmod, b"lastmod" in only.data) == (None, False)
    assert read_sitemap(extended_sitemap([SitemapPage(SITE)]), SITE).entries == (SitemapEntry(SITE, text=""),)


def test_escaping():
    assert escape_xml('<a href="x">&\'\0\x1b\ud800\r') == "&lt;a href=&quot;x&quot;&gt;&amp;&apos;&#13;"


def test_the_extended_sitemap_has_the_papers_fields():
    page = SitemapPage(SITE + "?a&b", datetime(2011, 6, 19, 8, 46, 32, 123_000, tzinfo=UTC), "B. Tech. <new>")
    data = extended_sitemap([page])
    assert b"<ANCHOR_TEXT>B. Tech. &lt;new&gt;</ANCHOR_TEXT>" in data
    assert b"<URL>http://site.test/?a&amp;b</URL>" in data
    assert b"<LAST_UPDATED>1308473192123</LAST_UPDATED>" in data
