"""Which settings are there, and what may each of them be?"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import timedelta
from functools import lru_cache
from types import NoneType
from typing import Any, get_args, get_type_hints

from evercrawl.adapters.objectstore.bucket import problem_with
from evercrawl.core.change.detectors import DETECTORS
from evercrawl.core.politeness import QUIET_HOURS_SYNTAX as HOURS
from evercrawl.core.politeness import delay_rule_error as problem_with_slower
from evercrawl.core.politeness import parse_hours
from evercrawl.core.revisit.schedule import POLICIES
from evercrawl.core.robots.robots_txt import is_product_token
from evercrawl.core.traps.user_rules import IGNORE_SETS
from evercrawl.errors import ConfigError
from evercrawl.model.settings import IdentitySettings, Settings
from evercrawl.model.user_agent import user_agent

Check = Callable[[Any], str | None]
"""Gives None for a good value and otherwise what would be one, in words that follow "must be"."""

MOST_SHARDS = 4096
FILE_KINDS = ("image", "style", "script", "font", "archive", "media", "document")
_RESOLVE = re.compile(r"[^\s:\[\]]+:\d{1,5}:\[?[0-9A-Fa-f.:]+\]?")
_TRAP_RULE = re.compile(r"(?:https?://\S+ )?\S+")
_LISTEN = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[^\s:\[\]]+):\d{1,5}")
_PLUGIN = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


@dataclass(frozen=True, slots=True)
class KnownSetting:
    """One setting: `key` is `section.name`, `shape` its type without None."""

    key: str
    section: str
    name: str
    shape: Any
    optional: bool
    default: Any
    help: str

    @property
    def is_size(self) -> bool:
        """A number of bytes, which may be written with a unit."""
        return self.shape is int and self.name.endswith("bytes")


@lru_cache(maxsize=1)
def known_settings() -> dict[str, KnownSetting]:
    """Every setting by key, in the order of the model."""
    found: dict[str, KnownSetting] = {}
    for section, section_type in get_type_hints(Settings).items():
        hints = get_type_hints(section_type)
        for one in fields(section_type):
            shape, optional = _without_none(hints[one.name])
            key = f"{section}.{one.name}"
            found[key] = KnownSetting(key, section, one.name, shape, optional, one.default, one.metadata["help"])
    return found


def sections() -> dict[str, str]:
    """Every section with its one sentence of help."""
    return {name: (kind.__doc__ or "").strip() for name, kind in get_type_hints(Settings).items()}


def _without_none(hint: Any) -> tuple[Any, bool]:
    parts = get_args(hint)
    if NoneType not in parts:
        return hint, False
    (shape,) = (part for part in parts if part is not NoneType)
    return shape, True


def _one_of(*choices: str) -> Check:
    return lambda value: None if value in choices else "one of " + ", ".join(choices)


def _at_least(least: float) -> Check:
    return lambda value: None if _number(value) >= least else f"{least:g} or more"


def _between(least: float, most: float) -> Check:
    return lambda value: None if least <= _number(value) <= most else f"from {least:g} to {most:g}"


def _positive(value: Any) -> str | None:
    return None if _number(value) > 0 else "more than 0"


def _number(value: Any) -> float:
    return value.total_seconds() if isinstance(value, timedelta) else float(value)


def _each(check: Check) -> Check:
    return lambda values: next((wrong for value in values if (wrong := check(value))), None)


def _like(pattern: re.Pattern[str], meaning: str) -> Check:
    return lambda value: None if pattern.fullmatch(value) else meaning


def _regex(value: str) -> str | None:
    try:
        re.compile(value)
    except re.error as error:
        return f"a regular expression (it is not: {error})"
    return None


def _hours(value: str) -> str | None:
    try:
        parse_hours(value)
    except ValueError:
        return HOURS
    return None


def _product(value: str) -> str | None:
    return None if is_product_token(value) else "letters, '_' and '-' only, as RFC 9309 has it for product tokens"


def _contact(value: str) -> str | None:
    try:
        user_agent(IdentitySettings(contact=value), "0")
    except ConfigError:
        return "a mail address or the http(s) address of a page about your crawl"
    return None


CHECKS: dict[str, Check] = {
    "identity.product": _product,
    "identity.contact": _contact,
    "change.detector": _one_of(*DETECTORS),
    "scope.kind": _one_of("host", "prefix", "domain", "list"),
    "scope.depth": _at_least(0),
    "scope.include": _each(_regex),
    "scope.exclude": _each(_regex),
    "scope.plugins": _each(_like(_PLUGIN, "module:object")),
    "scope.fetch_types": _each(_one_of(*FILE_KINDS)),
    "pace.mode": _one_of("gentle", "paper", "own"),
    "pace.gap": _at_least(0),
    "pace.shortest": _at_least(0),
    "pace.factor": _at_least(0),
    "pace.slower": _each(problem_with_slower),
    "crawl.patience": _at_least(0),
    "crawl.shutdown": _at_least(0),
    "http.redirects": _at_least(0),
    "http.keep_alive": _at_least(0),
    "http.resolve": _each(_like(_RESOLVE, "HOST:PORT:ADDR, such as example.org:443:192.0.2.7")),
    "http.allow_ports": _each(_between(1, 65535)),
    "dns.shortest_ttl": _at_least(0),
    "dns.negative_ttl": _at_least(0),
    "robots.redirects": _at_least(0),
    "frontier.bands": _between(1, 16),
    "store.shards": _between(1, MOST_SHARDS),
    "search.follow": _one_of("watch", "always", "never"),
    "store.durability": _one_of("process", "power"),
    "archive.level": _between(0, 3),
    "archive.url": problem_with,
    "archive.acknowledge": _one_of("local", "stored"),
    "credit.order": _one_of("credit", "breadth-first"),
    "credit.influence": _between(0, 1),
    "credit.writes": _at_least(0),
    "duplicates.similarity": _between(0.5, 1),
    "duplicates.weight": _between(0.01, 1),
    "revisit.policy": _one_of(*POLICIES),
    "hidden.parents": _at_least(0),
    "hidden.neighbours": _at_least(0),
    "revisit.budget": _positive,
    "revisit.site_budget": _positive,
    "revisit.worth": _positive,
    "revisit.drift": _between(0, 0.5),
    "revisit.audit": _between(0, 1),
    "revisit.quiet": _each(_hours),
    "traps.ignore": _each(_one_of(*IGNORE_SETS)),
    "traps.exclude": _each(_like(_TRAP_RULE, "PATTERN or SITE PATTERN")),
    "traps.allow": _each(_like(_TRAP_RULE, "PATTERN or SITE PATTERN")),
    "outposts.listen": _like(_LISTEN, "HOST:PORT, such as 0.0.0.0:7443 or [::]:7443"),
    "outposts.wait": _at_least(0),
    "notify.quiet": _each(_hours),
    "notify.mail_port": _between(1, 65535),
    "notify.mail_tls": _one_of("starttls", "tls", "off"),
}
"""What a value must be, beyond its type. A number that is not named here must be more than 0."""

ORDERED = (
    ("pace.shortest", "pace.longest"),
    ("dns.shortest_ttl", "dns.longest_ttl"),
    ("revisit.shortest", "revisit.longest"),
    ("notify.first_wait", "notify.longest_wait"),
)
"""Pairs of which the first may not be more than the second."""


def check_of(known: KnownSetting) -> Check | None:
    """The check of one setting; None: its type says it all."""
    if known.key in CHECKS:
        return CHECKS[known.key]
    return _positive if known.shape in (int, float, timedelta) else None
