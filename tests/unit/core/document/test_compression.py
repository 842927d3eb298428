"""Stored texts and outlines are small, fast to read and never wrong."""

from __future__ import annotations

import random

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from evercrawl.core.document.compression import (
    FULL_EVERY,
    MAX_CHAIN,
    outline_of,
    pack_outline,
    pack_text,
    pack_texts,
    unpack_outline,
    unpack_text,
    unpack_text_start,
    unpack_texts,
)
from evercrawl.core.document.html import parse_document
from evercrawl.model.document import Link, Outline
from evercrawl.model.page import PackedText
from evercrawl.model.settings import ParseSettings

VERSIONS = 100
LARGEST_SHARE = 0.10


def living_page(paragraphs: int, *, seed: int = 7) -> list[str]:
    """Return 100 versions of a text: each changes a sentence, some add a paragraph."""
    chance = random.Random(seed)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(chance.choices(letters, k=chance.randint(2, 10))) for _ in range(2000)]

    def sentence() -> str:
        return " ".join(chance.choices(words, k=chance.randint(8, 20))) + "."

    blocks = [" ".join(sentence() for _ in range(4)) for _ in range(paragraphs)]
    versions = []
    for number in range(VERSIONS):
        blocks[chance.randrange(len(blocks))] += " " + " ".join(chance.choices(words, k=4))
        if number % 10 == 9:
            blocks[0] = sentence()
        versions.append("\n".join(blocks))
    return versions


def packed(texts: list[str]) -> dict[int, PackedText]:
    stored: dict[int, PackedText] = {}
    before: tuple[int, str] | None = None
    for number, text in enumerate(texts, start=1):
        stored[number] = pack_text(text, number, before)
        before = number, text
    return stored


def chain(stored: dict[int, PackedText], number: int) -> list[bytes]:
    frames: list[bytes] = []
    wanted: int | None = number
    while wanted is not None:
        wanted, frame = stored[wanted]
        frames.append(frame)
    return frames[::-1]


@pytest.mark.parametrize("paragraphs", [8, 30, 300])
def test_a_hundred_versions_take_a_tenth_of_the_space(paragraphs: int) -> None:
    texts = living_page(paragraphs)
    stored = packed(texts)
    copies = sum(len(zstandard.ZstdCompressor(level=3).compress(text.encode())) for text in texts)
    assert sum(len(text.frame) for text in stored.values()) <= LARGEST_SHARE * copies


@pytest.mark.parametrize("paragraphs", [30, 2000])
def test_every_version_is_read_from_few_frames(paragraphs: int) -> None:
    texts = living_page(paragraphs)
    stored = packed(texts)
    for number in (1, 32, 50, 96, 100):
        frames = chain(stored, number)
        assert len(frames) <= FULL_EVERY
        assert unpack_text(frames) == texts[number - 1]


def test_an_unrelated_text_is_stored_in_full() -> None:
    before, after = living_page(5, seed=1)[0], living_page(5, seed=2)[0]
    assert pack_text(after, 2, (1, before)).base is None
    assert pack_text(after, 2, None).base is None
    assert pack_text(after, 2, (1, "")).base is None


def test_every_nth_version_is_stored_in_full() -> None:
    alone = [number for number, text in packed(living_page(10)).items() if text.base is None]
    assert alone == [1, 33, 65, 97]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=200), min_size=1, max_size=12))
def test_packed_texts_round_trip(texts: list[str]) -> None:
    stored = packed(texts)
    assert [unpack_text(chain(stored, number)) for number in stored] == texts
    assert unpack_texts(list(stored.items())) == list(enumerate(texts, start=1))


def test_lone_surrogates_round_trip() -> None:
    assert unpack_text([pack_text("a\ud800b", 1, None).frame]) == "a\ud800b"


def test_texts_are_packed_again_without_some_versions() -> None:
    texts = living_page(10)
    left = [(number, text) for number, text in enumerate(texts, start=1) if number % 3 == 0]
    again = pack_texts(left)
    assert unpack_texts(again) == left
    stored = dict(again)
    assert max(len(chain(stored, number)) for number in stored) <= MAX_CHAIN
    assert sum(len(text.frame) for text in stored.values()) < len(texts[0].encode()) * 4


def test_damaged_frames_raise_value_error() -> None:
    whole = pack_text("some text of a page", 1, None)
    with pytest.raises(ValueError, match=r"damaged|claims"):
        unpack_text([whole.frame[:-4]])
    with pytest.raises(ValueError, match=r"damaged|claims|enough"):
        unpack_text([b"no frame at all"])
    with pytest.raises(ValueError, match="version 1"):
        unpack_texts([(2, PackedText(1, whole.frame))])


@given(st.text(alphabet=st.characters(), max_size=60), st.integers(1, 200))
def test_the_start_of_a_text_is_unpacked_alone(text: str, most_bytes: int):
    whole = pack_text(text, 1, None)
    found = unpack_text_start([whole.frame], most_bytes)
    assert text.startswith(found)
    assert len(found.encode("utf-8", "surrogatepass")) > min(most_bytes, len(text.encode("utf-8", "surrogatepass"))) - 4
    delta = pack_text(text + "!", 2, (1, text))
    frames = [delta.frame] if delta.base is None else [whole.frame, delta.frame]
    assert (text + "!").startswith(unpack_text_start(frames, most_bytes))


def test_a_damaged_start_is_reported():
    with pytest.raises(ValueError, match="damaged"):
        unpack_text_start([b"no frame at all"], 10)


OUTLINE = Outline(("One", "Two\nlines"), (Link("https://a.org/", "A", False), Link("https://b.org/", "", True)), True)


def test_outlines_round_trip():
    assert unpack_outline(pack_outline(OUTLINE)) == OUTLINE
    assert unpack_outline(pack_outline(Outline())) == Outline()


def test_headings_are_read_without_links():
    assert unpack_outline(pack_outline(OUTLINE), with_links=False) == OUTLINE._replace(links=())


def test_lone_surrogates_are_replaced():
    packed = pack_outline(Outline(("bad \ud800",), (Link("https://a.org/", "x\udfff", False),)))
    assert unpack_outline(packed).links[0].url == "https://a.org/"


@pytest.mark.parametrize("frame", [b"", b"nonsense", pack_outline(OUTLINE)[:-4]])
def test_a_damaged_outline_raises_value_error(frame: bytes):
    with pytest.raises(ValueError):
        unpack_outline(frame)


def test_the_outline_has_headings_links_and_noindex():
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
