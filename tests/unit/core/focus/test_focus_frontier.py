"""A focused crawl finds its pages early, tunnels, learns, and returns each URL once."""

from __future__ import annotations

import pickle
from random import Random

import pytest

from evercrawl.core.focus.focus import Focus, learn_focus, parse_page
from evercrawl.core.focus.focus_frontier import FocusFrontier, distill_hubs
from evercrawl.core.focus.link_scorer import MAX_URL_VALUE, LinkScorer, LinkScorerPolicy
from tests.unit.core.focus.pages import examples, web

FOCUS = learn_focus(examples("http://one.test"), random=Random(0))


def crawled(focus: Focus, site: str) -> tuple[list[str], FocusFrontier]:
    """Crawl a site, the best waiting URL first."""
    pages = web(site)
    frontier = FocusFrontier(LinkScorer(focus), [f"{site}/"], is_allowed=pages.__contains__)
    order: dict[str, None] = {}
    while waiting := [url for url in frontier.values if url not in order]:
        url = max(waiting, key=frontier.values.__getitem__)
        order[url] = None
        frontier.add_page(url, parse_page(url, pages[url]))
    return list(order), frontier


def test_pages_on_topic_come_first():
    order, frontier = crawled(FOCUS, "http://two.test")
    assert len(order) == len(set(order)) == len(web("http://two.test"))
    last = max(place for place, url in enumerate(order) if "/classes/" in url)
    assert last <= 12 + 3
    assert frontier.harvest_ratio == pytest.approx(12 / len(order), abs=0.05)


def test_the_same_web_is_crawled_in_the_same_order():
    assert crawled(FOCUS, "http://two.test")[0] == crawled(FOCUS, "http://two.test")[0]


def test_harvest_ratio_is_zero_before_the_first_page():
    frontier = FocusFrontier(LinkScorer(FOCUS))
    assert (frontier.values, frontier.harvest_ratio) == ({}, 0.0)


def test_priorities_change_while_it_learns():
    scorer = LinkScorer(FOCUS)
    document = parse_page("http://two.test/", web("http://two.test")["http://two.test/"])
    people, _ = scorer.score_page("http://two.test/", document, depth=0).prospects
    before = scorer.value(people)
    scorer.learn([people], 0.999, promise=5.0)
    assert scorer.value(people) > before
    for _ in range(20):
        scorer.learn([people], 0.0, promise=0.0)
    assert scorer.value(people) < before
    assert scorer.value(people, hub=1.0) > scorer.value(people)


def test_learned_weights_are_bounded_and_picklable():
    scorer = LinkScorer(FOCUS, LinkScorerPolicy(max_features=0))
    document = parse_page("http://two.test/", web("http://two.test")["http://two.test/"])
    people, _ = scorer.score_page("http://two.test/", document, depth=0).prospects
    before = scorer.value(people)
    scorer.learn([people], 1.0, promise=1.0)
    assert scorer.value(people) == before
    assert pickle.loads(pickle.dumps(scorer)).value(people) == before


def test_list_of_pages_on_topic_is_a_hub():
    links = {"list": ["a", "b", "c"], "other": ["x", "y", "z", "w"], "a": ["b"], "list2": ["a", "unseen"]}
    found = distill_hubs(links, {"a": 1.0, "b": 0.9, "c": 0.8, "x": 0.01, "y": 0.0, "z": 0.0, "w": 0.0})
    assert found.hubs["list"] == 1.0
    assert found.hubs["list"] > found.hubs["list2"] > found.hubs["other"]
    assert max(found.authorities, key=found.authorities.__getitem__) in ("a", "b")
    assert distill_hubs({}, {}) == ({}, {})
    assert distill_hubs({"a": []}, {"a": 1.0}).hubs == {"a": 0.0}


def test_unusual_links_are_accepted():
    scorer = LinkScorer(FOCUS)
    document = parse_page("", "<a href='mailto:x@y'>m</a>")
    assert scorer.score_page("", document, depth=0).score >= 0


def test_frontier_round_trips():
    pages = web("http://two.test")
    frontier = FocusFrontier(LinkScorer(FOCUS), ["http://two.test/"])
    for url in ("http://two.test/", "http://two.test/classes.html", "http://two.test/classes/cs100/"):
        frontier.add_page(url, parse_page(url, pages[url]))
    again = FocusFrontier(LinkScorer(FOCUS))
    again.restore(frontier.to_bytes())
    assert again.fetched == 3
    assert again.on_topic == frontier.on_topic == pytest.approx(1, abs=0.2)
    assert again.scorer.weights == frontier.scorer.weights
    waiting = "http://two.test/classes/cs101/"
    assert again.value_of(waiting) == pytest.approx(frontier.value_of(waiting), abs=1e-4)
    assert again.scorer.topic_folders.urls() == ["http://two.test/classes/cs100/"]
    with pytest.raises(ValueError):
        again.restore(b"something else")


def test_redirect_keeps_the_value_and_failure_drops_it():
    frontier = FocusFrontier(LinkScorer(FOCUS), ["http://two.test/"])
    frontier.add_page("http://two.test/", parse_page("", web("http://two.test")["http://two.test/"]))
    value = frontier.value_of("http://two.test/classes.html")
    frontier.follow_redirect("http://two.test/classes.html", "http://two.test/courses/")
    assert frontier.value_of("http://two.test/courses/") == value
    assert frontier.value_of("http://two.test/classes.html") <= MAX_URL_VALUE
    frontier.discard("http://two.test/courses/")
    assert "http://two.test/courses/" not in frontier.values


def test_url_without_links_is_judged_by_itself():
    frontier = FocusFrontier(LinkScorer(FOCUS))
    course, person = "http://two.test/classes/cs300/", "http://two.test/people/p99.html"
    assert MAX_URL_VALUE >= frontier.value_of(course) > frontier.value_of(person) > 0
