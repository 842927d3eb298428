"""Typed values in text: numbers with units and currencies in any notation, and dates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from evercrawl.model.fields import FieldReading, FieldType

MAX_TEXT_CHARS = 500  # Of the text that is searched for a number or a date.
_NUMBER = re.compile(
    r"(?P<sign>[-+−–](?=[^\d\s]{0,4}\s?\d))?\s?(?P<before>(?:US|AU?|CA?|NZ|HK|S|R|MX|NT)\s?\$|[^\W\d_]{1,4}\.?|[$€£¥₹₽₩₺₴₫฿₪₱₦₡₲])?\s?"
    r"(?P<minus>[-−])?(?P<digits>\d{1,40}(?:[ .,'’\u00a0\u202f]\d{1,20}){0,12})"
    r"\s?(?P<after>%|‰|°(?:\s?[CF])?|[$€£¥₹₽₩₺₴₫฿₪₱₦₡₲]|[^\W\d_]{1,12}(?:/[^\W\d_]{1,6})?)?"
)
_CURRENCIES = {
    "$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₽": "RUB", "₩": "KRW", "₺": "TRY", "₴": "UAH",
    "₫": "VND", "฿": "THB", "₪": "ILS", "₱": "PHP", "₦": "NGN", "₡": "CRC", "₲": "PYG", "us$": "USD", "a$": "AUD",
    "au$": "AUD", "ca$": "CAD", "nz$": "NZD", "hk$": "HKD", "s$": "SGD", "mx$": "MXN", "nt$": "TWD", "rs": "INR",
    "c$": "CAD", "eur": "EUR", "euro": "EUR", "euros": "EUR", "usd": "USD", "gbp": "GBP", "chf": "CHF", "fr": "CHF",
    "sek": "SEK", "nok": "NOK", "dkk": "DKK", "pln": "PLN", "zł": "PLN", "zl": "PLN", "kč": "CZK", "czk": "CZK",
    "ft": "HUF", "huf": "HUF", "jpy": "JPY", "cny": "CNY", "rmb": "CNY", "inr": "INR", "aud": "AUD", "cad": "CAD",
    "brl": "BRL", "r$": "BRL", "mxn": "MXN", "lei": "RON", "ron": "RON", "円": "JPY", "元": "CNY", "원": "KRW",
}  # fmt: skip
_BULLETS = frozenset(f"{mark} " for mark in "•‣▪◦·*–—-✓✔")
_NO_BREAK = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "’": "'", "−": "-", "–": "-"})


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
            number = find_number(found[0])
            return FieldReading(None, found[0]) if number is None else FieldReading(number[0], found[0], number[1])
        case FieldType.DATE:
            day = find_date(found[0], is_month_first=lang in MONTH_FIRST)
            return FieldReading(None if day is None else day.isoformat(), found[0])
        case FieldType.TEXT:
            return FieldReading(found[0], found[0])


def _without_bullets(entries: Sequence[str]) -> Sequence[str]:
    """Return entries without the mark that all of them begin with."""
    marks = {text[:2] for text in entries}
    return [text[2:] for text in entries] if len(marks) == 1 and marks <= _BULLETS else entries


def find_number(text: str) -> NumberValue | None:
    """Return the first number of a text with its unit; None if there is none. Those of dates do not count."""
    found = _first_number(text[:MAX_TEXT_CHARS].translate(_NO_BREAK))
    if found is None:
        return None
    number = _parse_digits(found["digits"])
    if found["sign"] == "-" or found["minus"]:
        number = -number
    before, after = (re.sub(r"\s", "", found[side] or "") for side in ("before", "after"))
    before = before.rstrip(".")
    unit = _CURRENCIES.get(after.lower()) or _CURRENCIES.get(before.lower()) or after or None
    return NumberValue(number, unit)


def _first_number(text: str) -> re.Match[str] | None:
    dates = [(start, end) for start, _, end in _dates(text, False)] if _YEAR.search(text) is not None else []
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


_YEAR = re.compile(r"\d{4}|\d[./-]\d\d?[./-]\d\d")
_ISO_DATE = re.compile(r"(?<!\d)(\d{4})(?:[-/]|\.\s?)(\d{1,2})(?:[-/]|\.\s?)(\d{1,2})(?!\d)")
_NUMERIC = re.compile(r"(?<![\d.,])(\d{1,2})([./-])\s?(\d{1,2})\2\s?(\d{4}|\d{2})(?!\d)")
_EAST_ASIAN = re.compile(r"(\d{4})\s?[年년]\s?(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日일]")
_NAMED = re.compile(
    r"(?<!\d)(\d{1,2})(?:\.|st|nd|rd|th|er|º|\.º)?[\s-](?:de\s|of\s|d['’])?([^\W\d_]{3,14})\.?,?[\s-](?:de\s|del\s)?"
    r"(\d{4})(?!\d)"
)
_NAME_FIRST = re.compile(r"([^\W\d_]{3,14})\.?\s(\d{1,2})(?:st|nd|rd|th)?,?\s(\d{4})(?!\d)")
_YEAR_FIRST = re.compile(r"(?<!\d)(\d{4})\.?\s([^\W\d_]{3,14})\.?\s(\d{1,2})(?!\d)")
MONTH_FIRST = frozenset({"en-us", "en-ph", "en-pr", "es-pr"})  # Languages of pages that write 11/18/2026.
_MONTHS = (
    "january januar januari janvier enero gennaio janeiro gener jänner",
    "february februar februari février fevrier febrero febbraio fevereiro febrer feber",
    "march märz maerz maart mars marzo março marco marts mrt mrz", "april avril abril aprile",
    "may mai mei mayo maggio maio maj", "june juni juin junio giugno junho juny",
    "july juli juillet julio luglio julho juliol", "august augustus août aout agosto agost augusti",
    "september septembre septiembre settembre setembro", "october oktober octobre octubre ottobre outubro",
    "november novembre noviembre novembro", "december dezember décembre decembre diciembre dicembre dezembro desember",
)  # fmt: skip
_MONTH_NAMES = (
    "styczeń stycznia leden ledna январь января янв tammikuu tammikuuta ocak ιανουαρίου ianuarie",
    "luty lutego únor února февраль февраля фев helmikuu helmikuuta şubat φεβρουαρίου februarie",
    "marzec marca březen března март марта мар maaliskuu maaliskuuta mart március μαρτίου martie",
    "kwiecień kwietnia duben dubna апрель апреля апр huhtikuu huhtikuuta nisan április απριλίου aprilie",
    "maj maja květen května май мая toukokuu toukokuuta mayıs május μαΐου μαίου",
    "czerwiec czerwca červen června июнь июня июн kesäkuu kesäkuuta haziran június ιουνίου iunie",
    "lipiec lipca červenec července июль июля июл heinäkuu heinäkuuta temmuz július ιουλίου iulie",
    "sierpień sierpnia srpen srpna август августа авг elokuu elokuuta ağustos augusztus αυγούστου",
    "wrzesień września září сентябрь сентября сен сент syyskuu syyskuuta eylül szeptember σεπτεμβρίου",
    "październik października říjen října октябрь октября окт lokakuu lokakuuta ekim október οκτωβρίου",
    "listopad listopada ноябрь ноября ноя нояб marraskuu marraskuuta kasım νοεμβρίου noiembrie",
    "grudzień grudnia prosinec prosince декабрь декабря дек joulukuu joulukuuta aralık δεκεμβρίου",
)
_MONTH_STARTS = {
    name[:size]: number
    for number, names in enumerate(_MONTHS, 1)
    for name in names.split()
    for size in range(3, len(name) + 1)
}
_MONTH_NUMBERS = {name: number for number, names in enumerate(_MONTH_NAMES, 1) for name in names.split()}


def find_date(text: str, *, is_month_first: bool = False) -> date | None:
    """Return the first date of a text; `3/4/2026` is read in the given order, unless only the other is a date."""
    text = text[:MAX_TEXT_CHARS].translate(_NO_BREAK)
    found = min(_dates(text, is_month_first), key=lambda one: one[0], default=None)
    return found[1] if found is not None else _mail_date(text)


def around_value(text: str, kind: FieldType) -> tuple[str, str]:
    """Return what a text says before and after its number or date; nothing for other types."""
    plain = text[:MAX_TEXT_CHARS].translate(_NO_BREAK)
    if kind is FieldType.NUMBER:
        found = _first_number(plain)
        if found is None:
            return "", ""
        is_unit = (found["before"] or "").replace(" ", "").rstrip(".").lower() in _CURRENCIES
        return plain[: found.start() if is_unit else found.start("digits")], plain[found.end("digits") :]
    if kind is FieldType.DATE:
        place = min(_dates(plain, False), key=lambda one: one[0], default=None)
        return (plain[: place[0]], plain[place[2] :]) if place is not None else ("", "")
    return "", ""


def _dates(text: str, is_month_first: bool) -> Iterator[tuple[int, date, int]]:
    """Yield the dates of a text, each with its start and end, form by form."""
    for pattern in (_ISO_DATE, _EAST_ASIAN, _YEAR_FIRST, _NAMED, _NAME_FIRST, _NUMERIC):
        for found in pattern.finditer(text):
            if (day := _date_of(pattern, found, is_month_first)) is not None:
                yield found.start(), day, found.end()
                break


def _date_of(pattern: re.Pattern[str], found: re.Match[str], is_month_first: bool) -> date | None:
    if pattern is _NUMERIC:
        day, month = (found[3], found[1]) if is_month_first and found[2] == "/" else (found[1], found[3])
        year = found[4] if len(found[4]) == 4 else f"20{found[4]}"
        return _date(year, month, day) or _date(year, day, month)
    if pattern is _NAMED:
        return _date(found[3], _month(found[2]), found[1])
    if pattern is _NAME_FIRST:
        return _date(found[3], _month(found[1]), found[2])
    return _date(found[1], _month(found[2]) if pattern is _YEAR_FIRST else found[2], found[3])


def _month(name: str) -> int:
    word = name.lower()
    return _MONTH_NUMBERS.get(word) or _MONTH_STARTS.get(word, 0)


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
