"""The change history that is replayed: from a trace file, or from the versions of a collection."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from html import escape
from itertools import cycle, groupby, pairwise
from math import floor, log10
from pathlib import Path
from typing import NamedTuple

from xxhash import xxh64_intdigest

from evercrawl.adapters.sql.state_reader import ROWS_AT_A_TIME, StateReader
from evercrawl.engine.revisits import hub_of
from evercrawl.errors import ConfigError
from evercrawl.lab import POLICIES
from evercrawl.lab.policy_score import SIGNALS, score
from evercrawl.lab.trace_replay import Trace, TracePage, read_trace, warm_up
from evercrawl.model.listing import VersionMoment
from evercrawl.model.reason import Reason
from evercrawl.model.time import DAY_US, is_total_rate, parse_rate

LEAST_DAYS = 2.0
"""A shorter history says nothing: decisions are made every six hours, and a quarter is warm-up."""
_VANISHED = frozenset({Reason.NOT_FOUND, Reason.GONE})
_UNREADABLE = (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError, StopIteration)


def read_trace_file(file: Path, *, most_pages: int) -> Trace:
    """The trace of a file; ConfigError where it cannot be read as one."""
    try:
        trace = read_trace(file, most_pages=most_pages)
    except FileNotFoundError:
        raise ConfigError(f"there is no trace {file}") from None
    except _UNREADABLE as error:
        raise ConfigError(
            f"{file} is not a trace that can be read ({type(error).__name__}: {error}); the first line must "
            "be a header with site, start and end, each further line a page with hub, birth, death and "
            "changes_delta"
        ) from error
    return _checked(trace, str(file))


def trace_of_collection(collection: Path, *, most_pages: int) -> Trace:
    """The history of a collection: a page lives from when it was found, and changed somewhere between the
    last visit that saw the old version and the first that saw the new one.
    """
    reader = StateReader(collection)
    stride = max(1, -(-reader.totals(0).pages // most_pages))
    pages = [moments for shard in reader.shards() for moments in _histories(reader, shard, stride)]
    start = min((moments[0].found_us for moments in pages), default=0)
    end = max((moments[0].last_us or 0 for moments in pages), default=0)
    lives = tuple(_life(moments, start) for moments in pages)
    return _checked(Trace(collection.name, (end - start) / DAY_US, lives), str(collection))


def _checked(trace: Trace, name: str) -> Trace:
    if trace.days < LEAST_DAYS or not trace.pages:
        raise ConfigError(
            f"{name} covers {max(trace.days, 0.0):.1f} days of {len(trace.pages)} pages; a replay needs "
            f"{LEAST_DAYS:g} days or more"
        )
    return trace


def _histories(reader: StateReader, shard: int, stride: int) -> Iterator[list[VersionMoment]]:
    """The versions of every so many-th page, in portions."""
    with reader.shard(shard) as state:
        for after in range(0, state.next_id(), ROWS_AT_A_TIME):
            rows = state.histories(after, after + ROWS_AT_A_TIME)
            for number, moments in groupby(rows, key=lambda row: row.page_id):
                if number % stride == 0:
                    yield list(moments)


def _life(moments: list[VersionMoment], start_us: int) -> TracePage:
    first = moments[0]
    death = None
    if first.reason in _VANISHED and first.last_us is not None:
        death = (first.last_us - start_us) / DAY_US
    changes = [_changed_at(before, after) for before, after in pairwise(moments)]
    days = sorted((at - start_us) / DAY_US for at in changes)
    return TracePage(hub_of(first.url), (first.found_us - start_us) / DAY_US, death, tuple(days))


def _changed_at(before: VersionMoment, after: VersionMoment) -> float:
    """A moment of the span in which the page changed, the same at every call."""
    early = after.changed_after_us if after.changed_after_us is not None else before.seen_us
    draw = xxh64_intdigest(after.url.encode("utf-8", "surrogatepass"), seed=after.number) / 2**64
    return early + draw * max(after.seen_us - early, 0)


NAMES = (*POLICIES, "oracle")
"""The oracle is told each page's true mean rate: what learning can hope for at most."""
MOST_PER_PAGE_DAY = 1000.0

__all__ = ["NAMES", "SIGNALS", "PolicyTrial", "budget_of", "parse_policies", "run_trials"]


class PolicyTrial(NamedTuple):
    """One replay; the budget is requests per page and day."""

    trace: str
    policy: str
    budget: float
    freshness: float
    requests_per_page_day: float
    useful_share: float
    """Share of the visits that found something new."""


def parse_policies(names: str) -> list[str]:
    """The policies of a list with commas; ConfigError names one that there is not."""
    chosen = list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    unknown = [name for name in chosen if name not in NAMES]
    if unknown or not chosen:
        wrong = f"there is no revisit policy {unknown[0]!r}" if unknown else "name a revisit policy"
        raise ConfigError(f"{wrong}; there are {', '.join(NAMES)}")
    return chosen


def budget_of(text: str, trace: Trace) -> float:
    """Requests per page and day; `N/day` is for all pages of the trace together."""
    try:
        number = parse_rate(text)
    except ValueError as error:
        raise ConfigError(f"the budget {text!r} {error}, or requests per page and day such as 0.05") from None
    per_page = number / max(_live_pages(trace), 1e-9) if is_total_rate(text) else number
    if per_page > MOST_PER_PAGE_DAY:
        raise ConfigError(
            f"the budget {text!r} is {per_page:,.0f} requests per page and day, more than "
            f"{MOST_PER_PAGE_DAY:,.0f}; a number for all pages together is written like 1000/day"
        )
    return per_page


def _live_pages(trace: Trace) -> float:
    """Pages that live at a time, on average over the judged part."""
    begin = warm_up(trace)
    lives = (
        max((trace.days if page.death is None else min(page.death, trace.days)) - max(page.birth, begin), 0.0)
        for page in trace.pages
    )
    return sum(lives) / max(trace.days - begin, 1e-9)


def run_trials(
    traces: Sequence[Trace],
    policies: Sequence[str],
    budgets: Sequence[str],
    *,
    signal: str = "none",
    on_begin: Callable[[str], None] = lambda text: None,
) -> Iterator[PolicyTrial]:
    """One run after the other; `on_begin` is told which."""
    planned = [(trace, name, budget_of(text, trace)) for trace in traces for name in policies for text in budgets]
    for place, (trace, name, budget) in enumerate(planned, start=1):
        on_begin(f"{place} of {len(planned)}: {name} on {trace.site} with {budget:.3g} requests per page and day")
        found = score(trace, name, per_page_day=budget, signal=signal)
        yield PolicyTrial(trace.site, name, budget, found.freshness, found.requests_per_page_day, found.useful_share)


WIDTH, HEIGHT = 720, 320
LEFT, RIGHT, TOP, BOTTOM = 64, 150, 44, 52
COLOURS = ("#0b6e99", "#c0562b", "#4d7c0f", "#7c3aed", "#b45309", "#be185d", "#0f766e", "#525252", "#1d4ed8")
GRID = 5
LEAST_REQUESTS = 1e-4
"""A policy that asked for nothing has a place on a logarithmic scale all the same."""


class ChartScale(NamedTuple):
    """A range of values, drawn from one place to another."""

    low: float
    high: float
    begin: float
    end: float

    def at(self, value: float) -> float:
        """The place of a value."""
        span = self.high - self.low or 1.0
        return self.begin + (value - self.low) / span * (self.end - self.begin)


def freshness_chart(runs: Sequence[PolicyTrial]) -> str:
    """The whole picture."""
    traces = list(dict.fromkeys(run.trace for run in runs))
    colours = dict(zip(dict.fromkeys(run.policy for run in runs), cycle(COLOURS), strict=False))
    height = HEIGHT * max(len(traces), 1)
    panels = "".join(
        _panel(name, [run for run in runs if run.trace == name], colours, top=HEIGHT * place)
        for place, name in enumerate(traces)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" font-family="sans-serif" font-size="12">'
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>{panels}</svg>\n'
    )


def _panel(name: str, runs: Sequence[PolicyTrial], colours: dict[str, str], *, top: int) -> str:
    places = [_place(run) for run in runs]
    x = ChartScale(min(places), max(places), LEFT, WIDTH - RIGHT)
    lowest = floor(20.0 * min(run.freshness for run in runs)) / 20.0
    y = ChartScale(min(lowest, 0.95), 1.0, top + HEIGHT - BOTTOM, top + TOP)
    parts = [_text(LEFT, top + 24, f"{name}: freshness against requests", weight="bold"), _grid(x, y)]
    parts.append(_text((x.begin + x.end) / 2, y.begin + 40, "requests per page and day", anchor="middle"))
    for row, policy in enumerate(dict.fromkeys(run.policy for run in runs)):
        own = sorted((_place(run), run.freshness) for run in runs if run.policy == policy)
        parts.append(_line(own, x, y, colours[policy]))
        parts.append(_text(WIDTH - RIGHT + 12, top + TOP + 16 * row, policy, colour=colours[policy]))
    return "".join(parts)


def _place(run: PolicyTrial) -> float:
    return log10(max(run.requests_per_page_day, LEAST_REQUESTS))


def _grid(x: ChartScale, y: ChartScale) -> str:
    parts = []
    for step in range(GRID + 1):
        share = step / GRID
        fresh, asked = y.low + share * (y.high - y.low), x.low + share * (x.high - x.low)
        level, column = y.at(fresh), x.at(asked)
        parts.append(
            f'<line x1="{x.begin}" y1="{level:.1f}" x2="{x.end}" y2="{level:.1f}" stroke="#ddd"/>'
            + _text(LEFT - 6, level + 4, f"{fresh:.2f}", anchor="end")
            + _text(column, y.begin + 18, f"{10**asked:.2g}", anchor="middle")
        )
    return "".join(parts)


def _line(points: Sequence[tuple[float, float]], x: ChartScale, y: ChartScale, colour: str) -> str:
    placed = [(x.at(asked), y.at(fresh)) for asked, fresh in points]
    path = " ".join(f"{across:.1f},{up:.1f}" for across, up in placed)
    dots = "".join(f'<circle cx="{across:.1f}" cy="{up:.1f}" r="3" fill="{colour}"/>' for across, up in placed)
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>{dots}'


def _text(
    x: float, y: float, words: str, *, anchor: str = "start", colour: str = "#333", weight: str = "normal"
) -> str:
    style = f'text-anchor="{anchor}" fill="{colour}" font-weight="{weight}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(words)}</text>'
