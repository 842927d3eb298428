from __future__ import annotations

from datetime import UTC, datetime

import pytest

from evercrawl.core.sitemap.sitemap_reader import read_sitemap
from evercrawl.model.sitemap import Sitemap, SitemapType

FEED = "http://site.test/blog/feed"
WHEN = datetime(2024, 1, 6, 10, tzinfo=UTC)


def read(body: str) -> Sitemap:
    return read_sitemap(body.encode(), FEED)


def rss(item: str) -> Sitemap:
    return read(f"<rss version='2.0'><channel><link>http://site.test/</link><item>{item}</item></channel></rss>")


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("<link>http://site.test/1</link><guid>http://site.test/?p=1</guid>", "http://site.test/1"),
        ("<guid>http://site.test/?p=1</guid>", "http://site.test/?p=1"),
        ("<link/><guid isPermaLink='true'>http://site.test/?p=1</guid>", "http://site.test/?p=1"),
        ("<link>p1</link>", "http://site.test/blog/p1"),
        ("<atom:link rel='self' href='/s'/><atom:link rel='alternate' href='/a'/>", "http://site.test/a"),
        ("<source url='/s'><link>/no</link></source><link>/a</link>", "http://site.test/a"),
    ],
)
def test_the_link_of_an_item(item: str, expected: str):
    found = rss(item)
    assert (found.type, found.error) == (SitemapType.RSS, None)
    assert [entry.url for entry in found.entries] == [expected]


@pytest.mark.parametrize(
    "item", ["<title>x</title>", "<guid isPermaLink='false'>http://site.test/1</guid>", "<guid>7</guid>"]
)
def test_an_item_without_a_page(item: str):
    assert rss(item).entries == ()


@pytest.mark.parametrize(
    "date",
    [
        "<pubDate>Sat, 06 Jan 2024 10:00:00 GMT</pubDate>",
        "<pubDate>Sat, 06 Jan 2024 11:00:00 +0100</pubDate><dc:date>2020-01-01</dc:date>",
        "<dc:date>2024-01-06T10:00:00Z</dc:date>",
        "<pubDate>Fri, 05 Jan 2024 10:00:00 GMT</pubDate><atom:updated>2024-01-06T10:00:00Z</atom:updated>",
        "<pubDate>never</pubDate><dc:date>2024-01-06T10:00Z</dc:date>",
    ],
)
def test_the_date_of_an_item(date: str):
    assert rss("<link>http://site.test/1</link>" + date).entries[0].lastmod == WHEN


def test_rss_1_0():
    found = read(
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">'
        '<channel rdf:about="http://site.test/"><link>http://site.test/</link><dc:date>2024-01-06T10:00Z</dc:date>'
        '<items><rdf:Seq><rdf:li resource="http://site.test/1"/></rdf:Seq></items></channel>'
        '<item rdf:about="http://site.test/1"><title> One\n more </title><link>http://site.test/1</link></item>'
        "</rdf:RDF>"
    )
    assert (found.type, found.feed_lastmod) == (SitemapType.RSS, WHEN)
    assert [(entry.url, entry.text) for entry in found.entries] == [("http://site.test/1", "One more")]


def test_rss_0_91_with_its_document_type():
    found = read(
        '<?xml version="1.0"?><!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" '
        '"http://my.netscape.com/publish/formats/rss-0.91.dtd"><rss version="0.91"><channel>'
        "<item><title>Caf&eacute;</title><link>http://site.test/1</link></item></channel></rss>"
    )
    assert (found.entries[0].url, found.entries[0].text, found.error) == ("http://site.test/1", "Café", None)


def atom(entry: str, attributes: str = "") -> Sitemap:
    return read(f"<feed xmlns='http://www.w3.org/2005/Atom'{attributes}><entry>{entry}</entry></feed>")


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("<link href='http://site.test/1'/>", "http://site.test/1"),
        ("<link rel='self' href='/s'/><link rel='alternate' href='/1'/>", "http://site.test/1"),
        ("<link type='application/pdf' href='/p'/><link type='text/html' href='/h'/>", "http://site.test/h"),
        ("<link type='application/pdf' href='/p'/>", "http://site.test/p"),
        ("<link rel='http://www.iana.org/assignments/relation/alternate' href='/1'/>", "http://site.test/1"),
        ("<link xml:base='http://other.test/x/' href='1'/>", "http://other.test/x/1"),
        ("<content src='/c'/>", "http://site.test/c"),
        ("<source><link href='/no'/></source><link href='/1'/>", "http://site.test/1"),
    ],
)
def test_the_link_of_an_entry(entry: str, expected: str):
    found = atom(entry)
    assert (found.type, found.error) == (SitemapType.ATOM, None)
    assert [page.url for page in found.entries] == [expected]


def test_an_entry_without_a_page():
    assert atom("<id>urn:x</id><link rel='edit' href='/e'/>").entries == ()


def test_bases_inside_each_other():
    found = atom("<link href='1'/>", " xml:base='/a/'")
    assert found.entries[0].url == "http://site.test/a/1"


@pytest.mark.parametrize(
    "dates",
    [
        "<published>2023-01-01T00:00:00Z</published><updated>2024-01-06T10:00:00Z</updated>",
        "<updated>?</updated><published>2024-01-06T10:00:00Z</published>",
        "<issued>2023-01-01</issued><modified>2024-01-06T11:00:00+01:00</modified>",
    ],
)
def test_the_date_of_an_entry(dates: str):
    assert atom("<link href='/1'/>" + dates).entries[0].lastmod == WHEN


def test_the_date_of_a_feed_is_not_an_entrys():
    found = read(
        "<feed><updated>2024-01-06T10:00:00Z</updated><entry><link href='/1'/></entry><entry>"
        "<link href='/2'/><updated>2024-02-01</updated></entry></feed>"
    )
    assert found.feed_lastmod == WHEN
    assert found.entries[0].lastmod is None
