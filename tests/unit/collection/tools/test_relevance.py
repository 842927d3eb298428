"""`tool relevance --examples FILE`, also over the shared small webs."""

from __future__ import annotations

from typing import Any

import pytest

from evercrawl.collection.tools import relevance_tool
from tests.shared import conformance_rows
from tests.unit.core.focus.pages import web

WEBS = ("cornell", "texas", "misc_sample_a")
LEAST_PRECISION = {"cornell": 0.8, "texas": 0.78}


def examples() -> list[dict[str, Any]]:
    pages = web("http://one.test")
    return [{"url": url, "html": html, "on_topic": "/classes/" in url} for url, html in pages.items()]


def test_pages_are_scored():
    tool = relevance_tool(examples())
    for url, html in web("http://two.test").items():
        answer = tool({"url": url, "html": html})
        assert 0 <= answer["score"] <= 1
        assert (answer["score"] > 0.5) is ("/classes/" in url)


def test_good_examples_alone_will_do():
    tool = relevance_tool([row for row in examples() if row["on_topic"]])
    pages = web("http://two.test")
    scores = {url: tool({"url": url, "html": html})["score"] for url, html in pages.items()}
    courses = [value for url, value in scores.items() if "/classes/" in url]
    others = [value for url, value in scores.items() if "/classes/" not in url]
    assert min(courses) > max(others)


def test_a_row_without_a_page_gets_a_score():
    assert 0 <= relevance_tool(examples())({})["score"] <= 1


@pytest.mark.parametrize("name", sorted(LEAST_PRECISION))
def test_unseen_universities(name: str):
    rows = {web_name: conformance_rows(f"focused/webkb_{web_name}.jsonl.gz") for web_name in WEBS}
    known = [
        {"url": row["url"], "html": row["html"], "on_topic": row["on_topic_course"]}
        for other in WEBS
        if other != name
        for row in rows[other]
    ]
    tool = relevance_tool(known)
    scored = [(tool(row)["score"], row["on_topic_course"]) for row in rows[name]]
    assert average_precision(scored) >= LEAST_PRECISION[name]


def average_precision(scored: list[tuple[float, bool]]) -> float:
    hits, total = 0, 0.0
    for place, (_, on_topic) in enumerate(sorted(scored, key=lambda pair: -pair[0]), start=1):
        if on_topic:
            hits += 1
            total += hits / place
    return total / hits
