"""Typed values in text: numbers with units and currencies in any notation, and dates."""

from __future__ import annotations

import re
from datetime import date
from email.utils import parsedate_to_datetime
from typing import NamedTuple

MAX_TEXT_CHARS = 500  # Of the text that is searched for a number or a date.
_NUMBER = re.compile(
    r"(?P<sign>[-+−–](?=[^\d\s]{0,4}\s?\d))?\s?(?P<before>[^\W\d_]{1,4}\.?|[$€£¥₹₽₩₺₴₫฿₪₱₦₡₲])?\s?"
    r"(?P<minus>[-−])?(?P<digits>\d{1,40}(?:[ .,'’\u00a0\u202f]\d{1,20}){0,12})"
    r"\s?(?P<after>%|‰|°[CF]?|[$€£¥₹₽₩₺₴₫฿₪₱₦₡₲]|[^\W\d_]{1,12}(?:/[^\W\d_]{1,6})?)?"
)
_CURRENCIES = {
    "$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₽": "RUB", "₩": "KRW", "₺": "TRY", "₴": "UAH",
    "₫": "VND", "฿": "THB", "₪": "ILS", "₱": "PHP", "₦": "NGN", "₡": "CRC", "₲": "PYG", "us$": "USD", "a$": "AUD",
    "c$": "CAD", "eur": "EUR", "euro": "EUR", "euros": "EUR", "usd": "USD", "gbp": "GBP", "chf": "CHF", "fr": "CHF",
    "sek": "SEK", "nok": "NOK", "dkk": "DKK", "pln": "PLN", "zł": "PLN", "zl": "PLN", "kč": "CZK", "czk": "CZK",
    "ft": "HUF", "huf": "HUF", "jpy": "JPY", "cny": "CNY", "rmb": "CNY", "inr": "INR", "aud": "AUD", "cad": "CAD",
    "brl": "BRL", "r$": "BRL", "mxn": "MXN", "lei": "RON", "ron": "RON", "円": "JPY", "元": "CNY", "원": "KRW",
}  # fmt: skip
_NO_BREAK = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "’": "'", "−": "-", "–": "-"})


class NumberValue(NamedTuple):
    """A number and its unit: an ISO 4217 currency, % or a word; None: no unit."""

    number: int | float
    unit: str | None = None


def find_number(text: str) -> NumberValue | None:
    """Return the first number of a text with its unit; None if there is none."""
    found = _NUMBER.search(text[:MAX_TEXT_CHARS].translate(_NO_BREAK))
    if found is None:
        return None
    number = _parse_digits(found["digits"])
    if found["sign"] == "-" or found["minus"]:
        number = -number
    before, after = (found["before"] or "").rstrip("."), found["after"] or ""
    unit = _CURRENCIES.get(after.lower()) or _CURRENCIES.get(before.lower()) or after or None
    return NumberValue(number, unit)


def _parse_digits(text: str) -> int | float:
    """Return the number; the last separator is a decimal mark unless it groups thousands."""
    marks = [char for char in text if not char.isdigit()]
    groups = re.split(r"\D", text)
    if not marks:
        return int(text)
    last = marks[-1]
    groups_by_three = all(len(group) == 3 for group in groups[1:]) and 1 <= len(groups[0]) <= 3
    is_repeated = marks.count(last) > 1
    is_decimal = last in ".," and not is_repeated and not (groups_by_three and _is_grouping(groups, marks))
    whole, part = (groups[:-1], groups[-1]) if is_decimal else (groups, "")
    if last == " " and not groups_by_three:
        whole, part = groups[:1], ""  # Two numbers beside each other.
    return float(f"{''.join(whole)}.{part}") if part else int("".join(whole))


def _is_grouping(groups: list[str], marks: list[str]) -> bool:
    """Return whether groups of three digits are thousands: `1,299` is; `0.125` and `1.234,567` are decimals."""
    return groups[0] != "0" and len(set(marks)) == 1


_ISO_DATE = re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_DAY_FIRST = re.compile(r"(?<!\d)(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?!\d)")
_EAST_ASIAN = re.compile(r"(\d{4})\s?[年년]\s?(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日일]")
_NAMED = re.compile(r"(?<!\d)(\d{1,2})\.?(?:st|nd|rd|th)?\s(?:de\s|of\s)?([^\W\d_]{3,12})\.?,?\s(?:de\s)?(\d{4})(?!\d)")
_NAME_FIRST = re.compile(r"([^\W\d_]{3,12})\.?\s(\d{1,2})(?:st|nd|rd|th)?,?\s(\d{4})(?!\d)")
_MONTHS = (
    "jan janv ene gen janu", "feb fev fév févr febr", "mar mär mrz maa mars", "apr avr abr", "may mai mag maj mei mayo",
    "jun juin giu juni", "jul juil lug juli", "aug aoû août ago", "sep sept set", "oct okt ott out", "nov",
    "dec déc dic dez dece",
)  # fmt: skip
_MONTH_NUMBERS = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}


def find_date(text: str) -> date | None:
    """Return the first date of a text; `3/4/2026` is read day first, unless only the other order is a date."""
    text = text[:MAX_TEXT_CHARS].translate(_NO_BREAK)
    for pattern in (_ISO_DATE, _EAST_ASIAN):
        if (found := pattern.search(text)) and (day := _date(found[1], found[2], found[3])):
            return day
    if found := _DAY_FIRST.search(text):
        return _date(found[4], found[3], found[1]) or _date(found[4], found[1], found[3])
    if found := _NAMED.search(text):
        return _date(found[3], _month(found[2]), found[1])
    if found := _NAME_FIRST.search(text):
        return _date(found[3], _month(found[1]), found[2])
    return _mail_date(text)


def _month(name: str) -> int:
    word = name.lower()
    lengths = range(min(len(word), 4), 2, -1)
    return next((_MONTH_NUMBERS[word[:size]] for size in lengths if word[:size] in _MONTH_NUMBERS), 0)


def _date(year: str | int, month: str | int, day: str | int) -> date | None:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def _mail_date(text: str) -> date | None:
    try:
        return parsedate_to_datetime(text.strip()).date()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
