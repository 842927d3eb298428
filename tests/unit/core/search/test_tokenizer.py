from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.core.search.tokenizer import display_word, fold_text, normalize_for_index, url_words


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
    assert normalize_for_index(text).split() == words


def test_an_emoji_is_shown_as_itself():
    assert display_word(normalize_for_index("🌊").strip()) == "🌊"
    assert display_word("emojix") == "emojix"
    assert display_word("word") == "word"


@given(st.text())
def test_folding_keeps_positions(text: str):
    assert len(fold_text(text)) == len(text)


def test_folding_removes_case_and_accents():
    assert fold_text("ÉCOLE Łódź Straße") == "ecole lodz straße"
    assert fold_text("이스탄불 が") == "이스탄불 が"


def test_urls_are_split_into_words():
    assert url_words("https://www.example.org/docs/getStarted/caf%C3%A9_menu.html?id=5").split() == [
        "example", "docs", "get", "Started", "café", "menu", "id", "5",
    ]  # fmt: skip
