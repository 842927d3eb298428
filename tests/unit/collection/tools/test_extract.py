"""`tool extract` in the shapes that scripts rely on."""

from __future__ import annotations

from base64 import b64encode

from evercrawl.collection.tools import extract


def test_every_field_is_there() -> None:
    assert extract({}) == {
        "encoding": "windows-1252",
        "base_url": "",
        "title": None,
        "lang": None,
        "author": None,
        "published": None,
        "modified": None,
        "links": [],
        "embeds": [],
        "canonical": None,
        "alternates": [],
        "refresh": None,
        "robots": {"noindex": False, "nofollow": False, "noarchive": False},
        "text": "",
    }


def test_a_page() -> None:
    page = "<html lang=en><title>T</title><a href=/x rel=nofollow>X</a><a href=p.JPG>pic</a>"
    page += "<meta name=bot content=noarchive>"
    out = extract({"page_url": "http://h.test/d/", "html": page, "user_agent": "Bot/1.0"})
    assert out["links"] == [{"url": "http://h.test/x", "text": "X", "nofollow": True}]
    assert out["embeds"] == ["http://h.test/d/p.JPG"]
    assert out["robots"]["noarchive"] is True
    assert (out["title"], out["lang"], out["base_url"]) == ("T", "en", "http://h.test/d/")


def test_headers_and_bytes() -> None:
    out = extract(
        {
            "html_b64": b64encode("<p>Привет</p>".encode("koi8-r")).decode(),
            "headers": [["content-type", "text/html; charset=koi8-r"], ["X-Robots-Tag", "none"]],
        }
    )
    assert (out["encoding"], out["text"]) == ("koi8-r", "Привет")
    assert out["robots"] == {"noindex": True, "nofollow": True, "noarchive": False}


def test_text_is_read_rightly_whatever_it_claims() -> None:
    assert extract({"html": "<meta charset=koi8-r><p>日本 é</p>"})["text"] == "日本 é"
    assert extract({"html": "<p>Привет</p>", "content_type": "text/html; charset=koi8-r"})["encoding"] == "koi8-r"
    assert extract({"html": "<p>é</p>", "content_type": "text/html; charset=utf-16"})["text"] == "é"
