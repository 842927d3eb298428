"""Does a URL ask a calendar for a day that nobody wrote anything about?

Only a written date counts, never a bare number: `/events/2187` is an event, `/calendar/2187/11/` a month.
How far is too far depends on how sure it is that a calendar answers: old newspapers and forecasts are honest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from evercrawl.core.traps.parts import Parts, unescaped

YEAR_OF_WRITING = 2026
"""Taken for the present where the caller has no clock; callers with one hand in theirs."""
YEARS_AHEAD = 20
"""A calendar that shows a later year invents it."""
EARLIEST_YEAR = 1900
"""A calendar of events that shows an earlier year invents it."""
YEARS_AHEAD_ANYWHERE = 100
EARLIEST_ANYWHERE = 1400
"""Dates outside of anything called a calendar: archives go back to the first prints."""
LONGEST_EPOCH_DIGITS = 13
SECONDS_PER_YEAR = 31_556_952

_MONTHS = frozenset((
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    "january", "february", "march", "april", "june", "july", "august", "september", "october", "november",
    "december",
))  # fmt: skip
_CALENDARS = frozenset((
    "calendar", "calendars", "cal", "kalender", "calendrier", "calendario", "agenda", "diary", "planner",
    "schedule", "timetable", "day", "week", "month", "daily", "weekly", "monthly", "ical", "webcal",
    "woche", "monat", "jour", "semaine", "mois",
))  # fmt: skip
_HAPPENINGS = frozenset((
    "event", "events", "happenings", "veranstaltungen", "veranstaltung", "termine", "evenements", "eventos",
    "booking", "bookings", "availability", "reservation", "reservations", "appointments", "whatson",
))  # fmt: skip
_DATE_NAMES = re.compile(
    r"(?:\w*[_\-])?(?:date|day|datum|fecha|jour|from|to|start|end|since|until|d|dt|when|time|ts|month|mon|week)"
)
_YEAR_NAMES = frozenset(("y", "yr", "year", "jahr", "annee", "ano", "cal_year", "calyear", "yyyy"))
_MONTH_NAMES = frozenset(("m", "mo", "mon", "month", "monat", "mois", "mes", "mm", "week", "w", "cal_month"))
_YEAR = re.compile(r"\d{4,6}\Z")
_ISO = re.compile(r"(\d{4,6})[-._](0?[1-9]|1[0-2])(?:[-._](0?[1-9]|[12]\d|3[01]))?(?:[t ].*)?\Z")
_WEEK = re.compile(r"(\d{4,6})-?w[0-5]\d\Z", re.IGNORECASE)
_EUROPEAN = re.compile(r"(?:0?[1-9]|[12]\d|3[01])[-./](?:0?[1-9]|[12]\d|3[01])[-./](\d{4,6})\Z")
_COMPACT = re.compile(r"(\d{4})(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])?\Z")
_WORDS = re.compile(r"[a-z]+")
_LONG_NUMBER = re.compile(r"\d{4,}")
MOST_WORDS = 2
"""`/event-calendar/` calls itself a calendar, `/on-this-day/` and `/what-a-day-it-was/` do not."""


class _Written(NamedTuple):
    year: int
    whole: bool
    """Year, month and day, or written in a form that is used for dates alone."""
    alone: bool
    """It stands where nothing but a date would, so that no word has to say what it is."""


def far_date(parts: Parts, *, year: int = YEAR_OF_WRITING) -> str | None:
    """In words, which date is too far away for what seems to be a calendar; None: none."""
    if not _has_odd_number(parts, year=year):
        return None
    calls_itself = _names_of(parts)
    is_calendar, is_happening = bool(calls_itself & _CALENDARS), bool(calls_itself & _HAPPENINGS)
    for written in (*_in_path(parts), *_in_query(parts, is_calendar=is_calendar or is_happening)):
        sure = is_calendar or (is_happening and written.whole)
        if not sure and not written.alone:
            continue
        first = EARLIEST_YEAR if sure else EARLIEST_ANYWHERE
        last = year + (YEARS_AHEAD if sure else YEARS_AHEAD_ANYWHERE)
        if not first <= written.year <= last:
            return f"a calendar in the year {written.year}"
    return None


def _has_odd_number(parts: Parts, *, year: int) -> bool:
    """Most URLs hold no number that could be a far year: they need no closer look."""
    numbers = _LONG_NUMBER.findall(parts.path) + _LONG_NUMBER.findall(parts.query)
    return any(len(number) > 4 or not EARLIEST_YEAR <= int(number) <= year + YEARS_AHEAD for number in numbers)


def _names_of(parts: Parts) -> frozenset[str]:
    named = (_WORDS.findall(segment) for segment in parts.segments)
    words = {word for found in named if len(found) <= MOST_WORDS for word in found}
    views = {value.lower() for name, value in parts.pairs if name in ("view", "mode", "display", "show")}
    plugins = {word for name, _ in parts.pairs for word in _WORDS.findall(name) if word in ("cal", "calendar")}
    return frozenset(words | views | plugins)


def _in_path(parts: Parts) -> Iterator[_Written]:
    """Dates in the path; what follows a date must not be a title, else somebody wrote about that day."""
    segments = parts.segments
    for place, segment in enumerate(segments):
        if not any(character.isdigit() for character in segment) or _has_title(segments[place + 1 :]):
            continue
        if _YEAR.match(segment):
            yield from _year_first(segments[place : place + 3], int(segment), alone=place == 0)
        else:
            bare = segment.partition(".")[0] if segment.count(".") == 1 else segment
            yield from _whole_text(bare, alone=place == 0)


def _has_title(after: tuple[str, ...]) -> bool:
    return any(segment.count("-") + segment.count("_") >= 2 and not _ISO.match(segment) for segment in after)


def _year_first(segments: tuple[str, ...], year: int, *, alone: bool) -> Iterator[_Written]:
    if len(segments) > 1 and _is_month(segments[1]):
        whole = len(segments) > 2 and _is_day(segments[2]) and len(segments[1]) > 1
        yield _Written(year, whole, whole and alone)


def _is_month(text: str) -> bool:
    return text in _MONTHS or (text.isdigit() and len(text) <= 2 and 1 <= int(text) <= 12)


def _is_day(text: str) -> bool:
    return text.isdigit() and len(text) <= 2 and 1 <= int(text) <= 31


def _whole_text(text: str, *, alone: bool) -> Iterator[_Written]:
    match = _ISO.match(text)
    if match is not None:
        whole = match[3] is not None and len(match[2]) == 2 and len(match[3]) == 2
        yield _Written(int(match[1]), whole, whole and alone)
        return
    match = _WEEK.match(text) or _EUROPEAN.match(text)
    if match is not None:
        yield _Written(int(match[1]), True, alone)


def _in_query(parts: Parts, *, is_calendar: bool) -> Iterator[_Written]:
    names = {name for name, _ in parts.pairs}
    for name, raw in parts.pairs:
        value = unescaped(raw).lower()
        if name in _YEAR_NAMES and _YEAR.match(value):
            if is_calendar or names & _MONTH_NAMES:
                both = bool(names & _MONTH_NAMES)
                yield _Written(int(value), both, both)
        elif _DATE_NAMES.fullmatch(name) or (is_calendar and _ISO.match(value)):
            yield from _whole_text(value.replace("/", "-"), alone=True)
            if is_calendar:
                yield from _digits_alone(value)


def _digits_alone(value: str) -> Iterator[_Written]:
    """20310501, 203105, or seconds (milliseconds) since 1970."""
    compact = _COMPACT.match(value)
    if compact is not None:
        yield _Written(int(compact[1]), True, False)
    elif value.isdigit() and 10 <= len(value) <= LONGEST_EPOCH_DIGITS:
        seconds = int(value) // 1000 if len(value) == LONGEST_EPOCH_DIGITS else int(value)
        yield _Written(1970 + seconds // SECONDS_PER_YEAR, True, False)
