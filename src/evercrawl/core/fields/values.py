"""Typed values in text: numbers with units and currencies in any notation, dates, and lists."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from importlib.resources import files
from typing import NamedTuple

from evercrawl.core.fields.dates import dates_in, first_date
from evercrawl.model.fields import FieldReading, FieldType

MAX_TEXT_CHARS = 500  # Of the text that is searched for a number or a date.
_SYMBOLS = "$€£¥₹₽₩₺₴₫฿₪₱₦₡₲৳₸₼₾֏₮₵៛﷼"
_NUMBER = re.compile(
    rf"(?P<sign>[-+](?=[^\d\s]{{0,4}}\s?\d))?\s?"
    rf"(?P<before>(?:US|AU?|CA?|NZ|HK|S|R|MX|NT)\s?\$|[^\W\d_]\.[^\W\d_]\.?|[^\W\d_]{{1,4}}\.?|[{_SYMBOLS}])?\s?"
    r"(?P<minus>-)?(?P<digits>\d{1,40}(?:[ .,']\d{1,20}){0,12})"
    rf"\s?(?P<after>%|‰|°(?:\s?[CF])?|[{_SYMBOLS}]|[^\W\d_]\.[^\W\d_]\.?|[^\W\d_]{{1,12}}(?:/[^\W\d_]{{1,6}})?)?"
)
_SIGNS = files("evercrawl.core.fields").joinpath("currencies.txt").read_text("utf-8").splitlines()
_CURRENCIES = {sign: code for code, *signs in map(str.split, _SIGNS) for sign in signs}
_CURRENCY_CODES = frozenset(re.findall("...", (
    "AEDAMDARSAUDAZNBDTBGNBHDBRLBYNCADCHFCLPCNYCOPCZKDKKDZDEGPEURGBPGELGHSHKDHUFIDRILSINRIRRISKJODJPYKESKRWKWDKZT"
    "LKRMADMDLMKDMXNMYRNGNNOKNZDOMRPENPHPPKRPLNQARRONRSDRUBSARSEKSGDTHBTNDTRYTWDUAHUSDUYUUZSVNDZAR"
)))  # fmt: skip
_CURRENCIES_BY_LANGUAGE = {
    ("kr", "sv"): "SEK", ("kr", "da"): "DKK", ("kr", "nb"): "NOK", ("kr", "no"): "NOK", ("kr", "nn"): "NOK",
    ("kr", "is"): "ISK", ("¥", "zh"): "CNY", ("rs", "ur"): "PKR", ("rs", "si"): "LKR", ("r", "af"): "ZAR",
}  # fmt: skip
_BULLETS = frozenset(f"{mark} " for mark in "•‣▪◦·*–—-✓✔")
_PLAIN = str.maketrans({
    "\u00a0": " ", "\u202f": " ", "\u2009": " ", "’": "'", "−": "-", "–": "-", "－": "-", "٬": ",", "٫": ".", "．": ".",
    "，": ",", "／": "/", "：": ":", "￥": "¥", "￡": "£", "＄": "$", "％": "%", "٪": "%",
    **dict.fromkeys("\u200e\u200f\u061c\u2066\u2067\u2068\u2069\u202a\u202b\u202c"),  # Marks of direction.
})  # fmt: skip
"""Other ways to write spaces, marks and signs; figures of all scripts are read as they are."""


class NumberValue(NamedTuple):
    """A number and its unit: an ISO 4217 currency, % or a word; None: no unit."""

    number: int | float
    unit: str | None = None


def read_text(found: Sequence[str], kind: FieldType, *, lang: str = "") -> FieldReading:
    """Return the value of the selected texts, of which there is at least one."""
    match kind:
        case FieldType.LIST:
            found = _without_bullets(found)
            return FieldReading(tuple(found), "\n".join(found))
        case FieldType.NUMBER:
            number = find_number(found[0], lang=lang)
            return FieldReading(None, found[0]) if number is None else FieldReading(number[0], found[0], number[1])
        case FieldType.DATE:
            day = find_date(found[0], lang=lang)
            return FieldReading(None if day is None else day.isoformat(), found[0])
        case FieldType.TEXT:
            return FieldReading(found[0], found[0])


def _without_bullets(entries: Sequence[str]) -> Sequence[str]:
    """Return entries without the mark that all of them begin with."""
    marks = {text[:2] for text in entries}
    return [text[2:] for text in entries] if len(marks) == 1 and marks <= _BULLETS else entries


def find_number(text: str, *, lang: str = "") -> NumberValue | None:
    """Return the first number of a text with its unit; None if there is none. Those of dates do not count."""
    found = _first_number(text[:MAX_TEXT_CHARS].translate(_PLAIN))
    if found is None:
        return None
    number = _parse_digits(found["digits"])
    if found["sign"] == "-" or found["minus"]:
        number = -number
    before, after = (re.sub(r"\s", "", found[side] or "") for side in ("before", "after"))
    before, after = before.rstrip("."), after.rstrip(".")
    return NumberValue(number, _currency(after, lang) or _currency(before, lang) or after or None)


def _currency(text: str, lang: str) -> str | None:
    word = text.lower()
    known = _CURRENCIES_BY_LANGUAGE.get((word, lang.partition("-")[0])) or _CURRENCIES.get(word)
    return known or (text.upper() if text.upper() in _CURRENCY_CODES else None)


_YEAR = re.compile(r"\d{4}|\d[./-]\d\d?[./-]\d\d")


def _first_number(text: str) -> re.Match[str] | None:
    has_year = _YEAR.search(text) is not None
    dates = [(start, end) for start, _, end in dates_in(text)] if has_year else []
    found = _NUMBER.finditer(text)
    return next((one for one in found if not any(a <= one.start("digits") < b for a, b in dates)), None)


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


def find_date(text: str, *, lang: str = "") -> date | None:
    """Return the first date of a text; `3/4/2026` is read as the language does, unless only the other is a date."""
    return first_date(text[:MAX_TEXT_CHARS].translate(_PLAIN), lang)


def around_value(text: str, kind: FieldType) -> tuple[str, str]:
    """Return what a text says before and after its number or date; nothing for other types."""
    plain = text[:MAX_TEXT_CHARS].translate(_PLAIN)
    if kind is FieldType.NUMBER:
        found = _first_number(plain)
        if found is None:
            return "", ""
        is_unit = (found["before"] or "").replace(" ", "").rstrip(".").lower() in _CURRENCIES
        return plain[: found.start() if is_unit else found.start("digits")], plain[found.end("digits") :]
    if kind is FieldType.DATE:
        place = min(dates_in(plain), key=lambda one: one[0], default=None)
        return (plain[: place[0]], plain[place[2] :]) if place is not None else ("", "")
    return "", ""
