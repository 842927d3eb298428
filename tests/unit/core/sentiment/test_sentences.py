"""Sentiment of pages and sites, and the test for English."""

from __future__ import annotations

import pytest

from evercrawl.core.sentiment.sentences import Sentiment, is_english, page_sentiment, site_sentiment


def by_word(sentence: str) -> float:
    return 0.8 if "good" in sentence else -0.4 if "bad" in sentence else 0.0


def test_a_page_is_the_mean_of_its_sentences():
    page = page_sentiment("This is good. That was bad. It is a thing.", by_word)
    assert page == Sentiment(pytest.approx(0.4 / 3), 3, 1, 1)


def test_labels_do_not_count_where_there_are_sentences():
    assert page_sentiment("Menu\nbad\nThis is good.", by_word) == Sentiment(0.8, 1, 1, 0)
    assert page_sentiment("bad", by_word) == Sentiment(-0.4, 1, 0, 1)


def test_pages_without_sentences_have_no_sentiment():
    assert page_sentiment("", by_word) is None
    assert page_sentiment("This is good.", by_word, lang="de") is None
    assert site_sentiment([]) is None


def test_a_huge_page_does_not_dominate_its_site():
    site = site_sentiment([Sentiment(1.0, 10_000, 9_000, 0), Sentiment(-1.0, 100, 0, 90)])
    assert site == Sentiment(0.0, 10_100, 9_000, 90)


@pytest.mark.parametrize(
    "text", ["Great phone!", "5/5 would buy again", "\U0001f60d", "", "A night at la Scala was superb, and so on."]
)
def test_texts_that_are_english(text: str):
    assert is_english(text)


@pytest.mark.parametrize(
    "text",
    [
        "Das Essen war hervorragend.",
        "La película es horrible.",
        "Это очень хорошо",
        "とても良い",
        "Ce film est une vraie merveille, et nous avons adoré.",
    ],
)
def test_texts_that_are_not_english(text: str):
    assert not is_english(text)


def test_the_declared_language_wins():
    assert is_english("Das ist gut", lang="en-GB")
    assert not is_english("This is good", lang="fr")
