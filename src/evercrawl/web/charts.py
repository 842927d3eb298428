"""Charts as accessible SVG, with their numbers as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import count as numbers_from
from itertools import pairwise
from typing import NamedTuple

from markupsafe import Markup, escape

WIDTH, HEIGHT = 640, 180
LEFT, RIGHT, TOP, BOTTOM = 46, 6, 10, 24
CELL = 11
LEVELS = 4
MAX_LABELS = 8
WIDEST_BAR = 40
_numbers = numbers_from(1)


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture with its title and numbers."""

    title: str
    svg: Markup
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    legend: tuple[tuple[str, str], ...] = ()  # Class and name of each series.


def _picture(
    title: str, about: str, parts: Sequence[Markup], *, width: int, height: int, role: str = "img", kind: str = "chart"
) -> Markup:
    mark = f"chart{next(_numbers)}"
    return Markup(
        '<svg class="{}" viewBox="0 0 {} {}" role="{}" aria-labelledby="{}t {}d">'
        '<title id="{}t">{}</title><desc id="{}d">{}</desc>{}</svg>'
    ).format(kind, width, height, role, mark, mark, mark, title, mark, about, Markup("").join(parts))


def _rect(x: float, y: float, width: float, height: float, kind: str, words: str, link: str = "") -> Markup:
    # A calendar has hundreds of these, and Markup.format is slow.
    place = f'x="{x:.1f}" y="{y:.1f}" width="{max(0.5, width):.1f}" height="{max(0.0, height):.1f}"'
    drawn = f'<rect {place} class="{escape(kind)}"><title>{escape(words)}</title></rect>'
    return Markup(f'<a href="{escape(link)}" aria-label="{escape(words)}">{drawn}</a>' if link else drawn)


def _text(x: float, y: float, words: str, *, anchor: str = "middle") -> Markup:
    utc = " data-utc" if words.endswith(" UTC") else ""  # The browser shows it as local time.
    return Markup(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{escape(anchor)}"{utc}>{escape(words)}</text>')


def _line(x1: float, y1: float, x2: float, y2: float, kind: str = "axis") -> Markup:
    return Markup(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{escape(kind)}"/>')


def round_up(most: float) -> float:
    """Return a round number that is at least the largest value."""
    if most <= 0:
        return 1.0
    power = 10.0 ** (len(str(int(most))) - 1) if most >= 1 else 0.1
    return next(step * power for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if step * power >= most)


def _grid(most: float, *, unit: str = "") -> list[Markup]:
    inner = HEIGHT - TOP - BOTTOM
    parts = []
    for share in (0.0, 0.5, 1.0):
        y = TOP + inner * (1 - share)
        parts += [
            _line(LEFT, y, WIDTH - RIGHT, y, "grid" if share else "axis"),
            _text(LEFT - 6, y + 4, _short(most * share) + unit, anchor="end"),
        ]
    return parts


def _short(value: float) -> str:
    if value >= 1_000_000:
        return f"{value / 1e6:.3g}M"
    if value >= 1000:
        return f"{value / 1e3:.3g}k"
    return f"{value:g}"


def _labels(names: Sequence[str], step: float) -> list[Markup]:
    stride = max(1, -(-len(names) // MAX_LABELS))
    return [
        _text(LEFT + (place + 0.5) * step, HEIGHT - 7, name) for place, name in enumerate(names) if place % stride == 0
    ]


def stacked_bars(
    title: str,
    columns: Sequence[tuple[str, Mapping[str, int]]],
    series: Sequence[tuple[str, str]],
    link_of: Callable[[int, str], str] | None = None,
) -> Chart:
    """Return a chart of stacked columns; a series is its key and its label.
    `link_of` returns where a part leads, by the place of its column and its series."""
    most = round_up(max((sum(parts.values()) for _, parts in columns), default=0))
    most += most % 2  # The line in the middle is a whole number.
    step = (WIDTH - LEFT - RIGHT) / max(1, len(columns))
    inner, wide = HEIGHT - TOP - BOTTOM, min(step * 0.8, WIDEST_BAR)
    parts = _grid(most)
    for place, (name, values) in enumerate(columns):
        top = float(TOP + inner)
        for at, (key, word) in enumerate(series):
            tall = inner * values.get(key, 0) / most
            if tall:
                top -= tall
                words = f"{name}: {values[key]:,} {word}"
                left = LEFT + (place + 0.5) * step - wide / 2
                link = link_of(place, key) if link_of is not None else ""
                parts.append(_rect(left, top, wide, tall, f"s{at}", words, link))
    parts += _labels([name for name, _ in columns], step)
    rows = tuple((name, *(f"{values.get(key, 0):,}" for key, _ in series)) for name, values in columns)
    total = sum(sum(values.values()) for _, values in columns)
    about = f"{len(columns)} columns, {total:,} in total; the table below has the numbers."
    role = "img" if link_of is None else "group"
    svg = _picture(title, about, parts, width=WIDTH, height=HEIGHT, role=role)
    legend = tuple((f"s{at}", word) for at, (_, word) in enumerate(series))
    return Chart(title, svg, ("", *(word for _, word in series)), rows, legend if len(series) > 1 else ())


def bars(title: str, columns: Sequence[tuple[str, int]], noun: str) -> Chart:
    """Return a chart of plain columns."""
    return stacked_bars(title, [(name, {noun: value}) for name, value in columns], [(noun, noun)])


class Bar(NamedTuple):
    """A column that leads somewhere."""

    name: str
    value: int
    link: str


def linked_bars(title: str, columns: Sequence[Bar], noun: str) -> Chart:
    """Return a chart of columns that are links."""
    plain = [(one.name, {noun: one.value}) for one in columns]
    return stacked_bars(title, plain, [(noun, noun)], link_of=lambda place, _: columns[place].link)


def histogram(title: str, values: Sequence[float], edges: Sequence[float], *, noun: str) -> Chart:
    """Return a histogram; the last column counts all values beyond the last edge."""
    names = [f"{_short(low)}–{_short(high)}" for low, high in pairwise(edges)] + [f"≥ {_short(edges[-1])}"]
    counts = [0] * len(names)
    for value in values:
        counts[max(0, sum(value >= edge for edge in edges) - 1)] += 1
    return bars(title, list(zip(names, counts, strict=True)), noun)


MAX_WEEKS, MIN_WEEKS = 53, 13


def calendar(
    title: str,
    days: Mapping[date, int],
    *,
    last: date,
    weeks: int = MAX_WEEKS,
    link_of: Callable[[date], str] | None = None,
) -> Chart:
    """Return a calendar with a cell per day, darker for higher counts; weeks start on Monday.
    `link_of` returns where a day with a count leads."""
    first = last - timedelta(days=last.weekday() + 7 * (weeks - 1))
    most = max(days.values(), default=0)
    parts: list[Markup] = []
    left, top = 30, 18
    month = 0
    for offset in range((last - first).days + 1):
        day = first + timedelta(days=offset)
        x, y = left + offset // 7 * CELL, top + offset % 7 * CELL
        value = days.get(day, 0)
        level = 0 if not value else min(LEVELS, 1 + (value * LEVELS - 1) // max(1, most))
        words = f"{day:%a %Y-%m-%d}: {value:,}"
        link = link_of(day) if link_of is not None and value else ""
        parts.append(_rect(x, y, CELL - 2, CELL - 2, f"level{level}", words, link))
        if day.month != month and offset % 7 == 0:
            month = day.month
            is_short = offset == 0 and (first + timedelta(days=14)).month != month  # The next name would touch it.
            if offset // 7 < weeks - 1 and not is_short:
                parts.append(_text(x, top - 6, f"{day:%b}", anchor="start"))
    parts += [_text(left - 6, top + row * CELL + 8, name, anchor="end") for row, name in ((0, "Mon"), (4, "Fri"))]
    rows = tuple((day.isoformat(), f"{value:,}") for day, value in sorted(days.items(), reverse=True)[:100])
    about = f"{sum(days.values()):,} in total on {len(days)} days, at most {most:,} per day."
    role = "img" if link_of is None else "group"
    width, height = left + weeks * CELL + 2, top + 7 * CELL + 2
    svg = _picture(title, about, parts, width=width, height=height, role=role, kind="chart calendar")
    return Chart(title, svg, ("day", "changes"), rows)


def calendar_of_changes(days: Mapping[date, int], today: date, link_of: Callable[[date], str]) -> Chart | None:
    """Return the calendar since the first change, at most a year; None: nothing has changed on two days yet."""
    if len(days) < 2:
        return None
    weeks = min(MAX_WEEKS, max(MIN_WEEKS, (today - min(days)).days // 7 + 2))
    return calendar("Changed pages per day", days, last=today, weeks=weeks, link_of=link_of)


TimelineDot = tuple[float, float, str, str]  # Place and size from 0 to 1, words, and where it leads.


def timeline(title: str, dots: Sequence[TimelineDot], ends: tuple[str, str]) -> Chart:
    """Return dots on a time line, larger for larger changes, with the words at both ends."""
    parts = [_line(10, 24, WIDTH - 10, 24)]
    for at, size, words, link in dots:
        circle = Markup('<circle cx="{:.1f}" cy="24" r="{:.1f}" class="dot"><title>{}</title></circle>').format(
            14 + at * (WIDTH - 28), 4 + 9 * min(1.0, size) ** 0.5, words
        )
        parts.append(Markup('<a href="{}" aria-label="{}">{}</a>').format(link, words, circle))
    parts += [_text(10, 58, ends[0], anchor="start"), _text(WIDTH - 10, 58, ends[1], anchor="end")]
    svg = _picture(
        title, f"{len(dots)} versions from the oldest to the newest.", parts, width=WIDTH, height=64, role="group"
    )
    return Chart(title, svg, ("version",), tuple((words,) for _, _, words, _ in dots))


def line_chart(title: str, points: Sequence[tuple[datetime, float, str]]) -> Chart:
    """Return a line of values over time; each point has its time, value and words."""
    most, least = max(value for _, value, _ in points), min(0.0, min(value for _, value, _ in points))
    top = least + round_up(most - least)
    first, last = points[0][0], points[-1][0]
    span = max(1.0, (last - first).total_seconds())
    inner, wide = HEIGHT - TOP - BOTTOM, WIDTH - LEFT - RIGHT
    places = [
        (LEFT + wide * (at - first).total_seconds() / span, TOP + inner * (1 - (value - least) / (top - least)))
        for at, value, _ in points
    ]
    parts = _grid(top) if not least else []
    for (x1, y1), (x2, y2) in pairwise(places):
        parts += [_line(x1, y1, x2, y1, "axis"), _line(x2, y1, x2, y2, "axis")]  # A value holds until the next one.
    for (x, y), (at, _, words) in zip(places, points, strict=True):
        dot = Markup('<circle cx="{:.1f}" cy="{:.1f}" r="3" class="dot"><title>{}</title></circle>')
        parts.append(dot.format(x, y, f"{at:%Y-%m-%d}: {words}"))
    parts += [_text(LEFT, HEIGHT - 7, f"{first:%Y-%m-%d}", anchor="start")]
    parts += [_text(WIDTH - RIGHT, HEIGHT - 7, f"{last:%Y-%m-%d}", anchor="end")]
    svg = _picture(title, f"{len(points)} values; the table below has them.", parts, width=WIDTH, height=HEIGHT)
    return Chart(title, svg, ("", "value"), tuple((f"{at:%Y-%m-%d %H:%M}", words) for at, _, words in points))
