"""Numbers, spans and moments for people; crawled text made harmless for readers."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import quote, urlencode

from markupsafe import Markup, escape

from evercrawl.model.sanitize import safe_block, safe_line
from evercrawl.model.time import from_us

LONGEST_LINE = 300
_UNITS = ("B", "kB", "MB", "GB", "TB")


def size(count: float | None) -> str:
    """Bytes: 41 MB."""
    amount = float(count or 0)
    for unit in _UNITS:
        if amount < 1000 or unit == _UNITS[-1]:
            return f"{amount:.1f} {unit}" if amount < 10 and unit != "B" else f"{amount:,.0f} {unit}"
        amount /= 1000
    raise AssertionError("the last unit takes everything")


def number(count: float | None) -> str:
    """1,204."""
    return "–" if count is None else f"{count:,.0f}"


def span(seconds: float | None) -> str:
    """A duration: 42 s, 29 min, 3 h, 4 days."""
    if seconds is None:
        return "–"
    if seconds < 90:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    hours = round(seconds / 3600)
    return f"{hours} h" if hours < 48 else f"{round(seconds / 86_400)} days"


def as_moment(at: datetime | int | None) -> datetime | None:
    """The moment, which may be given in microseconds."""
    return from_us(at) if isinstance(at, int) else at


def when(at: datetime | int | None) -> Markup:
    """A moment as a time element: exact for programs, to the minute for people."""
    moment = as_moment(at)
    if moment is None:
        return Markup("–")
    utc = moment.astimezone(UTC)
    return Markup('<time datetime="{}">{}</time>').format(
        utc.strftime("%Y-%m-%dT%H:%M:%SZ"), utc.strftime("%Y-%m-%d %H:%M")
    )


def ago(at: datetime | int | None, now: datetime) -> str:
    """How long ago, or in how long."""
    moment = as_moment(at)
    if moment is None:
        return "never"
    seconds = (now - moment).total_seconds()
    if abs(seconds) < 5:
        return "now"
    return f"{span(seconds)} ago" if seconds > 0 else f"in {span(-seconds)}"


def crawled(text: object, longest: int = LONGEST_LINE) -> Markup:
    """Text from the web: one line, no controls, and kept apart from the direction of the text around it."""
    return Markup("<bdi>{}</bdi>").format(safe_line(str(text or ""), longest=longest))


def plain_line(text: object) -> str:
    """The same where no markup may stand: in titles and attributes."""
    return safe_line(str(text or ""), longest=LONGEST_LINE)


def crawled_block(text: object) -> Markup:
    """Text of several lines from the web."""
    return escape(safe_block(str(text or "")))


def link_to(path: str, **query: object) -> str:
    """A link of ours with its parameters."""
    given = {name: value for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(given, quote_via=quote, errors='replace')}" if given else path


def short_url(url: str) -> str:
    """A URL without its scheme, for columns."""
    return url.partition("://")[2] or url


def count_of(count: int, noun: str, plural: str | None = None) -> str:
    """1 page, 2,000 pages."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
