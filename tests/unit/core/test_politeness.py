"""The gap after an answer."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from evercrawl.core.politeness import (
    ANONYMOUS_DELAY,
    MAX_BACKOFF,
    PAPER_DELAY,
    Pace,
    backoff_after,
    delay_after,
    pace_from_settings,
    parse_hours,
    quiet_until,
    site_concurrency,
)
from evercrawl.model.settings import PaceSettings

SECOND = timedelta(seconds=1)
CAP = timedelta(seconds=60)
GENTLE = pace_from_settings(PaceSettings(), delay_cap=CAP, anonymous=False)


def gap(
    pace: Pace = GENTLE, *, took: float = 0.01, delay: float | None = None, strain: float = 1.0, before: float = 0.0
) -> float:
    span = delay_after(
        pace, took=timedelta(seconds=took), crawl_delay=delay, strain=strain, gap_before=timedelta(seconds=before)
    )
    return span.total_seconds()


def test_a_quick_site_gets_the_shortest_gap():
    assert gap() == 1.0


def test_a_slow_answer_is_followed_by_ten_times_its_time():
    assert gap(took=0.7) == pytest.approx(7.0)


def test_no_answer_makes_the_gap_longer_than_the_longest():
    assert gap(took=30) == 60.0


def test_a_crawl_delay_wins_when_it_is_larger_and_is_capped():
    assert gap(delay=5) == 5.0
    assert gap(delay=0.2) == 1.0
    assert gap(delay=100_000_000) == 60.0


def test_strain_multiplies_the_gap():
    assert gap(strain=8) == 8.0
    assert gap(strain=1000) == 60.0


def test_a_gap_shrinks_slowly():
    assert gap(before=10.0) == pytest.approx(9.0)
    assert gap(before=1.05) == 1.0


def test_paper_pace_is_never_under_ten_seconds():
    paper = pace_from_settings(PaceSettings(mode="paper", delay=SECOND), delay_cap=CAP, anonymous=False)
    assert gap(paper) == PAPER_DELAY.total_seconds()


def test_own_pace_has_no_gap_and_several_requests_at_a_time():
    own = pace_from_settings(PaceSettings(mode="unlimited"), delay_cap=CAP, anonymous=False)
    assert gap(own, took=3) == 0.0
    assert site_concurrency(own, crawl_delay=None) == PaceSettings().unlimited_concurrency
    assert site_concurrency(own, crawl_delay=2.0) == 1
    assert gap(own, delay=2.0) == 2.0


def test_without_a_contact_nobody_is_asked_more_than_once_a_second():
    own = pace_from_settings(PaceSettings(mode="unlimited"), delay_cap=CAP, anonymous=True)
    assert own.floor == ANONYMOUS_DELAY
    assert own.concurrency == 1


def test_an_explicit_gap_is_the_floor_in_every_mode():
    for mode in ("gentle", "unlimited"):
        pace = pace_from_settings(PaceSettings(mode=mode, delay=timedelta(seconds=3)), delay_cap=CAP, anonymous=False)
        assert gap(pace) == 3.0


def test_strain_doubles_at_once_and_eases_slowly():
    assert backoff_after(1.0, failed=True) == 2.0
    assert backoff_after(MAX_BACKOFF, failed=True) == MAX_BACKOFF
    assert backoff_after(2.0, failed=False) == pytest.approx(1.8)
    assert backoff_after(1.0, failed=False) == 1.0


def test_a_budget_of_a_site_is_a_gap():
    pace = pace_from_settings(PaceSettings(), delay_cap=timedelta(minutes=5), anonymous=False, per_day=144.0)
    assert pace.floor == timedelta(minutes=10)
    assert pace.concurrency == 1
    own = pace_from_settings(
        PaceSettings(mode="unlimited"), delay_cap=timedelta(minutes=5), anonymous=False, per_day=144.0
    )
    assert (own.floor, own.concurrency) == (timedelta(minutes=10), 1)


def at(hour: int, minute: int = 0, day: int = 10) -> datetime:
    return datetime(2026, 5, day, hour, minute, tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "until"),
    [(at(21, 59), None), (at(22), at(6, day=11)), (at(3), at(6)), (at(6), None), (at(12, 30), at(13)), (at(13), None)],
)
def test_when_the_rest_ends(now: datetime, until: datetime | None):
    hours = [parse_hours("22:00-06:00"), parse_hours(" 12:30 - 13:00 ")]
    assert quiet_until(hours, now=now) == until


@pytest.mark.parametrize("text", ["", "22-6", "25:00-06:00", "22:00", "22:60-06:00", "always"])
def test_what_names_no_hours(text: str):
    with pytest.raises(ValueError, match="hours like"):
        parse_hours(text)
