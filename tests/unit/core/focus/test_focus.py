"""A topic is learned from examples and stored."""

from __future__ import annotations

from random import Random

import pytest
from bench.train_background import feature_shares, format_shares

from evercrawl.core.focus.classifier import LabelledBlocks, fit_logistic, parse_shares, sample_pages, train_classifier
from evercrawl.core.focus.focus import OUTSIDE, Focus, TopicFolders, focus_from_rows, learn_focus, parse_page, relevance
from evercrawl.core.focus.page_features import link_blocks, link_contexts, page_blocks, url_features
from evercrawl.model.document import Document, Link
from tests.unit.core.focus.pages import COURSE, PERSON, examples, page, web

FOCUS = learn_focus(examples("http://one.test"), random=Random(0))


def score(url: str, html: str) -> float:
    return relevance(FOCUS, url, html)


def test_topic_transfers_to_another_site():
    for url, html in web("http://two.test").items():
        assert (score(url, html) > 0.5) is ("/classes/" in url), url


def test_the_same_examples_give_the_same_focus():
    again = learn_focus(examples("http://one.test"), random=Random(0))
    assert again.to_bytes() == FOCUS.to_bytes()


def test_focus_round_trips():
    again = Focus.from_bytes(FOCUS.to_bytes())
    url, html = next(iter(web("http://two.test").items()))
    assert relevance(again, url, html) == score(url, html)


@pytest.mark.parametrize("stored", [b"", b"x", b"x\x9c\x03\x00\x00\x00\x00\x01"])
def test_other_bytes_are_rejected(stored: bytes):
    with pytest.raises(ValueError):
        Focus.from_bytes(stored)


def outlook(source: str, url: str, anchor: str) -> tuple[float, ...]:
    link = Link(url, anchor, False)
    return FOCUS.link_logits(source, -3.0, link, link_blocks(source, link))


def test_links_are_judged_before_they_are_followed():
    source = "http://two.test/classes.html"
    good, _ = outlook(source, "http://two.test/classes/cs210/", "CS 210 course")
    bad, _ = outlook(source, "http://two.test/people/p7.html", "member number 7")
    hub, _ = outlook("http://two.test/", "http://two.test/classes.html", "classes")
    assert good > 0 > bad
    assert hub < good


def test_pages_below_a_page_on_topic_score_lower():
    places = TopicFolders(["http://a.test/cs1/", "http://a.test/u/cs2.html"])
    assert places.location("http://a.test/cs1/notes.html") == "beside home"
    assert places.location("http://a.test/cs1/") == OUTSIDE
    assert places.location("http://a.test/cs1/hw/one.html") == "below home"
    assert places.location("http://a.test/u/cs3.html") == "beside page"
    assert places.location("http://b.test/cs1/notes.html") == OUTSIDE
    assert sorted(places.urls()) == ["http://a.test/cs1/", "http://a.test/u/cs2.html"]


def test_logistic_model_learns_signal_weights():
    rows = [{"good": 1.0, "any": 1.0}, {"good": 1.0}, {"bad": 1.0, "any": 1.0}, {"bad": 1.0}] * 10
    stack = fit_logistic(rows, [True, True, False, False] * 10)
    assert stack.logit({"good": 1.0}) > 1 > -1 > stack.logit({"bad": 1.0})
    assert abs(stack.weights["any"]) < 0.01
    assert fit_logistic(rows, [True] * 40).is_trained is False


def test_positive_examples_are_enough_with_a_background():
    rows = [{"url": url, "html": html} for url, html in web("http://one.test").items() if "/classes/" in url]
    people = [page_blocks("", parse_page("", html)) for url, html in web("http://x.test").items() if "/people/" in url]
    shares = feature_shares({name: of for name, of in blocks.items() if name != "url"} for blocks in people)
    focus = focus_from_rows(rows, background=shares)
    on, off = (relevance(focus, "http://q.test/", page("", "CS 9 course", words)) for words in (COURSE, PERSON))
    assert on > 0.5
    assert on > off


def test_examples_may_be_plain_text():
    rows = [{"text": COURSE, "on_topic": True}, {"text": PERSON, "on_topic": False}]
    focus = focus_from_rows(rows, background={})
    assert relevance(focus, "", f"<p>{COURSE}") > 0.5 > relevance(focus, "", f"<p>{PERSON}")


def test_examples_without_a_positive_one_are_rejected():
    with pytest.raises(ValueError, match="on_topic"):
        focus_from_rows([{"text": "x", "on_topic": False}], background={})


def test_block_of_only_one_kind_is_not_learned():
    rows = [LabelledBlocks(page_blocks("http://a.test/b", Document("utf-8", "", text="x")), True)] * 3
    rows += [LabelledBlocks({"text": page_blocks("", Document("utf-8", "", text="y"))["text"]}, False)] * 3
    assert set(train_classifier(rows, random=Random(0)).classifier.scales) == {"text"}


def test_without_both_kinds_everything_is_undecided():
    assert train_classifier([], random=Random(0)).classifier.score({}) == 0.5


def test_background_round_trips():
    pages = [page_blocks("", Document("utf-8", "", text="one two"))] * 5
    shares = feature_shares(pages)
    assert parse_shares(format_shares(shares)) == {name: of for name, of in shares.items() if of}
    assert sample_pages(shares, pages=2, random=Random(0))[0]["text"] == {"one": 1, "two": 1}


def test_urls_of_two_sites_share_their_forms():
    one, other = url_features("http://a.test/x/cs415/index.html"), url_features("http://b.test/y/CS210/")
    assert {"cs", "###", "cs@0", "cs###=0"} <= set(one) & set(other)


def test_link_context():
    text = "Before the first link. After it comes more"
    document = Document("utf-8", "", text=text, links=(Link("u", "first link", False), Link("v", "other", False)))
    assert link_contexts(document) == ["Before the  . After it comes more", "first link"]
