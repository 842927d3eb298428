"""When and where does a meta refresh lead? HTML standard, "shared declarative refresh steps"."""

from __future__ import annotations

import re
from typing import NamedTuple

LONGEST_DELAY_DIGITS = 9

_DELAY = re.compile(r"[\t\n\f\r ]*(?:([0-9]+)|(?=\.))[0-9.]*")
_SEPARATOR = re.compile(r"(?:[;,]|[\t\n\f\r ])")
_GAP = re.compile(r"[\t\n\f\r ]*[;,]?[\t\n\f\r ]*")
_URL_NAME = re.compile(r"url[\t\n\f\r ]*=[\t\n\f\r ]*", re.IGNORECASE)


class RefreshTarget(NamedTuple):
    """Whole seconds, and the reference as written; empty: the page itself."""

    delay: int
    reference: str


def parse_refresh(content: str) -> RefreshTarget | None:
    """What the content of a refresh says; None where browsers would ignore it."""
    match = _DELAY.match(content)
    if match is None:
        return None
    delay = int((match[1] or "0")[:LONGEST_DELAY_DIGITS])
    at = match.end()
    if at < len(content) and not _SEPARATOR.match(content, at):
        return None
    gap = _GAP.match(content, at)
    rest = content[gap.end() if gap else at :]
    return RefreshTarget(delay, _target(rest))


def _target(rest: str) -> str:
    name = _URL_NAME.match(rest)
    if name is not None:
        rest = rest[name.end() :]
    if rest[:1] in ('"', "'"):
        return rest[1:].partition(rest[0])[0]
    return rest
