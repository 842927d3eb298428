"""Learning from visits, announcements and bulk changes."""

from __future__ import annotations

from math import inf

import pytest

from evercrawl.core.revisit.change_announcements import after_announcement, after_poll, false_share
from evercrawl.core.revisit.rate_estimate import (
    BulkChange,
    PageEstimate,
    SiteEstimate,
    change_rate,
    update_prior,
    with_change_rate,
)
from evercrawl.core.revisit.visit_update import (
    add_visit,
    after_visit,
    bulk_change_share,
    escape_chances,
    new_page_estimate,
)
from evercrawl.core.revisit.visit_value import adjust_threshold, due_at, probability_current, value_now

NO_CHANGE = BulkChange()


def _mean(page: PageEstimate, site: SiteEstimate) -> float:
    a, b = change_rate(page, site)
    return a / b


def _signalling() -> SiteEstimate:
    return SiteEstimate(has_signal=True, polled=10.0, recall=0.8, false_rate=0.001)


def test_unchanged_visit_lowers_the_rate_and_changed_one_raises_it() -> None:
    site = SiteEstimate()
    page = new_page_estimate(site, now=0.0, has_copy=True)
    slower = after_visit(page, site, NO_CHANGE, now=10.0, changed=False)
    faster = after_visit(page, site, NO_CHANGE, now=10.0, changed=True)
    assert _mean(slower.page, slower.site) < _mean(page, site) < _mean(faster.page, faster.site)
    assert change_rate(slower.page, slower.site) == pytest.approx((site.a, site.b + 10.0))


def test_first_visit_teaches_nothing() -> None:
    site = SiteEstimate()
    page = new_page_estimate(site, now=0.0, has_copy=False)
    assert value_now(page, site, now=1.0, span=10.0) == inf
    assert due_at(page, site, threshold=1.0, span=10.0, longest=100.0) == -inf
    update = after_visit(page, site, NO_CHANGE, now=3.0, changed=False)
    assert update.page.visited == 3.0
    assert change_rate(update.page, update.site) == change_rate(page, site)


def test_due_time_is_when_the_value_reaches_the_threshold() -> None:
    site = SiteEstimate()
    page = new_page_estimate(site, now=5.0, has_copy=True)
    due = due_at(page, site, threshold=0.5, span=10.0, longest=1000.0)
    assert value_now(page, site, now=due, span=10.0) == pytest.approx(0.5, rel=1e-4)
    assert due_at(page, site, threshold=1e9, span=10.0, longest=100.0) == 105.0


def test_weight_makes_a_page_due_sooner() -> None:
    site = SiteEstimate()
    light, heavy = (new_page_estimate(site, now=0.0, has_copy=True, weight=weight) for weight in (1.0, 4.0))
    times = [due_at(page, site, threshold=0.5, span=10.0, longest=1000.0) for page in (light, heavy)]
    assert times[1] < times[0]


def test_a_better_prior_reaches_old_pages_without_writing_them() -> None:
    site = SiteEstimate()
    pages = [new_page_estimate(site, now=0.0, has_copy=True) for _ in range(50)]
    for n in range(50):
        for visit in range(1, 9):
            pages[n] = after_visit(pages[n], site, NO_CHANGE, now=visit * 10.0, changed=False).page
    idle = new_page_estimate(site, now=0.0, has_copy=True)
    better = update_prior(site, pages)
    assert _mean(idle, better) < 0.5 * _mean(idle, site)


def test_bulk_change_rises_with_changes_and_decays() -> None:
    hub = NO_CHANGE
    for _ in range(6):
        hub = add_visit(hub, now=1.0, changed=True, expected=0.02)
    assert bulk_change_share(hub, now=1.0) > 0.6
    assert escape_chances(SiteEstimate(), hub, now=1.0).both < 0.4
    for _ in range(40):
        hub = add_visit(hub, now=1.1, changed=False, expected=0.02)
    assert bulk_change_share(hub, now=1.1) < 0.12
    assert bulk_change_share(hub, now=60.0) < 0.01


def test_bulk_change_explains_a_change_away() -> None:
    site = SiteEstimate()
    page = new_page_estimate(site, now=0.0, has_copy=True)
    hub = NO_CHANGE
    for _ in range(20):
        hub = add_visit(hub, now=5.0, changed=True, expected=0.02)
    alone = after_visit(page, site, NO_CHANGE, now=5.0, changed=True)
    among = after_visit(page, site, hub, now=5.0, changed=True)
    assert _mean(page, site) < _mean(among.page, among.site) < _mean(alone.page, alone.site)


def test_misleading_bulk_changes_lose_trust() -> None:
    site, page = SiteEstimate(), new_page_estimate(SiteEstimate(), now=0.0, has_copy=True)
    hub = NO_CHANGE
    for _ in range(20):
        hub = add_visit(hub, now=5.0, changed=True, expected=0.02)
    for _ in range(200):
        site = after_visit(page, site, hub, now=5.0, changed=False).site
    assert site.hub_trust < 0.2


def test_an_announcement_makes_a_page_worth_a_visit_and_a_repetition_does_not_count() -> None:
    site = _signalling()
    page = new_page_estimate(site, now=10.0, has_copy=True)
    once, site = after_announcement(page, site, announced_at=11.0)
    twice, site = after_announcement(once, site, announced_at=11.0)
    assert once == twice
    assert once.announcements == 1
    site = after_poll(site, now=12.0)
    assert probability_current(once, site, now=12.0) < 0.2 < probability_current(page, site, now=12.0)
    assert value_now(once, site, now=12.0, span=20.0) > value_now(page, site, now=12.0, span=20.0)


def test_false_announcements_are_taken_back() -> None:
    site = _signalling()
    page = new_page_estimate(site, now=10.0, has_copy=True)
    announced, site = after_announcement(page, site, announced_at=11.0)
    update = after_visit(announced, after_poll(site, now=12.0), NO_CHANGE, now=12.0, changed=False)
    assert update.page.announcements == update.page.announced_evidence == 0.0
    assert _mean(update.page, update.site) < _mean(announced, site)
    assert update.site.false_rate > site.false_rate


def test_true_announcements_do_not_raise_the_false_rate() -> None:
    site = _signalling()._replace(recall=0.5, false_rate=0.01)
    for number in range(40):
        page = new_page_estimate(site, now=10.0, has_copy=True)
        for date in range(1 + number % 4):
            page, site = after_announcement(page, site, announced_at=11.0 + 0.1 * date)
        site = after_visit(page, site._replace(polled=12.0), NO_CHANGE, now=12.5, changed=True).site
    assert false_share(site.mean_rate, site) < 0.1


def test_many_announcements_of_one_page_teach_nothing() -> None:
    """A page with ten announcements has changed whatever share is false, so nothing is learned."""
    distrusting = _signalling()._replace(false_odds=20.0, false_rate=0.3)
    site = distrusting
    for _ in range(30):
        page = new_page_estimate(site, now=10.0, has_copy=True)
        for date in range(10):
            page, site = after_announcement(page, site, announced_at=11.0 + 0.1 * date)
        site = after_visit(page, site._replace(polled=12.0), NO_CHANGE, now=12.5, changed=True).site
    assert site.false_odds < distrusting.false_odds


def test_single_announcements_teach_the_share_that_is_false() -> None:
    site = _signalling()._replace(a=3.0, b=100.0, mean_rate=0.03)
    for number in range(400):
        page = new_page_estimate(site, now=10.0, has_copy=True)
        page, site = after_announcement(page, site, announced_at=11.0)
        site = after_visit(page, site._replace(polled=12.0), NO_CHANGE, now=12.0, changed=number % 5 >= 2).site
        site = site._replace(a=3.0, b=100.0, site_change=NO_CHANGE, exposure=0.0)
    assert false_share(site.mean_rate, site) == pytest.approx(0.4, abs=0.12)


def test_a_page_found_long_after_the_last_poll_starts_with_the_prior() -> None:
    site = _signalling()._replace(a=0.15, b=3.0, exposure=50.0)
    page = new_page_estimate(site, now=site.polled + 30.0, has_copy=True)
    assert change_rate(page, site) == (site.a, site.b)
    heard = after_poll(site, now=site.polled + 40.0)
    assert change_rate(page, heard) == pytest.approx((site.a, site.b + site.recall * 10.0))


def test_recall_falls_by_silent_changes_but_not_by_those_announced_late() -> None:
    start = _signalling()
    page = new_page_estimate(start, now=10.0, has_copy=True)
    update = after_visit(page, start, NO_CHANGE, now=14.0, changed=True)
    silent = after_poll(update.site, now=15.0)
    _, owned = after_announcement(update.page, update.site, announced_at=13.0)
    assert silent.recall < after_poll(owned, now=15.0).recall


def test_announcements_are_ignored_before_the_first_one() -> None:
    site = after_poll(SiteEstimate(), now=5.0)
    page = new_page_estimate(site, now=5.0, has_copy=True)
    assert value_now(page, site, now=9.0, span=20.0) == value_now(page, SiteEstimate(), now=9.0, span=20.0)


def test_announcements_of_slow_pages_are_more_often_false() -> None:
    site = _signalling()
    assert false_share(0.0001, site) > 0.9 > 0.1 > false_share(1.0, site)


def test_a_doubtful_announcement_of_a_slow_page_is_worth_less_than_a_credible_one_of_a_fast_page() -> None:
    """Without an end to the gain of a visit, the slow page would seem worth about as much."""
    site = _signalling()._replace(recall=0.75, false_rate=0.0028, mean_rate=0.004, polled=12.0)
    slow, fast = (
        with_change_rate(new_page_estimate(site, now=10.0, has_copy=True), site, a=5.0, b=5.0 / rate)
        for rate in (0.0003, 0.02)
    )
    announced = [page._replace(announcements=1.0) for page in (slow, fast)]
    doubtful, credible = (value_now(page, site, now=12.0, span=20.0) for page in announced)
    assert credible > 4.0 * doubtful


@pytest.mark.parametrize("false_rate", [0.0005, 0.05])
def test_with_signals_the_due_time_meets_the_threshold_as_well(false_rate: float) -> None:
    site = _signalling()._replace(false_rate=false_rate)
    page = new_page_estimate(site, now=10.0, has_copy=True)
    goal = 0.5 * value_now(page, site, now=200.0, span=20.0)
    due = due_at(page, site, threshold=goal, span=20.0, longest=1e6)
    heard = site._replace(polled=due)
    assert value_now(page, heard, now=due, span=20.0) == pytest.approx(goal, rel=0.05)


def test_the_threshold_follows_the_lower_fifth_of_the_values_taken() -> None:
    threshold = 50.0
    for n in range(4000):
        threshold = adjust_threshold(threshold, value=float(n % 10 + 1))
    assert 1.5 < threshold < 3.5
