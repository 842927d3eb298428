from __future__ import annotations

import pytest

from evercrawl.collection.table_view import decode_row_cursor
from evercrawl.collection.urls import read_url_list
from evercrawl.errors import ConfigError

OPML = """<?xml version="1.0"?><opml version="2.0"><body><outline text="News">
<outline type="rss" xmlUrl="https://a.example/feed" htmlUrl="https://a.example/"/><outline xmlUrl="https://b.example/?a=1&amp;b=2"/>
</outline></body></opml>"""
BOOKMARKS = """<!DOCTYPE NETSCAPE-Bookmark-file-1>
<DL><p><DT><A HREF="https://a.example/">A</A><DT><A HREF="javascript:alert(1)">no</A><DT><A HREF="http://b.example/x">B</A></DL>"""
SITEMAP = """<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>https://a.example/1</loc></url><url><loc>https://a.example/2</loc></url></urlset>"""


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("a.example", ["https://a.example/"]),
        ("https://a.example/, http://b.example/x;\n<c.example>", ["https://a.example/", "http://b.example/x", "https://c.example/"]),
        ("# my list\nhttps://a.example/\n\nhttps://a.example", ["https://a.example/"]),
        ("http://intranet localhost:8000/x", ["http://intranet/", "https://localhost:8000/x"]),
        (OPML, ["https://a.example/feed", "https://b.example/?a=1&b=2"]),
        (BOOKMARKS, ["https://a.example/", "http://b.example/x"]),
        (SITEMAP, ["https://a.example/1", "https://a.example/2"]),
    ],
)  # fmt: skip
def test_what_people_paste(text: str, urls: list[str]):
    assert read_url_list(text) == urls


@pytest.mark.parametrize(
    "text", ["not a url", "https://a.example/ word", "3.5", "<p>no links</p>", " \n", "ftp://x.example/"]
)
def test_what_is_no_url_is_refused_as_a_whole(text: str):
    with pytest.raises(ConfigError, match="URL"):
        read_url_list(text)


def test_a_password_is_refused_and_not_repeated():
    with pytest.raises(ConfigError) as refused:
        read_url_list("https://me:s3cret@a.example/")
    assert "s3cret" not in str(refused.value)


def test_a_url_longer_than_any_server_accepts_is_not_repeated_in_the_message() -> None:
    with pytest.raises(ConfigError, match="70,008 characters") as found:
        read_url_list("https://" + "a" * 70_000)
    assert len(str(found.value)) < 200


def test_a_deeply_nested_cursor_is_refused() -> None:
    with pytest.raises(ConfigError, match="not a valid cursor"):
        decode_row_cursor("W1tb" * 20_000)
