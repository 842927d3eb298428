"""Dates in text: in figures, in East Asian characters, and with the name of a month in 58 languages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date
from email.utils import parsedate_to_datetime
from functools import lru_cache
from importlib.resources import files
from itertools import islice
from unicodedata import normalize

MONTH_FIRST = frozenset({"en-us", "en-ph", "en-pr", "es-pr"})  # Languages of pages that write 11/18/2026.
MAX_DATE_CHARS = 60  # From the first to the last character of a date with a name.
MAX_FILLER_CHARS = 6  # Of a word between its parts, such as "de" and "gada".
_BUDDHIST_YEARS = range(2400, 2700)  # Thai pages count from 543 years earlier.
_ISO = re.compile(r"(?<!\d)(\d{4})(?:[-/]|\.\s?)(\d{1,2})(?:[-/]|\.\s?)(\d{1,2})(?!\d)")
_NUMERIC = re.compile(r"(?<![\d.,])(\d{1,2})([./-])\s?(\d{1,2})(?:\2\s?|\s(?=\d{4}))(\d{4}|\d{2})(?!\d)")
_EAST_ASIAN = re.compile(r"(令和\s?\d{1,2}|\d{4})\s?[年년]\s?(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日일]")
_YEAR_LAST = re.compile(r"(?<!\d)(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日일]\s?[（(,]\s?(\d{4})(?!\d)")
_VIETNAMESE = re.compile(r"(?<!\d)(\d{1,2})\s(?:tháng|thg)\s(\d{1,2}),?(?:\snăm)?\s(\d{4})(?!\d)", re.IGNORECASE)
_HAS_YEAR = re.compile(r"\d{4}")
_PART = re.compile(
    r"(?<!\d)\d{1,4}(?!\d)|[\u0e00-\u0e7f]+(?:\.[\u0e00-\u0e7f]+)*|[^\W\d_][^\s\d.,،;:/()\[\]|–—_-]{0,20}"
)
_BETWEEN = re.compile(r"[\s.,،/()'’°ºª-]{0,4}")
_Dated = tuple[int, date, int]  # A date with its start and end.
_Part = tuple[str, int, int]  # A word or number with its start and end.


def first_date(text: str, lang: str = "") -> date | None:
    """Return the first date of a text; `3/4/2026` is read as the language does, unless only the other is a date."""
    found = min(dates_in(text, lang), key=lambda one: one[0], default=None)
    return found[1] if found is not None else _mail_date(text)


def dates_in(text: str, lang: str = "") -> Iterator[_Dated]:
    """Yield the first date of each form in a text."""
    for pattern in (_ISO, _EAST_ASIAN, _YEAR_LAST, _VIETNAMESE, _NUMERIC):
        for found in pattern.finditer(text):
            if (day := _date_of(pattern, found, lang in MONTH_FIRST)) is not None:
                yield found.start(), day, found.end()
                break
    if _HAS_YEAR.search(text) is not None:
        yield from islice(_named_dates(text, lang.partition("-")[0]), 1)


def _date_of(pattern: re.Pattern[str], found: re.Match[str], is_month_first: bool) -> date | None:
    if pattern is _NUMERIC:
        day, month = (found[3], found[1]) if is_month_first and found[2] == "/" else (found[1], found[3])
        year = found[4] if len(found[4]) == 4 else f"20{found[4]}"
        return _date(year, month, day) or _date(year, day, month)
    if pattern is _YEAR_LAST:
        return _date(found[3], found[1], found[2])
    if pattern is _VIETNAMESE:
        return _date(found[3], found[2], found[1])
    year = str(2018 + int(found[1][2:])) if found[1].startswith("令和") else found[1]
    return _date(year, found[2], found[3])


def _named_dates(text: str, lang: str) -> Iterator[_Dated]:
    """Yield the dates whose month is a word: 5 March 2026, March 5, 2026, and 2026 March 5, also with short words
    between the parts."""
    parts: list[_Part] = [(found[0], found.start(), found.end()) for found in _PART.finditer(text)]
    for at, (word, _, _) in enumerate(parts):
        month = 0 if word[0].isdecimal() else month_number(word, lang)
        if not month:
            continue
        before, after = _number_beside(text, parts, at, -1), _number_beside(text, parts, at, 1)
        second = _number_beside(text, parts, after, 1) if after is not None else None
        first = _number_beside(text, parts, before, -1) if before is not None else None
        for day, year in ((before, after), (after, second), (after, before), (before, first)):
            if day is None or year is None or len(parts[year][0]) != 4 or len(parts[day][0]) > 2:
                continue
            chosen = [parts[at], parts[day], parts[year]]
            start, end = min(one[1] for one in chosen), max(one[2] for one in chosen)
            found = _date(parts[year][0], month, parts[day][0])
            if found is not None and end - start <= MAX_DATE_CHARS:
                yield start, found, end
                break


def _number_beside(text: str, parts: list[_Part], at: int, step: int) -> int | None:
    """Return the place of the next number, if just short words are between."""
    for place in range(at + step, at + 4 * step, step):
        if not 0 <= place < len(parts):
            return None
        first, last = sorted((place, place - step))
        if _BETWEEN.fullmatch(text, parts[first][2], parts[last][1]) is None:
            return None
        if parts[place][0][0].isdecimal():
            return place
        if len(parts[place][0]) > MAX_FILLER_CHARS:
            return None
    return None


def _date(year: str, month: str | int, day: str) -> date | None:
    number = int(year)
    try:
        return date(number - 543 if number in _BUDDHIST_YEARS else number, int(month), int(day))
    except ValueError:
        return None


def _mail_date(text: str) -> date | None:
    try:
        return parsedate_to_datetime(text.strip()).date()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


# Names of months, from January on; other forms of a name after a slash. Pages also write their first letters alone.

_MONTHS = dict(
    line.split(" ", 1) for line in files("evercrawl.core.fields").joinpath("months.txt").read_text("utf-8").splitlines()
)
_COMMON = 14  # So many languages come first where a name means different months.


@lru_cache(maxsize=1000)
def month_number(word: str, lang: str = "") -> int:
    """Return the month that a word names in the language of a page, or else in any; 0: none."""
    plain = normalize("NFC", word.casefold().replace("i\u0307", "i")).rpartition("'")[2].replace(".", "").rstrip("׳॰")
    if lang in _MONTHS and plain in _starts_of(lang):
        return _starts_of(lang)[plain]
    found = _all_starts().get(plain, 0)
    return found or (_all_starts().get(plain[1:], 0) if plain[:1] == "ב" else 0)  # In Hebrew, "in March" is one word.


@lru_cache(maxsize=100)
def _starts_of(lang: str) -> dict[str, int]:
    """Return the names of a language, and their first letters where these name one month only."""
    names = [(name, month) for month, forms in enumerate(_MONTHS[lang].split(), 1) for name in forms.split("/")]
    starts = ((name[:size], month) for name, month in names for size in range(_least_letters(name), len(name)))
    return _unambiguous(starts) | dict(names)


def _least_letters(name: str) -> int:
    return 3 if name < "\u0590" else 2


def _unambiguous(found: Iterable[tuple[str, int]]) -> dict[str, int]:
    months: dict[str, set[int]] = {}
    for name, month in found:
        months.setdefault(name, set()).add(month)
    return {name: next(iter(some)) for name, some in months.items() if len(some) == 1}


@lru_cache(maxsize=1)
def _all_starts() -> dict[str, int]:
    languages = list(_MONTHS)
    found = _unambiguous(one for lang in languages for one in _starts_of(lang).items())
    for lang in reversed(languages[:_COMMON]):
        found |= _starts_of(lang)
    return found
