"""A span of days in words, for sentences: 40 minutes, 5 hours, 9 days, 7 months."""

from __future__ import annotations

_UNITS = ((365.25, "year"), (30.44, "month"), (1.0, "day"), (1.0 / 24.0, "hour"), (1.0 / 1440.0, "minute"))
_SMALLEST_COUNT = 2.0
"""A unit is used from so many of it on, so that little is lost by rounding."""


def in_words(days: float) -> str:
    """The span, rounded to a whole number of a fitting unit."""
    for size, name in _UNITS:
        if days >= _SMALLEST_COUNT * size:
            return f"{round(days / size)} {name}s"
    seconds = days * 86_400.0
    return "2 minutes" if seconds >= 90.0 else f"{seconds:.0f} seconds"


def every(days: float) -> str:
    """How often: `every 9 days`, `every day`, `every hour`."""
    for size, name in _UNITS:
        if abs(days - size) < 0.1 * size:
            return f"every {name}"
    return f"every {in_words(days)}"
