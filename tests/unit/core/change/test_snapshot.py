"""Snapshots of a version."""

from __future__ import annotations

import pytest

from evercrawl.core.change.snapshot import (
    ARTICLE,
    BODY,
    HEADLINE,
    LINKED,
    MAIN,
    MAX_BLOCKS,
    PARAGRAPH,
    REGION_BITS,
    SITE,
    SITE_BY_NAME,
    SnapshotMetadata,
    pack_snapshot,
    snapshot_html,
    unpack_snapshot,
)

PAGE = """<html><head><title> A  title </title><meta name=Description content="About&#10;it">
<meta name=robots content="NoIndex"><link rel=canonical href=" /a b "></head><body>
<header><p>Top</p></header><nav><a href=1>One</a></nav>
<div class="x"><p>First <b>bold</b>  words.</p>loose <i>text</i><table><tr><td>a<td>b</table></div>
<main><h1>Head</h1><article><p>In <a href=2>main</a></p></article><div class=ad-box>Advert</div></main>
<article><p>Article</p></article><ul><li><a href=3>Link</a><p>Below</p></li></ul>
<script>no</script><noscript>no</noscript><footer>Foot</footer></body></html>"""


def regions(markup: str) -> dict[str, int]:
    snapshot = snapshot_html(markup)
    return {text: flag & REGION_BITS for text, flag in zip(snapshot.texts, snapshot.flags, strict=True)}


def test_blocks_in_order():
    assert snapshot_html(PAGE).texts == (
        "Top", "One", "First bold words.", "loose text", "a b", "Head", "In main", "Advert", "Article",
        "Link", "Below", "Foot",
    )  # fmt: skip


def test_regions():
    assert regions(PAGE) == {
        "Top": SITE, "One": SITE, "First bold words.": BODY, "loose text": BODY, "a b": BODY, "Head": MAIN,
        "In main": MAIN, "Advert": SITE_BY_NAME, "Article": ARTICLE, "Link": BODY, "Below": BODY,
        "Foot": SITE,
    }  # fmt: skip


def test_flags():
    snapshot = snapshot_html(PAGE)
    flags = dict(zip(snapshot.texts, snapshot.flags, strict=True))
    assert flags["Head"] & HEADLINE
    assert flags["First bold words."] & PARAGRAPH
    assert [text for text, flag in flags.items() if flag & LINKED] == ["One", "Link", "Below"]


def test_metadata():
    assert snapshot_html(PAGE).metadata == SnapshotMetadata("A title", "About it", "/ab", "noindex")


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("<div class='a b'><p>x", "<div class='b a'><p>x", True),
        ("<div id=post-17><p>x", "<div id=post-99><p>x", True),
        ("<div class='box r4nd0m'><p>x", "<div class='box zz81kq0'><p>x", True),
        ("<div class=one><p>x", "<div class=two><p>x", False),
        ("<div><p>x", "<section><p>x", False),
    ],
)
def test_name_paths(one: str, other: str, is_same: bool):
    assert (snapshot_html(one).names == snapshot_html(other).names) is is_same


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("<div class=one><p>x", "<section id=two><div><p>x", True),
        ("<main><p>x", "<p>x", True),
        ("<nav><p>x", "<p>x", False),
        ("<p>x", "<ul><li>x", False),
        ("<ul><li>x", "<ol><li>x", False),
    ],
)
def test_paths_do_not_depend_on_names_and_wrappers(one: str, other: str, is_same: bool):
    assert (snapshot_html(one).paths == snapshot_html(other).paths) is is_same


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<p>One <script>let x = f()</script>two</p>", [("One two", BODY | PARAGRAPH)]),
        ("<p>One <script src=a.js></script>two</p>", [("One two", BODY | PARAGRAPH)]),
        ("<script>let x = f()</script><p>f(x) = 1</p>", [("f(x) = 1", BODY | PARAGRAPH)]),
    ],
)
def test_code_is_not_text(markup: str, expected: list[tuple[str, int]]):
    snapshot = snapshot_html(markup)
    assert list(zip(snapshot.texts, snapshot.flags, strict=True)) == expected


def test_siblings_with_other_names_have_other_name_paths():
    paths = snapshot_html("<ul><li>a<li>b<li class=c>c<li>d</ul><ol><li>e</ol>").names
    assert paths[0] == paths[1] == paths[3]
    assert len(set(paths)) == 3


@pytest.mark.parametrize("markup", ["", PAGE, "<p>\ud800 é 日本", "<p>x" * 300])
def test_snapshots_round_trip(markup: str):
    snapshot = snapshot_html(markup)
    assert unpack_snapshot(pack_snapshot(snapshot)) == snapshot


@pytest.mark.parametrize("stored", [b"", b"nonsense", pack_snapshot(snapshot_html(PAGE))[:-9]])
def test_unreadable_snapshots_are_none(stored: bytes):
    assert unpack_snapshot(stored) is None


def test_blocks_are_limited():
    assert len(snapshot_html("<p>x</p>" * (MAX_BLOCKS + 500)).texts) <= MAX_BLOCKS + 1
