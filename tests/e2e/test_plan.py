"""`status`, `plan`, `why` and `simulate` on the collection of a real crawl."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import evercrawl
from evercrawl.model.reason import Reason
from tests.e2e.test_cli import HARBOUR_PAGES, Place
from tests.worlds.demo_web import HOSTS, DemoWeb, serving


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    web = DemoWeb()
    with serving(web) as port:
        place = Place(tmp_path, web, port)
        place.crawl(place.site + "/")
        yield place


def test_the_reported_savings_equal_the_bytes_not_sent(place: Place) -> None:
    place.env["EVERCRAWL_REVISIT__UNCONDITIONAL_SHARE"] = "0"
    before = json.loads(place.call("status", "--json"))
    assert before["savings"] == {"not_modified": 0, "not_modified_bytes": 0, "not_due": before["savings"]["not_due"]}
    assert before["freshness"]["freshness"] > 0.99
    assert before["freshness"]["pages"] == HARBOUR_PAGES
    update = place.crawl("--refresh")
    saved = json.loads(place.call("status", "--json"))["savings"]
    assert saved["not_modified"] == update["not_modified"] > 0
    paths = [path for host, path in place.web.replies if host == HOSTS[0] and path != "/robots.txt"]
    with evercrawl.open(place.folder / "site.evercrawl", settings=place.settings()) as collection:
        reasons = {path: collection.why(place.site + path).reason for path in paths}
    spared = [path for path in paths if reasons[path] is Reason.NOT_MODIFIED]
    sent = sum(len(place.web.replies[HOSTS[0], path].body.encode()) for path in spared)
    assert saved["not_modified_bytes"] == sent
    shown = place.call("status")
    assert "304 Not Modified" in shown
    assert "(estimate)" in shown
    verbose = place.call("status", "-v")
    assert "optimal, no budget, a visit must gain 6 hours of a current copy" in verbose


def test_plan_estimates_freshness_and_sends_nothing(place: Place) -> None:
    asked = json.loads(place.call("status", "--json"))["requests"]
    plan = json.loads(place.call("plan", "--budget", "2/day", "--json"))
    assert plan["schema"] == "evercrawl.plan/1"
    assert {"requests_per_day", "expected_freshness", "pages_due", "threshold_days"} <= set(plan)
    assert plan["requests_per_day"] <= 2.0
    assert 0.5 < plan["expected_freshness"] < 1.0
    assert plan["uncertainty"] > 0.0
    more = json.loads(place.call("plan", "--budget", "10/hour", "--json"))
    assert more["budget_per_day"] == 240.0
    assert more["expected_freshness"] > plan["expected_freshness"]
    assert json.loads(place.call("status", "--json"))["requests"] == asked
    assert "expected" in place.call("plan")


def test_why_shows_the_change_rate_of_a_page(place: Place) -> None:
    found = place.why("/news/3")
    habits = found["forecast"]
    assert habits["rate_text"].startswith("seen once; pages of this site are assumed to change about every ")
    assert habits["probability_current"] > 0.99
    assert habits["threshold_days"] == 0.25
    assert habits["next_visit"] == found["due"]
    place.web.change()
    place.crawl("--refresh")
    shown = place.call("why", place.site + "/news/3")
    assert "1 change seen in 2 visits" in shown
    assert "next visit  not " in shown
    assert place.why("/private/ledger")["forecast"] is None


def test_the_library_offers_the_same_forecast(place: Place) -> None:
    with evercrawl.open(place.folder / "site.evercrawl") as collection:
        assert collection.freshness().pages == HARBOUR_PAGES
        assert collection.plan("1/hour").budget_per_day == 24.0
        assert collection.plan(5.0).requests_per_day <= 5.0
    assert evercrawl.lab.policy("uniform", budget_per_day=3.0).next(0.0) is None


def test_a_history_of_a_minute_cannot_be_replayed(place: Place) -> None:
    assert place.call("simulate", code=2) == ""
