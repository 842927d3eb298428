"""Reading any bytes ends with values, and what we write can be read."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from evercrawl.core import url as urls
from evercrawl.core.sitemap.sitemap_reader import read_sitemap
from evercrawl.core.sitemap.sitemap_values import parse_date
from evercrawl.core.sitemap.sitemap_writer import extended_sitemap, sitemap_files
from evercrawl.model.sitemap import SitemapEntry, SitemapLimits, SitemapPage, SitemapType

HERE = "http://site.test/sitemap.xml"
LIMITS = SitemapLimits(max_bytes=5000, max_entries=20, max_elements=200, max_depth=9, max_fields=30)

PIECES = st.sampled_from([
    "<urlset>", "</urlset>", "<url>", "</url>", "<loc>", "</loc>", "http://site.test/a", "/b", "&amp;", "&",
    "&x;", "<lastmod>", "</lastmod>", "2024-05-06", "<rss>", "<item>", "</item>", "<link>", "</link>",
    "<feed>", "<entry>", "</entry>", "<link href='/c'/>", "<![CDATA[", "]]>", "<!--", "-->", "<?", "?>",
    "]>", "<", ">", "<!DOCTYPE a [", '<!ENTITY x "y">', "\n", "\ufeff", "URL,LAST_UPDATED\n", "<P><URL>",
    "</URL></P>", "<LAST_UPDATED>9</LAST_UPDATED>", "<sitemapindex>", "<sitemap>", "</sitemap>",
    "<rdf:RDF>", "<a:b c='d'>", "<image:loc>", "\0", "é",
])  # fmt: skip
SOUPS = st.lists(PIECES, max_size=40).map("".join)
BODIES = st.one_of(st.binary(max_size=300), SOUPS.map(str.encode), SOUPS.map(lambda text: gzip.compress(text.encode())))
PATHS = st.text(st.characters(codec="utf-8"), max_size=30)
PAGES = st.builds(
    SitemapPage,
    PATHS.map(lambda path: urls.canonical("http://site.test/" + path)).filter(lambda url: url is not None),
    st.none()
    | st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)).map(
        lambda moment: moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    ),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cn"]), max_size=30).map(
        lambda text: " ".join(text.split())
    ),
)


@given(BODIES, st.sampled_from([None, "text/xml", "text/plain; charset=utf-16", "text/html; charset=gbk"]))
def test_reading_never_fails_and_keeps_its_limits(body: bytes, content_type: str | None):
    found = read_sitemap(body, HERE, content_type=content_type, limits=LIMITS)
    assert len(found.entries) <= LIMITS.max_entries
    assert (found.type is not SitemapType.UNKNOWN) or (found.error is not None and not found.entries)
    for entry in found.entries:
        href = urls.parse(entry.url)
        assert href is not None
        assert href.startswith(urls.PAGE_SCHEMES)


@given(st.lists(PAGES, max_size=12), st.integers(1, 5))
def test_what_is_written_is_read(pages: list[SitemapPage], max_urls: int):
    files = list(sitemap_files(pages, "http://site.test/", max_urls=max_urls))
    parts = files[:-1] or files
    found = [read_sitemap(part.data, HERE) for part in parts]
    assert [sitemap.error for sitemap in found] == [None] * len(found)
    assert [entry for sitemap in found for entry in sitemap.entries] == [
        SitemapEntry(page.url, page.lastmod) for page in pages
    ]


@given(st.lists(PAGES, min_size=1, max_size=12))
def test_the_extended_sitemap_that_is_written_is_read(pages: list[SitemapPage]):
    found = read_sitemap(extended_sitemap(pages), HERE)
    assert (found.type, found.error) == (SitemapType.EXTENDED, None)
    assert found.entries == tuple(SitemapEntry(page.url, page.lastmod, text=page.anchor_text) for page in pages)


@given(st.lists(PAGES, min_size=2, max_size=12), st.integers(0, 100))
def test_a_cut_file_gives_the_first_entries(pages: list[SitemapPage], percent: int):
    (whole,) = sitemap_files(pages, "http://site.test/")
    cut = read_sitemap(whole.data[: len(whole.data) * percent // 100], HERE)
    urls_read = [entry.url for entry in cut.entries]
    assert urls_read == [page.url for page in pages][: len(urls_read)]


@given(st.text(max_size=40) | st.text("0123456789-T:+.Z ,JanGMT", max_size=40))
def test_a_date_is_a_moment_in_utc_or_nothing(text: str):
    moment = parse_date(text)
    assert moment is None or moment.tzinfo is UTC
