"""Crawls with a clock that was set back or forward in between: nothing is lost, and the schedule recovers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.moved_clock import collection_of, crawl_on_day, served_site

RIGHT, BACK, AHEAD = 0.0, -1.0, 365.0  # Days from today.


@pytest.mark.parametrize("policy", ["optimal", "paper-pdfc"])
def test_a_clock_that_is_set_back_or_forward(policy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served_site() as site:
        site.put("/", "/a", "/b")
        site.put("/b")
        site.put("/a")
        collection = collection_of(site, tmp_path / "a.evercrawl", policy=policy)
        url, edition = f"{site.base}/a", 1

        def crawl(day: float) -> int:
            """Crawl after a change of one page; return how many requests went to pages."""
            nonlocal edition
            edition += 1
            site.put("/a", edition=edition)
            site.requested()
            crawl_on_day(collection, day, monkeypatch)
            assert collection.why(url).due is not None
            return sum(path in ("/", "/a", "/b") for path in site.requested())

        assert crawl(RIGHT) == 3
        assert crawl(BACK) == 0, "a clock that was set back makes no page due"
        assert crawl(AHEAD) == 3, "each page once, at the site's pace"
        assert crawl(AHEAD + 0.1) == 0
        assert crawl(RIGHT) == 0
        due = collection.why(url).due
        assert due is not None
        wait = (due - collection.history(url).versions[0].seen_at).total_seconds() / 86_400
        assert 0 < wait < 60, "the year ahead is not waited for"
        assert crawl(wait + 0.1) >= 1
        versions = collection.history(url).versions
        assert [version.version for version in versions] == [1, 2, 3]
        assert collection.verify().damaged == 0
        assert collection.verify().versions == 5
