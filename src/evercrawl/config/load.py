"""Find collections and load settings.
Precedence: flag, environment variable, the collection's file, the user's file, default."""

from __future__ import annotations

import logging
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Generic, TypeVar, get_type_hints

from evercrawl.adapters.system import modified_ns
from evercrawl.config.schema import (
    ORDERED,
    SettingSpec,
    format_value,
    known_settings,
    parse_value,
    sections,
    site_settings,
)
from evercrawl.config.trust import OFF_FILES, TRUST_VARIABLE, Distrust, check_collection
from evercrawl.core.scope.selection import parse_site_pattern
from evercrawl.errors import ConfigError
from evercrawl.model.sanitize import mask_passwords
from evercrawl.model.settings import Settings, SiteSettings, TrapSettings

COLLECTION_FILE = "collection.toml"
REMOVALS_FOLDER = "removals"
OUTBOX_FILE = "alerts.sqlite"
FOLDER_ENDING = ".evercrawl"
_MAX_NAME_CHARS = 100
MAX_KEY_PARTS = 300  # tomllib takes quadratic time for a key like a.a.a.
_KEY_PART = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
LONG_KEY = re.compile(rf"(?<![\w.\"'\\-]){_KEY_PART}(?:[ \t]*+\.[ \t]*+{_KEY_PART}){{{MAX_KEY_PARTS}}}")


def removals_folder(collection: Path) -> Path:
    """Return the folder with the removals of a collection; it exists after the first one."""
    return collection / REMOVALS_FOLDER


def outbox_path(collection: Path) -> Path:
    """Return the file with the alerts of a collection and their messages; it exists after the first alert."""
    return collection / OUTBOX_FILE


def collection_file(collection: Path) -> Path:
    """Return the settings file of a collection."""
    return collection / COLLECTION_FILE


def user_file(env: Mapping[str, str]) -> Path:
    """Return the user's settings file, by the XDG base directory specification."""
    home = env.get("XDG_CONFIG_HOME") or str(Path(env.get("HOME", "~")).expanduser() / ".config")
    return Path(home) / "evercrawl" / "config.toml"


def is_collection(folder: Path) -> bool:
    """Return whether the folder is a collection."""
    return collection_file(folder).is_file()


def default_collection_path(url: str, folder: Path = Path()) -> Path:
    """Return the default folder of a collection that starts at `url`: `example.org.evercrawl` in `folder`."""
    host = re.sub(r"^[a-z][a-z0-9+.-]*://", "", url.strip().lower()).split("/")[0].split("@")[-1]
    name = re.sub(r"[^a-z0-9.-]+", "-", host).strip(".-")[:_MAX_NAME_CHARS]
    return folder / f"{name or 'collection'}{FOLDER_ENDING}"


def enclosing_collection(start: Path) -> Path | None:
    """Return the collection that contains `start`, as git finds its repository."""
    return next((folder for folder in (start, *start.parents) if is_collection(folder)), None)


def find_collection(start: Path) -> Path | None:
    """Return the collection that contains `start`, or the only one in it; raise ConfigError for several."""
    if around := enclosing_collection(start):
        return around
    inside = sorted(path for path in start.glob(f"*{FOLDER_ENDING}") if is_collection(path))
    if len(inside) > 1:
        names = ", ".join(path.name for path in inside)
        raise ConfigError(f"{start} contains several collections ({names}); choose one with -C DIR")
    return inside[0] if inside else None


PREFIX = "EVERCRAWL_"
SHORT_NAMES = {"EVERCRAWL_CONTACT": "identity.contact"}
COLLECTION_VARIABLE = "EVERCRAWL_COLLECTION"
CREDENTIALS_VARIABLES = ("EVERCRAWL_CREDENTIALS", "EVERCRAWL_CREDENTIALS_FILE")
DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The settings, and where the value of each key comes from; `distrust`: what is off in the collection."""

    settings: Settings
    origins: Mapping[str, str] = field(default_factory=dict)
    distrust: Distrust | None = None

    def value(self, key: str) -> Any:
        """Return one value by key; raise ConfigError if there is no such setting."""
        known = find_setting(key)
        if key.startswith(SITE_PREFIX):
            pattern = site_key(key)[0]
            own = (getattr(site, known.name) for site in self.settings.sites if site.pattern == pattern)
            return next(own, None)
        return getattr(getattr(self.settings, known.section), known.name)


def read_settings(
    collection: Path | None = None,
    *,
    flags: Mapping[str, object] | None = None,
    env: Mapping[str, str] | None = None,
    untrusted: bool = False,
) -> LoadedSettings:
    """Load the settings of a collection, or without one those of the user; raise ConfigError if one is invalid.
    `env` is the environment; None: that of this process. `untrusted`: do not trust the collection in any case."""
    env = os.environ if env is None else env
    distrust = None
    values = _from_file(user_file(env))
    given = _from_environment(env) | _from_flags(flags or {})
    if collection is not None:
        named = {key: value for key, (value, _) in (values | given).items()}
        distrust = check_collection(collection, env, named=named, untrusted=untrusted)
        own = _from_file(collection_file(collection))
        if distrust is not None:
            own, distrust = _without_trust(own, distrust)
        values.update(own)
    values.update(given)
    _check_order(values)
    sites = [key for key in values if key.startswith(SITE_PREFIX)]
    origins = {key: values.get(key, (None, DEFAULT))[1] for key in (*known_settings(), *sites)}
    return LoadedSettings(replace(_build_settings(values), is_trusted=distrust is None), origins, distrust)


def _without_trust(own: dict[str, tuple[Any, str]], distrust: Distrust) -> tuple[dict[str, tuple[Any, str]], Distrust]:
    """Return what holds of the settings of a collection that is not trusted, and the reason with what is off."""
    off = [key for key in own if key in known_settings() and known_settings()[key].needs_trust]
    files = [what for name, what in OFF_FILES.items() if (distrust.collection / name).exists()]
    return {key: own[key] for key in own if key not in off}, distrust._replace(off=(*files, *off))


SITE_PREFIX = "site."


def site_key(key: str) -> tuple[str, str]:
    """Return pattern and name of a key such as `site.news.example.org.priority`."""
    pattern, _, name = key.removeprefix(SITE_PREFIX).rpartition(".")
    return pattern, name


def _find_site_setting(key: str, place: str | None) -> SettingSpec:
    pattern, name = site_key(key)
    known = site_settings()
    if name not in known:
        raise ConfigError(f"{_at(place)}a site has no setting {name!r}{suggestion(name, known)}")
    try:
        parse_site_pattern(pattern)
    except ConfigError as error:
        raise ConfigError(f"{_at(place)}{error}") from None
    return replace(known[name], key=key, section=f"{SITE_PREFIX}{pattern}")


def find_setting(key: str, place: str | None = None) -> SettingSpec:
    """Return the setting with this key; raise ConfigError with a suggestion if there is none."""
    if key.startswith(SITE_PREFIX):
        return _find_site_setting(key, place)
    known = known_settings()
    if key not in known:
        raise ConfigError(f"{_at(place)}there is no setting {key!r}{suggestion(key, known)}")
    return known[key]


def suggestion(name: str, names: Iterable[str]) -> str:
    """Return `; did you mean …?` for a similar name; otherwise an empty text."""
    close = get_close_matches(name, list(names), n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else ""


def _at(place: str | None) -> str:
    return f"{place}: " if place else ""


def parse_setting(known: SettingSpec, written: object, place: str | None = None) -> Any:
    """Return the typed value; raise ConfigError with the place, the problem and the remedy."""
    try:
        return parse_value(known, written)
    except ValueError as error:
        remedy = f"{known.help} Default: {format_value(known, known.default)}"
        shown = mask_passwords(repr(written))
        raise ConfigError(f"{_at(place)}{known.key} = {shown} cannot be used: it {error}.\n{remedy}") from None


def read_lines(key: str, path: str) -> Iterator[str]:
    """Yield the lines of a file that a setting names; raise ConfigError if it cannot be read."""
    try:
        with Path(path).expanduser().open(encoding="utf-8", errors="replace") as file:
            yield from file
    except OSError as error:
        raise ConfigError(f"{key} {path!r} cannot be read: {error.strerror or error}") from error


def read_host_list(path: str) -> tuple[str, ...]:
    """Return the hosts of a file, one per line; comments and the addresses of hosts files are skipped."""
    named = (line.partition("#")[0].split() for line in read_lines("scope.exclude_hosts_file", path))
    return tuple(dict.fromkeys(words[-1].lower() for words in named if words))


def read_toml(path: Path) -> dict[str, Any]:
    """Return the tables of a TOML file; empty if the file does not exist."""
    try:
        text = path.read_text(encoding="utf-8")
        if LONG_KEY.search(text):
            raise ConfigError(f"{path} has a key of more than {MAX_KEY_PARTS} parts")
        return tomllib.loads(text)
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from error


def _from_file(path: Path) -> dict[str, tuple[Any, str]]:
    values: dict[str, tuple[Any, str]] = {}
    for section, table in read_toml(path).items():
        if (section not in sections() and section != "site") or not isinstance(table, dict):
            names = (*sections(), "site")
            raise ConfigError(f"{path}: there is no section [{section}]{suggestion(section, names)}")
        for name, written in flatten(table).items() if section == "site" else table.items():
            known = find_setting(f"{section}.{name}", str(path))
            values[known.key] = (parse_setting(known, written, str(path)), str(path))
    return values


MAX_NESTED_TABLES = 128  # A host name has at most 127 labels.


def flatten(table: Mapping[str, Any], *, depth: int = 0) -> dict[str, Any]:
    """Return the values of nested tables by dotted key, so that [site.example.org] needs no quotes."""
    if depth > MAX_NESTED_TABLES:
        raise ConfigError(
            f"a table of the settings lies in more than {MAX_NESTED_TABLES} others; no host name is so long"
        )
    found: dict[str, Any] = {}
    for name, value in table.items():
        if isinstance(value, dict):
            found |= {f"{name}.{inner}": one for inner, one in flatten(value, depth=depth + 1).items()}
        else:
            found[name] = value
    return found


def env_variable(key: str) -> str:
    """Return the environment variable of a key: `pace.delay` is EVERCRAWL_PACE__DELAY."""
    return PREFIX + key.replace(".", "__").upper()


def _from_environment(env: Mapping[str, str]) -> dict[str, tuple[Any, str]]:
    keys = {env_variable(key): key for key in known_settings()}
    values: dict[str, tuple[Any, str]] = {}
    for variable in sorted(name for name in env if name.startswith(PREFIX)):
        key = SHORT_NAMES.get(variable) or keys.get(variable)
        if key is None:
            _reject_misspelled(variable, keys)
            continue
        place = f"environment variable {variable}"
        values[key] = (parse_setting(known_settings()[key], env[variable], place), place)
    return values


def _reject_misspelled(variable: str, keys: Mapping[str, str]) -> None:
    """Raise ConfigError for a variable that looks like a setting; ignore others."""
    short = (*SHORT_NAMES, COLLECTION_VARIABLE, TRUST_VARIABLE, *CREDENTIALS_VARIABLES)
    if variable in short:
        return
    if "__" in variable or variable in {name.replace("__", "_") for name in keys}:
        raise ConfigError(f"environment variable {variable} is not a setting{suggestion(variable, keys)}")
    if get_close_matches(variable, short, n=1, cutoff=0.85):
        raise ConfigError(f"environment variable {variable} is not known{suggestion(variable, short)}")


def _from_flags(flags: Mapping[str, object]) -> dict[str, tuple[Any, str]]:
    """Return the values of the given flags, by key."""
    place = "command line"
    return {key: (parse_setting(find_setting(key, place), written, place), place) for key, written in flags.items()}


def _check_order(values: Mapping[str, tuple[Any, str]]) -> None:
    for low, high in ORDERED:
        known = known_settings()
        least, place = values.get(low, (known[low].default, DEFAULT))
        most, other = values.get(high, (known[high].default, DEFAULT))
        if least > most:
            raise ConfigError(
                f"{place if place != DEFAULT else other}: {low} = {format_value(known[low], least)} "
                f"is more than {high} = {format_value(known[high], most)}; change one of the two"
            )


def _build_settings(values: Mapping[str, tuple[Any, str]]) -> Settings:
    parts: dict[str, dict[str, Any]] = {}
    sites: dict[str, dict[str, Any]] = {}
    for key, (value, _) in values.items():
        if key.startswith(SITE_PREFIX):
            pattern, name = site_key(key)
            sites.setdefault(pattern, {})[name] = value
        else:
            section, name = key.split(".")
            parts.setdefault(section, {})[name] = value
    hints = get_type_hints(Settings)
    own = tuple(SiteSettings(pattern=pattern, **table) for pattern, table in sites.items())
    return Settings(**{section: hints[section](**table) for section, table in parts.items()}, sites=own)


log = logging.getLogger("evercrawl")
T = TypeVar("T")


class SettingWatch(Generic[T]):
    """Watches a part of a collection's settings; reads the file only after a change."""

    def __init__(self, collection: Path, known: T, *, name: str, read: Callable[[T, Settings], T]) -> None:
        """`read` returns the new value from the old one and the current settings."""
        self._collection = collection
        self._known = known
        self._name = name
        self._read = read
        self._seen_ns = modified_ns(collection_file(collection))

    def changed(self) -> T | None:
        """Return the new value; None: unchanged, or the file is invalid."""
        moment = modified_ns(collection_file(self._collection))
        if moment == self._seen_ns:
            return None
        self._seen_ns = moment
        try:
            found = self._read(self._known, read_settings(self._collection).settings)
        except ConfigError as error:
            log.warning("the rules for %s are not reloaded: %s", self._name, error)
            return None
        before, self._known = self._known, found
        return None if found == before else found


def watch_trap_rules(collection: Path, settings: TrapSettings) -> SettingWatch[TrapSettings]:
    """Watch the trap rules; other trap settings apply from the next start."""

    def read(known: TrapSettings, found: Settings) -> TrapSettings:
        traps = found.traps
        return replace(known, exclude=traps.exclude, allow=traps.allow, rule_sets=traps.rule_sets)

    return SettingWatch(collection, settings, name="traps", read=read)


Overrides = tuple[tuple[str, ...], tuple[str, ...], tuple[tuple[str, str], ...]]


def watch_rate_overrides(collection: Path, settings: Settings) -> SettingWatch[Overrides]:
    """Watch the minimum delays of single sites, the removed pages and sites, and the user's schedules."""
    return SettingWatch(collection, _overrides(settings), name="sites", read=lambda _, new: _overrides(new))


def _overrides(settings: Settings) -> Overrides:
    schedules = tuple((site.pattern, site.schedule) for site in settings.sites if site.schedule is not None)
    return settings.pace.overrides, settings.scope.removed, schedules
