"""Hostile pages are cut before parsing; others are left alone."""

from __future__ import annotations

import time
from itertools import combinations

import pytest
from selectolax.lexbor import LexborHTMLParser

from evercrawl.core.document.bounds import (
    _ENDS_ITSELF,
    HARMLESS_BYTES,
    MAX_MARKUP_BYTES,
    MAX_NESTING,
    MAX_TAGS,
    _may_nest,
    truncate_markup,
)
from evercrawl.core.document.elements import parse_tree
from evercrawl.core.document.html import parse_document
from evercrawl.model.settings import ParseSettings

FILLER = b"<p>words</p>" * (HARMLESS_BYTES // 10)


def test_large_ordinary_pages_are_not_cut() -> None:
    page = b"<html><body>" + b"<ul><li><a href=x><b>y</b></a><br></ul><table><tr><td>z</table>" * 5000 + b"</body>"
    assert truncate_markup(page) is page or truncate_markup(page) == page


def test_bytes_and_tags_are_limited() -> None:
    assert len(truncate_markup(b"x" * (MAX_MARKUP_BYTES + 1))) == MAX_MARKUP_BYTES
    assert truncate_markup(b"<p>x</p>" * MAX_TAGS) == b"<p>x</p>" * (MAX_TAGS // 2)


def test_a_long_script_is_not_a_long_tag() -> None:
    script = b"<script>for(i=0;i<n;i++){" + b"a[i]=1;" * 9000 + b"}</script>"
    page = b"<svg></svg>" + script + FILLER
    assert truncate_markup(page) == page


@pytest.mark.parametrize(
    "unit",
    [
        b"<div>",
        b"<ul><li>",
        b"<div><!--</div>-->",
        b"<div><script></div></script>",
        b"<div><table></div></table>",
        b"<DIV><x></div></x><b>",
        b"<svg><desc></svg></desc><script><div></script>",
        b"<rt>",
        b"<p><ruby></p><rt></ruby>",
        b"<optgroup><option>",
        b"<li>a<dt>",
        b"<LI x=1>a<DD>b",
        b"<svg></svg><dd><ul></li><li>",
        b'<span a="x>y</span>">',
        b"<span a=x' b='c>y</span>'>",
        b'<span a = "x>y</span>" b>',
        b"<span.x>y</span>",
        b"<span\x0b>y</span>",
        b"<i a='<b c=\"'><u d='\">x</b>'>",
    ],
)
def test_deep_nesting_is_cut(unit: bytes) -> None:
    page = unit * (2_000_000 // len(unit))
    assert len(truncate_markup(page)) <= len(unit) * (MAX_NESTING + 1)


@pytest.mark.parametrize("leaf", [b"<b>x</b>", b"<SPAN a = 'b>' c=\"d\"e=f g>x</SPAN>", b"<dt/>x</dt>"])
def test_elements_with_nothing_but_text_do_not_count(leaf: bytes) -> None:
    """So that long pages are seldom measured tag by tag."""
    assert not _may_nest(leaf * 10_000, 20_000, is_mixed=False)
    assert not _may_nest(leaf * 10_000, 20_000, is_mixed=True)


@pytest.mark.parametrize("before", [b"", b"<table>"])
def test_elements_that_end_by_themselves_do_not_nest(before: bytes) -> None:
    """Whatever two of them follow each other: the parser looks through all open elements at many a tag."""
    for one, two in combinations(sorted(_ENDS_ITSELF), 2):
        page = before + b"<%s><%s>" % (one, two) * 3_500
        node, depth = parse_tree(truncate_markup(page)).root, 0
        while node is not None:
            node, depth = node.last_child, depth + 1
        assert depth < 2 * MAX_NESTING, (one, two)


@pytest.mark.parametrize("end", [b"</i>", b"</p>", b"<li>", b"</ul>"])
def test_many_tags_below_many_open_elements_are_cut(end: bytes) -> None:
    assert len(truncate_markup(b"<span>" * 5_900 + end * 100_000)) < 6 * 5_900


@pytest.mark.parametrize(
    "unit",
    [
        b"<dl><dt>a<dd>b<ul><li>c<li>d</ul><dt>e<dd>f</dl>",
        b"<ul><li>a<dl><dt>b</dt><dd>c</dd></dl></li><li>d</li></ul>",
        b"<dl><dd><ul><li><b>a</b></li></ul></dd></dl>",
    ],
)
def test_long_pages_with_lists_in_lists_are_kept(unit: bytes) -> None:
    page = unit * (600_000 // len(unit))
    assert truncate_markup(page) == page


@pytest.mark.parametrize(
    ("before", "unit"),
    [
        (b"<svg><desc>", b"<div/>"),
        (b"<svg><p>", b"<div/>"),
        (b"<svg><desc><style><!--</style>", b"<div>"),
        (b"<svg><p><style><!--</style>", b"<rt>"),
    ],
)
def test_deep_nesting_behind_svg_is_cut(before: bytes, unit: bytes) -> None:
    assert len(truncate_markup(before + unit * 100_000)) <= len(before) + len(unit) * (MAX_NESTING + 1)


@pytest.mark.parametrize(
    "unit",
    [
        b"<svg><title>x</title><path d='M0 0' /></svg>",
        b"<svg>" + b"<rect x=1 /><g><circle/></g>" * 2500 + b"</svg><p>text</p>",
        "<ruby>漢<rp>(<rt>kan<rp>)</ruby>".encode(),
        b"<ruby><rb>a</rb><rt>b</rt></ruby>",
        b"<select><optgroup label=a><option>b</optgroup></select>",
    ],
)
def test_long_pages_with_drawings_and_ruby_text_are_kept(unit: bytes) -> None:
    page = unit * (600_000 // len(unit))
    assert truncate_markup(page) == page


# What makes a scanner that is not exact believe that the rest is a comment, a text, a value or a drawing.
HIDING = (
    b"<b <noscript>", b'<script a="</script <noscript ">x</script>', b'<b a="<!--">', b"<!x <title>", b"</<title>",
    b"</p <noscript>", b"<script><!--<script></script><title></script>", b"<select><title></select>",
    b"<template><col><title></template>", b"<template><col><script></template>", b'<svg><a x="</svg>"/><title>',
    b"<svg><desc><p></desc></svg></p></desc><title>", b"<svg><desc><p></desc></svg></p><![CDATA[ > <title> ]]>",
    b"<svg><desc><form><b></form></desc></svg></b></desc><title>", b'<svg><![CDATA[<a x="]]>', b"<svg><script>",
    b'<svg><title><a x="</title>">', b"<svg><desc><style><!--</style>", b"<svg><title/>", b"<select><svg></select>",
    b"<b\x0b<!-->", b'<b\x0b="><title>', b"<b =\"><title>", b"<svg><ruby></ruby>", b"<svg><font color=x>",
    b"<div><svg></div>", b"<svg/>", b"<svg><g a=b/>", b"<math><desc>", b"<math><mi><mglyph>", b"<svg><math><mi>",
    b"<math><annotation-xml>", b"<svg><desc></svg>", b"<svg>", b"<noscript>",
    b"<noscript></noscript x='<noscript>'>", b"<p><noscript><!--</noscript>",
)  # fmt: skip
UNITS = (b"<div>", b"<g/>", b"<g a=b/>", b"<link>", b"<a>", b"<li>", b"<p>")


@pytest.mark.parametrize("before", HIDING, ids=repr)
def test_nothing_hides_dangerous_markup(before: bytes) -> None:
    """The parser took 3 s for some of these."""
    pages = [FILLER + before + unit * 40_000 + end for unit in UNITS for end in (b"", b'</title>-->"></style>')]
    pages.append(FILLER + before + b"<p " + b" ".join(b"a%d" % number for number in range(40_000)) + b">")
    for page in pages:
        for parse in (parse_tree, LexborHTMLParser):  # As if scripts ran, and without.
            start = time.process_time()
            parse(truncate_markup(page))
            assert time.process_time() - start < 0.7, page[len(FILLER) :][:80]


@pytest.mark.parametrize(
    "unit",
    [
        b"<script>if (a<b && c<d) { e = '<div>'; <!-- <script> x </script> --> }</script><p>x",
        b"<style>a > b { content: '<div>' }</style><p>x",
        b"<svg><style>.a > .b {}</style><path d='M0 0'><g><use/></g></svg><p>x",
        b"<svg><style><![CDATA[ a > b {} ]]></style><foreignObject><div>x<p>y</p></div></foreignObject></svg>",
        b"<select><option>1<optgroup><option>2</select><script>if (a<b) c</script><p>x",
        b"<template><div>x</div></template><a title='a > b <c'>x</a>",
        b"<math><mi>x</mi><mo>&lt;</mo><mtext><b>y</b></mtext></math>",
        b"<textarea><div></textarea><!-- <div> --><p data-a='<div>'>x",
    ],
)
def test_long_pages_with_raw_texts_and_other_languages_are_kept(unit: bytes) -> None:
    page = unit * (600_000 // len(unit))
    assert truncate_markup(page) == page


@pytest.mark.parametrize("attribute", [b" a%d", b" a%d=1", b" a%d='>'", b' a%d="<"', b"</'%d", b'/a%d=">"', b' "%d'])
def test_a_tag_with_endless_attributes_is_cut(attribute: bytes) -> None:
    page = FILLER + b"<p" + b"".join(attribute % number for number in range(100_000)) + b">"
    assert truncate_markup(page) == FILLER


def test_a_long_tag_with_a_few_values_is_cut() -> None:
    page = FILLER + b"<p" + (b" a" * 450 + b' b=">"') * 20 + b">"
    assert truncate_markup(page) == FILLER


@pytest.mark.parametrize(
    "page",
    [
        b"<p " + b" ".join(b"a%d=1" % number for number in range(1_000_000)) + b">",
        b"<!--" + b"-" * 10_000_000,
        b"<meta " * 700_000,
        b"<div>" * 200_000,
        b"<b>" * 200_000,
        b"<a href=/x><object>" * 20_000,
        b"<title>" + b"x" * 5_000_000,
        b"\0" * 5_000_000,
        b"<" * 3_000_000,
        b"<a href='" * 300_000,
        b"<noscript><a href=/x></noscript>" * 50_000,
        b"<noscript><a href=/x>" + b"<div>" * 100_000 + b"</noscript>",
        b"<base href='https://a.example/%s'>" % (b"x" * 400_000) + b"".join(b"<a href=?%d>" % n for n in range(20_000)),
        b"<a href='" + b"../" * 400_000 + b"'>",
        b"<img srcset='" + b"a (" * 500_000 + b"'>",
        b"&#xD800;&#0;" * 100_000,
    ],
    ids=lambda page: page[:12].decode("latin-1"),
)
def test_hostile_pages_take_limited_time(page: bytes) -> None:
    before = time.process_time()
    parse_document("http://h.test/", (("Content-Type", "text/html"),), page, agent="x", limits=ParseSettings())
    assert time.process_time() - before < 5
