"""Chunks of a page: by heading, bounded, with ids that survive edits of the text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evercrawl.collection.exchange.chunk_export import split_markdown

URL = "https://example.org/guide"
GUIDE = """First words.

## Install

Run it.

```sh
# not a heading
pip install x
```

### On Linux

Use the package.

## Use

Call `x`."""


def test_a_section_is_a_chunk_with_the_headings_above_it():
    chunks = split_markdown(URL, "Guide", GUIDE)
    assert [chunk.headings for chunk in chunks] == [
        ("Guide",),
        ("Guide", "Install"),
        ("Guide", "Install", "On Linux"),
        ("Guide", "Use"),
    ]
    assert "# not a heading" in chunks[1].text


def test_ids_stay_when_the_text_changes_and_differ_between_equal_headings():
    before = split_markdown(URL, "Guide", GUIDE)
    after = split_markdown(URL, "Guide", GUIDE.replace("Run it.", "Run it twice."))
    assert [chunk.id for chunk in before] == [chunk.id for chunk in after]
    twice = split_markdown(URL, "Guide", "## Note\n\nOne\n\n## Note\n\nTwo")
    assert len({chunk.id for chunk in twice}) == 2
    assert {chunk.id for chunk in before}.isdisjoint(chunk.id for chunk in split_markdown(URL + "2", "Guide", GUIDE))


def test_a_title_that_is_also_a_heading_is_named_once():
    (chunk,) = split_markdown(URL, "Guide", "# Guide\n\nText")
    assert chunk.headings == ("Guide",)


@given(st.lists(st.text("ab. \n", min_size=1, max_size=300), max_size=8), st.integers(20, 80))
def test_long_sections_are_cut_and_no_word_is_lost(paragraphs: list[str], max_chars: int):
    text = "\n\n".join(paragraphs)
    chunks = split_markdown(URL, "T", text, max_chars=max_chars)
    assert all(len(chunk.text) <= max_chars for chunk in chunks)
    assert "".join("".join(chunk.text for chunk in chunks).split()) == "".join(text.split())
    assert len({chunk.id for chunk in chunks}) == len(chunks)
