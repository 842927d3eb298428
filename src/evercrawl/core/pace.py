"""How long must a site be left in peace after an answer?

Mercator's rule: a multiple of the time that the last answer took, never less than the mode's shortest gap,
a Crawl-delay
or `--gap`. A slow or refusing site slows us at once; only a run of good answers makes us faster again.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import NamedTuple

from evercrawl.core.slower import gaps_of
from evercrawl.model.settings import PaceSettings

PAPER_GAP = timedelta(seconds=10)
"""The lower bound of the source document (A7)."""
ANONYMOUS_GAP = timedelta(seconds=1)
"""Without a contact nobody is asked more often than this."""
MOST_STRAIN = 64.0
RELIEF = 0.9
"""What is left of the strain, and of a gap that is longer than needed, after one good answer."""


class Pace(NamedTuple):
    """The rules of one run, with everything resolved."""

    floor: timedelta
    longest: timedelta
    factor: float
    concurrency: int
    delay_cap: timedelta
    slower: Mapping[str, timedelta] = MappingProxyType({})
    """Sites that the operator slows down -> the least gap there."""


def at_site(pace: Pace, site: str) -> Pace:
    """The pace at one site: slower where the operator says so, never faster."""
    gap = pace.slower.get(site)
    if gap is None:
        return pace
    floor = max(pace.floor, gap)
    return pace._replace(floor=floor, longest=max(pace.longest, floor), concurrency=1)


def pace_of(settings: PaceSettings, *, delay_cap: timedelta, anonymous: bool, per_day: float | None = None) -> Pace:
    """The pace that the settings ask for; `anonymous`: no contact is set and the hosts may be other
    people's; `per_day`: most requests to one site in a day.
    """
    floor = {"gentle": settings.shortest, "paper": PAPER_GAP, "own": timedelta(0)}[settings.mode]
    if settings.gap is not None:
        floor = settings.gap if settings.mode != "paper" else max(settings.gap, PAPER_GAP)
    own = settings.mode == "own"
    if anonymous:
        floor = max(floor, ANONYMOUS_GAP)
    if per_day is not None:
        floor = max(floor, timedelta(days=1) / per_day)
    concurrency = settings.own_concurrency if own and floor == timedelta(0) else 1
    factor = 0.0 if own else settings.factor
    slower = gaps_of(settings.slower)
    return Pace(floor, max(settings.longest, floor), factor, concurrency, delay_cap, slower)


def gap_after(
    pace: Pace, *, took: timedelta, crawl_delay: float | None, strain: float, gap_before: timedelta
) -> timedelta:
    """The time that must pass after an answer before the site is asked again."""
    demanded = pace.floor
    if crawl_delay is not None:
        demanded = max(demanded, min(timedelta(seconds=crawl_delay), pace.delay_cap))
    longest = max(pace.longest, demanded)
    wanted = min(max(demanded, took * pace.factor) * strain, longest)
    # A gap from before may be longer than any can be now: the operator took a rule back.
    return max(wanted, demanded, min(gap_before, longest) * RELIEF)


def strain_after(strain: float, *, failed: bool) -> float:
    """Twice as careful after each failure that the site is to blame for; back to 1 over many good answers."""
    if failed:
        return min(strain * 2, MOST_STRAIN)
    return max(1.0, strain * RELIEF)


def site_concurrency(pace: Pace, *, crawl_delay: float | None) -> int:
    """Requests at a time that a site may get."""
    return 1 if crawl_delay else pace.concurrency
