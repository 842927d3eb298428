"""All settings: their types, checks, and how values are parsed and formatted."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from ipaddress import ip_network
from types import NoneType
from typing import Any, get_args, get_type_hints

from evercrawl.adapters.objectstore.bucket import address_problem
from evercrawl.core.politeness import QUIET_HOURS_SYNTAX as HOURS
from evercrawl.core.politeness import delay_rule_error as problem_with_slower
from evercrawl.core.politeness import parse_hours
from evercrawl.core.revisit.user_schedule import parse_schedule
from evercrawl.core.revisit.visit_schedule import POLICIES
from evercrawl.core.robots.robots_txt import is_product_token
from evercrawl.core.scope.selection import parse_keyword, parse_site_pattern
from evercrawl.core.scope.url_filter import compile_expression, parse_filter
from evercrawl.core.traps.user_rules import RULE_SETS
from evercrawl.errors import ConfigError
from evercrawl.model.sanitize import has_credentials, mask_passwords
from evercrawl.model.settings import IdentitySettings, Settings, SiteSettings
from evercrawl.model.time import parse_time
from evercrawl.model.user_agent import USER_AGENTS, user_agent

Check = Callable[[Any], str | None]
"""Returns None for a valid value, otherwise the requirement as text after "must be"."""

MAX_SHARDS = 4096
FILE_KINDS = ("image", "style", "script", "font", "archive", "media", "document")
_RESOLVE = re.compile(r"[^\s:\[\]]+:\d{1,5}:\[?[0-9A-Fa-f.:]+\]?")
_TRAP_RULE = re.compile(r"(?:https?://\S+ )?\S+")
_LISTEN = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[^\s:\[\]]+):\d{1,5}")
_SENDER = re.compile(r"(?:[^<>@\x00-\x1f\x7f]*<)?[^\s@<>,;:\"()\[\]\\]+@[A-Za-z0-9.-]+>?")
_KEY_DIRECTORY = re.compile(r"https://[!#-\[\]-~]+", re.ASCII)
_ORIGIN = re.compile(r"https?://[^\s/?#@]+(?:/c/[^\s/?#]+)?/?")
_MEDIA_TYPE = re.compile(r"(?:\*|[a-z0-9!#$&^_+-]+)/[a-z0-9!#$&^_.+*-]+")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")
_PLUGIN = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


@dataclass(frozen=True, slots=True)
class SettingSpec:
    """One setting; `key` is `section.name`, `shape` the type without None."""

    key: str
    section: str
    name: str
    shape: Any
    optional: bool
    default: Any
    help: str
    needs_trust: bool = False

    @property
    def is_size(self) -> bool:
        """Whether the value is a number of bytes, which can have a unit."""
        return self.shape is int and self.name.endswith("bytes")


@lru_cache(maxsize=1)
def known_settings() -> dict[str, SettingSpec]:
    """Return every setting by key."""
    return {one.key: one for section, kind in _section_types().items() for one in _specs_of(section, kind)}


@lru_cache(maxsize=1)
def site_settings() -> dict[str, SettingSpec]:
    """Return the settings of a table [site."PATTERN"] by name."""
    return {one.name: one for one in _specs_of("site", SiteSettings)}


def _section_types() -> dict[str, Any]:
    return {name: kind for name, kind in get_type_hints(Settings).items() if is_dataclass(kind)}


def _specs_of(section: str, kind: Any) -> Iterator[SettingSpec]:
    hints = get_type_hints(kind)
    for one in fields(kind):
        if "help" in one.metadata:
            shape, optional = _without_none(hints[one.name])
            key = f"{section}.{one.name}"
            yield SettingSpec(
                key, section, one.name, shape, optional, one.default, one.metadata["help"], one.metadata["needs_trust"]
            )


def sections() -> dict[str, str]:
    """Return every section with its help."""
    return {name: (kind.__doc__ or "").strip() for name, kind in _section_types().items()}


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
        compile_expression(value)
    except ValueError as error:
        return f"a valid regular expression ({error})"
    return None


def _parses(parse: Callable[[str], object]) -> Check:
    """Return a check that passes what `parse` accepts; its message names the problem."""

    def check(value: str) -> str | None:
        try:
            parse(value)
        except ConfigError as error:
            return f"valid: {error}"
        return None

    return check


def _date(value: str) -> str | None:
    try:
        parse_time(value, now=datetime.now(UTC))
    except ConfigError:
        return "a date such as 2026-01-31 or a time span such as 30d"
    return None


def _no_credentials(value: str) -> str | None:
    return "URLs without a user name or password" if has_credentials(value) else None


def _host_name(value: str) -> str | None:
    try:
        pattern = parse_site_pattern(value)
    except ConfigError:
        pattern = None
    is_host = pattern is not None and pattern[0] is None and pattern[2:] == (None, None)
    return None if is_host else "a host name such as ads.example.org"


def _network(value: str) -> str | None:
    try:
        ip_network(value)
    except ValueError:
        return "an IP address or block such as 192.0.2.7 or 10.0.0.0/8"
    return None


def _hours(value: str) -> str | None:
    try:
        parse_hours(value)
    except ValueError:
        return HOURS
    return None


def _product(value: str) -> str | None:
    return None if is_product_token(value) else "letters, '_' and '-' only (RFC 9309)"


def _contact(value: str) -> str | None:
    try:
        user_agent(IdentitySettings(contact=value), "0")
    except ConfigError:
        return "a mail address or the URL of a page about your crawl"
    return None


def _detector(value: str) -> str | None:
    from evercrawl.core.change.detectors import DETECTORS  # slow to load

    return _one_of(*DETECTORS)(value)


CHECKS: dict[str, Check] = {
    "identity.product": _product,
    "identity.user_agent": _one_of(*USER_AGENTS),
    "identity.contact": _contact,
    "identity.signature_agent": _like(_KEY_DIRECTORY, "the https URL of your key directory"),
    "change.detector": _detector,
    "scope.kind": _one_of("host", "prefix", "domain", "list"),
    "scope.seeds": _each(_no_credentials),
    "scope.removed": _each(_no_credentials),
    "scope.max_depth": _at_least(0),
    "scope.include": _each(_regex),
    "scope.exclude": _each(_regex),
    "scope.plugins": _each(_like(_PLUGIN, "module:object")),
    "scope.filter": _parses(parse_filter),
    "scope.fetch_types": _each(_one_of(*FILE_KINDS)),
    "scope.media_types": _each(_like(_MEDIA_TYPE, "a media type such as text/html or image/*")),
    "scope.exclude_media_types": _each(_like(_MEDIA_TYPE, "a media type such as text/html or image/*")),
    "scope.min_bytes": _at_least(0),
    "scope.max_bytes": _at_least(0),
    "scope.languages": _each(_like(_LANGUAGE, "a language code such as en or pt-BR")),
    "scope.newer_than": _date,
    "scope.older_than": _date,
    "scope.keywords": _each(_parses(parse_keyword)),
    "scope.exclude_keywords": _each(_parses(parse_keyword)),
    "scope.exclude_hosts": _each(_host_name),
    "render.mode": _one_of("auto", "never", "always"),
    "pace.mode": _one_of("gentle", "paper", "unlimited"),
    "pace.delay": _at_least(0),
    "pace.min_delay": _at_least(0),
    "pace.response_time_factor": _at_least(0),
    "pace.sites_per_address": _at_least(1),
    "pace.overrides": _each(problem_with_slower),
    "crawl.idle_timeout": _at_least(0),
    "crawl.retry_timeout": _at_least(0),
    "crawl.shutdown_timeout": _at_least(0),
    "http.max_redirects": _at_least(0),
    "http.keep_alive_timeout": _at_least(0),
    "http.resolve": _each(_like(_RESOLVE, "HOST:PORT:ADDR, such as example.org:443:192.0.2.7")),
    "http.allow_ports": _each(_between(1, 65535)),
    "dns.min_ttl": _at_least(0),
    "dns.negative_ttl": _at_least(0),
    "robots.max_redirects": _at_least(0),
    "frontier.priorities": _between(1, 16),
    "store.shards": _between(1, MAX_SHARDS),
    "search.background_index": _one_of("watch", "always", "never"),
    "store.durability": _one_of("process", "power"),
    "archive.gzip_level": _between(0, 3),
    "archive.url": address_problem,
    "http.keep_cookies": _one_of("signed-in", "all", "none"),
    "archive.acknowledge": _one_of("local", "uploaded"),
    "credit.order": _one_of("credit", "breadth-first", "paper-credit"),
    "credit.importance_exponent": _between(0, 1),
    "credit.writes_per_visit": _at_least(0),
    "duplicates.similarity": _between(0.5, 1),
    "duplicates.revisit_weight": _between(0.01, 1),
    "revisit.policy": _one_of(*POLICIES),
    "revisit.selective_threshold": _between(0.01, 1),
    "revisit.selective_step": _between(0, 1),
    "sitemaps.llms_txt": _one_of("named", "always", "never"),
    "sitemaps.extended": _one_of("named", "always", "never"),
    "assets.max_bytes": _at_least(1),
    "assets.max_per_page": _at_least(1),
    "discovery.parent_folders": _at_least(0),
    "discovery.neighbour_numbers": _at_least(0),
    "revisit.budget": _positive,
    "revisit.site_budget": _positive,
    "revisit.min_freshness_gain": _positive,
    "revisit.jitter": _between(0, 0.5),
    "revisit.unconditional_share": _between(0, 1),
    "revisit.quiet_hours": _each(_hours),
    "traps.rule_sets": _each(_one_of(*RULE_SETS)),
    "traps.exclude": _each(_like(_TRAP_RULE, "PATTERN or SITE PATTERN")),
    "traps.allow": _each(_like(_TRAP_RULE, "PATTERN or SITE PATTERN")),
    "outposts.listen": _like(_LISTEN, "HOST:PORT, such as 0.0.0.0:7443 or [::]:7443"),
    "outposts.start_timeout": _at_least(0),
    "alerts.quiet_hours": _each(_hours),
    "alerts.mail_port": _between(1, 65535),
    "alerts.mail_tls": _one_of("starttls", "tls", "off"),
    "alerts.mail_from": _like(_SENDER, "a mail address, such as me@example.org or My crawler <me@example.org>"),
    "web.trusted_proxies": _each(_network),
    "web.announced_urls_per_day": _at_least(0),
    "web.public_url": _like(
        _ORIGIN, "a URL such as https://crawl.example.org, or https://crawl.example.org/c/news in a folder"
    ),
}
"""Checks beyond the type. Other numbers must be more than 0."""

ORDERED = (
    ("pace.min_delay", "pace.max_delay"),
    ("dns.min_ttl", "dns.max_ttl"),
    ("revisit.min_interval", "revisit.max_interval"),
    ("alerts.first_retry_delay", "alerts.max_retry_delay"),
)
"""Pairs in which the first value must not exceed the second."""


SITE_CHECKS: dict[str, Check] = {
    "priority": _between(-8, 8),
    "weight": _between(0.01, 100),
    "max_depth": _at_least(0),
    "render": _one_of("auto", "never", "always"),
    "schedule": _parses(parse_schedule),
}
"""Checks of the tables [site."PATTERN"]; others are checked like the setting of that name in [scope]."""


def check_for(known: SettingSpec) -> Check | None:
    """Return the check of a setting; None: its type is enough."""
    if known.section.startswith("site") and known.section not in _section_types():
        found = SITE_CHECKS.get(known.name) or CHECKS.get(f"scope.{known.name}")
        if found is not None:
            return found
    if known.key in CHECKS:
        return CHECKS[known.key]
    return _positive if known.shape in (int, float, timedelta) else None


NONE = "none"
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}
_BYTES = {
    "": 1, "B": 1,
    "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
    "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40,
}  # fmt: skip
_QUANTITY = re.compile(r"([0-9][0-9_]*(?:\.[0-9]+)?)\s*([A-Za-z]*)")
_BOOLS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def parse_value(known: SettingSpec, written: object) -> Any:
    """Return the typed value of a text (flag, variable) or TOML value; raise ValueError if it is invalid."""
    if written is None or written == NONE:
        if not known.optional:
            raise ValueError(f"must be {_requirement(known)}, not none")
        return None
    try:
        value = _parse_type(known, written)
        check = check_for(known)
        wrong = check(value) if check else None
    except OverflowError:
        raise ValueError(f"must be {_requirement(known)}, and not as large") from None
    if wrong:
        raise ValueError(f"must be {wrong}")
    return value


def format_value(known: SettingSpec, value: Any) -> str:
    """Return the value as TOML, which `parse_value` reads again."""
    if value is None:
        return f'"{NONE}"'
    if known.is_size:
        return _format_size(value)
    match value:
        case bool():
            return "true" if value else "false"
        case timedelta():
            return f'"{_format_duration(value)}"'
        case tuple():
            return "[" + ", ".join(_toml_string(item) if isinstance(item, str) else str(item) for item in value) + "]"
        case str():
            return _toml_string(value)
        case _:
            return repr(value)


def show_value(known: SettingSpec, value: Any) -> str:
    """Return the value as TOML for people and programs that only look: without passwords."""
    return mask_passwords(format_value(known, value))


def _parse_type(known: SettingSpec, written: object) -> Any:
    wrong = ValueError(f"must be {_requirement(known)}")
    shape = known.shape
    if shape is bool:
        return _parse_bool(written, wrong)
    if shape is int:
        return _parse_int(written, _BYTES if known.is_size else {"": 1}, wrong)
    if shape is float:
        return _parse_quantity(written, {"": 1}, wrong)
    if shape is timedelta:
        return _parse_duration(written, wrong)
    if shape is str:
        return _parse_text(written, wrong)
    items = _parse_list(written, wrong)
    return tuple(
        _parse_int(item, {"": 1}, wrong) if shape == tuple[int, ...] else _parse_text(item, wrong) for item in items
    )


def _parse_bool(written: object, wrong: ValueError) -> bool:
    if isinstance(written, bool):
        return written
    if isinstance(written, str) and written.strip().lower() in _BOOLS:
        return _BOOLS[written.strip().lower()]
    raise wrong


def _parse_text(written: object, wrong: ValueError) -> str:
    if not isinstance(written, str) or not written or any(ord(char) < 32 for char in written):
        raise wrong
    return written


def _parse_int(written: object, units: dict[str, int], wrong: ValueError) -> int:
    value = _parse_quantity(written, dict(units), wrong)
    if value != int(value):
        raise wrong
    return int(value)


def _parse_duration(written: object, wrong: ValueError) -> timedelta:
    try:
        return timedelta(seconds=_parse_quantity(written, {"": 1, **_SECONDS}, wrong))
    except OverflowError:
        raise wrong from None


def _parse_quantity(written: object, units: dict[str, float], wrong: ValueError) -> float:
    """Return a number with one of the units; whole numbers stay exact."""
    if isinstance(written, bool):
        raise wrong
    if isinstance(written, (int, float)):
        if not math.isfinite(written):
            raise wrong
        return written
    found = _QUANTITY.fullmatch(written.strip()) if isinstance(written, str) else None
    if found is None or found[2] not in units:
        raise wrong
    number = found[1].replace("_", "")
    return (float(number) if "." in number else int(number)) * units[found[2]]


def _parse_list(written: object, wrong: ValueError) -> list[object]:
    """Return the items of a TOML list; text without brackets is split at commas."""
    if isinstance(written, (list, tuple)):
        return list(written)
    if not isinstance(written, str):
        raise wrong
    if written.strip().startswith("["):
        try:
            listed = tomllib.loads(f"items = {written}")["items"]
        except (tomllib.TOMLDecodeError, RecursionError):
            raise wrong from None
        return list(listed)
    return [item.strip() for item in written.split(",") if item.strip()]


def _requirement(known: SettingSpec) -> str:
    sign = ", not negative" if known.shape is int else ""
    return describe_type(known) + sign + (f", or {NONE}" if known.optional else "")


def describe_type(known: SettingSpec) -> str:
    """Return the type of a setting as text."""
    if known.is_size:
        return "a size such as 16MiB"
    meanings: dict[Any, str] = {
        bool: "true or false",
        int: "a whole number",
        float: "a number",
        timedelta: "a duration such as 500ms, 1.5s, 2m, 1h or 7d",
        str: "text",
        tuple[str, ...]: 'a list such as ["a", "b"]',
        tuple[int, ...]: "a list of whole numbers",
    }
    return meanings[known.shape]


def _toml_string(text: str) -> str:
    """Return a basic TOML string; it accepts the escapes of JSON."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _format_duration(span: timedelta) -> str:
    micros = round(span.total_seconds() * 1e6)
    for unit in ("d", "h", "m", "s", "ms"):
        size = round(_SECONDS[unit] * 1e6)
        if micros and micros % size == 0:
            return f"{micros // size}{unit}"
    return f"{micros / 1e6:.6f}".rstrip("0").rstrip(".") + "s"


def _format_size(size: int) -> str:
    for unit in ("GiB", "MiB", "KiB", "GB", "MB"):
        if size and size % _BYTES[unit] == 0:
            return f'"{size // _BYTES[unit]}{unit}"'
    return str(size)
