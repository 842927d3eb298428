"""Values as text: for people in HTML, and for programs in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from functools import lru_cache
from typing import Any
from urllib.parse import quote, urlencode
from zoneinfo import available_timezones

import orjson
from markupsafe import Markup, escape

from evercrawl.model.sanitize import safe_block, safe_line
from evercrawl.model.time import from_us, to_us

LINE_CHARS = 300
RELATIVE_DAYS = 60  # Times further away are shown as a date.
_UNITS = ("B", "kB", "MB", "GB", "TB")


def format_size(count: float | None) -> str:
    """Return a number of bytes: 41 MB."""
    amount = float(count or 0)
    for unit in _UNITS:
        if amount < 1000 or unit == _UNITS[-1]:
            return f"{amount:.1f} {unit}" if amount < 10 and unit != "B" else f"{amount:,.0f} {unit}"
        amount /= 1000
    raise AssertionError("the last unit has no limit")


def format_number(count: float | None) -> str:
    """Return a number with separators: 1,204."""
    return "–" if count is None else f"{count:,.0f}"


def format_duration(seconds: float | None) -> str:
    """Return a duration: 42 s, 29 min, 3 h, 4 days."""
    if seconds is None:
        return "–"
    if seconds < 90:
        return f"{round(seconds, 1) if seconds < 10 else round(seconds):g} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    hours = round(seconds / 3600)
    return f"{hours} h" if hours < 48 else f"{round(seconds / 86_400)} days"


def to_datetime(at: datetime | int | None) -> datetime | None:
    """Return the time, which may be given in microseconds."""
    return from_us(at) if isinstance(at, int) else at


def time_element(at: datetime | int | None) -> Markup:
    """Return a time element: relative for people, exact on hover and for programs."""
    moment = to_datetime(at)
    if moment is None:
        return Markup("–")
    utc = moment.astimezone(UTC)
    exact, day = exact_time(utc), utc.date()  # A table has hundreds of these, and Markup.format is slow.
    return Markup(
        f'<time datetime="{exact}" title="{day} {exact[11:19]} UTC">{relative_time(utc, datetime.now(UTC))}</time>'
    )


def relative_time(at: datetime | int | None, now: datetime) -> str:
    """Return a time relative to now: 2 minutes ago, in 3 hours; far away, the date."""
    moment = to_datetime(at)
    if moment is None:
        return "never"
    seconds = (moment - now).total_seconds()
    amount = abs(seconds)
    if amount >= RELATIVE_DAYS * 86_400:
        return f"{moment.astimezone(UTC):%Y-%m-%d}"
    for unit, size in (("day", 86_400), ("hour", 3600), ("minute", 60)):
        if amount >= size * (1.5 if unit == "day" else 1):
            text = plural(round(amount / size), unit)
            return f"in {text}" if seconds > 0 else f"{text} ago"
    return "just now" if seconds <= 0 else "in a moment"


def crawled(text: object, longest: int = LINE_CHARS) -> Markup:
    """Return crawled text as one line without control characters, isolated from the text direction around it."""
    return Markup(f"<bdi>{escape(safe_line(str(text or ''), longest=longest))}</bdi>")


def plain_line(text: object) -> str:
    """Return crawled text for titles and attributes."""
    return safe_line(str(text or ""), longest=LINE_CHARS)


def crawled_block(text: object) -> Markup:
    """Return crawled text of several lines."""
    return escape(safe_block(str(text or "")))


def link_to(path: str, **query: object) -> str:
    """Return a link within the interface."""
    given = {name: value for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(given, quote_via=quote, errors='replace')}" if given else path


def collection_link(name: str, path: str = "/", **query: object) -> str:
    """Return a link into a collection of a folder."""
    return link_to(f"/c/{quote(name, safe='')}{path}", **query)


def short_url(url: str) -> str:
    """Return a URL without its scheme."""
    return url.partition("://")[2] or url


def code_spans(text: str) -> Markup:
    """Return our own text with what stands between backticks as code."""
    parts = text.split("`")
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if at % 2 else escape(part) for at, part in enumerate(parts)
    )


def sentence(text: str) -> str:
    """Return the text with its first letter in upper case, unless it begins with a URL."""
    return text if "://" in text.partition(" ")[0] else text[:1].upper() + text[1:]


def plural(count: int, noun: str, plural: str | None = None) -> str:
    """Return a count with its noun: 1 page, 2,000 pages."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


@lru_cache(maxsize=1)
def time_zones() -> tuple[str, ...]:
    """Return the names of time zones that people choose from."""
    return ("UTC", *sorted(name for name in available_timezones() if "/" in name and not name.startswith("Etc/")))


def diff_link(url: str, at: int | datetime) -> str:
    """Return a link to the difference that a visit found, whatever came later."""
    at_us = at if isinstance(at, int) else to_us(at)
    before, after = (from_us(moment).isoformat().replace("+00:00", "Z") for moment in (at_us - 1, at_us))
    return link_to("/diff", url=url, a=before, b=after)


def exact_time(at: datetime) -> str:
    """Return a time as ISO 8601 in UTC, to the second."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def to_plain(value: Any) -> Any:
    """Return the value as lists, dicts, strings and numbers; times in microseconds become ISO 8601."""
    match value:
        case None | bool() | int() | float():
            return value
        case Enum():
            return value.value
        case str():
            return value.encode("utf-8", "replace").decode()
        case datetime():
            return exact_time(value)
        case date():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case bytes():
            return value.hex()
        case Mapping():
            return {_key_text(key): to_plain(one) for key, one in value.items()}
        case tuple() if hasattr(value, "_fields"):
            return dict(_field(name, one) for name, one in zip(value._fields, value, strict=True))
        case list() | tuple() | set() | frozenset():
            return [to_plain(one) for one in value]
        case _ if is_dataclass(value) and not isinstance(value, type):
            return dict(_field(one.name, getattr(value, one.name)) for one in fields(value))
    raise TypeError(f"no JSON form for {type(value).__name__}")


def _key_text(key: Any) -> str:
    return key.isoformat() if isinstance(key, date) else str(key)


def _field(name: str, value: Any) -> tuple[str, Any]:
    if name.endswith("_us"):
        return name.removesuffix("_us"), None if value is None else exact_time(from_us(value))
    return name, to_plain(value)


def json_bytes(schema: str, data: Mapping[str, Any]) -> bytes:
    """Return a JSON object, its schema first."""
    return orjson.dumps({"schema": f"evercrawl.{schema}/1", **to_plain(data)}, option=orjson.OPT_NON_STR_KEYS)


def json_line(data: Mapping[str, Any]) -> bytes:
    """Return a JSON object as one line."""
    return orjson.dumps(to_plain(data)) + b"\n"
