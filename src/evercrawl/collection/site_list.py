"""The sites of a collection, their load and activity, and counts of queued and due pages."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime, timedelta
from heapq import nlargest
from itertools import pairwise
from pathlib import Path
from statistics import median

from evercrawl.adapters.sql.listing_reader import IDLE_READERS, each_listing, open_listing
from evercrawl.adapters.sql.state_reader import shards_of
from evercrawl.config import read_settings
from evercrawl.core.url import canonical, shard_of_site, site_of
from evercrawl.errors import ConfigError
from evercrawl.model.listing import SiteLoad, SiteRow, VisitRow
from evercrawl.model.reason import Reason
from evercrawl.model.settings import Settings
from evercrawl.model.site import Site
from evercrawl.model.time import to_us


def largest_sites(collection: Path, limit: int) -> list[SiteRow]:
    """Return the sites with the most pages."""
    found = (site for _, reader in each_listing(collection) for site in reader.largest_sites(limit))
    return nlargest(limit, found, key=lambda site: site.pages)


def busiest_sites(collection: Path, limit: int) -> list[SiteRow]:
    """Return the sites with the most queued pages."""
    found = (site for _, reader in each_listing(collection) for site in reader.busiest_sites(limit))
    return nlargest(limit, found, key=lambda site: site.pending)


def find_site(collection: Path, settings: Settings, name: str) -> tuple[int, Site] | None:
    """Return shard and record of a site by origin or host; None: unknown."""
    for origin in _origins(name):
        shard = shard_of_site(origin, settings.store.shards)
        if shard in shards_of(collection):
            with open_listing(collection, shard) as reader:
                site = reader.site_named(origin)
            if site is not None:
                return shard, site
    return None


def find_origin(collection: Path, name: str) -> str:
    """Return the origin of a site; for a bare host the known one, otherwise https."""
    known = find_site(collection, read_settings(collection).settings, name)
    return _origins(name)[0] if known is None else known[1].name


def known_scheme(collection: Path, settings: Settings, text: str) -> str:
    """Return the scheme by which a collection knows the host of a URL that was typed without one; otherwise https."""
    try:
        known = find_site(collection, settings, text.partition("@")[0])
    except ConfigError:
        known = None
    return "https" if known is None else known[1].name.partition("://")[0]


def _origins(name: str) -> list[str]:
    """Return the possible origins, likeliest first; raise ConfigError if the text names no site."""
    texts = [name] if "://" in name else [f"https://{name}", f"http://{name}"]
    pages = [page for text in texts if (page := canonical(text)) is not None]
    if not pages:
        raise ConfigError(f"{name!r} is not a site; write it like https://example.org")
    return [site_of(page) for page in pages]


LOAD_LOG_LINES = 200_000  # The newest lines of the shard's log that are read.
MAX_VISITS = 2000
SECOND_US = 1_000_000


def site_load(collection: Path, shard: int, site: Site) -> SiteLoad:
    """Return the requests to a site, the newest with the delays between them."""
    with open_listing(collection, shard) as reader:
        visits = reader.visits_of_site(site.id, lines=LOAD_LOG_LINES, most=MAX_VISITS)
    requested = [visit for visit in visits if visit.took_ms or visit.status]
    delays_s = tuple((later.at_us - earlier.at_us) / SECOND_US for later, earlier in pairwise(requested))
    return SiteLoad(
        site=site.name,
        requests=site.requests,
        wire_bytes=site.wire_bytes,
        visits=tuple(requested),
        not_modified=sum(visit.reason == Reason.NOT_MODIFIED for visit in requested),
        delays_s=delays_s,
        median_ms=int(median(visit.took_ms for visit in requested)) if requested else None,
        delay_s=site.delay_ms / 1000 if site.delay_ms else None,
    )


DAY_LOG_LINES = 200_000  # The newest lines of each shard's log that are counted by day.
CALENDAR_DAYS = 371  # 53 weeks.
_EPOCH = date(1970, 1, 1)


def day_of(number: int) -> date:
    """Return the date of a number of days since 1970."""
    return _EPOCH + timedelta(days=number)


def changes_by_day(collection: Path, *, now: datetime) -> dict[date, int]:
    """Count the changes of all sites by day, without noise."""
    counted: Counter[int] = Counter()
    for _, reader in each_listing(collection):
        counted.update(reader.changes_by_day(to_us(now - timedelta(days=CALENDAR_DAYS))))
    return {day_of(number): count for number, count in sorted(counted.items())}


def site_changes_by_day(collection: Path, shard: int, site_id: int, *, now: datetime) -> dict[date, int]:
    """Count the changes of one site by day, without noise."""
    with open_listing(collection, shard) as reader:
        found = reader.changes_by_day(to_us(now - timedelta(days=CALENDAR_DAYS)), site_id)
    return {day_of(number): count for number, count in sorted(found.items())}


def visits_by_day(collection: Path) -> dict[date, dict[str, int]]:
    """Count visits by day and reason."""
    days: dict[date, Counter[str]] = {}
    for _, reader in each_listing(collection):
        for number, reason, count, _ in reader.visits_by_day(DAY_LOG_LINES):
            days.setdefault(day_of(number), Counter())[reason] += count
    return {day: dict(counts) for day, counts in sorted(days.items())}


def newest_visits(collection: Path, limit: int) -> list[VisitRow]:
    """Return the newest visits of all sites, newest first."""
    found = (visit for _, reader in each_listing(collection) for visit in reader.last_visits(0, limit))
    return nlargest(limit, found, key=lambda visit: visit.at_us)


HOURS_AHEAD = 24


def due_by_hour(collection: Path, *, now: datetime) -> list[int]:
    """Return how many pages become due in each of the next hours."""
    begin, end = to_us(now), to_us(now + timedelta(hours=HOURS_AHEAD))
    counted: Counter[int] = Counter()
    for _, reader in each_listing(collection):
        counted.update(reader.due_by_hour(begin, end))
    return [counted[hour] for hour in range(HOURS_AHEAD)]


def queued_by_priority(collection: Path) -> list[tuple[int, int, int]]:
    """Return each priority with the number of its sites and of their queued pages, most urgent first."""
    sites: Counter[int] = Counter()
    pages: Counter[int] = Counter()
    for _, reader in each_listing(collection):
        for priority, some, pending in reader.queued_by_priority():
            sites[priority] += some
            pages[priority] += pending
    return [(priority, sites[priority], pages[priority]) for priority in sorted(sites)]


def close_readers(collection: Path) -> None:
    """Close the idle readers of a collection."""
    IDLE_READERS.close(collection)
