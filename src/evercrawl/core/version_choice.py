"""Which version is meant? A number (`v3`), a place from the end (`-1`), or a moment (`7d`, `2026-11-01`).

At a moment the version counts that the page had then: the newest one seen until then. A date means its end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

from evercrawl.core.when import parse_when
from evercrawl.errors import ConfigError

_NUMBER = re.compile(r"v?(\d{1,9})", re.ASCII)
_REST_OF_SECOND = timedelta(microseconds=999_999)
_FROM_END = re.compile(r"-(\d{1,9})", re.ASCII)


def names_version(text: str, *, now: datetime) -> bool:
    """The text can be read as the name of a version."""
    try:
        choose_version([(1, now)], text, now=now)
    except VersionMissing:
        return True
    except ConfigError:
        return False
    return True


class VersionMissing(ConfigError):
    """The text names a version that is not there."""


def choose_version(versions: Sequence[tuple[int, datetime]], which: str, *, now: datetime) -> int:
    """The place in `versions` (number and first sight, oldest first) of the one that is meant."""
    wanted = which.strip().removeprefix("@")
    if found := _FROM_END.fullmatch(wanted):
        return _from_end(versions, int(found[1]), which)
    if found := _NUMBER.fullmatch(wanted):
        return _numbered(versions, int(found[1]), which)
    return _in_force(versions, parse_when(wanted, now=now, at_end=True), which)


def _from_end(versions: Sequence[tuple[int, datetime]], back: int, which: str) -> int:
    if back >= len(versions):
        raise VersionMissing(
            f"there is no version {which}: {_counted(len(versions))} stored; see them with: evercrawl history URL"
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
        f"there is no version {which}: {_counted(len(versions))} stored, from {first} to {last}; "
        "see them with: evercrawl history URL"
    )


def _in_force(versions: Sequence[tuple[int, datetime]], moment: datetime, which: str) -> int:
    if moment.microsecond == 0:
        # Commands print moments to the second: one that was copied from there means all of it.
        moment += _REST_OF_SECOND
    places = [place for place, (_, seen) in enumerate(versions) if seen <= moment]
    if not places:
        raise VersionMissing(
            f"no version is as old as {which}: the first was seen at {versions[0][1]:%Y-%m-%d %H:%M} UTC"
        )
    return places[-1]


def _counted(count: int) -> str:
    return "1 version is" if count == 1 else f"{count} versions are"
