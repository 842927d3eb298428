"""Is a URL larger than any that leads to a page? Limits with names: the last line against what grows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from evercrawl.core.traps.action import action_of
from evercrawl.core.traps.repetition import nests, repeats
from evercrawl.core.traps.url_parts import UrlParts, looks_random, percent_decode, split_url

LONGEST_URL = 2000
"""Characters; longer ones are cut off by servers and caches, and grow by accident."""
MOST_SEGMENTS = 21
"""Twenty folders and a file; the deepest source trees stay below."""
MOST_PARAMETERS = 40
"""A search form with every field filled in stays below."""
MOST_HOPS = 20
"""Links away from a seed."""
LONGEST_RUN = 100
"""The same character or group of up to four over so many characters is no name."""
LONGEST_GROUP = 4


def too_large(parts: UrlParts) -> str | None:
    """In words, which limit the URL breaks; None: none."""
    if len(parts.url) > LONGEST_URL:
        return f"the URL has {len(parts.url)} characters, more than {LONGEST_URL}"
    if len(parts.segments) > MOST_SEGMENTS:
        return f"the path has {len(parts.segments)} segments, more than {MOST_SEGMENTS}"
    if len(parts.pairs) > MOST_PARAMETERS:
        return f"the query has {len(parts.pairs)} parameters, more than {MOST_PARAMETERS}"
    return None


def too_far(hops: int | None) -> str | None:
    """In words, why the page is too far from a seed; None: it is not, or nobody counted."""
    if hops is None or hops <= MOST_HOPS:
        return None
    return f"{hops} links away from a seed, more than {MOST_HOPS}"


def stutter(parts: UrlParts) -> str | None:
    """In words, which segment or value says the same few characters over and over."""
    if len(parts.url) < LONGEST_RUN:
        return None
    for piece in (*parts.segments, *(value for _, value in parts.pairs)):
        # Numbers are filled up with zeros, hashes of nothing are all zeros.
        if len(piece) >= LONGEST_RUN and not piece.isdigit() and _is_periodic(piece[-LONGEST_RUN:]):
            return f"a part that repeats {piece[:LONGEST_GROUP]!r} over {len(piece)} characters"
    return None


def _is_periodic(text: str) -> bool:
    return any(text[period:] == text[:-period] for period in range(1, LONGEST_GROUP + 1))


LEAST_FACETS = 3
"""So many parameters with several values each, ..."""
LEAST_CHOICES = 7
"""... and so many choices in all, are a combination of facets."""
MOST_NUMBERED = 5
"""Facets of one list: f[0]=…&f[1]=…"""
MOST_TAGS = 8
FARTHEST_PAGE = 100_000

_NUMBERED = re.compile(r"([\w\-]+)(?:\[\d*\]|%5b\d*%5d)", re.IGNORECASE)
_TAG_FOLDERS = frozenset(("tag", "tags", "tagged", "label", "labels", "topic", "topics", "schlagwort"))
_PAGE_FOLDERS = frozenset(("page", "pages", "paged", "seite", "pagina"))
_PAGE_NAMES = frozenset(("page", "paged", "pagenum", "page_no", "pageno", "seite"))
_LISTED = re.compile("[,|]")
_JOINT = re.compile(r"[+,|&]|%2c|%2b|%20", re.IGNORECASE)


def combines(parts: UrlParts) -> str | None:
    """In words, which choices the URL combines beyond what somebody links to by hand; None: none."""
    return _facets(parts) or _tags(parts) or _far_page(parts)


def _facets(parts: UrlParts) -> str | None:
    if not parts.pairs:
        return None
    listed = Counter(match[1] for name, _ in parts.pairs if (match := _NUMBERED.fullmatch(name)))
    if listed and (most := listed.most_common(1)[0])[1] > MOST_NUMBERED and _are_choices(parts, most[0]):
        return f"{most[1]} choices in {most[0]}[]"
    names: Counter[str] = Counter()
    for name, value in parts.pairs:
        names[name] += _choices(value)
    several = sum(times > 1 for times in names.values())
    if several >= LEAST_FACETS and names.total() >= LEAST_CHOICES:
        return f"{several} facets with several values each"
    return None


def _choices(value: str) -> int:
    """How many choices a value joins; numbers with commas are a place on a map, or a date."""
    plain = percent_decode(value)
    items = [item for item in _LISTED.split(plain) if item]
    return len(items) if not any(character.isdigit() for character in plain) else 1


def _are_choices(parts: UrlParts, name: str) -> bool:
    """Facets name themselves in the value (`f[0]=color:red`); a list of ids is one question."""
    values = [percent_decode(value) for other, value in parts.pairs if other.startswith(name)]
    return all(":" in value or "=" in value for value in values)


def _tags(parts: UrlParts) -> str | None:
    for folder, segment in zip(parts.segments, parts.segments[1:], strict=False):
        if folder in _TAG_FOLDERS:
            joined = len(_JOINT.findall(segment)) + 1
            if joined > MOST_TAGS:
                return f"{joined} tags joined"
    return None


def _far_page(parts: UrlParts) -> str | None:
    for name, value in parts.pairs:
        if name in _PAGE_NAMES and value.isdigit() and int(value[:12]) >= FARTHEST_PAGE:
            return f"page {value} of a list"
    if len(parts.segments) < 2 or parts.segments[-2] not in _PAGE_FOLDERS:
        return None
    number = parts.segments[-1]
    if number.isdigit() and int(number[:12]) >= FARTHEST_PAGE:
        return f"page {number} of a list"
    return None


LEAST_SURE_CHARS = 4
"""The least length of a value under a name that is used for sessions alone."""

_SURE = re.compile(
    r"(?:j|php|asp|aspx|asp\.net_?|cf|x?oos?|osc|xtc|zen|mod|smf|ci_|cake|laravel_|plack_|rack\.?)?_?"
    r"(?:sess(?:ion)?[_-]?id\w{0,12})|oscsid|xtcsid|modsid|zenid|cftoken|cfid|phpsessid|aspsessionid\w*"
)
_LIKELY = re.compile(r"(?:[a-z]+[_-])?(?:sid|s|sess|session|session[_-]?(?:key|hash|token|id)|sessid|visitor[_-]?id)")
# ASP.NET writes (S(…)), (A(…)S(…)), (X(1)S(…)) and (F(…)) into the path when cookies are off.
_COOKIELESS = re.compile(r"/\((?=[^/]{12,}/)(?:[a-z]\([\w\-]+\))+\)/", re.IGNORECASE)
_NAMED_VALUE = re.compile(r"([a-z.\[\]_\-]*(?:sess|sid)[a-z_\-]*?)[=:~-]([\w\-.]+)\Z", re.IGNORECASE)
_FOLDER_OF_SESSIONS = frozenset(("session", "sessionid", "session_id", "session-id", "sessid", "sid", "sess"))


def session_in(parts: UrlParts) -> str | None:
    """In words, where the URL carries a session; None: nowhere."""
    if "(" in parts.path and _COOKIELESS.search(parts.path):
        return "a session in the path, as ASP.NET writes it without cookies"
    for name, value in _named(parts):
        if _is_session(name, value):
            return f"a session in {name}={value[:12]}…"
    return _in_folder(parts)


def _named(parts: UrlParts) -> Iterator[tuple[str, str]]:
    """Parameters of the query and of the path (`;jsessionid=…`, `/sid=…/`)."""
    yield from parts.pairs
    if ";" in parts.path:
        for piece in parts.path.split(";")[1:]:
            name, equals, value = piece.partition("=")
            if equals:
                yield name.lower(), value.partition("/")[0]
    for segment in parts.segments:
        if "si" in segment or "ses" in segment:
            match = _NAMED_VALUE.match(segment)
            if match is not None:
                yield match[1], match[2]


def _is_session(name: str, value: str) -> bool:
    name = percent_decode(name)
    if _LIKELY.fullmatch(name) and looks_random(value):
        return True
    return bool(_SURE.fullmatch(name)) and _is_sure(name, value)


def _is_sure(name: str, value: str) -> bool:
    """`session_id=17` is a talk at a conference; `jsessionid=17` is not."""
    if name in ("sessionid", "session_id", "session-id", "sessid", "sess_id"):
        return looks_random(value)
    return len(value) >= LEAST_SURE_CHARS


def _in_folder(parts: UrlParts) -> str | None:
    """/session/3f0c…/page: the folder's name says it, the value is drawn by lot, and something follows."""
    for before, value in zip(parts.segments[:-2], parts.segments[1:-1], strict=True):
        if before in _FOLDER_OF_SESSIONS and looks_random(value):
            return f"a session in the folder /{before}/{value[:12]}…/"
    return None


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


def far_date(parts: UrlParts, *, year: int = YEAR_OF_WRITING) -> str | None:
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


def _has_odd_number(parts: UrlParts, *, year: int) -> bool:
    """Most URLs hold no number that could be a far year: they need no closer look."""
    numbers = _LONG_NUMBER.findall(parts.path) + _LONG_NUMBER.findall(parts.query)
    return any(len(number) > 4 or not EARLIEST_YEAR <= int(number) <= year + YEARS_AHEAD for number in numbers)


def _names_of(parts: UrlParts) -> frozenset[str]:
    named = (_WORDS.findall(segment) for segment in parts.segments)
    words = {word for found in named if len(found) <= MOST_WORDS for word in found}
    views = {value.lower() for name, value in parts.pairs if name in ("view", "mode", "display", "show")}
    plugins = {word for name, _ in parts.pairs for word in _WORDS.findall(name) if word in ("cal", "calendar")}
    return frozenset(words | views | plugins)


def _in_path(parts: UrlParts) -> Iterator[_Written]:
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


def _in_query(parts: UrlParts, *, is_calendar: bool) -> Iterator[_Written]:
    names = {name for name, _ in parts.pairs}
    for name, raw in parts.pairs:
        value = percent_decode(raw).lower()
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


class UrlVerdict(NamedTuple):
    """Whether a URL is a trap, of which class, and why in words."""

    trap: bool
    kind: str = ""
    reason: str = ""


NO_TRAP = UrlVerdict(False)
MOST_REMEMBERED = 4096
"""Verdicts at hand: a link is asked about when its page is judged and again when it enters the queue."""

_RULES: tuple[tuple[str, Callable[[UrlParts], str | None]], ...] = (
    ("too-large", too_large),
    ("stutter", stutter),
    ("repetition", repeats),
    ("nested-url", nests),
    ("session", session_in),
    ("action", action_of),
    ("combination", combines),
)

URL_TRAP_CLASSES = frozenset(("too-far", "calendar", *(kind for kind, _ in _RULES)))
"""Everything that may be wrong with a URL."""


@lru_cache(maxsize=MOST_REMEMBERED)
def url_verdict(url: str, *, hops: int | None = None, year: int = YEAR_OF_WRITING) -> UrlVerdict:
    """What the URL alone, and its distance from a seed where given, say about it."""
    far = too_far(hops)
    if far is not None:
        return UrlVerdict(True, "too-far", far)
    parts = split_url(url)
    for kind, rule in _RULES:
        reason = rule(parts)
        if reason is not None:
            return UrlVerdict(True, kind, reason)
    reason = far_date(parts, year=year)
    return NO_TRAP if reason is None else UrlVerdict(True, "calendar", reason)
