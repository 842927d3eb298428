"""A plan spends its budget, gains with it, and knows what it cannot pay for."""

from __future__ import annotations

from math import inf

import pytest

from evercrawl.core.revisit.budget_forecast import (
    BudgetForecast,
    ForecastInput,
    ForecastPage,
    forecast_budget,
    interval_of,
)
from evercrawl.core.revisit.rate_estimate import PageEstimate, SiteEstimate
from evercrawl.core.revisit.site_model import SiteModel
from evercrawl.core.revisit.visit_schedule import BudgetLevel

NOW = 200.0
LEVEL = BudgetLevel(threshold=0.25, span=10.0, shortest=1 / 24, longest=60.0)
PAGES = [
    ForecastPage(
        f"https://a.example/{number}", number % 4, 0, PageEstimate(a=number % 7, b=40.0, visited=NOW - number % 30)
    )
    for number in range(400)
]


def planned(per_day: float | None, pages: list[ForecastPage] = PAGES, *, share: float = 1.0) -> BudgetForecast:
    return forecast_budget(ForecastInput(pages, {}, NOW, share), LEVEL, per_day=per_day)


@pytest.mark.parametrize("per_day", [15.0, 40.0, 200.0])
def test_a_budget_is_spent_and_no_more(per_day: float) -> None:
    made = planned(per_day)
    assert made.requests == pytest.approx(per_day, rel=0.01)
    assert made.requests <= per_day
    assert sum(made.by_site.values()) == pytest.approx(made.requests)


def test_more_requests_give_more_freshness_at_a_lower_threshold() -> None:
    made = [planned(per_day) for per_day in (15.0, 40.0, 200.0)]
    freshness = [each.expected.whole.freshness for each in made]
    thresholds = [each.threshold or inf for each in made]
    assert freshness == sorted(freshness)
    assert thresholds == sorted(thresholds, reverse=True)


def test_without_a_budget_the_threshold_is_the_levels() -> None:
    made = planned(None)
    assert made.threshold == LEVEL.threshold
    assert made.requests > 0.0


def test_a_budget_below_the_longest_interval_lets_pages_come_in_turn() -> None:
    made = planned(2.0)
    assert made.threshold is None
    assert made.requests == pytest.approx(2.0)
    assert made.expected.whole.freshness < planned(15.0).expected.whole.freshness


def test_a_sample_is_scaled_to_all_pages() -> None:
    half = planned(40.0, PAGES[::2], share=0.5)
    assert half.requests == pytest.approx(40.0, rel=0.01)
    assert half.expected.whole.freshness == pytest.approx(planned(40.0).expected.whole.freshness, abs=0.03)
    assert half.due == pytest.approx(planned(40.0).due, rel=0.3)


def test_pages_without_a_copy_come_first_and_pages_of_this_hour_not_at_all() -> None:
    new = ForecastPage("https://a.example/new", 1, 0)
    just = ForecastPage("https://a.example/just", 1, 0, PageEstimate(a=20.0, b=1.0, visited=NOW))
    made = planned(40.0, [*PAGES, new, just])
    assert made.first[0] == (inf, new.url)
    assert just.url not in {pick.url for pick in made.first}
    assert all(pick.value >= 0.75 * (made.threshold or 0.0) for pick in made.first)


def test_a_rule_keeps_its_own_interval() -> None:
    page = PAGES[0]._replace(interval=7.0)
    assert interval_of(page, SiteModel(), LEVEL) == 7.0
    assert interval_of(page._replace(interval=700.0), SiteModel(), LEVEL) == LEVEL.longest
    made = planned(None, [each._replace(interval=7.0) for each in PAGES])
    assert made.requests == pytest.approx(400 / 7 + 4 / (1 + 28 / 400), rel=1e-6)


def test_announcements_keep_pages_fresher_for_their_requests() -> None:
    told = SiteModel(SiteEstimate(recall=0.95, false_rate=0.0001, polled=NOW, has_signal=True))
    with_signal = forecast_budget(ForecastInput(PAGES, dict.fromkeys(range(4), told), NOW), LEVEL, per_day=40.0)
    assert with_signal.requests <= 40.0
    assert with_signal.expected.whole.freshness > planned(40.0).expected.whole.freshness
