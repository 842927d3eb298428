"""What would a budget buy? The threshold at which the visits that are worth it cost just as much.

Each page is visited when its value reaches the threshold, so the threshold gives every page its interval, and
the intervals give the requests a day and the freshness to expect. Nothing is sent. Times are days.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from heapq import nlargest
from math import exp, inf, log
from typing import NamedTuple

from evercrawl.core.revisit.rate_estimate import PageEstimate, change_rate
from evercrawl.core.revisit.estimate import NOTHING_KNOWN, Estimates, Sums, estimates_of, prior_share
from evercrawl.core.revisit.rate_estimate import survival, time_current
from evercrawl.core.revisit.outlook import Outlook
from evercrawl.core.revisit.schedule import Level
from evercrawl.core.revisit.signal import is_trusted, poll_gap
from evercrawl.core.revisit.tended import Tended
from evercrawl.core.revisit.threshold import MARGIN
from evercrawl.core.revisit.worth import due_at, value_now

LEAST_THRESHOLD, MOST_THRESHOLD = 1e-6, 1e4
"""Days of a current copy between which the threshold is looked for."""
CLOSE = 0.002
"""The threshold is found to this share of itself."""
SHOWN_FIRST = 10
ROBOTS_DAYS = 1.0
"""robots.txt of a site that is visited is asked for again after so long."""
SOON = 1e-6


class Ground(NamedTuple):
    """What a plan rests on."""

    pages: Sequence[Tended]
    outlooks: Mapping[Hashable, Outlook]
    now: float
    share: float = 1.0
    """The pages are this share of all."""

    def outlook(self, page: Tended) -> Outlook:
        return self.outlooks.get(page.site, NOTHING_KNOWN)


class Pick(NamedTuple):
    """A page that would be fetched now; its value is inf where there is no copy yet."""

    value: float
    url: str


class Forecast(NamedTuple):
    """What can be expected."""

    threshold: float | None
    """None: the budget does not even pay for the longest interval, so that pages come in turn."""
    requests: float
    """A day, with robots.txt and the reading of sitemaps."""
    expected: Estimates
    due: float
    """Pages that a visit now is worth it for."""
    first: tuple[Pick, ...]
    by_site: Mapping[Hashable, float]
    """Requests a day."""


def forecast(ground: Ground, level: Level, *, per_day: float | None) -> Forecast:
    """What a budget buys; without one (None), what the level's own threshold asks for."""
    if per_day is not None:
        level = level._replace(threshold=_threshold_for(ground, level, per_day))
    intervals = [interval_of(page, ground.outlook(page), level) for page in ground.pages]
    by_site = _spent(ground, intervals, threshold=level.threshold)
    requests = sum(by_site.values())
    stretch = 1.0 if per_day is None else max(1.0, requests / per_day)
    intervals = [interval * stretch for interval in intervals]
    due, first = _due_now(ground, level)
    return Forecast(
        level.threshold if stretch == 1.0 else None,
        requests / stretch,
        _expected(ground, intervals),
        due,
        first,
        {site: spent / stretch for site, spent in by_site.items()},
    )


def _threshold_for(ground: Ground, level: Level, per_day: float) -> float:
    """By bisection: the lower the threshold, the more visits. The least one where the budget is ample."""
    low, high = log(LEAST_THRESHOLD), log(MOST_THRESHOLD)
    while high - low > CLOSE:
        middle = 0.5 * (low + high)
        tried = level._replace(threshold=exp(middle))
        intervals = [interval_of(page, ground.outlook(page), tried) for page in ground.pages]
        if sum(_spent(ground, intervals, threshold=tried.threshold).values()) > per_day:
            low = middle
        else:
            high = middle
    return exp(high)


def interval_of(page: Tended, outlook: Outlook, level: Level) -> float:
    """Days between two visits once the page is known: no announcement waits, and nothing shakes the site."""
    if page.interval > 0.0:
        return min(max(page.interval, level.shortest), level.longest)
    wait = due_at(
        _settled(page.belief),
        outlook.belief,
        threshold=MARGIN * level.threshold,
        span=level.span,
        longest=level.longest,
    )
    return max(wait, level.shortest)


def _settled(belief: PageEstimate) -> PageEstimate:
    return belief._replace(visited=0.0, notices=0.0, credit=0.0, a=belief.a - belief.credit)


def _spent(ground: Ground, intervals: Sequence[float], *, threshold: float) -> dict[Hashable, float]:
    """Requests a day by site, scaled from the sample to all pages."""
    visits: dict[Hashable, float] = {}
    sizes: dict[Hashable, int] = {}
    for page, interval in zip(ground.pages, intervals, strict=True):
        told = _told(page, ground.outlook(page)) if not page.interval else 0.0
        visits[page.site] = visits.get(page.site, 0.0) + 1.0 / interval + told
        sizes[page.site] = sizes.get(page.site, 0) + 1
    return {
        site: _with_errands(
            made / ground.share,
            ground.outlooks.get(site, NOTHING_KNOWN),
            pages=round(sizes[site] / ground.share),
            threshold=threshold,
        )
        for site, made in visits.items()
    }


def _told(page: Tended, outlook: Outlook) -> float:
    """Announcements of a page a day, each of which is followed by a visit."""
    site = outlook.belief
    if not is_trusted(site):
        return 0.0
    a, b = change_rate(page.belief, site)
    return site.recall * a / b + site.false_rate


def _with_errands(visits: float, outlook: Outlook, *, pages: int, threshold: float) -> float:
    """A site's visits a day, and what has to be asked beside: robots.txt, and the sitemaps now and then."""
    robots = 1.0 / (ROBOTS_DAYS + 1.0 / visits)
    site = outlook.belief
    if not is_trusted(site):
        return visits + robots
    gap = poll_gap(site, waiting=0, silent_polls=0, pages=pages, per_day=visits, threshold=threshold)
    return visits + robots + visits / gap


def _expected(ground: Ground, intervals: Sequence[float]) -> Estimates:
    """Freshness once every page has been visited: the mean over each interval, missing pages among them."""
    sums: dict[Hashable, Sums] = {}
    for page, interval in zip(ground.pages, intervals, strict=True):
        if not page.counts:
            continue
        outlook = ground.outlook(page)
        a, b = change_rate(page.belief, outlook.belief)
        unseen = interval * (1.0 - outlook.belief.recall) if is_trusted(outlook.belief) else interval
        mean = time_current(a, b, unseen) / unseen
        slope = mean - survival(a, b, unseen)
        before = sums.get(page.site, Sums())
        sums[page.site] = before.plus(mean, slope=slope, prior=prior_share(a, outlook), changes=page.changes)
    return estimates_of(sums, share=ground.share)


def _due_now(ground: Ground, level: Level) -> tuple[float, tuple[Pick, ...]]:
    """Number of pages that are worth a request now, and those that are worth most, new ones before all."""
    valued = [(_value(page, ground, level), not page.has_copy, page.url) for page in ground.pages]
    worthy = [each for each in valued if each[0] >= MARGIN * level.threshold]
    first = nlargest(SHOWN_FIRST, worthy, key=lambda each: each[:2])
    return len(worthy) / ground.share, tuple(Pick(value, url) for value, _, url in first)


def _value(page: Tended, ground: Ground, level: Level) -> float:
    """What a visit now would bring; inf: it has to be made."""
    visited, outlook = page.belief.visited, ground.outlook(page)
    if visited is None or ground.now - visited >= level.longest:
        return inf
    if page.interval > 0.0:
        return inf if ground.now - visited >= page.interval - SOON else 0.0
    if ground.now - visited < level.shortest:
        return 0.0
    escape = outlook.spared(page.hub, now=ground.now)
    return value_now(page.belief, outlook.belief, now=ground.now, span=level.span, spared=escape)
