from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.core.search.tokenizer import folded, searchable, shown, url_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("plain words", ["plain", "words"]),
        ("e\u0301cole", ["école"]),
        ("日本語", ["日", "本", "語"]),
        ("학교에서", ["학", "교", "에", "서"]),
        ("ﬁn ＡＢＣ", ["fin", "ABC"]),
        ("שָׁלוֹם", ["שלום"]),
        ("مَدْرَسَة", ["مدرسة"]),
        ("soft\u00adhyphen", ["softhyphen"]),
        ("sea 🌊!", ["sea", "emojix1f30a", "!"]),
        ("Άγιος ёлка", ["Αγιος", "елка"]),
        ("lone \ud800 surrogate", ["lone", "surrogate"]),
    ],
)
def test_texts_and_queries_get_the_same_words(text: str, words: list[str]):
    assert searchable(text).split() == words


def test_an_emoji_is_shown_as_itself():
    assert shown(searchable("🌊").strip()) == "🌊"
    assert shown("emojix") == "emojix"
    assert shown("word") == "word"


@given(st.text())
def test_folding_keeps_every_place(text: str):
    assert len(folded(text)) == len(text)


def test_folding_takes_case_and_accents():
    assert folded("ÉCOLE Łódź Straße") == "ecole lodz straße"
    assert folded("이스탄불 が") == "이스탄불 が"


def test_addresses_are_read_as_words():
    assert url_words("https://www.example.org/docs/getStarted/caf%C3%A9_menu.html?id=5").split() == [
        "example", "docs", "get", "Started", "café", "menu", "id", "5",
    ]  # fmt: skip
