"""Training, scoring and storage of the default sentiment model."""

from __future__ import annotations

from array import array
from random import Random

import pytest
from research.sentiment_training import quantize_weights, train_nbsvm

from evercrawl.core.sentiment.classifiers import BUCKETS, NbSvmModel, text_features
from evercrawl.core.sentiment.sentences import split_sentences, tokenize

GOOD = ["a lovely warm film", "lovely food and warm people", "i love this lovely phone", "warm and lovely"]
BAD = ["a dull cold film", "dull food and cold people", "i hate this dull phone", "cold and dull"]
EXAMPLES = [(text, True) for text in GOOD] + [(text, False) for text in BAD]


def learned() -> NbSvmModel:
    return quantize_weights(train_nbsvm(EXAMPLES, random=Random(1)), slope=1.0)


def test_the_model_learns_words():
    model = learned()
    assert model.score("lovely") > 0 > model.score("dull")
    assert -1 <= model.score("lovely " * 500) <= 1


def test_the_same_sentences_give_the_same_model():
    assert learned().to_bytes() == learned().to_bytes()


def test_a_text_without_known_features_is_undecided():
    assert learned().score("") == learned().score("zzzz") == 0.0


def test_the_stored_form_round_trips():
    model = learned()
    again = NbSvmModel.from_bytes(model.to_bytes())
    assert again.score("a lovely film") == model.score("a lovely film")


def test_another_format_is_refused():
    other = NbSvmModel(array("b", [0]), 1.0, 1.0).to_bytes().replace(b'"format": 1', b'"format": 2')
    with pytest.raises(ValueError, match="another format"):
        NbSvmModel.from_bytes(other)


def test_an_untrained_model_is_neutral():
    assert quantize_weights(train_nbsvm([], random=Random(1)), slope=1.0).score("lovely") == 0.0


def test_words_and_punctuation():
    assert tokenize("It ISN'T good, is it?") == ["it", "is", "not", "good", ",", "is", "it", "?"]
    assert tokenize("it 's don\u2019t") == ["it's", "do", "not"]
    assert "heart" in tokenize("\U0001f60d")


def test_a_negation_ends_at_punctuation():
    assert text_features("not good") - text_features("good") - text_features("not")
    near, far = text_features("not a b c"), text_features("not. a b c")
    assert len(near - far) > len(text_features("not") - far)
    assert all(0 <= bucket < BUCKETS for bucket in near)


def test_sentences():
    assert split_sentences("One. Two!\nThree") == ["One.", "Two!", "Three"]
    assert split_sentences(" \n ") == []
