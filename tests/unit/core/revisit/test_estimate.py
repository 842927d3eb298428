"""The estimated freshness is the true one, as far as it says."""

from __future__ import annotations

import random
from math import exp

import pytest

from evercrawl.core.revisit.budget_forecast import ForecastPage, estimate_freshness, estimate_from_counts
from evercrawl.core.revisit.rate_estimate import PageEstimate, SiteEstimate, change_rate
from evercrawl.core.revisit.site_model import SiteModel, update_site_model

NOW = 100.0
RATES = (0.005, 0.03, 0.15)


def a_page(visited: float | None, *, site: int = 1, changes: int = 0) -> ForecastPage:
    return ForecastPage("https://a.example/x", site, 0, PageEstimate(visited=visited), changes=changes)


def test_a_copy_of_this_moment_is_current_and_a_missing_one_is_not() -> None:
    found = estimate_freshness([a_page(NOW), a_page(NOW), a_page(None)], {}, now=NOW).whole
    assert found.freshness == pytest.approx(2 / 3)
    assert found.of_copies == pytest.approx(1.0)
    assert (found.pages, found.missing, found.error) == (3, 1, 0.0)


def test_nothing_is_estimated_from_nothing() -> None:
    assert estimate_freshness([], {}, now=NOW).whole.pages == 0
    redirect = a_page(NOW)._replace(has_content=False)
    assert estimate_freshness([redirect], {}, now=NOW).whole.pages == 0


def test_sites_are_told_apart() -> None:
    found = estimate_freshness([a_page(NOW), a_page(NOW - 50, site=2)], {}, now=NOW)
    assert found.sites[1].freshness == 1.0
    assert found.sites[2].freshness < 0.7
    assert found.whole.freshness == pytest.approx((1.0 + found.sites[2].freshness) / 2)


def test_what_was_not_looked_at_and_what_was_seldom_seen_to_change_is_less_certain() -> None:
    pages = [a_page(NOW - age, changes=5) for age in range(1, 60)]
    whole, sampled = (estimate_freshness(pages, {}, now=NOW, share=share).whole for share in (1.0, 0.01))
    assert sampled.freshness == whole.freshness
    calm = [page._replace(changes=0) for page in pages]
    assert estimate_freshness(calm, {}, now=NOW).whole.error > whole.error
    assert 0.0 < whole.error < 0.25


def test_on_poisson_pages_the_estimate_holds() -> None:
    draw = random.Random(5)
    outlook, beliefs = SiteModel(), [PageEstimate(visited=0.0) for _ in range(900)]
    for visit in range(1, 20):
        for number, belief in enumerate(beliefs):
            changed = draw.random() > exp(-RATES[number % 3] * 5.0)
            outlook, beliefs[number] = update_site_model(
                outlook, belief, hub=number % 5, now=visit * 5.0, changed=changed
            )
    pages = [
        ForecastPage("https://a.example/x", 1, number % 5, belief, changes=4) for number, belief in enumerate(beliefs)
    ]
    current = sum(exp(-RATES[number % 3] * 5.0) for number in range(900))
    found = estimate_freshness(pages, {1: outlook}, now=NOW).whole
    assert found.freshness == pytest.approx(current / 900, abs=0.03)
    assert abs(found.freshness - current / 900) < 2.5 * found.error


def test_counts_alone_say_how_a_page_changes() -> None:
    site = SiteEstimate()
    still = estimate_from_counts(site, visited=NOW, watched=90.0, visits=10, changes=0)
    lively = estimate_from_counts(site, visited=NOW, watched=90.0, visits=10, changes=9)
    rates = [a / b for a, b in (change_rate(page, site) for page in (still, PageEstimate(), lively))]
    assert rates == sorted(rates)
    assert estimate_from_counts(site, visited=NOW, watched=0.0, visits=1, changes=0) == PageEstimate(visited=NOW)
