"""`tool sitemap` in the shapes that scripts rely on."""

from __future__ import annotations

from base64 import b64encode

import pytest

from evercrawl.collection.tools import sitemap

URL = "http://site.test/maps/sitemap.xml"


def test_an_entry_has_its_fields_also_where_they_are_empty() -> None:
    body = "<urlset><url><loc>http://site.test/a</loc></url></urlset>"
    assert sitemap({"url": URL, "body": body}) == {
        "type": "urlset",
        "entries": [
            {"url": "http://site.test/a", "lastmod": None, "changefreq": None, "priority": None, "in_scope": False}
        ],
        "feed_lastmod": None,
        "error": None,
    }


def test_extensions_are_shown_where_they_are() -> None:
    body = (
        "<urlset><url><loc>http://site.test/maps/a</loc><lastmod>2024-05-06T09:08:07.5+02:00</lastmod>"
        "<image:image><image:loc>/i</image:loc></image:image><video:video><video:title>V</video:title></video:video>"
        "<news:news><news:title>N</news:title></news:news>"
        "<xhtml:link rel='alternate' hreflang='de' href='/de'/></url></urlset>"
    )
    (entry,) = sitemap({"url": URL, "body": body})["entries"]
    assert entry == {
        "url": "http://site.test/maps/a",
        "lastmod": "2024-05-06T07:08:07.500000Z",
        "changefreq": None,
        "priority": None,
        "in_scope": True,
        "images": ["http://site.test/i"],
        "video": {"title": "V"},
        "videos": [{"title": "V"}],
        "news": {"title": "N"},
        "alternates": [{"url": "http://site.test/de", "hreflang": "de", "type": None}],
    }


def test_texts_have_the_name_of_the_format() -> None:
    table = b"ANCHOR_TEXT\tURL\tLAST_UPDATED\nHome\thttp://site.test/\t1272964276000"
    extended = sitemap({"url": URL, "body_b64": b64encode(table).decode(), "content_type": "text/plain"})
    assert (extended["type"], extended["entries"][0]["anchor_text"]) == ("extended", "Home")
    assert extended["entries"][0]["lastmod"] == "2010-05-04T09:11:16Z"
    feed = sitemap({"url": URL, "body": "<rss><item><link>/a</link><title>T</title></item></rss>"})
    assert feed["entries"][0]["title"] == "T"


def test_what_is_no_sitemap() -> None:
    assert sitemap({"body": "nothing"}) == {
        "type": "unknown",
        "entries": [],
        "feed_lastmod": None,
        "error": "neither markup nor a list of URLs",
    }
    with pytest.raises(ValueError, match="body or body_b64 is missing"):
        sitemap({"url": URL})
