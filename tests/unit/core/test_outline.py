from __future__ import annotations

import pytest

from evercrawl.core.document.compression import outline_of, pack_outline, unpack_outline
from evercrawl.core.document.html import parse_document
from evercrawl.model.document import Link, Outline
from evercrawl.model.settings import ParseSettings

OUTLINE = Outline(("One", "Two\nlines"), (Link("https://a.org/", "A", False), Link("https://b.org/", "", True)), True)


def test_an_outline_comes_back_as_it_was():
    assert unpack_outline(pack_outline(OUTLINE)) == OUTLINE
    assert unpack_outline(pack_outline(Outline())) == Outline()


def test_headings_alone_are_read_without_links():
    assert unpack_outline(pack_outline(OUTLINE), with_links=False) == OUTLINE._replace(links=())


def test_lone_surrogates_do_not_stop_a_commit():
    packed = pack_outline(Outline(("bad \ud800",), (Link("https://a.org/", "x\udfff", False),)))
    assert unpack_outline(packed).links[0].url == "https://a.org/"


@pytest.mark.parametrize("frame", [b"", b"nonsense", pack_outline(OUTLINE)[:-4]])
def test_damage_is_a_value_error(frame: bytes):
    with pytest.raises(ValueError):
        unpack_outline(frame)


def test_a_page_gives_its_headings_anchors_and_wish():
    body = (
        b"<title>T</title><meta name=robots content=noindex><h1>Top</h1><h2>Part  one</h2><h2>Top</h2>"
        b"<a href=/x>to x</a><h4>small</h4>"
    )
    document = parse_document(
        "https://a.org/", (("content-type", "text/html"),), body, agent="evercrawl", limits=ParseSettings(),
        all_details=False, wants_outline=True,
    )  # fmt: skip
    outline = outline_of(document)
    assert outline.headings == ("Top", "Part one")
    assert outline.links == (Link("https://a.org/x", "to x", False),)
    assert outline.noindex
    assert document.embeds == ()
