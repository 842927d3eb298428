"""Decide whether a URL is a trap from the URL alone.
Structural rules come first. A word counts only with proof beside it: a false alarm costs more than a request. What a
URL cannot show (empty calendars, endless counters, facets) is left to `trap_state`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from evercrawl.core.traps.action import action_of
from evercrawl.core.traps.repetition import nesting, repetition
from evercrawl.core.traps.url_parts import UrlParts, looks_random, percent_decode, split_url

MAX_URL_CHARS = 2000  # Characters. Servers and caches cut longer URLs.
MAX_SEGMENTS = 21  # Twenty folders and a file. The deepest source trees stay below.
MAX_PARAMETERS = 40  # A search form with every field filled in stays below.
MAX_HOPS = 20  # Links away from a seed.
MAX_RUN = 100  # Characters over which a group of up to four repeats.
MAX_GROUP = 4


def too_large(parts: UrlParts) -> str | None:
    """Return the limit that the URL breaks, if any."""
    if len(parts.url) > MAX_URL_CHARS:
        return f"the URL has {len(parts.url)} characters, more than {MAX_URL_CHARS}"
    if len(parts.segments) > MAX_SEGMENTS:
        return f"the path has {len(parts.segments)} segments, more than {MAX_SEGMENTS}"
    if len(parts.pairs) > MAX_PARAMETERS:
        return f"the query has {len(parts.pairs)} parameters, more than {MAX_PARAMETERS}"
    return None


def too_far(hops: int | None) -> str | None:
    """Return why the page is too far from a seed, if it is."""
    return None if hops is None or hops <= MAX_HOPS else f"{hops} links away from a seed, more than {MAX_HOPS}"


def stutter(parts: UrlParts) -> str | None:
    """Return the segment or value that repeats a few characters, if any."""
    if len(parts.url) < MAX_RUN:
        return None
    for piece in (*parts.segments, *(value for _, value in parts.pairs)):
        # Numbers are padded with zeros, and some hashes are all zeros.
        if len(piece) >= MAX_RUN and not piece.isdigit() and _is_periodic(piece[-MAX_RUN:]):
            return f"a part that repeats {piece[:MAX_GROUP]!r} over {len(piece)} characters"
    return None


def _is_periodic(text: str) -> bool:
    return any(text[period:] == text[:-period] for period in range(1, MAX_GROUP + 1))


MIN_FACETS = 3  # Parameters with several values each, ...
MIN_CHOICES = 7  # ... and choices in all, that make a combination of facets.
MAX_NUMBERED = 5  # Facets of one list: f[0]=…&f[1]=…
MAX_TAGS = 8
MAX_PAGE_NUMBER = 100_000

_NUMBERED = re.compile(r"([\w\-]+)(?:\[\d*\]|%5b\d*%5d)", re.IGNORECASE)
_TAG_FOLDERS = frozenset(("tag", "tags", "tagged", "label", "labels", "topic", "topics", "schlagwort"))
_PAGE_FOLDERS = frozenset(("page", "pages", "paged", "seite", "pagina"))
_PAGE_NAMES = frozenset(("page", "paged", "pagenum", "page_no", "pageno", "seite"))
_LISTED = re.compile("[,|]")
_JOINT = re.compile(r"[+,|&]|%2c|%2b|%20", re.IGNORECASE)


def combination(parts: UrlParts) -> str | None:
    """Return the choices that the URL combines beyond what people link to, if any."""
    return _facets(parts) or _tags(parts) or _far_page(parts)


def _facets(parts: UrlParts) -> str | None:
    if not parts.pairs:
        return None
    listed = Counter(match[1] for name, _ in parts.pairs if (match := _NUMBERED.fullmatch(name)))
    if listed and (most := listed.most_common(1)[0])[1] > MAX_NUMBERED and _are_choices(parts, most[0]):
        return f"{most[1]} choices in {most[0]}[]"
    names: Counter[str] = Counter()
    for name, value in parts.pairs:
        names[name] += _choices(value)
    several = sum(times > 1 for times in names.values())
    if several >= MIN_FACETS and names.total() >= MIN_CHOICES:
        return f"{several} facets with several values each"
    return None


def _choices(value: str) -> int:
    """Count the choices in a value. Numbers with commas are coordinates or a date."""
    plain = percent_decode(value)
    items = [item for item in _LISTED.split(plain) if item]
    return len(items) if not any(character.isdigit() for character in plain) else 1


def _are_choices(parts: UrlParts, name: str) -> bool:
    """Facets name themselves in the value (`f[0]=color:red`). A list of ids does not."""
    values = [percent_decode(value) for other, value in parts.pairs if other.startswith(name)]
    return all(":" in value or "=" in value for value in values)


def _tags(parts: UrlParts) -> str | None:
    for folder, segment in zip(parts.segments, parts.segments[1:], strict=False):
        if folder in _TAG_FOLDERS:
            joined = len(_JOINT.findall(segment)) + 1
            if joined > MAX_TAGS:
                return f"{joined} tags joined"
    return None


def _far_page(parts: UrlParts) -> str | None:
    for name, value in parts.pairs:
        if name in _PAGE_NAMES and value.isdigit() and int(value[:12]) >= MAX_PAGE_NUMBER:
            return f"page {value} of a list"
    if len(parts.segments) < 2 or parts.segments[-2] not in _PAGE_FOLDERS:
        return None
    number = parts.segments[-1]
    return f"page {number} of a list" if number.isdigit() and int(number[:12]) >= MAX_PAGE_NUMBER else None


MIN_SESSION_CHARS = 4  # Minimum length of a value whose name is only used for sessions.

_SURE = re.compile(
    r"(?:j|php|asp|aspx|asp\.net_?|cf|x?oos?|osc|xtc|zen|mod|smf|ci_|cake|laravel_|plack_|rack\.?)?_?"
    r"(?:sess(?:ion)?[_-]?id\w{0,12})|oscsid|xtcsid|modsid|zenid|cftoken|cfid|phpsessid|aspsessionid\w*"
)
_LIKELY = re.compile(r"(?:[a-z]+[_-])?(?:sid|s|sess|session|session[_-]?(?:key|hash|token|id)|sessid|visitor[_-]?id)")
# ASP.NET writes (S(…)), (A(…)S(…)), (X(1)S(…)) and (F(…)) into the path when cookies are off.
_COOKIELESS = re.compile(r"/\((?=[^/]{12,}/)(?:[a-z]\([\w\-]+\))+\)/", re.IGNORECASE)
_NAMED_VALUE = re.compile(r"([a-z.\[\]_\-]{0,40}(?:sess|sid)[a-z_\-]{0,40}?)[=:~-]([\w\-.]+)\Z", re.IGNORECASE)
_FOLDER_OF_SESSIONS = frozenset(("session", "sessionid", "session_id", "session-id", "sessid", "sid", "sess"))


def session_in(parts: UrlParts) -> str | None:
    """Return where the URL carries a session id, if it does.
    A name with other meanings (`sid`, `s`, `session`) counts only with a random value."""
    if "(" in parts.path and _COOKIELESS.search(parts.path):
        return "a session in the path, as ASP.NET writes it without cookies"
    for name, value in _named(parts):
        if _is_session(name, value):
            return f"a session in {name}={value[:12]}…"
    return _in_folder(parts)


def _named(parts: UrlParts) -> Iterator[tuple[str, str]]:
    """Yield the parameters of the query and of the path (`;jsessionid=…`, `/sid=…/`)."""
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
    """`session_id=17` may be a conference talk; `jsessionid=17` is not."""
    if name in ("sessionid", "session_id", "session-id", "sessid", "sess_id"):
        return looks_random(value)
    return len(value) >= MIN_SESSION_CHARS


def _in_folder(parts: UrlParts) -> str | None:
    """Find /session/3f0c…/page: a telling folder, a random value, and something after it."""
    for before, value in zip(parts.segments[:-2], parts.segments[1:-1], strict=True):
        if before in _FOLDER_OF_SESSIONS and looks_random(value):
            return f"a session in the folder /{before}/{value[:12]}…/"
    return None


CURRENT_YEAR = 2026  # The present, for callers without a clock.
YEARS_AHEAD = 20  # A calendar that shows a later year invents it.
EARLIEST_YEAR = 1900  # An event calendar that shows an earlier year invents it.
YEARS_AHEAD_ANYWHERE = 100
EARLIEST_ANYWHERE = 1400  # Archives outside calendars go back to the first prints.
MAX_EPOCH_DIGITS = 13
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
_EVENTS = frozenset((
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
MAX_CALENDAR_WORDS = 2  # `/event-calendar/` is a calendar; `/on-this-day/` and `/what-a-day-it-was/` are not.


class _Date(NamedTuple):
    year: int
    whole: bool  # True for year, month and day, or a form only used for dates.
    alone: bool  # True where only a date makes sense, so no word must say so.


def far_date(parts: UrlParts, *, year: int = CURRENT_YEAR) -> str | None:
    """Return the date that is too far away for a calendar, if any.
    Only a complete date counts, never a bare number: `/events/2187` is an event, `/calendar/2187/11/` a month."""
    if not _has_odd_number(parts, year=year):
        return None
    words = _names_of(parts)
    is_calendar, is_event = bool(words & _CALENDARS), bool(words & _EVENTS)
    for date in (*_in_path(parts), *_in_query(parts, is_calendar=is_calendar or is_event)):
        sure = is_calendar or (is_event and date.whole)
        if not sure and not date.alone:
            continue
        first = EARLIEST_YEAR if sure else EARLIEST_ANYWHERE
        last = year + (YEARS_AHEAD if sure else YEARS_AHEAD_ANYWHERE)
        if not first <= date.year <= last:
            return f"a calendar in the year {date.year}"
    return None


def _has_odd_number(parts: UrlParts, *, year: int) -> bool:
    """Most URLs contain no number that could be a distant year."""
    numbers = _LONG_NUMBER.findall(parts.path) + _LONG_NUMBER.findall(parts.query)
    return any(len(number) > 4 or not EARLIEST_YEAR <= int(number) <= year + YEARS_AHEAD for number in numbers)


def _names_of(parts: UrlParts) -> frozenset[str]:
    named = (_WORDS.findall(segment) for segment in parts.segments)
    words = {word for found in named if len(found) <= MAX_CALENDAR_WORDS for word in found}
    views = {value.lower() for name, value in parts.pairs if name in ("view", "mode", "display", "show")}
    plugins = {word for name, _ in parts.pairs for word in _WORDS.findall(name) if word in ("cal", "calendar")}
    return frozenset(words | views | plugins)


def _in_path(parts: UrlParts) -> Iterator[_Date]:
    """Yield the dates in the path. A title after the date means that somebody wrote about that day."""
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


def _year_first(segments: tuple[str, ...], year: int, *, alone: bool) -> Iterator[_Date]:
    if len(segments) > 1 and (segments[1] in _MONTHS or _is_number(segments[1], most=12)):
        whole = len(segments) > 2 and _is_number(segments[2], most=31) and len(segments[1]) > 1
        yield _Date(year, whole, whole and alone)


def _is_number(text: str, *, most: int) -> bool:
    return text.isdigit() and len(text) <= 2 and 1 <= int(text) <= most


def _whole_text(text: str, *, alone: bool) -> Iterator[_Date]:
    match = _ISO.match(text)
    if match is not None:
        whole = match[3] is not None and len(match[2]) == 2 and len(match[3]) == 2
        yield _Date(int(match[1]), whole, whole and alone)
        return
    match = _WEEK.match(text) or _EUROPEAN.match(text)
    if match is not None:
        yield _Date(int(match[1]), True, alone)


def _in_query(parts: UrlParts, *, is_calendar: bool) -> Iterator[_Date]:
    names = {name for name, _ in parts.pairs}
    for name, raw in parts.pairs:
        value = percent_decode(raw).lower()
        if name in _YEAR_NAMES and _YEAR.match(value):
            if is_calendar or names & _MONTH_NAMES:
                both = bool(names & _MONTH_NAMES)
                yield _Date(int(value), both, both)
        elif _DATE_NAMES.fullmatch(name) or (is_calendar and _ISO.match(value)):
            yield from _whole_text(value.replace("/", "-"), alone=True)
            if is_calendar:
                yield from _digits_alone(value)


def _digits_alone(value: str) -> Iterator[_Date]:
    """20310501, 203105, or seconds or milliseconds since 1970."""
    compact = _COMPACT.match(value)
    if compact is not None:
        yield _Date(int(compact[1]), True, False)
    elif value.isdigit() and 10 <= len(value) <= MAX_EPOCH_DIGITS:
        seconds = int(value) // 1000 if len(value) == MAX_EPOCH_DIGITS else int(value)
        yield _Date(1970 + seconds // SECONDS_PER_YEAR, True, False)


class UrlVerdict(NamedTuple):
    """Whether a URL is a trap, of which class, and why."""

    trap: bool
    kind: str = ""
    reason: str = ""

    @property
    def is_certain(self) -> bool:
        """True if no page is lost without the URL. The others are fetched last, and their results decide."""
        return self.trap and self.kind not in UNCERTAIN_CLASSES


UNCERTAIN_CLASSES = frozenset(("session", "combination", "calendar"))
"""Classes whose URLs may be the only way to a page: a session in every link, an old diary, products behind filters."""
NO_TRAP = UrlVerdict(False)
CACHED_VERDICTS = 4096  # Cached verdicts. A link is checked on its page and again when it enters the queue.

_RULES: tuple[tuple[str, Callable[[UrlParts], str | None]], ...] = (
    ("too-large", too_large),
    ("stutter", stutter),
    ("repetition", repetition),
    ("nested-url", nesting),
    ("session", session_in),
    ("action", action_of),
    ("combination", combination),
)

URL_TRAP_CLASSES = frozenset(("too-far", "calendar", *(kind for kind, _ in _RULES)))
"""Every class of trap that a URL can show."""


@lru_cache(maxsize=CACHED_VERDICTS)
def url_verdict(url: str, *, hops: int | None = None, year: int = CURRENT_YEAR) -> UrlVerdict:
    """Judge a URL by itself and, if given, its distance from a seed."""
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
