"""`tool sentiment`."""

from __future__ import annotations

import pytest

from evercrawl.collection.tools import METHODS, sentiment


@pytest.mark.parametrize("method", [None, *METHODS])
def test_plain_opinions(method: str | None):
    good = sentiment({"text": "A wonderful, touching and very funny film.", "method": method})
    bad = sentiment({"text": "A terrible waste of time and money, dull and stupid.", "method": method})
    assert good["label"] == "pos"
    assert bad["label"] == "neg"
    assert -1 <= bad["score"] < 0 < good["score"] <= 1


def test_facts_are_near_the_middle():
    assert abs(sentiment({"text": "The meeting is at ten o'clock."})["score"]) < 0.25


def test_other_languages_get_no_score():
    assert sentiment({"text": "Das Essen war nicht gut."}) == {"label": None, "score": None}


@pytest.mark.parametrize("text", ["", "  \n", "\x00", "\ud800"])
def test_without_words_there_is_no_score(text: str):
    assert sentiment({"text": text}) == {"label": None, "score": None}


@pytest.mark.parametrize("text", ["\U0001f389" * 3000, "a" * 100_000, "\ud800 bad", "!!!", "good " * 50_000])
def test_strange_texts_get_a_score(text: str):
    assert -1 <= sentiment({"text": text})["score"] <= 1


def test_a_missing_text_and_an_unknown_method_are_errors():
    with pytest.raises(KeyError):
        sentiment({})
    with pytest.raises(ValueError, match="paper"):
        sentiment({"text": "x", "method": "guess"})
