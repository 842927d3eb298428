"""Minimum delays of single sites, stored in the collection's file, which a running crawl reloads."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from evercrawl.collection.site_list import find_origin
from evercrawl.config import collection_file, read_settings, write_setting
from evercrawl.core.politeness import MAX_RULE_DELAY, parse_delay_rules, replace_delay_rule
from evercrawl.core.robots.robots_txt import parse_robots
from evercrawl.errors import ConfigError
from evercrawl.model.settings import Settings
from evercrawl.model.site import RateOverride, Site

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
