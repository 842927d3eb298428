"""A topic given by one page or a few words is learned while crawling."""

from __future__ import annotations

import pickle
from math import inf
from random import Random

import numpy as np
import pytest

from evercrawl.core.focus import feedback_frontier
from evercrawl.core.focus.classifier import TopicSketch, is_sketch, sketch_from_pages, sketch_from_words
from evercrawl.core.focus.feedback_frontier import FeedbackFrontier
from evercrawl.core.focus.feedback_model import FeedbackPolicy, PageModel, page_vectors, url_form
from evercrawl.core.focus.focus import parse_page
from evercrawl.core.focus.sparse_rows import Rows, Vocabulary, fit_near_prior, logistic, widen
from tests.unit.core.focus.pages import COURSE, PERSON, SECTIONS, magazine, page, web

SITE = "http://two.test"
EXAMPLE = f"{SITE}/classes/cs100/"


def by_example(url: str = EXAMPLE) -> TopicSketch:
    return sketch_from_pages([(url, parse_page(url, web(SITE)[EXAMPLE]))], background={})


def crawled(sketch: TopicSketch, limit: int = 100) -> tuple[list[str], FeedbackFrontier]:
    """Crawl a site, the best waiting URL first."""
    pages = web(SITE)
    frontier = FeedbackFrontier(sketch, [f"{SITE}/"], is_allowed=pages.__contains__)
    order: list[str] = []
    while frontier.values and len(order) < limit:
        url = max(frontier.values, key=frontier.values.__getitem__)
        order.append(url)
        frontier.add_page(url, parse_page(url, pages[url]))
    return order, frontier


@pytest.mark.parametrize(
    "sketch", [by_example(), sketch_from_words("course", background={}), by_example("http://one.test/classes/cs9/")]
)
def test_pages_on_topic_come_first(sketch: TopicSketch):
    order, frontier = crawled(sketch)
    assert len(order) == len(set(order)) == len(web(SITE))
    last = max(place for place, url in enumerate(order) if "/classes/" in url)
    assert last <= 12 + 4
    assert frontier.harvest_ratio == pytest.approx(12 / len(order), abs=0.1)


@pytest.mark.parametrize("pages", [8, 15, 25])
def test_harvest_ratio_is_near_the_truth(pages: int):
    order, frontier = crawled(by_example(), pages)
    truth = sum("/classes/" in url for url in order) / len(order)
    assert frontier.harvest_ratio == pytest.approx(truth, abs=0.25 if pages < 20 else 0.1)


@pytest.mark.parametrize("telling_urls", [True, False])
@pytest.mark.parametrize("kind", ["example", "words"])
@pytest.mark.parametrize("seed", [1, 2])
def test_sections_of_a_magazine_are_found_by_a_quarter_of_the_pages(telling_urls: bool, kind: str, seed: int):
    pages, sections = magazine(SITE, seed=seed, telling_urls=telling_urls)
    for section in SECTIONS[:2]:
        example = next(url for url, of in sections.items() if of == section)
        if kind == "example":
            sketch = sketch_from_pages([(example, parse_page(example, pages[example]))], background={})
        else:
            sketch = sketch_from_words(section, background={})
        seeds = [example, f"{SITE}/"] if kind == "example" else [f"{SITE}/"]
        frontier = FeedbackFrontier(sketch, seeds, is_allowed=pages.__contains__)
        done: list[str] = []
        for _ in range(len(pages) // 4):
            url = max(frontier.values, key=frontier.values.__getitem__)
            done.append(url)
            frontier.add_page(url, parse_page(url, pages[url]))
        found = sum(sections.get(url) == section for url in done)
        least = 0.75 if kind == "example" or telling_urls else 0.5  # Many pages never use the word.
        assert found >= least * 40, (section, found)
        if kind == "example" or telling_urls:
            assert frontier.harvest_ratio == pytest.approx(found / len(done), abs=0.1), section


def test_the_same_web_is_crawled_in_the_same_order():
    assert crawled(by_example())[0] == crawled(by_example())[0]


def test_sketch_round_trips():
    sketch = sketch_from_words("solar power", background={"text": {"the": 0.9}})
    assert TopicSketch.from_bytes(sketch.to_bytes()) == sketch
    assert is_sketch(sketch.to_bytes())
    for stored in (b"", b"sketch 1\nx", b"x"):
        with pytest.raises(ValueError):
            TopicSketch.from_bytes(stored)


def test_a_sketch_needs_words():
    with pytest.raises(ValueError, match="word"):
        sketch_from_words(" !? ", background={})
    with pytest.raises(ValueError, match="text"):
        sketch_from_pages([("http://a.test/", parse_page("http://a.test/", "<p></p>"))], background={})


def test_frontier_round_trips():
    _, frontier = crawled(by_example(), 20)
    again = FeedbackFrontier(by_example())
    again.restore(frontier.to_bytes())
    assert again.fetched == 20
    assert again.harvest_ratio == pytest.approx(frontier.harvest_ratio, abs=0.1)
    waiting = max(frontier.values, key=frontier.values.__getitem__)
    assert again.value_of(waiting) == pytest.approx(frontier.value_of(waiting), abs=1e-3)
    course, person = f"{SITE}/classes/cs999/", f"{SITE}/people/p99.html"
    scores = [
        again.add_page(url, parse_page(url, page(url, "", words)))
        for url, words in ((course, COURSE), (person, PERSON))
    ]
    assert scores[0] > scores[1]
    for stored in (b"something else", frontier.to_bytes()[:-9]):
        with pytest.raises(ValueError):
            again.restore(stored)


def test_samples_are_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(feedback_frontier, "MAX_SAMPLES", 10)
    monkeypatch.setattr(feedback_frontier, "MAX_SCORES", 12)
    monkeypatch.setattr(feedback_frontier.FeedbackFrontier, "max_waiting", 20)
    order, frontier = crawled(by_example())
    assert len(order) == len(web(SITE))
    assert len(pickle.dumps(frontier._samples)) < 100_000
    assert len(frontier._samples) == 11
    assert frontier.harvest_ratio == pytest.approx(12 / len(order), abs=0.15)


def test_redirect_keeps_the_value_and_failure_drops_it():
    frontier = FeedbackFrontier(by_example(), [f"{SITE}/"])
    frontier.add_page(f"{SITE}/", parse_page(f"{SITE}/", web(SITE)[f"{SITE}/"]))
    value = frontier.value_of(f"{SITE}/classes.html")
    frontier.follow_redirect(f"{SITE}/classes.html", f"{SITE}/courses/")
    assert frontier.value_of(f"{SITE}/courses/") == value
    frontier.follow_redirect(f"{SITE}/never-seen", f"{SITE}/x")
    assert f"{SITE}/x" not in frontier.values
    frontier.discard(f"{SITE}/courses/")
    assert f"{SITE}/courses/" not in frontier.values
    frontier.add_seed(f"{SITE}/seed")
    assert frontier.value_of(f"{SITE}/seed") == inf


def test_url_without_links_is_judged_by_itself():
    _, frontier = crawled(by_example(), 20)
    course, person = f"{SITE}/classes/cs300/", f"{SITE}/people/p99.html"
    assert 0.3 >= frontier.value_of(course) > frontier.value_of(person) > 0


def test_a_page_that_is_fetched_again_is_one_sample():
    _, frontier = crawled(by_example(), 20)
    url = f"{SITE}/classes/cs101/"
    samples = len(frontier._samples)
    frontier.add_page(url, parse_page(url, web(SITE)[url]))
    assert len(frontier._samples) == samples


def test_pages_of_one_form_do_not_take_the_topic_over():
    """A long list of parts of one page on topic, all alike, looks like the example only a little."""
    vocabulary = Vocabulary()
    parts = {f"{SITE}/x/part{n}.html": page("", f"Part {n}", "exercise solution hint " + "lecture") for n in range(30)}
    courses = {url: html for url, html in web(SITE).items() if "/classes/" in url}
    others = {url: html for url, html in web(SITE).items() if "/people/" in url}
    pages = {**courses, **parts, **others}
    vectors = [page_vectors(vocabulary, url, parse_page(url, html)) for url, html in pages.items()]
    vectors = [{**one, "inlinks": vocabulary.vector({})} for one in vectors]
    forms = list(map(url_form, pages))
    model = PageModel(
        vectors,
        forms,
        examples=1,
        known=[0.0] * len(vectors),
        background={},
        width=len(vocabulary),
        policy=FeedbackPolicy(),
    )
    on_topic = [chance > 0.5 for chance in model.chances.tolist()]
    assert on_topic == ["/classes/" in url for url in pages]


def test_weights_stay_near_the_prior_without_evidence():
    prior = np.array([0.5, -1.0])
    nothing = np.zeros((0, 2))
    assert fit_near_prior(nothing, np.zeros(0), np.zeros(0), prior=prior, ridge=4.0) == pytest.approx(prior)
    random = Random(1)
    table = np.array([[1.0, float(random.random() < 0.5)] for _ in range(400)])
    fitted = fit_near_prior(table, table[:, 1], np.ones(400), prior=prior, ridge=1.0)
    assert logistic(table @ fitted)[table[:, 1] == 1].min() > 0.8


def test_rows_compare_by_cosine():
    vocabulary = Vocabulary()
    vectors = [vocabulary.vector({"a": 1, "b": 1}), vocabulary.vector({"b": 1}), vocabulary.vector({})]
    rows = Rows(vectors, len(vocabulary)).scale(np.ones(2))
    assert rows.dot(rows.centroid(np.array([0.0, 1.0, 0.0]))) == pytest.approx([0.5**0.5, 1.0, 0.0])
    assert rows.take(np.array([1, 1, 1]), rows) == pytest.approx([0.5**0.5, 1.0, 0.0])
    assert Rows([], 2).scale(np.ones(2)).dot(np.ones(2)).tolist() == []
    assert Rows([], 2).take(np.zeros(0, dtype=np.int64), rows).tolist() == []
    assert widen(np.ones(1), 3, 2.0).tolist() == [1.0, 2.0, 2.0]


def test_features_beyond_the_limit_are_ignored(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("evercrawl.core.focus.sparse_rows.MAX_FEATURES", 1)
    vocabulary = Vocabulary()
    assert vocabulary.vector({"a": 1, "b": 3}).features.tolist() == [0]
    assert vocabulary.features() == ["a"]
    assert vocabulary.values({"a": 0.5, "c": 1.0}, 1).tolist() == [0.5]
