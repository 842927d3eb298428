"""Assets are found wherever a browser would load them, and references can be rewritten."""

from __future__ import annotations

import pytest

from evercrawl.core.document.html import (
    css_references,
    is_manifest,
    manifest_assets,
    page_assets,
    rewrite_css,
    rewrite_srcset,
    style_assets,
)

HTML = (("Content-Type", "text/html; charset=utf-8"),)
CSS = (("Content-Type", "text/css"),)


@pytest.mark.parametrize(
    ("css", "found"),
    [
        ("a { background: url(a.png) }", ["a.png"]),
        ("a { background: url( 'a b.png' ) }", ["a b.png"]),
        ('a { background: URL("a.png"), url(b.png) no-repeat }', ["a.png", "b.png"]),
        ("/* url(no.png) */ a { b: url(yes.png) }", ["yes.png"]),
        ("a { content: 'url(no.png)' }", []),
        ("@import 'a.css'; @import url(b.css) screen; @import \"c.css\" layer(x);", ["a.css", "b.css", "c.css"]),
        ("@namespace svg url(http://www.w3.org/2000/svg); a { b: url(c.png) }", ["c.png"]),
        ("a { b: image-set('a.png' 1x, url(b.png) 2x, 'c.avif' type('image/avif')) }", ["a.png", "b.png", "c.avif"]),
        (r"a { b: url(a\)b.png), url('\61 .png') }", ["a)b.png", "a.png"]),
        ("a { b: url() }", []),
        ("@font-face { src: url(f.woff2) format('woff2'), url(f.woff) format('woff') }", ["f.woff2", "f.woff"]),
        ("a { b: url(unclosed.png", ["unclosed.png"]),
        ("a { b: url('unclosed.png", ["unclosed.png"]),
        ("a { b: var(--x, url(a.png)) }", ["a.png"]),
    ],
)
def test_references_of_a_style_sheet(css, found):
    assert css_references(css) == found


def test_a_style_sheet_is_rewritten_and_otherwise_kept():
    css = "@import 'a.css' screen;\n/* url(x) */ a { b: url( c d.png ) 1px; e: url(data:x) }"
    new = rewrite_css(css, lambda text: None if text.startswith("data:") else f"new (1)/{text}")
    assert new == (
        '@import "new\\20 \\28 1\\29 /a.css" screen;\n/* url(x) */ a { b: url( c d.png ) 1px; e: url(data:x) }'
    )
    assert css_references(rewrite_css("a{b:url('c d')}", lambda text: text + "(1)'")) == ["c d(1)'"]


def test_a_srcset_is_rewritten():
    assert rewrite_srcset("a.png 1x,b.png  2x", lambda text: f"/x/{text}") == "/x/a.png 1x, /x/b.png 2x"
    assert rewrite_srcset("a.png, b,c.png 10w", lambda text: f"/{text}") == "/a.png, /b%2Cc.png 10w"


def test_assets_of_a_page_are_what_a_browser_loads():
    body = b"""<!doctype html><base href="/sub/"><link rel=stylesheet href=a.css><link rel="shortcut icon" href=/i.ico>
      <link rel=next href=page2><style>@import "b.css"; h1 { background: url(c.png) }</style>
      <script src=d.js></script><img src=e.png srcset="f.png 1x, g.png 2x"><p style="background:url('h.png')">
      <picture><source srcset="i.avif 100w"><img src=j.jpg></picture><video poster=k.jpg src=l.mp4></video>
      <a href=not.html>x</a><img src="data:image/png;base64,xx"><svg><image href=m.svg /><use href="n.svg#x"/></svg>
      <noscript><img src=o.png></noscript><table background=p.gif></table><input type=image src=q.gif><img src=e.png#x>
      <img data-src=lazy.png data-srcset="lazy2.png 2x"><div data-bg=bg.png></div><div data-src="no file"></div>
      <svg><use href="#local"/></svg><img src="//cdn.example/r.png"><img src="http://[bad/">"""
    found = page_assets("http://e.example/x/", HTML, body)
    names = {name.removeprefix("http://e.example/sub/") for name in found}
    assert len(names) == len(found)
    letters = "a.css b.css c.png d.js e.png f.png g.png h.png i.avif j.jpg k.jpg l.mp4 m.svg n.svg o.png p.gif q.gif"
    letters += " lazy.png lazy2.png bg.png"
    assert names == {*letters.split(), "http://e.example/i.ico", "http://cdn.example/r.png"}


def test_assets_of_a_style_sheet_are_relative_to_it():
    body = "@charset 'utf-8'; a { b: url(../ü.png) }".encode()
    assert style_assets("http://e.example/css/a.css?v=1", CSS, body) == ("http://e.example/%C3%BC.png",)


def test_other_types_have_no_assets():
    assert page_assets("http://e.example/a.txt", (("Content-Type", "text/plain"),), b"<img src=a>") == ()


def test_the_icons_of_a_manifest_are_assets() -> None:
    manifest = b'{"icons": [{"src": "a.png", "sizes": "48x48"}, {"src": 1}, "b.png", {"src": "/c.png"}]}'
    assert manifest_assets("http://e.example/x/app.webmanifest", manifest) == (
        "http://e.example/x/a.png",
        "http://e.example/c.png",
    )
    assert manifest_assets("http://e.example/", b'["icons"]') == ()
    assert is_manifest((("Content-Type", "application/manifest+json"),), "http://e.example/m")
