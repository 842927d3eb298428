from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime

from evercrawl.collection.search import merge_hits, query_sources
from evercrawl.errors import ConfigError
from evercrawl.model.search import Hit, Span


def hit(url: str, rank: int, day: int = 1) -> Hit:
    return Hit(rank, url, url.upper(), (Span("text", False),), 1.0, day, datetime(2026, 1, day, tzinfo=UTC))


def test_a_page_of_two_sources_ranks_first_with_its_newest_version():
    hits = merge_hits([("one", [hit("a", 1), hit("b", 2, day=3)]), ("two", [hit("c", 1), hit("b", 2, day=5)])])
    assert [found.url for found in hits] == ["b", "a", "c"]
    assert (hits[0].source, hits[0].version, hits[0].rank) == ("one, two", 5, 1)


def test_failing_and_hanging_sources_are_reported_without_waiting():
    release = threading.Event()

    def hangs() -> Sequence[Hit]:
        release.wait(30)
        return []

    def fails() -> Sequence[Hit]:
        raise ConfigError("it is not there")

    def breaks() -> Sequence[Hit]:
        raise ZeroDivisionError("oops")

    began = time.monotonic()
    sources = [("good", lambda: [hit("a", 1)]), ("slow", hangs), ("bad", fails), ("broken", breaks)]
    found = query_sources(sources, limit=10, timeout_s=0.3)
    release.set()
    assert time.monotonic() - began < 10
    assert [one.url for one in found.hits] == ["a"]
    assert [(trouble.source, trouble.problem) for trouble in found.source_errors] == [
        ("slow", "no answer within 0.3 s"),
        ("bad", "it is not there"),
        ("broken", "ZeroDivisionError: oops"),
    ]
