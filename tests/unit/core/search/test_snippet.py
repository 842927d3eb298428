from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from evercrawl.core.search.snippet import WINDOW_CHARS, SnippetTerm, make_snippet
from evercrawl.model.search import Span

FILLER = "nothing to see here and there "


def text_of(spans: tuple[Span, ...]) -> str:
    return "".join(span.text for span in spans)


def hits_of(spans: tuple[Span, ...]) -> list[str]:
    return [span.text for span in spans if span.is_hit]


def test_the_window_with_the_most_different_words_wins():
    text = FILLER * 20 + "a cat. " + FILLER * 20 + "the cat and the dog play. " + FILLER * 20
    spans = make_snippet(text, [SnippetTerm("cat", True), SnippetTerm("dog", True)])
    assert hits_of(spans) == ["cat", "dog"]
    assert text_of(spans).startswith("… ")
    assert text_of(spans).endswith(" …")
    assert len(text_of(spans)) <= WINDOW_CHARS + 40


def test_only_whole_words_and_named_forms_are_marked():
    spans = make_snippet("Category: cats, CAT and Cät.", [SnippetTerm("cat", True, frozenset({"cat", "cats"}))])
    assert hits_of(spans) == ["cats", "CAT", "Cät"]


def test_a_phrase_is_marked_as_a_whole():
    assert hits_of(make_snippet("He said: crash,\n safety first.", [SnippetTerm("crash safety", False)])) == [
        "crash, safety"
    ]


def test_scripts_without_spaces_are_cut_between_characters():
    text = "海を照らす光です。" * 80
    spans = make_snippet(text, [SnippetTerm("照 ら す", False)])
    assert hits_of(spans)[0] == "照らす"
    assert len(text_of(spans)) <= WINDOW_CHARS + 10


def test_composed_characters_are_not_split():
    family = "👩\u200d👩\u200d👧"
    for shift in range(12):
        text = "x" * shift + family * 60 + " target " + "e\u0301" * 300
        shown = text_of(make_snippet(text, [SnippetTerm("target", True)])).strip("… ")
        assert not shown.startswith("\u200d")
        assert not shown.endswith("\u200d")
        assert unicodedata.category(shown[0]) not in ("Mn", "Mc", "Me")


def test_without_a_match_the_start_is_shown():
    assert text_of(make_snippet("Once upon a time.", [SnippetTerm("dragon", True)])) == "Once upon a time."
    assert make_snippet("", [SnippetTerm("dragon", True)]) == ()


def test_a_late_word_is_found():
    text = FILLER * 2000 + "the needle is here"
    assert hits_of(make_snippet(text, [SnippetTerm("needle", True)])) == ["needle"]


@given(st.text(max_size=400), st.lists(st.text(min_size=1, max_size=6), max_size=3), st.booleans())
def test_any_text_gives_a_snippet(text: str, words: list[str], is_word: bool):
    sought = [SnippetTerm(word.lower(), is_word) for word in words if word.split()]
    spans = make_snippet(text, sought, window=40)
    plain = " ".join(text.split())
    assert " ".join("".join(span.text for span in spans).strip("… ").split()) in plain or "…" in text
