"""The text of feeds that are crawled as pages."""

from __future__ import annotations

import pytest

from evercrawl.core.sitemap.sitemap_reader import feed_document, feed_text

RSS = """<?xml version="1.0"?><rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel>
<title>Courier</title><lastBuildDate>{date}</lastBuildDate>
<item><title>Lynx &amp; otter</title><link>/1</link><pubDate>{date}</pubDate><description>Short</description>
<content:encoded><![CDATA[<p>A lynx was <b>seen</b>.</p>]]></content:encoded></item>
<item><title>Museum</title><link>/2</link><description>Open on &lt;i&gt;Mondays&lt;/i&gt;</description></item>
</channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Courier</title><updated>2026-11-16T10:00:00Z</updated>
<entry><title>Museum</title><link href="/2"/><updated>2026-11-16T10:00:00Z</updated>
<summary>Open</summary></entry></feed>"""
URL = "https://a.test/feed"


def test_titles_and_summaries_without_dates() -> None:
    text = feed_text(RSS.format(date="Mon, 16 Nov 2026 10:00:00 GMT").encode(), URL)
    assert text == "Lynx & otter\nA lynx was seen .\nMuseum\nOpen on Mondays"
    assert feed_text(RSS.format(date="Tue, 17 Nov 2026 10:00:00 GMT").encode(), URL) == text
    assert feed_text(ATOM.encode(), URL) == "Museum\nOpen"


@pytest.mark.parametrize(
    "body", [b"", b"hello", b"<html><p>x</html>", b"<rss><channel><item>", b"<urlset><url><loc>/a</loc></url></urlset>"]
)
def test_anything_else_is_no_feed(body: bytes) -> None:
    assert feed_text(body, URL) is None


def test_a_feed_is_a_document_without_links() -> None:
    document = feed_document(URL, (("Content-Type", "application/atom+xml"),), ATOM.encode())
    assert document is not None
    assert document.is_list
    assert document.links == ()
    assert feed_document(URL, (("Content-Type", "application/zip"),), ATOM.encode()) is None


def test_the_text_of_an_empty_feed_is_its_title() -> None:
    empty = (
        '<rss version="2.0"><channel><title>Courier &amp; Post</title><lastBuildDate>{}</lastBuildDate></channel></rss>'
    )
    assert [feed_text(empty.format(day).encode(), URL) for day in ("Monday", "Tuesday")] == ["Courier & Post"] * 2
