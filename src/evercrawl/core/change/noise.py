"""What of a text means nothing? Clocks, counts of readers, ages, years of copyright, numbers of requests.

`meaning` takes these out of short texts. Long ones are prose: whatever number stands in a sentence of its
own was written by somebody. `shape` is the text without its numbers and dates, so that two texts of one
shape differ in numbers only.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime, timedelta
from functools import lru_cache
from unicodedata import normalize

from evercrawl.core.change.vocabulary import COUNTED_PEOPLE, COUNTED_TIMES, COUNT_SIGNS, COUNT_WORDS, IDENTITY_WORDS, KEPT_SIGNS, KEPT_WORDS, MONEY, MONTHS, NOW_SIGNS, NOW_WORDS, RELATIVE_TIMES, SMALL_WORDS, WEEKDAYS

SHORT_WORDS = 14
SHORT_CHARS = 140
TINY_WORDS = 7
PROSE_WORDS = 8
"""From this length on a text is a statement rather than a label."""
DENSE_CHARS_PER_WORD = 2
"""In scripts without spaces, roughly."""
MOST_REMEMBERED = 4096
YEAR_DIGITS = 4

_ANY = re.IGNORECASE
_NUMBER = re.compile(r"(?:(?<![\w#])[-+−])?\d(?:[\d.,:/'’+\u00a0\u202f-]|(?<=\d) (?=\d{3}\b))*(?:[kKM]\b|万|億)?")
_CLOCK = re.compile(
    r"\b\d{1,2}(?::|h| h |\.(?=\d{2} ?uhr))\d{2}(?: ?[ap]\.?m\.?\b| ?uhr\b| ?h\b)?"
    r"|\d{1,2}[時时시]\s?\d{1,2}[分분]"
    r"|\b\d{1,2} uhr(?: \d{1,2})?\b",
    _ANY,
)
_STAMP = re.compile(
    r"\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?"
    r"|\b\d{1,2}[:.]\d{2}[:.]\d{2}(?:[.,]\d+)?(?: ?[ap]\.?m\.?\b)?(?![.\d])",
    _ANY,
)
_DATE = re.compile(
    rf"\b(?:\d{{1,2}}(?:st|nd|rd|th|er|º|ª|\.)?\s*(?:de |di |of )?(?:{MONTHS})\b\.?"
    rf"|(?:{MONTHS})\.?\s+\d{{1,2}}(?:st|nd|rd|th)?\b)(?:,?\s*(?:de |del )?\d{{4}}(?: г\.)?)?"
    r"|\b\d{4}[./-]\d{1,2}[./-]\d{1,2}\b|\b\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b"
    r"|(?:\d{2,4}\s?[年년]\s?)?\d{1,2}\s?[月월]\s?\d{1,2}\s?[日일]",
    _ANY,
)
_WEEKDAY = re.compile(
    rf"\b(?:{WEEKDAYS})\b\.?|[月火水木金土日]曜日?|星期[一二三四五六日天]|[월화수목금토일]요일", _ANY
)
_COUNT = re.compile(
    rf"\b(?:{COUNT_WORDS})\b|{COUNT_SIGNS}|{COUNTED_TIMES}|{COUNTED_PEOPLE}", _ANY
)
_KEPT = re.compile(rf"\b(?:{KEPT_WORDS})\b|{KEPT_SIGNS}", _ANY)
_NOW = re.compile(rf"\b(?:{NOW_WORDS})\b|{NOW_SIGNS}", _ANY)
_AGE = re.compile("|".join(f"(?<!\\w)(?:{one})(?!\\w)" for one in RELATIVE_TIMES), _ANY)
_MONTH = re.compile(rf"\b(?:{MONTHS})\b", _ANY)
_MONEY = re.compile(MONEY, _ANY)
_COPYRIGHT = re.compile(r"©|\(c\)|\bcopyright\b", _ANY)
_YEAR = re.compile(r"\b(?:19|20)\d{2}\b")
_IDENTITY = re.compile(rf"\b(?:{IDENTITY_WORDS})\b", _ANY)
_TOKEN = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b(?=\w*\d)(?=\w*[A-Za-z])[\w-]{6,}\b")
_TITLE_COUNT = re.compile(r"^\s*[(\[]\d+\+?[)\]]\s*")
_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200f\u2060\ufeff]")
_DENSE = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_WORD = re.compile(r"[^\W\d_]+")
_SIGNS = re.compile(r"#(?:[\s.,:;/'-]*#)+")
_TYPOGRAPHY = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "…": "..."})


def words_in(text: str) -> float:
    """How many words a text has; in scripts that do not part them, about as many as it would have."""
    dense = len(_DENSE.findall(text)) if not text.isascii() else 0
    return len(text.split()) + dense / DENSE_CHARS_PER_WORD


def is_prose(text: str) -> bool:
    """The text says something, other than a label, a count or a headline would."""
    return words_in(text) >= PROSE_WORDS


def has_money(text: str) -> bool:
    """The text names a price."""
    return _MONEY.search(text) is not None


@lru_cache(maxsize=MOST_REMEMBERED)
def meaning(text: str) -> str:
    """The text without what means nothing, and without spaces; empty where nothing is left."""
    clean = plain(text)
    if len(clean) > SHORT_CHARS or words_in(clean) > SHORT_WORDS:
        return _packed(_unstamped(clean))
    return _short_meaning(clean)


def plain(text: str) -> str:
    """The text in one way of writing its characters."""
    return _INVISIBLE.sub("", text if text.isascii() else normalize("NFKC", text).translate(_TYPOGRAPHY))


def _unstamped(text: str) -> str:
    """The text without times to the second, which only machines write, and the dates beside them."""
    unstamped = _STAMP.sub("#", text)
    return _WEEKDAY.sub("#", _DATE.sub("#", unstamped)) if unstamped != text else text


def _short_meaning(text: str) -> str:
    aged = _AGE.sub("#", text)
    if aged != text and not _says_more(aged):
        return ""
    if _COPYRIGHT.search(aged):
        aged = _YEAR.sub("#", aged)
    if _NUMBER.search(aged) and _COUNT.search(aged) and not _MONEY.search(aged):
        counted = _NUMBER.sub("#", aged)
        return "" if words_in(counted) <= TINY_WORDS else _packed(counted)
    dateless = _without_clock(aged)
    return _packed(_TOKEN.sub("#", dateless) if _IDENTITY.search(dateless) else dateless)


def _without_clock(text: str) -> str:
    """The text without its date and time where it says nothing else, or speaks of the page's upkeep.

    A date alone stays, since it may be that of an event, and so do times alone, which may be opening hours.
    """
    unstamped = _unstamped(text)
    is_stamped = unstamped != text
    dateless = _DATE.sub("#", unstamped)
    has_date = is_stamped or dateless != text
    bare, clocks = _CLOCK.subn("#", dateless)
    if not has_date and not clocks:
        return text
    is_kept = _KEPT.search(bare) is not None
    bare = _WEEKDAY.sub("#", bare)
    if not _says_more(bare) and not _NUMBER.search(bare):
        is_clock = is_stamped or is_kept or (has_date and clocks == 1) or (clocks == 1 and bool(_NOW.search(bare)))
        return "" if is_clock else text
    return bare if is_stamped or is_kept else text


def _says_more(text: str) -> bool:
    """There is a word besides those with which a page speaks of its upkeep."""
    rest = _NOW.sub(" ", _KEPT.sub(" ", text))
    return any(word.lower() not in SMALL_WORDS for word in _WORD.findall(rest))


def _packed(text: str) -> str:
    return "".join(text.split())


@lru_cache(maxsize=MOST_REMEMBERED)
def shape(text: str) -> str:
    """The text with every run of numbers, dates and times replaced by one sign."""
    dateless = _WEEKDAY.sub("#", _DATE.sub("#", _STAMP.sub("#", _TOKEN.sub("#", plain(text)))))
    return _SIGNS.sub("#", _packed(_NUMBER.sub("#", _CLOCK.sub("#", dateless))))


def likeness(one: str, other: str) -> float:
    """The share of the shorter text with which both begin or end, numbers aside: 1 for one shape."""
    first, second = shape(one), shape(other)
    shortest = min(len(first), len(second))
    if not shortest:
        return 0.0
    return min(1.0, (_common(first, second) + _common(first[::-1], second[::-1])) / shortest)


def _common(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginnings, found by halving."""
    same, differs = 0, min(len(one), len(other)) + 1
    while differs - same > 1:
        middle = (same + differs) // 2
        if one[same:middle] == other[same:middle]:
            same = middle
        else:
            differs = middle
    return same


def title_meaning(title: str) -> str:
    """A title without the count of unread things in front."""
    return meaning(_TITLE_COUNT.sub("", title))


def is_todays_date(text: str, *, now: datetime) -> bool:
    """The text names the day of `now`, give or take the time zones."""
    numbers = Counter(int(found) for found in re.findall(r"\d+", text) if len(found) <= YEAR_DIGITS)
    has_month_name = _MONTH.search(text) is not None
    return any(_names_day(numbers, now + timedelta(days=shift), has_month_name=has_month_name) for shift in (-1, 0, 1))


def _names_day(numbers: Counter[int], day: datetime, *, has_month_name: bool) -> bool:
    """Day and month are among the numbers, each for itself, and the year unless the month is written out."""
    if has_month_name:
        return day.day in numbers
    return any(Counter((day.day, day.month, year)) <= numbers for year in (day.year, day.year % 100))
