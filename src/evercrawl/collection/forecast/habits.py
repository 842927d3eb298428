"""How does one page change, what is a visit worth, and when is the next one? In numbers and in words."""

from __future__ import annotations

from datetime import datetime
from math import inf, isfinite

from evercrawl.adapters.sqlite.reader import ShardReader, StateReader
from evercrawl.collection.forecast.gather import belief_in
from evercrawl.collection.forecast.steering import level_of, stored_purse
from evercrawl.core.revisit.belief import PageBelief, SiteBelief, rate_of
from evercrawl.core.revisit.outlook import Outlook
from evercrawl.core.revisit.schedule import Level, is_held_by_cache, schedule_named
from evercrawl.core.revisit.signal import false_share, is_trusted
from evercrawl.core.revisit.threshold import MARGIN
from evercrawl.core.revisit.worth import chance_current
from evercrawl.engine.revisits import hub_of
from evercrawl.engine.site_state import FRESHNESS
from evercrawl.model.listing import PageRecord, SampledPage
from evercrawl.model.report import Announcements, PageForecast
from evercrawl.model.settings import RevisitSettings
from evercrawl.model.time import DAY_US, every, from_us, in_words, to_us

DIGITS = 4


def habits_of(
    reader: StateReader, state: ShardReader, page: PageRecord, settings: RevisitSettings, *, now: datetime
) -> PageForecast | None:
    """What was learned about a page; None: it has never been seen."""
    (row,) = state.sampled_pages([page.id]) or (None,)
    if row is None or (row.version == 0 and row.belief is None):
        return None
    outlook = FRESHNESS.read(state.memory(row.site_id, FRESHNESS.name))
    pages = sum(_pages(reader))
    level = level_of(stored_purse(reader, settings, pages=pages), settings)
    return _habits(page, row, outlook, level, policy=settings.policy, now=now)


def _pages(reader: StateReader) -> list[int]:
    sizes = []
    for shard in reader.shards():
        with reader.shard(shard) as state:
            sizes.append(state.next_id() - 1)
    return sizes


def _habits(
    page: PageRecord, row: SampledPage, outlook: Outlook, level: Level, *, policy: str, now: datetime
) -> PageForecast:
    today, hub = to_us(now) / DAY_US, hub_of(page.url)
    belief = belief_in(row, outlook)
    a, b = rate_of(belief, outlook.belief)
    worth = _worth(row, outlook, level, policy=policy, today=today)
    spared = outlook.spared(hub, now=today)
    return PageForecast(
        policy=policy,
        changes_per_day=a / b,
        words=_rate_words(page, a / b),
        visits=page.visits,
        changes=max(page.version - 1, 0),
        chance_current=round(chance_current(belief, outlook.belief, now=today, spared=spared), DIGITS),
        value_days=round(worth, DIGITS) if isfinite(worth) else None,
        threshold_days=level.threshold,
        next_visit=None if page.due_us is None else from_us(page.due_us),
        next_visit_words=_next_words(page, worth, level, now=now),
        announcements=_announcements(belief, outlook.belief),
        validators_that_lied=outlook.lies,
    )


def _worth(row: SampledPage, outlook: Outlook, level: Level, *, policy: str, today: float) -> float:
    """As the crawl itself weighs it."""
    if row.belief is None:
        return inf
    return schedule_named(policy).worth(row.belief, outlook, hub=hub_of(row.url), now=today, level=level)


def _rate_words(page: PageRecord, rate: float) -> str:
    changes, seen = max(page.version - 1, 0), f"seen in {_counted(page.visits, 'visit')}"
    if page.version == 0:
        return f"a redirect, {seen}"
    pace = every(1.0 / rate)
    if page.visits < 2:
        return f"seen once; pages of this site are taken to change about {pace}"
    if not changes:
        return f"no change {seen}; taken to change about {pace}"
    return f"changes about {pace}; {_counted(changes, 'change')} {seen}"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _next_words(page: PageRecord, worth: float, level: Level, *, now: datetime) -> str:
    if page.is_queued:
        return "it is in the queue"
    if page.due_us is None:
        return "it is not asked for again unless --refresh is given"
    due, needed = from_us(page.due_us), MARGIN * level.threshold
    if page.tries:
        return f"tried again from {_minute(due)} on, after {_counted(page.tries, 'failure')}"
    if due <= now:
        return "due now; the next run weighs it against the pages that are worth more"
    if is_held_by_cache(page.belief):
        return f"not before {_minute(due)}: the server called its last answer fresh for that long"
    if worth < needed:
        lasting = f"now it would bring {in_words(worth)} of a current copy, {in_words(needed)} are asked for"
        return f"not worth a request before {_minute(due)}: {lasting}"
    return f"not before {_minute(due)}: the interval that the last visit set"


def _minute(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def _announcements(belief: PageBelief, site: SiteBelief) -> Announcements | None:
    if not site.has_signal and site.polled is None:
        return None
    a, b = rate_of(belief, site)
    return Announcements(
        trusted=is_trusted(site),
        recall=round(site.recall, DIGITS),
        false_share=round(false_share(a / b, site), DIGITS),
        waiting=round(belief.notices),
        last_poll=None if site.polled is None else from_us(int(site.polled * DAY_US)),
        last_announced=from_us(int(belief.announced * DAY_US)) if isfinite(belief.announced) else None,
    )
