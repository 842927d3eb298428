"""Which versions of a page stay?

`daily:30 weekly:12 monthly:*` keeps the last version of each of the newest 30 days, 12 weeks and all
months in which there was one. A version stays when any part of the rule keeps it, and the newest in any
case. Days, weeks (ISO 8601, Monday first) and months are those of UTC.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from datetime import datetime
from typing import NamedTuple

from evercrawl.errors import ConfigError

EVERYTHING = "all"
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
    """The last version of each of the newest `most` periods stays; None: of every one."""

    period: str
    most: int | None


def parse_rule(text: str) -> tuple[RetentionPart, ...]:
    """The parts of a rule; ConfigError says what cannot be read. No part at all means: keep everything."""
    if text.strip() == EVERYTHING:
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


def kept_versions(moments: Sequence[datetime], rule: Sequence[RetentionPart]) -> set[int]:
    """The places in `moments` (first sights of versions, oldest first) of those that stay."""
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
