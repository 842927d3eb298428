"""The estimated freshness is the true one within its error."""

from __future__ import annotations

import random
from math import exp, inf

import pytest

from evercrawl.core.revisit.budget_forecast import (
    BudgetForecast,
    ForecastInput,
    ForecastPage,
    estimate_freshness,
    estimate_from_counts,
    forecast_budget,
    interval_of,
)
from evercrawl.core.revisit.rate_estimate import PageEstimate, SiteEstimate, change_rate
from evercrawl.core.revisit.visit_schedule import BudgetLevel, SiteModel, update_site_model

NOW = 100.0
RATES = (0.005, 0.03, 0.15)


def a_page(visited: float | None, *, site: int = 1, changes: int = 0) -> ForecastPage:
    return ForecastPage("https://a.example/x", site, 0, PageEstimate(visited=visited), changes=changes)


def test_fresh_copy_is_current_and_missing_one_is_not() -> None:
    found = estimate_freshness([a_page(NOW), a_page(NOW), a_page(None)], {}, now=NOW).whole
    assert found.freshness == pytest.approx(2 / 3)
    assert found.of_copies == pytest.approx(1.0)
    assert (found.pages, found.missing, found.error) == (3, 1, 0.0)


def test_estimate_of_no_pages_is_empty() -> None:
    assert estimate_freshness([], {}, now=NOW).whole.pages == 0
    redirect = a_page(NOW)._replace(has_content=False)
    assert estimate_freshness([redirect], {}, now=NOW).whole.pages == 0


def test_sites_are_estimated_separately() -> None:
    found = estimate_freshness([a_page(NOW), a_page(NOW - 50, site=2)], {}, now=NOW)
    assert found.sites[1].freshness == 1.0
    assert found.sites[2].freshness < 0.7
    assert found.whole.freshness == pytest.approx((1.0 + found.sites[2].freshness) / 2)


def test_small_samples_and_rare_changes_are_less_certain() -> None:
    pages = [a_page(NOW - age, changes=5) for age in range(1, 60)]
    whole, sampled = (estimate_freshness(pages, {}, now=NOW, share=share).whole for share in (1.0, 0.01))
    assert sampled.freshness == whole.freshness
    calm = [page._replace(changes=0) for page in pages]
    assert estimate_freshness(calm, {}, now=NOW).whole.error > whole.error
    assert 0.0 < whole.error < 0.25


def test_estimate_is_right_on_poisson_pages() -> None:
    draw = random.Random(5)
    model, estimates = SiteModel(), [PageEstimate(visited=0.0) for _ in range(900)]
    for visit in range(1, 20):
        for number, estimate in enumerate(estimates):
            changed = draw.random() > exp(-RATES[number % 3] * 5.0)
            model, estimates[number] = update_site_model(
                model, estimate, hub=number % 5, now=visit * 5.0, changed=changed
            )
    pages = [
        ForecastPage("https://a.example/x", 1, number % 5, estimate, changes=4)
        for number, estimate in enumerate(estimates)
    ]
    current = sum(exp(-RATES[number % 3] * 5.0) for number in range(900))
    found = estimate_freshness(pages, {1: model}, now=NOW).whole
    assert found.freshness == pytest.approx(current / 900, abs=0.03)
    assert abs(found.freshness - current / 900) < 2.5 * found.error


def test_counts_alone_give_an_estimate() -> None:
    site = SiteEstimate()
    still = estimate_from_counts(site, visited=NOW, watched=90.0, visits=10, changes=0)
    lively = estimate_from_counts(site, visited=NOW, watched=90.0, visits=10, changes=9)
    rates = [a / b for a, b in (change_rate(page, site) for page in (still, PageEstimate(), lively))]
    assert rates == sorted(rates)
    assert estimate_from_counts(site, visited=NOW, watched=0.0, visits=1, changes=0) == PageEstimate(visited=NOW)


PLAN_NOW = 200.0
LEVEL = BudgetLevel(threshold=0.25, span=10.0, shortest=1 / 24, longest=60.0)
PAGES = [
    ForecastPage(
        f"https://a.example/{number}", number % 4, 0, PageEstimate(a=number % 7, b=40.0, visited=PLAN_NOW - number % 30)
    )
    for number in range(400)
]


def planned(per_day: float | None, pages: list[ForecastPage] = PAGES, *, share: float = 1.0) -> BudgetForecast:
    return forecast_budget(ForecastInput(pages, {}, PLAN_NOW, share), LEVEL, per_day=per_day)


@pytest.mark.parametrize("per_day", [15.0, 40.0, 200.0])
def test_budget_is_used_up_and_not_exceeded(per_day: float) -> None:
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


def test_without_a_budget_the_level_sets_the_threshold() -> None:
    made = planned(None)
    assert made.threshold == LEVEL.threshold
    assert made.requests > 0.0


def test_tiny_budget_visits_pages_in_turn() -> None:
    made = planned(2.0)
    assert made.threshold is None
    assert made.requests == pytest.approx(2.0)
    assert made.expected.whole.freshness < planned(15.0).expected.whole.freshness


def test_a_sample_is_scaled_to_all_pages() -> None:
    half = planned(40.0, PAGES[::2], share=0.5)
    assert half.requests == pytest.approx(40.0, rel=0.01)
    assert half.expected.whole.freshness == pytest.approx(planned(40.0).expected.whole.freshness, abs=0.03)
    assert half.due == pytest.approx(planned(40.0).due, rel=0.3)


def test_pages_without_a_copy_come_first_and_fresh_ones_not_at_all() -> None:
    new = ForecastPage("https://a.example/new", 1, 0)
    just = ForecastPage("https://a.example/just", 1, 0, PageEstimate(a=20.0, b=1.0, visited=PLAN_NOW))
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


def test_announcements_buy_more_freshness_per_request() -> None:
    announcing = SiteModel(SiteEstimate(recall=0.95, false_rate=0.0001, polled=PLAN_NOW, has_signal=True))
    with_signal = forecast_budget(
        ForecastInput(PAGES, dict.fromkeys(range(4), announcing), PLAN_NOW), LEVEL, per_day=40.0
    )
    assert with_signal.requests <= 40.0
    assert with_signal.expected.whole.freshness > planned(40.0).expected.whole.freshness
