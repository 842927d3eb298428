"""When you want sites and pages to be visited, and their other settings, stored in the collection's file.
A running crawl applies schedules within seconds; other settings of a site apply from its next start."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import available_timezones

from evercrawl.collection.site_list import find_origin
from evercrawl.collection.stored_pages import canonical_page_url
from evercrawl.config import collection_file, read_settings, write_setting
from evercrawl.config.schema import describe_type, show_value, site_settings
from evercrawl.core.revisit.user_schedule import describe_schedule, in_zone, next_time, parse_schedule, zone_name
from evercrawl.core.scope.selection import Selections, parse_site_pattern
from evercrawl.errors import ConfigError
from evercrawl.model.settings import Settings, SiteSettings

PAGE_END = "$"  # After the URL of a single page.
SCHEDULE = "schedule"


@dataclass(frozen=True, slots=True)
class PlaceSchedule:
    """A schedule of the user, and where it applies."""

    place: str  # A host, an origin, the beginning of URLs, or a single page with `$` at its end.
    schedule: str
    meaning: str  # In full, with the time zone.
    next_time: datetime  # The first time after now, for a page that was visited just now.
    zone: str = "UTC"  # Of the times of day.


@dataclass(frozen=True, slots=True)
class PlaceSetting:
    """A setting of a site or page; `value` is empty where it is that of the collection."""

    name: str
    value: str
    help: str
    meaning: str


def site_place(collection: Path, name: str) -> str:
    """Return the pattern of a site, known or not; raise ConfigError if it is none."""
    return find_origin(collection, name)


def page_place(url: str) -> str:
    """Return the pattern of a single page."""
    return canonical_page_url(url) + PAGE_END


def parse_place(collection: Path, text: str) -> str:
    """Return the pattern that people mean: a host or origin is a site, a URL with a path is a page, and `*` at the end
    stands for everything that begins so."""
    words = text.strip()
    if "*" in words or words.endswith(PAGE_END):
        parse_site_pattern(words)
        return words.rstrip("*") if not words.endswith(PAGE_END) else words
    _, _, rest = words.rpartition("://")
    is_site = "/" not in rest and "?" not in rest
    if is_site:
        return site_place(collection, words)
    from evercrawl.collection.collection import open as open_collection

    return page_place(open_collection(collection).typed_url(words))


def schedules_of(settings: Settings, *, now: datetime) -> list[PlaceSchedule]:
    """Return the schedules of a collection, by place."""
    own = ((site.pattern, site.schedule) for site in settings.sites)
    return [_describe(place, text, now) for place, text in sorted(own) if text is not None]


def _describe(place: str, text: str, now: datetime) -> PlaceSchedule:
    schedule = parse_schedule(text)
    return PlaceSchedule(place, text, describe_schedule(text), next_time(schedule, after=now), zone_name(schedule))


def schedule_of_url(settings: Settings, url: str, *, now: datetime) -> PlaceSchedule | None:
    """Return the schedule that decides when a page is visited; None: it is learned."""
    found = Selections(settings.scope, settings.sites).schedule_rule(url)
    return None if found is None else _describe(*found, now)


def set_schedule(collection: Path, place: str, text: str, *, zone: str = "", now: datetime) -> PlaceSchedule:
    """Set when to visit a place; times of day are in `zone` unless the text names one. Raise ConfigError if the text
    is no schedule."""
    if zone and zone not in available_timezones():
        raise ConfigError(f"{zone[:60]!r} is no time zone; write one like Europe/Berlin or America/New_York")
    written = in_zone(text, zone)
    parse_schedule(written)
    set_place_setting(collection, place, SCHEDULE, written)
    return _describe(place, written, now)


def remove_schedule(collection: Path, place: str) -> bool:
    """Let visits to a place follow what was learned; return False if it has no schedule."""
    known = {site.pattern for site in read_settings(collection).settings.sites if site.schedule is not None}
    if place in known:
        set_place_setting(collection, place, SCHEDULE, None)
    return place in known


def set_place_setting(collection: Path, place: str, name: str, value: object) -> None:
    """Set one setting of a place; None: as for the collection."""
    if name not in site_settings():
        raise ConfigError(f"a site has no setting {name!r}; it has {', '.join(site_settings())}")
    if any(character in place for character in "\"'[]\\"):
        raise ConfigError(
            f"settings of {place} cannot be stored: its URL has quotes or brackets; use a part of it and *"
        )
    write_setting(collection_file(collection), f"site.{place}.{name}", "none" if value is None else value)


def place_settings(settings: Settings, place: str) -> list[PlaceSetting]:
    """Return the settings of a place except its schedule."""
    own = next((site for site in settings.sites if site.pattern == place), SiteSettings(place))
    return [
        PlaceSetting(name, _shown(known, getattr(own, name)), known.help, describe_type(known))
        for name, known in site_settings().items()
        if name != SCHEDULE
    ]


def _shown(known: Any, value: object) -> str:
    return "" if value is None else show_value(known, value)
