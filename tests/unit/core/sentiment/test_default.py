"""The default method learns from sentences, says how sure it is, and survives being stored."""

from __future__ import annotations

from array import array
from random import Random

import pytest

from evercrawl.core.sentiment.nbsvm import BUCKETS, DefaultModel, features_of, fitted, packed
from evercrawl.core.sentiment.sentences import sentences_of, words_of

GOOD = ["a lovely warm film", "lovely food and warm people", "i love this lovely phone", "warm and lovely"]
BAD = ["a dull cold film", "dull food and cold people", "i hate this dull phone", "cold and dull"]
EXAMPLES = [(text, True) for text in GOOD] + [(text, False) for text in BAD]


def learned() -> DefaultModel:
    return packed(fitted(EXAMPLES, random=Random(1)), slope=1.0)


def test_it_learns_words():
    model = learned()
    assert model.score("lovely") > 0 > model.score("dull")
    assert -1 <= model.score("lovely " * 500) <= 1


def test_the_same_sentences_give_the_same_model():
    assert learned().to_bytes() == learned().to_bytes()


def test_a_text_without_known_features_is_undecided():
    assert learned().score("") == learned().score("zzzz") == 0.0


def test_what_is_stored_can_be_read():
    model = learned()
    again = DefaultModel.from_bytes(model.to_bytes())
    assert again.score("a lovely film") == model.score("a lovely film")


def test_another_format_is_refused():
    other = DefaultModel(array("b", [0]), 1.0, 1.0).to_bytes().replace(b'"format": 1', b'"format": 2')
    with pytest.raises(ValueError, match="another format"):
        DefaultModel.from_bytes(other)


def test_no_sentences_give_no_opinion():
    assert packed(fitted([], random=Random(1)), slope=1.0).score("lovely") == 0.0


def test_words_and_their_marks():
    assert words_of("It ISN'T good, is it?") == ["it", "is", "not", "good", ",", "is", "it", "?"]
    assert words_of("it 's don\u2019t") == ["it's", "do", "not"]
    assert "heart" in words_of("\U0001f60d")


def test_a_negation_reaches_a_few_words_and_no_further_than_a_mark():
    assert features_of("not good") - features_of("good") - features_of("not")
    near, far = features_of("not a b c"), features_of("not. a b c")
    assert len(near - far) > len(features_of("not") - far)
    assert all(0 <= bucket < BUCKETS for bucket in near)


def test_sentences():
    assert sentences_of("One. Two!\nThree") == ["One.", "Two!", "Three"]
    assert sentences_of(" \n ") == []
