"""Is a URL a trap, by what the URL alone can show?

Structural rules first, words only with proof beside them: an alarm on an honest page costs more than a
request. What a URL cannot show (empty calendars, endless counters, facets) is for `harvest.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from evercrawl.core.traps.action import action_of
from evercrawl.core.traps.calendar import YEAR_OF_WRITING, far_date
from evercrawl.core.traps.combination import combines
from evercrawl.core.traps.extent import stutter, too_far, too_large
from evercrawl.core.traps.parts import Parts, parts_of
from evercrawl.core.traps.repetition import nests, repeats
from evercrawl.core.traps.session import session_in


class Verdict(NamedTuple):
    """Whether a URL is a trap, of which class, and why in words."""

    trap: bool
    kind: str = ""
    reason: str = ""


HONEST = Verdict(False)
MOST_REMEMBERED = 4096
"""Verdicts at hand: a link is asked about when its page is judged and again when it enters the queue."""

_RULES: tuple[tuple[str, Callable[[Parts], str | None]], ...] = (
    ("too-large", too_large),
    ("stutter", stutter),
    ("repetition", repeats),
    ("nested-url", nests),
    ("session", session_in),
    ("action", action_of),
    ("combination", combines),
)

KINDS = frozenset(("too-far", "calendar", *(kind for kind, _ in _RULES)))
"""Everything that may be wrong with a URL."""


@lru_cache(maxsize=MOST_REMEMBERED)
def url_verdict(url: str, *, hops: int | None = None, year: int = YEAR_OF_WRITING) -> Verdict:
    """What the URL alone, and its distance from a seed where given, say about it."""
    far = too_far(hops)
    if far is not None:
        return Verdict(True, "too-far", far)
    parts = parts_of(url)
    for kind, rule in _RULES:
        reason = rule(parts)
        if reason is not None:
            return Verdict(True, kind, reason)
    reason = far_date(parts, year=year)
    return HONEST if reason is None else Verdict(True, "calendar", reason)
