"""Snapshots of a version."""

from __future__ import annotations

import pytest

from evercrawl.core.change.segments import split_segments
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


def test_indentation_does_not_move_the_border_of_a_block():
    links = [f"<a href=/{name}>{name}</a><br>" for name in ("Start", "News", "Club", "Dates", "Members", "Imprint")]
    plain, indented = (f"<td>{space.join(links)}<hr>Psalm</td>" for space in ("", "\n" + " " * 24))
    texts = snapshot_html(f"<table><tr>{plain}</table>").texts
    assert (
        texts
        == snapshot_html(f"<table><tr>{indented}</table>").texts
        == ("Start News Club Dates Members Imprint", "Psalm")
    )


@pytest.mark.parametrize("start", ["", " ", "\n ", "<img src=/ada.svg>"])
@pytest.mark.parametrize("wrapper", ["section", "li"])
def test_the_blocks_in_a_link_are_texts_of_their_own(start: str, wrapper: str) -> None:
    card = "<div><h3>Ada Lovat</h3><p>Keeper of the lock.</p><ul><li>Outposts<li>Traps</ul></div>"
    snapshot = snapshot_html(f"<main><h1>Speakers</h1><{wrapper}><a href=/ada>{start}{card}</a></{wrapper}></main>")
    assert list(snapshot.texts) == ["Speakers", "Ada Lovat", "Keeper of the lock.", "Outposts", "Traps"]


def test_an_image_that_a_script_loads_has_the_url_that_the_script_reads():
    markup = '<main><img src="data:image/gif;base64,R0lG" data-src="/harbour.jpg"><img data-lazy-src="/b.jpg"></main>'
    assert [image.url for image in snapshot_html(markup).references] == ["/harbour.jpg", "/b.jpg"]


def test_regions():
    assert regions(PAGE) == {
        "Top": SITE, "One": SITE, "First bold words.": BODY, "loose text": BODY, "a b": BODY, "Head": MAIN,
        "In main": MAIN, "Advert": SITE_BY_NAME, "Article": ARTICLE, "Link": BODY, "Below": BODY,
        "Foot": SITE,
    }  # fmt: skip


def entry(title: str, company: str) -> str:
    return f"<li><h2><a href=/x>{title}</a></h2><div><span>{company}</span><div>Graz</div></div><p>Night shifts.</p>"


@pytest.mark.parametrize("label", ["Sponsored", "Sponsored · Lumo", "Lumo | Anzeige", "<b>Реклама</b> Lumo", "広告"])
def test_an_entry_that_says_it_is_an_advertisement_is_a_part_of_the_site(label: str):
    rest = "".join(entry(f"Nurse {number}", "City of Ghent") for number in range(3))
    found = regions(f"<main><ul>{entry('Welder', label)}{rest}</ul></main>")
    assert {text for text, region in found.items() if region == SITE_BY_NAME} >= {"Welder"}
    assert found["Nurse 1"] == found["City of Ghent"] == MAIN


@pytest.mark.parametrize(
    "markup",
    [
        f"<ul>{entry('Welder', 'Sponsored children')}{entry('Nurse', 'Lumo')}</ul>",  # These words say something else.
        "<ul><li><a href=/a>Anzeige</a><li><a href=/b>Nurse</a></ul>",  # The link leads to such a page.
        f"<ul>{entry('Welder', 'Anzeige')}{entry('Nurse', 'Anzeige')}</ul>",  # A market of classified ads.
        f"<p>Sponsored</p><p>{'A long text. ' * 50}<p><a href=/c>More</a>",  # Not an entry.
    ],
)
def test_other_texts_about_advertisements_are_content(markup: str):
    assert {*regions(f"<main><div>{markup}</div><p>End.</main>").values()} == {MAIN}


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


def test_buttons_are_parts_of_the_site_that_do_not_split_a_text():
    assert regions("<main><p>Two <button>Buy now</button> words</p></main>") == {"Buy now": SITE, "Two words": MAIN}


def test_the_id_of_a_section_is_its_heading():
    text = "<p>Nobody may copy this.</p>"
    assert regions(f"<article><section id=copyright>{text}</section></article>")["Nobody may copy this."] == ARTICLE
    assert regions(f"<article><div id=copyright>{text}</div></article>")["Nobody may copy this."] == SITE_BY_NAME


@pytest.mark.parametrize("around", ["<div>{}</div>", "<div>{} by Ines</div>", "<ul><li>{}</ul>"])
def test_elements_in_a_link_are_parts_of_its_text(around: str):
    link = "<a href=/c><span class=age>13 sec ago</span>Add the manual</a>"
    found = [segment.text for segment in split_segments(snapshot_html(around.format(link)).marked[0])]
    assert found[:2] == ["13 sec ago", "Add the manual"]
    assert snapshot_html(around.format(link)).references[0].label == "13 sec agoAdd the manual"


@pytest.mark.parametrize("sign", ["#", "¶", "§", " # ", "🔗"])
def test_a_permalink_is_no_part_of_a_heading(sign: str) -> None:
    heading = '<h2 id="opening">{}Opening hours{}</h2>'
    link = f'<a class="header-anchor" href="#opening">{sign}</a>'
    for before, after in ((link, ""), ("", link)):
        assert snapshot_html(f"<main>{heading.format(before, after)}</main>").texts == ("Opening hours",)
