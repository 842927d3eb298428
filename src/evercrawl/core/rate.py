"""How many requests a day does a written rate allow? `1000/day`, `50/hour`, or a bare number a day."""

from __future__ import annotations

import re

MEANING = "a number of requests such as 1000/day, 50/hour or 1000 (a day)"
"""What a rate must be, in words that follow "must be"."""
MOST_PER_DAY = 1e12
"""A larger rate is taken for a slip of the pen."""

_PER_DAY = {
    "week": 1.0 / 7.0, "w": 1.0 / 7.0,
    "day": 1.0, "d": 1.0,
    "hour": 24.0, "h": 24.0,
    "minute": 1440.0, "min": 1440.0, "m": 1440.0,
    "second": 86_400.0, "s": 86_400.0,
}  # fmt: skip
_RATE = re.compile(r"(\d[\d_,]*(?:\.\d+)?|\.\d+)\s*(?:(?:/|per\s)\s*([a-z]+))?", re.IGNORECASE | re.ASCII)


def parse_rate(text: str) -> float:
    """Requests a day, more than 0; ValueError says what the text must be."""
    found = _RATE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"must be {MEANING}")
    unit = (found[2] or "day").lower()
    if unit not in _PER_DAY:
        raise ValueError(f"must be {MEANING}; there is no {unit!r}, but day, hour, minute, second and week")
    per_day = float(re.sub("[_,]", "", found[1])) * _PER_DAY[unit]
    if not 0.0 < per_day <= MOST_PER_DAY:
        raise ValueError(f"must be {MEANING}, more than 0")
    return per_day


def is_absolute(text: str) -> bool:
    """The text names a span of time: requests in all, not requests per page and day."""
    return "/" in text or "per" in text.lower()
