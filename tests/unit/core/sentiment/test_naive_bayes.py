"""The naive Bayes formula of the source paper."""

from __future__ import annotations

from math import exp, log

import pytest
from research.sentiment_training import train_naive_bayes

from evercrawl.core.sentiment.classifiers import NaiveBayesModel

EXAMPLES = [("good good film", True), ("fine film", True), ("bad film", False)]
MODEL = train_naive_bayes(EXAMPLES)


def test_a_worked_example():
    # pos: 2 of 3 sentences, 5 words (good 2, film 2, fine 1); neg: 1 of 3, 2 words; 7 words in all.
    positive = MODEL.product(["good", "film"], MODEL.positive)
    assert positive.zeros == 0
    assert exp(positive.log_rest) == pytest.approx(2 / 3 * (2 / (5 + 7)) * (2 / (5 + 7)))
    negative = MODEL.product(["good", "film"], MODEL.negative)
    assert negative.zeros == 1
    assert MODEL.score("Good film!") == 1.0


def test_the_score_is_the_difference_of_the_two_shares():
    positive, negative = 2 / 3 * (2 / 12), 1 / 3 * (1 / 9)
    assert MODEL.score("film") == pytest.approx((positive - negative) / (positive + negative))


def test_where_both_products_are_zero_fewer_unknown_words_win():
    assert MODEL.score("good fine unheard") == 1.0
    assert MODEL.score("bad unheard") == -1.0
    assert MODEL.score("unheard") == pytest.approx(2 / 3 - 1 / 3)


def test_add_one_leaves_no_zero():
    product = MODEL.product(["unheard"], MODEL.negative, add_one=True)
    assert product == (0, pytest.approx(log(1 / 3) + log(1 / 9)))


def test_the_text_form_round_trips():
    sides = (MODEL.positive, MODEL.negative)
    words = sorted({word for side in sides for word in side.words})
    lines = ["\t".join(("", *(str(side.sentences) for side in sides)))]
    lines += ["\t".join((word, *(str(side.words.get(word, 0)) for side in sides))) for word in words]
    again = NaiveBayesModel.from_text("\n".join(lines))
    assert again.score("good film") == MODEL.score("good film")


def test_both_classes_are_required():
    with pytest.raises(ValueError, match="both classes"):
        train_naive_bayes([("good", True)])
