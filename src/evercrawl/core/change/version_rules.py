"""Names of versions (`v3`, `-1` from the end, `7d`, `2026-11-01`: the newest seen until then) and retention rules.
`daily:30 weekly:12 monthly:*` keeps the last version of each of the newest 30 days, 12 weeks and all months in UTC; the
newest version always stays."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from evercrawl.errors import ConfigError
from evercrawl.model.time import parse_time

_NUMBER = re.compile(r"v?(\d{1,9})", re.ASCII)
_REST_OF_SECOND = timedelta(microseconds=999_999)
_FROM_END = re.compile(r"-(\d{1,9})", re.ASCII)


def is_version_name(text: str, *, now: datetime) -> bool:
    """Return whether the text names a version."""
    try:
        choose_version([(1, now)], text, now=now)
    except VersionMissing:
        return True
    except ConfigError:
        return False
    return True


class VersionMissing(ConfigError):
    """The named version does not exist."""


def choose_version(versions: Sequence[tuple[int, datetime]], which: str, *, now: datetime) -> int:
    """Return the index of the named one in `versions` (number and first seen, oldest first)."""
    name = which.strip().removeprefix("@")
    if found := _FROM_END.fullmatch(name):
        return _from_end(versions, int(found[1]), which)
    if found := _NUMBER.fullmatch(name):
        return _numbered(versions, int(found[1]), which)
    return _at_time(versions, parse_time(name, now=now, at_end=True), which)


def _from_end(versions: Sequence[tuple[int, datetime]], back: int, which: str) -> int:
    if back >= len(versions):
        raise VersionMissing(
            f"there is no version {which}: {_count_versions(len(versions))} stored; list them: evercrawl history URL"
        )
    return len(versions) - 1 - back


def _numbered(versions: Sequence[tuple[int, datetime]], number: int, which: str) -> int:
    if number == 0:
        return len(versions) - 1
    for place, (known, _) in enumerate(versions):
        if known == number:
            return place
    first, last = versions[0][0], versions[-1][0]
    raise VersionMissing(
        f"there is no version {which}: {_count_versions(len(versions))} stored, from {first} to {last}; "
        "list them: evercrawl history URL"
    )


def _at_time(versions: Sequence[tuple[int, datetime]], moment: datetime, which: str) -> int:
    if moment.microsecond == 0:
        # Commands print times to the second: a copied time means all of that second.
        moment += _REST_OF_SECOND
    places = [place for place, (_, seen) in enumerate(versions) if seen <= moment]
    if not places:
        raise VersionMissing(
            f"no version is as old as {which}: the first was seen at {versions[0][1]:%Y-%m-%d %H:%M} UTC"
        )
    return places[-1]


def _count_versions(count: int) -> str:
    return "1 version is" if count == 1 else f"{count} versions are"


KEEP_ALL = "all"
_PART = re.compile(r"([a-z]+):(\d{1,6}|\*)", re.ASCII)
_PERIODS: dict[str, Callable[[datetime], Hashable]] = {
    "latest": lambda moment: moment,
    "hourly": lambda moment: (moment.date(), moment.hour),
    "daily": lambda moment: moment.date(),
    "weekly": lambda moment: moment.isocalendar()[:2],
    "monthly": lambda moment: (moment.year, moment.month),
    "yearly": lambda moment: moment.year,
}


class RetentionPart(NamedTuple):
    """Keeps the last version of each of the newest `most` periods; None: of all."""

    period: str
    most: int | None


def parse_retention(text: str) -> tuple[RetentionPart, ...]:
    """Parse a retention rule; raises ConfigError. An empty result keeps everything."""
    if text.strip() == KEEP_ALL:
        return ()
    parts = []
    for word in text.replace(",", " ").split():
        found = _PART.fullmatch(word)
        if found is None or found[1] not in _PERIODS or found[2].strip("0") == "":
            raise ConfigError(
                f"{word!r} is not part of a retention rule; write it like 'daily:30 weekly:12 monthly:*', "
                f"with {', '.join(_PERIODS)} and a number from 1 or *"
            )
        parts.append(RetentionPart(found[1], None if found[2] == "*" else int(found[2])))
    if not parts:
        raise ConfigError("the retention rule is empty; write it like 'daily:30 weekly:12 monthly:*', or 'all'")
    return tuple(parts)


def versions_to_keep(moments: Sequence[datetime], rule: Sequence[RetentionPart]) -> set[int]:
    """Return the indexes of the versions to keep in `moments` (first seen, oldest first)."""
    if not rule or not moments:
        return set(range(len(moments)))
    kept = {len(moments) - 1}
    for part in rule:
        kept |= _kept_by(moments, part)
    return kept


def _kept_by(moments: Sequence[datetime], part: RetentionPart) -> set[int]:
    period_of = _PERIODS[part.period]
    last_of: dict[Hashable, int] = {}
    for place in range(len(moments) - 1, -1, -1):
        period = period_of(moments[place])
        if period not in last_of and part.most is not None and len(last_of) >= part.most:
            break
        last_of.setdefault(period, place)
    return set(last_of.values())
