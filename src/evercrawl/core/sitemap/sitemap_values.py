"""Read the URLs and dates of sitemaps and feeds.
Sitemaps have W3C datetimes (NOTE-datetime; without zone in UTC), feeds RFC 822 dates, and both have variants. Ambiguous
dates (06/05/2024, bare numbers, RFC 822 without zone) are refused."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache

from evercrawl.core import url as urls

MAX_URL_CHARS = 8192  # Characters. The protocol's limit is 2048.
CACHED_SITES = 4096

# URLs that the URL standard leaves unchanged, except for an empty path and the case of the host.
_PLAIN = re.compile(r"(https?://[0-9a-zA-Z.:-]+)(?:[/?#][!#-;=?-\[\]_a-z~]*)?", re.ASCII)
_ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*:", re.ASCII | re.IGNORECASE)
_UNREADABLE = "�"


def absolute_url(written: str, base: str) -> str | None:
    """Return the absolute http(s) URL of a loc; None if it names no page.
    A plain absolute URL stays as written; anything else gets the URL standard's form. Undecodable bytes are refused."""
    text = written.strip()
    if not text or len(text) > MAX_URL_CHARS or _UNREADABLE in text:
        return None
    if plain := _PLAIN.fullmatch(text):
        return text if _parse_site(plain[1]) is not None else None
    href = urls.parse(text) if _ABSOLUTE.match(text) else urls.join(base, _with_host(text, base))
    return href if href is not None and href.startswith(urls.PAGE_SCHEMES) else None


_parse_site = lru_cache(maxsize=CACHED_SITES)(urls.parse)


def _with_host(reference: str, base: str) -> str:
    """Add the slashes to a reference that begins with a host name but has no scheme."""
    if base.startswith(urls.PAGE_SCHEMES):
        host = urls.site_of(base).partition("://")[2]
        if reference == host or reference.startswith(("www.", host + "/")):
            return "//" + reference
    return reference


def is_absolute(written: str) -> bool:
    """True for a web address with its scheme."""
    return written[:8].lower().startswith(urls.PAGE_SCHEMES)


def is_in_scope(sitemap_url: str, url: str) -> bool:
    """True if the sitemap may list this URL: same site, not above its folder (sitemaps.org, "location")."""
    ours, theirs = urls.canonical(sitemap_url), urls.canonical(url)
    if ours is None or theirs is None:
        return False
    folder = ours.partition("?")[0].rpartition("/")[0] + "/"
    return theirs.startswith(folder)


MAX_DATE_CHARS = 80  # Characters. No valid date is longer.
CACHED_DATES = 4096

_W3C = re.compile(
    r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})"
    r"(?:(?:[Tt]|\s+)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?)?)?)?"
    r"\s*([Zz]|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?",
    re.ASCII,
)
_RFC_822 = re.compile(
    r"(?:[a-z]{3,9}\.?,?\s*)?(\d{1,2})[\s-]([a-z]{3})[a-z]*\.?,?[\s-](\d{4}|\d{2})\s+"
    r"(\d{1,2}):(\d{2})(?::(\d{2}))?\s*([a-z]{1,5}|(?:gmt|utc)?[+-]\d{2}:?\d{2})(?:\s*\(.*\))?",
    re.ASCII | re.IGNORECASE,
)
# `Date.toString()` of JavaScript and `date` of a shell, which put the month before the day.
_MONTH_FIRST = re.compile(
    r"[a-z]{3},?\s+([a-z]{3})\s+(\d{1,2})\s+(?:(\d{4})\s+)?(\d{1,2}):(\d{2}):(\d{2})\s+"
    r"([a-z]{1,5}|(?:gmt|utc)?[+-]\d{2}:?\d{2})(?:\s+(\d{4}))?(?:\s*\(.*\))?",
    re.ASCII | re.IGNORECASE,
)
_MILLISECONDS = re.compile(r"[+-]?\d{1,15}", re.ASCII)
_MONTHS = {
    "jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10,
    "nov": 11, "dec": 12,
}  # fmt: skip
# RFC 822 section 5.1, and common names in European feeds.
_ZONE_HOURS = {
    "z": 0, "ut": 0, "utc": 0, "gmt": 0, "wet": 0, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7,
    "mdt": -6, "pst": -8, "pdt": -7, "bst": 1, "cet": 1, "cest": 2, "met": 1, "mest": 2, "eet": 2, "eest": 3,
    "msk": 3, "jst": 9,
}  # fmt: skip
_YEARS_OF_THIS_CENTURY = 70
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def parse_date(text: str | None) -> datetime | None:
    """Parse a date to UTC; None if it is missing, impossible or ambiguous."""
    written = text.strip() if text else ""
    return _moment(written) if 0 < len(written) <= MAX_DATE_CHARS else None


def parse_milliseconds(text: str | None) -> datetime | None:
    """Parse a LAST_UPDATED: milliseconds since 1970, or any date."""
    written = text.strip() if text else ""
    if not _MILLISECONDS.fullmatch(written):
        return parse_date(written)
    try:
        return _EPOCH + timedelta(milliseconds=int(written))
    except OverflowError:
        return None


@lru_cache(maxsize=CACHED_DATES)
def _moment(written: str) -> datetime | None:
    return _exact(written) or _any_form(written)


def _exact(written: str) -> datetime | None:
    """Parse the most frequent form, three times as fast as the rest."""
    if written[10:11] != "T" or written[4] != "-":
        return None
    try:
        moment = datetime.fromisoformat(written)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _any_form(written: str) -> datetime | None:
    try:
        if found := _W3C.fullmatch(written):
            return _w3c(found)
        if found := _RFC_822.fullmatch(written):
            day, month, year, hour, minute, second, zone = found.groups()
        elif found := _MONTH_FIRST.fullmatch(written):
            month, day, year, hour, minute, second, zone, year_behind = found.groups()
            year = year or year_behind
        else:
            return None
        return _named_month(year, month, day, (hour, minute, second), zone)
    except (ValueError, OverflowError, KeyError, TypeError):
        return None


def _w3c(found: re.Match[str]) -> datetime:
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    microsecond = int((fraction or "0")[:6].ljust(6, "0"))
    local = datetime(
        int(year), int(month or 1), int(day or 1), int(hour or 0), int(minute or 0), _second(second),
        microsecond, _zone(zone) if zone and hour else UTC,
    )  # fmt: skip
    return local.astimezone(UTC)


def _named_month(year: str, month: str, day: str, time: tuple[str, str, str | None], zone: str) -> datetime:
    local = datetime(
        _full_year(year), _MONTHS[month.lower()], int(day), int(time[0]), int(time[1]), _second(time[2]),
        tzinfo=_zone(zone),
    )  # fmt: skip
    return local.astimezone(UTC)


def _second(written: str | None) -> int:
    # A datetime has no leap seconds.
    return 59 if written == "60" else int(written or 0)


def _full_year(written: str) -> int:
    year = int(written)
    if len(written) > 2:
        return year
    return year + (2000 if year < _YEARS_OF_THIS_CENTURY else 1900)


def _zone(written: str) -> timezone:
    name = written.lower()
    if name in _ZONE_HOURS:
        return timezone(timedelta(hours=_ZONE_HOURS[name]))
    digits = name.removeprefix("gmt").removeprefix("utc").replace(":", "")
    span = timedelta(hours=int(digits[1:3]), minutes=int(digits[3:5] or 0))
    return timezone(-span if digits[0] == "-" else span)
