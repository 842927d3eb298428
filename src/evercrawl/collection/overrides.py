"""What users set beside the settings: slower sites, schedules, and muted parts of pages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import available_timezones

from evercrawl.adapters.sql.state_reader import StateReader
from evercrawl.collection.site_list import find_origin
from evercrawl.collection.stored_pages import canonical_page_url
from evercrawl.config import collection_file, read_settings, write_setting
from evercrawl.config.schema import describe_type, show_value, site_settings
from evercrawl.core.change.review import edit_patterns, is_muted
from evercrawl.core.change.text_diff import edit_line, is_visible
from evercrawl.core.politeness import MAX_RULE_DELAY, parse_delay_rules, replace_delay_rule
from evercrawl.core.revisit.user_schedule import describe_schedule, in_zone, next_time, parse_schedule, zone_name
from evercrawl.core.robots.robots_txt import parse_robots
from evercrawl.core.scope.selection import Selections, parse_site_pattern
from evercrawl.core.url import site_of
from evercrawl.errors import ConfigError
from evercrawl.model.change import ChangeClass, Edit, Mute
from evercrawl.model.history import ChangeGroup
from evercrawl.model.settings import Settings, SiteSettings
from evercrawl.model.site import RateOverride, Site
from evercrawl.model.time import to_us

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


__all__ = [
    "MAX_RULE_DELAY",
    "rate_override_of",
    "rate_overrides",
    "remove_rate_override",
    "robots_crawl_delay",
    "set_rate_override",
]


def rate_overrides(rules: tuple[str, ...]) -> tuple[RateOverride, ...]:
    """Return the rules, by site."""
    return tuple(RateOverride(site, delay.total_seconds()) for site, delay in sorted(parse_delay_rules(rules).items()))


def set_rate_override(collection: Path, site: str, delay: timedelta) -> RateOverride:
    """Set the minimum delay between two requests to a site, also in a running crawl."""
    if not timedelta(0) < delay <= MAX_RULE_DELAY:
        most = f"{MAX_RULE_DELAY.total_seconds():.0f} s"
        raise ConfigError(f"the delay must be more than 0 and at most {most}; to skip a site, use scope.exclude")
    name = find_origin(collection, site)
    _write(collection, replace_delay_rule(_rules(collection), name, delay))
    return RateOverride(name, delay.total_seconds())


def remove_rate_override(collection: Path, site: str) -> bool:
    """Remove the minimum delay of a site; return False if it has none."""
    before = _rules(collection)
    after = replace_delay_rule(before, find_origin(collection, site), None)
    if after != before:
        _write(collection, after)
    return after != before


def _rules(collection: Path) -> tuple[str, ...]:
    """Return the rules in the collection's file, which another process may have changed."""
    return read_settings(collection).settings.pace.overrides


def _write(collection: Path, rules: tuple[str, ...]) -> None:
    write_setting(collection_file(collection), "pace.overrides", rules)


def rate_override_of(settings: Settings, site: str) -> timedelta | None:
    """Return the delay that you set for a site; None if there is none."""
    return parse_delay_rules(settings.pace.overrides).get(site)


def robots_crawl_delay(settings: Settings, site: Site) -> float | None:
    """Return the seconds that the site's robots.txt asks for; None if it does not."""
    if site.robots is None:
        return None
    return parse_robots(site.robots.body, agent=settings.identity.product).min_delay


_Part = tuple[str, tuple[str, ...] | int]  # Site, and the patterns of the part; if there are none, the key of the edit.
EXAMPLES = 3  # Edits of a part that are shown.


def noise_since(
    collection: Path, since: datetime, *, site: str | None = None, mutes: Sequence[Mute] = ()
) -> list[ChangeGroup]:
    """Return what the last visit to each page called noise, if it was since a time; the most frequent part first."""
    pages: dict[_Part, dict[str, None]] = defaultdict(dict)
    edits: dict[_Part, list[Edit]] = defaultdict(list)
    for url, edit in _noise(collection, to_us(since), site):
        if is_muted(mutes, url, edit.removed, edit.added):
            continue
        part = site_of(url), tuple(edit_patterns(edit.removed, edit.added)) or edit.key
        pages[part][url] = None
        edits[part].append(edit)
    ordered = sorted(pages, key=lambda part: len(pages[part]), reverse=True)
    return [_group(part[1], tuple(pages[part]), edits[part]) for part in ordered]


def add_noise(groups: Sequence[ChangeGroup], noise: Sequence[ChangeGroup]) -> list[ChangeGroup]:
    """Return both lists; a part that the noise names is listed once."""
    named = {_named_part(group) for group in noise if group.parts}
    return [group for group in groups if _named_part(group) not in named] + list(noise)


def _named_part(group: ChangeGroup) -> tuple[str, str, tuple[str, ...]]:
    return group.change_class, site_of(group.pages[0]), group.parts


def _noise(collection: Path, since_us: int, site: str | None) -> Iterator[tuple[str, Edit]]:
    reader = StateReader(collection)
    for shard in reader.shards():
        with reader.shard(shard) as state:
            for record in state.noise_since(since_us):
                origin = site_of(record.url)
                if site is None or site.rstrip("/") in (origin, origin.partition("://")[2]):
                    yield from ((record.url, edit) for edit in record.change.edits if is_visible(edit))


def _group(patterns: tuple[str, ...] | int, pages: tuple[str, ...], edits: Sequence[Edit]) -> ChangeGroup:
    shown = tuple({edit.key: edit for edit in edits}.values())[:EXAMPLES]
    return ChangeGroup(
        change_class=ChangeClass.NOISE.value,
        size=0.0,
        pages=pages,
        example="\n".join(map(edit_line, shown)),
        edits=shown,
        parts=() if isinstance(patterns, int) else patterns,
    )
