"""References in HTML source are replaced in place; everything else stays byte for byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.core.document.link_rewriting import rewrite_html


def upper(written: str) -> str | None:
    return None if written.startswith("#") else written.upper()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<a href=/x>x</a>", '<a href="/X">x</a>'),
        ("<A HREF='/x' class=y>", '<A href="/X" class=y>'),
        ('<a href="#part">', '<a href="#part">'),
        ("<a href='/s?a=1&copy=2&amp;b=3'>", '<a href="/S?A=1&amp;COPY=2&amp;B=3">'),
        ("<img src=/a.png srcset='/a.png 1x, /b.png 2x'/>", '<img src="/A.PNG" srcset="/A.PNG 1x, /B.PNG 2x"/>'),
        ("<p style=\"background:url('/b.png')\">", '<p style="background:url(&quot;/B.PNG&quot;)">'),
        ("<style>p{background:url(/b.png)}</style>", '<style>p{background:url("/B.PNG")}</style>'),
        ("<base href='/x/' target=_top>", '<base href="" target=_top>'),
        ("<meta http-equiv=Refresh content='5;url=/x'>", '<meta http-equiv=Refresh content="5; url=/X">'),
        (
            "<meta http-equiv=content-security-policy content=\"default-src 'self'\">",
            '<meta http-equiv=content-security-policy content="">',
        ),
        ("<script src=/a.js integrity=x crossorigin></script>", '<script src="/A.JS"></script>'),
        ("<object data=/x data-y=/z></object>", '<object data="/X" data-y=/z></object>'),
        ("<img src='data:,' class=lazy data-src=/a.png>", '<img class=lazy src="/A.PNG">'),
        ("<img data-srcset='/a.png 2x' data-src=/b.png>", '<img srcset="/A.PNG 2x" src="/B.PNG">'),
        ("<a href=/x>1</a", '<a href="/X">1</a'),
    ],
)
def test_references_are_replaced(before: str, after: str) -> None:
    assert rewrite_html(before, upper) == after


@pytest.mark.parametrize(
    "page",
    [
        "<!-- <a href=/x> --><!doctype html><?xml href='/x'?>",
        "<script>document.write('<a href=/x>')</script>",
        "<textarea><a href=/x></textarea><title><a href=/x></title>",
        "<link rel=canonical href=/x>",
        "<noscript><p>a &lt; b</p></noscript>\r\n<p>1 < 2 & 3 > 2</p>",
        "<a href='/x",
        "<input value='<a href=/x>'>",
    ],
)
def test_everything_else_stays(page: str) -> None:
    assert rewrite_html(page, upper) == page


def test_links_in_noscript_count() -> None:
    assert rewrite_html("<noscript><img src=/x></noscript>", upper) == '<noscript><img src="/X"></noscript>'


@given(st.lists(st.sampled_from(["<a ", "<style>", "</style>", "href", "=", "'", '"', ">", "<!--", "-->", "/", " "])))
def test_a_page_without_replacements_stays(pieces: list[str]) -> None:
    page = "".join(pieces).replace("<style>", "<b>")
    assert rewrite_html(page, lambda written: None) == page
