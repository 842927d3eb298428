"""Sentiment and relevance of any text are within their bounds."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from evercrawl.adapters.learned import load_paper_model, load_sentiment_model
from evercrawl.collection.tools import sentiment
from evercrawl.core.focus.focus import Focus, learn_focus, parse_page, relevance
from evercrawl.core.focus.link_scorer import LinkScorer
from evercrawl.core.sentiment.sentences import page_sentiment
from tests.unit.core.focus.pages import examples

TEXTS = st.text(st.characters(), max_size=200) | st.lists(
    st.sampled_from(
        ["not", "good", "n't", "'", ".", "?", "the", "la", "\u2019", "\ud800", "\U0001f60d", "\u0130", "\0"]
    ),
    max_size=20,
).map(" ".join)
FOCUS = learn_focus(examples("http://one.test"), random=Random(0))


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_any_text_gets_a_score_within_bounds(text: str):
    for method in (None, "paper", "paper-add-one"):
        answer = sentiment({"text": text, "method": method})
        assert answer["label"] in ("pos", "neg", None)
        assert answer["score"] is None or -1 <= answer["score"] <= 1
    for score in (load_sentiment_model().score, load_paper_model().score):
        page = page_sentiment(text, score)
        assert page is None or -1 <= page.score <= 1


@settings(max_examples=150, deadline=None)
@given(TEXTS, TEXTS)
def test_any_page_gets_a_relevance_and_its_links_a_value(url: str, html: str):
    assert 0 <= relevance(FOCUS, url, html) <= 1
    linking = f"<title>{html}</title><a href='http://x.test/{url}'>{html}</a> {url}"
    found = LinkScorer(FOCUS).score_page(url, parse_page(url, linking), depth=0)
    for prospect in found.prospects:
        assert 0 <= LinkScorer(FOCUS).value(prospect) <= 3


@given(st.binary(max_size=60))
def test_any_bytes_are_a_focus_or_an_error(stored: bytes):
    try:
        Focus.from_bytes(stored)
    except ValueError:
        pass
