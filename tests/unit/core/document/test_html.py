"""Parsing of pages into documents."""

from __future__ import annotations

import pytest

from evercrawl.core.change.snapshot import snapshot_html, unpack_snapshot
from evercrawl.core.document.html import parse_document
from evercrawl.core.document.media_type import sniff_media_type
from evercrawl.model.document import Alternate, Document, Link, Refresh
from evercrawl.model.fetch import Headers
from evercrawl.model.settings import ParseSettings

HTML: Headers = (("Content-Type", "text/html; charset=utf-8"),)
URL = "http://site.test/d/p.html"


def parse(markup: str | bytes, *more: tuple[str, str], headers: Headers = HTML, **limits: int) -> Document:
    body = markup.encode() if isinstance(markup, str) else markup
    return parse_document(URL, (*headers, *more), body, agent="evercrawl", limits=ParseSettings(**limits))


def urls(document: Document) -> list[str]:
    return [link.url for link in document.links]


def test_links_are_ordered_unique_and_without_fragment() -> None:
    document = parse("<a href=b>B</a> <a href='a#x'>A</a> <a href='#top'>t</a> <a href=b#y>again</a>")
    assert document.links == (Link("http://site.test/d/b", "B", False), Link("http://site.test/d/a", "A", False))


def test_a_link_is_nofollow_only_if_every_occurrence_is() -> None:
    document = parse("<a rel=nofollow href=a>1</a><a href=a>2</a><a rel='x NoFollow' href=b>3</a>")
    assert document.links == (Link("http://site.test/d/a", "1", False), Link("http://site.test/d/b", "3", True))


@pytest.mark.parametrize(
    ("anchors", "paths"),
    [
        ("<a href=a#1>1</a><a href=a#2>2</a><a href=a>3</a>", ["a"]),
        ("<a href='#1'>1</a><a href='#2'>2</a><a href=''>3</a>", ["p.html"]),
        ("<a href='a '>1</a><a href='a #x'>2</a>", ["a", "a%20"]),
        ("<a name=x>1</a><a name=y>2</a><a href=b>3</a>", ["b"]),
        ("<a rel=nofollow href=a#1>1</a><a rel=nofollow href=a#2>2</a><a href=a#3>3</a>", ["a"]),
        ("<svg><a xlink:href=a /><a xlink:href=b /></svg>", ["a", "b"]),
    ],
)
def test_references_that_differ_in_their_fragment_are_one_link(anchors: str, paths: list[str]) -> None:
    links = parse(anchors).links
    assert [link.url.rpartition("/")[2] for link in links] == paths
    assert not any(link.nofollow for link in links)


def test_links_from_areas_frames_link_elements_refresh_and_noscript() -> None:
    document = parse(
        "<head><link rel=next href=n><link rel=stylesheet href=s.css>"
        "<meta http-equiv=refresh content='3;url=r'>"
        "<noscript><img src=pixel.gif></noscript><link rel=canonical href=/c></head>"
        "<map><area href=ar alt=Area></map><iframe src=f title=Frame></iframe>"
        "<noscript><a href=no>N</a></noscript><svg><a xlink:href=svg>S</a></svg>"
        "<template><a href=template>t</a></template>"
        "<a><img alt='not a link'></a><a href=i><img alt=Pic></a>"
    )
    assert [(link.url.rpartition("/")[2], link.text) for link in document.links] == [
        ("n", ""),
        ("r", ""),
        ("c", ""),
        ("ar", "Area"),
        ("f", "Frame"),
        ("no", "N"),
        ("svg", "S"),
        ("i", "Pic"),
    ]
    assert document.canonical == "http://site.test/c"
    assert set(document.embeds) == {"http://site.test/d/s.css", "http://site.test/d/pixel.gif"}
    assert document.refresh == Refresh(3.0, "http://site.test/d/r")


def test_only_http_links_count() -> None:
    assert urls(
        parse("<a href='javascript:x'>j</a><a href=mailto:a@b>m</a><a href=ftp://f/>f</a><a href=/w>w</a>")
    ) == ["http://site.test/w"]


def test_the_base_applies_to_links_before_it_too() -> None:
    document = parse("<a href=a>1</a><base target=x><base href='/x/'><base href='/y/'><a href='#part'>p</a>")
    assert document.base_url == "http://site.test/x/"
    assert urls(document) == ["http://site.test/x/a", "http://site.test/x/"]


def test_queries_use_the_encoding_of_the_page() -> None:
    page = "<a href='/é?q=é♥&amp;r=1'>x</a>".encode("latin-1", "xmlcharrefreplace")
    document = parse(page, headers=(("Content-Type", "text/html; charset=iso-8859-1"),))
    assert urls(document) == ["http://site.test/%C3%A9?q=%E9%26%239829%3B&r=1"]


def test_a_charset_beyond_the_prescan_counts() -> None:
    page = b"<!--" + b"x" * 2000 + b"--><meta charset=windows-1251><title>\xcf\xf0\xe8</title>"
    document = parse(page, headers=(("Content-Type", "text/html"),))
    assert (document.encoding, document.title) == ("windows-1251", "При")


def test_relations_from_elements_and_the_link_header() -> None:
    document = parse(
        "<link rel=alternate hreflang=de href=de.html>"
        "<link rel=alternate type='application/rss+xml' href=feed>"
        "<link rel='alternate stylesheet' href=x.css>",
        ("Link", '</c>; rel="canonical", <fr.html>; rel=alternate; hreflang="fr"; title="a,b"'),
        ("Link", "<other>; rel=canonical; anchor=x"),
    )
    assert document.canonical == "http://site.test/c"
    assert document.alternates == (
        Alternate("http://site.test/d/de.html", "de", None),
        Alternate("http://site.test/d/feed", None, "application/rss+xml"),
        Alternate("http://site.test/d/fr.html", "fr", None),
    )
    assert document.feeds == ("http://site.test/d/feed",)
    assert urls(document) == ["http://site.test/d/de.html"]


def test_a_canonical_link_in_the_body_is_ignored() -> None:
    assert parse("<p>x</p><link rel=canonical href=/c>").canonical is None


def test_embeds_of_every_kind() -> None:
    document = parse(
        "<script src=s.js></script><img src=a.png srcset='a.png 1x, b.png 2x'><video src=v poster=p></video>"
        "<object data=o></object><input type=image src=i><input src=not>"
        "<picture><source srcset='w 1w'></picture>"
        "<link rel='shortcut icon' href=icon>"
    )
    names = [url.rpartition("/")[2] for url in document.embeds]
    assert names == ["s.js", "a.png", "b.png", "v", "p", "o", "i", "w", "icon"]
    assert document.links == ()


def test_title_and_language() -> None:
    document = parse("<html lang=' de-AT '><svg><title>no</title></svg><title>\n A  &amp; B </title>")
    assert (document.title, document.lang) == ("A & B", "de-AT")
    assert parse("<p>x", ("Content-Language", "fr")).lang == "fr"
    assert parse("<p>x", ("Content-Language", "fr, de")).lang is None
    assert parse("<meta http-equiv=Content-Language content=it>").lang == "it"


def test_the_refresh_header_overrides_the_element() -> None:
    page = "<meta http-equiv=refresh content='x'><meta http-equiv=refresh content='7'>"
    assert parse(page).refresh == Refresh(7.0, URL)
    assert parse(page, ("Refresh", "0; url=/h")).refresh == Refresh(0.0, "http://site.test/h")


def test_limits_are_settings() -> None:
    document = parse(
        "<title>" + "t " * 5000 + "</title>" + "".join(f"<a href=/{n}>{'x' * 50}</a>" for n in range(9)),
        max_links=3,
        max_title_chars=10,
        max_anchor_chars=5,
        max_text_chars=20,
    )
    assert len(document.links) == 3
    assert document.links[0].text == "xxxxx"
    assert document.title == "t t t t t "
    assert len(document.text) <= 20


def test_plain_text_has_text_and_no_links() -> None:
    document = parse(b"\xef\xbb\xbf<a href=x>caf\xc3\xa9", headers=(("Content-Type", "text/plain"),))
    assert (document.encoding, document.text, document.links) == ("utf-8", "<a href=x>café", ())


def test_other_types_have_only_directives() -> None:
    document = parse(b"\x89PNG", ("X-Robots-Tag", "noindex"), headers=(("Content-Type", "image/png"),))
    assert (document.text, document.links, document.robots.noindex) == ("", (), True)


def test_the_media_type_is_sniffed_only_if_none_is_named() -> None:
    assert sniff_media_type((("content-type", "Text/HTML; charset=x"),), b"x") == "text/html"
    assert sniff_media_type((), b"  <!DOCTYPE html>") == "text/html"
    assert sniff_media_type((), b"\xfe\xff\0<") == "text/html"
    assert sniff_media_type((("Content-Type", "nonsense"),), b"just words < more") == "text/plain"
    assert sniff_media_type((), b"\0\1\2") == "application/octet-stream"


def test_xhtml_may_have_self_closing_scripts() -> None:
    page = '<html><head><script src="s.js"/><title/></head><body><a href="x">y</a></body></html>'
    assert urls(parse(page, headers=(("Content-Type", "application/xhtml+xml"),))) == ["http://site.test/d/x"]


def test_a_tag_cut_after_a_complete_value_counts() -> None:
    assert urls(parse('<p>x<a href="/whole"')) == ["http://site.test/whole"]
    assert urls(parse('<p>x<a href="/par')) == []


def test_a_page_without_a_usable_url_keeps_absolute_links() -> None:
    document = parse_document("", HTML, b"<a href=x>r</a><a href=http://o.test>a</a>", agent="", limits=ParseSettings())
    assert urls(document) == ["http://o.test/"]


def test_a_snapshot_is_taken_on_request() -> None:
    page = b"<title>T</title><h1>Head</h1><p>Some <a href=x>words</a>"
    limits = ParseSettings()
    document = parse_document(URL, HTML, page, agent="", limits=limits, wants_snapshot=True)
    assert document.snapshot is not None
    assert unpack_snapshot(document.snapshot) == snapshot_html(page)
    assert parse(page).snapshot is None
    plain = (("Content-Type", "text/plain"),)
    assert parse_document(URL, plain, page, agent="", limits=limits, wants_snapshot=True).snapshot is None


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("http://site.test/d/p.html", "http://site.test/d/x"),
        ("http://site.test/d/..", "http://site.test/x"),
        ("http://site.test/d/%2e%2e", "http://site.test/x"),
        ("http://site.test/d/e/../p", "http://site.test/d/x"),
        ("http://SITE.test/d/p", "http://site.test/d/x"),
        ("http://site.test/d/%7Ep", "http://site.test/d/x"),
        ("http://site.test", "http://site.test/x"),
    ],
)
def test_references_resolve_against_the_folder_of_the_page(page: str, expected: str) -> None:
    document = parse_document(page, HTML, b"<a href=x>y</a>", agent="", limits=ParseSettings())
    assert urls(document) == [expected]


def test_declarative_shadow_roots_are_part_of_the_page_and_other_templates_are_not() -> None:
    body = (
        b'<x-card><template shadowrootmode="open"><p>Shown.</p><template><p>Unused.</p></template>'
        b'<a href="/inside">inside</a></template></x-card><template><a href="/unused">unused</a></template>'
    )
    document = parse(body)
    assert urls(document) == ["http://site.test/inside"]
    assert "Shown." in document.text
    assert "nused" not in document.text


def test_parts_that_react_streamed_later_stand_in_their_places() -> None:
    parts = b'<div hidden id="S:0"><p>Second.</p><template id="P:1"></template></div><script>$RC("B:0","S:0")</script>'
    parts += b'<div hidden id="S:1"><p>Third.</p></div><script>$RS("S:1","P:1")</script>'
    shell = b'<!--$?--><template id="B:0"></template><p>Loading</p><!--/$--><p>Fourth.</p>'
    page = parse(b"<body><main><p>First.</p>" + shell + b"</main>" + parts)
    assert page.text.split() == ["First.", "Second.", "Third.", "Fourth."]


def test_streamed_parts_without_a_place_are_text() -> None:
    body = b'<body><main><p>First.</p></main><div hidden id="S:0"><p>Second.</p></div><script>$RC()</script>'
    assert "Second." in parse(body).text
