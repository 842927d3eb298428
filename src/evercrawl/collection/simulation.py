"""Simulate revisit policies on a change history: a trace file, or the versions of a collection."""

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
from evercrawl.core.revisit.visit_schedule import hub_of
from evercrawl.errors import ConfigError
from evercrawl.lab import POLICIES
from evercrawl.lab.policy_score import SIGNALS, score
from evercrawl.lab.trace_replay import Trace as Trace
from evercrawl.lab.trace_replay import TracePage, read_trace, warm_up
from evercrawl.model.listing import VersionMoment
from evercrawl.model.reason import GONE_REASONS
from evercrawl.model.time import DAY_US, is_total_rate, parse_rate

MIN_DAYS = 2.0  # A shorter history is not conclusive: decisions are made every six hours, and a quarter is warm-up.
_UNREADABLE = (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError, StopIteration)


def read_trace_file(file: Path, *, max_pages: int) -> Trace:
    """Read a trace file; raise ConfigError if it is invalid."""
    try:
        trace = read_trace(file, max_pages=max_pages)
    except FileNotFoundError:
        raise ConfigError(f"no such file: {file}") from None
    except _UNREADABLE as error:
        raise ConfigError(
            f"{file} is not a valid trace ({type(error).__name__}: {error}); the first line must "
            "be a header with site, start and end, each further line a page with hub, birth, death and "
            "changes_delta"
        ) from error
    return _require_enough_history(trace, str(file))


def trace_of_collection(collection: Path, *, max_pages: int) -> Trace:
    """Return the history of a collection as a trace.
    A page changed at some time between the last visit with the old version and the first with the new one."""
    reader = StateReader(collection)
    stride = max(1, -(-reader.totals(0).pages // max_pages))
    pages = [moments for shard in reader.shards() for moments in _histories(reader, shard, stride)]
    start = min((moments[0].found_us for moments in pages), default=0)
    end = max((moments[0].last_us or 0 for moments in pages), default=0)
    lives = tuple(_life(moments, start) for moments in pages)
    return _require_enough_history(Trace(collection.name, (end - start) / DAY_US, lives), str(collection))


def _require_enough_history(trace: Trace, name: str) -> Trace:
    if trace.days < MIN_DAYS or not trace.pages:
        raise ConfigError(
            f"{name} covers {max(trace.days, 0.0):.1f} days of {len(trace.pages)} pages; a simulation needs "
            f"{MIN_DAYS:g} days or more"
        )
    return trace


def _histories(reader: StateReader, shard: int, stride: int) -> Iterator[list[VersionMoment]]:
    """Yield the versions of every `stride`-th page."""
    with reader.shard(shard) as state:
        for after in range(0, state.next_id(), ROWS_AT_A_TIME):
            rows = state.version_times(after, after + ROWS_AT_A_TIME)
            for number, moments in groupby(rows, key=lambda row: row.page_id):
                if number % stride == 0:
                    yield list(moments)


def _life(moments: list[VersionMoment], start_us: int) -> TracePage:
    first = moments[0]
    death = None
    if first.reason in GONE_REASONS and first.last_us is not None:
        death = (first.last_us - start_us) / DAY_US
    changes = [_changed_at(before, after) for before, after in pairwise(moments)]
    days = sorted((at - start_us) / DAY_US for at in changes)
    return TracePage(hub_of(first.url), (first.found_us - start_us) / DAY_US, death, tuple(days))


def _changed_at(before: VersionMoment, after: VersionMoment) -> float:
    """Return a time in the span in which the page changed, the same at every call."""
    early = after.changed_after_us if after.changed_after_us is not None else before.seen_us
    draw = xxh64_intdigest(after.url.encode("utf-8", "surrogatepass"), seed=after.number) / 2**64
    return early + draw * max(after.seen_us - early, 0)


NAMES = (*POLICIES, "oracle")  # The oracle knows the true mean rate of each page: an upper bound for learning.
MAX_PER_PAGE_DAY = 1000.0

__all__ = ["NAMES", "SIGNALS", "PolicyTrial", "budget_of", "parse_policies", "run_trials"]


class PolicyTrial(NamedTuple):
    """The result of one simulation; the budget is requests per page and day."""

    trace: str
    policy: str
    budget: float
    freshness: float
    requests_per_page_day: float
    useful_share: float  # Share of the visits that found a change.


def parse_policies(names: str) -> list[str]:
    """Parse a comma-separated list of policies; raise ConfigError for an unknown one."""
    chosen = list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    unknown = [name for name in chosen if name not in NAMES]
    if unknown or not chosen:
        wrong = f"there is no revisit policy {unknown[0]!r}" if unknown else "give a revisit policy"
        raise ConfigError(f"{wrong}; choose from {', '.join(NAMES)}")
    return chosen


def budget_of(text: str, trace: Trace) -> float:
    """Return requests per page and day; `N/day` means all pages of the trace together."""
    try:
        number = parse_rate(text)
    except ValueError as error:
        raise ConfigError(f"the budget {text!r} {error}, or requests per page and day such as 0.05") from None
    per_page = number / max(_live_pages(trace), 1e-9) if is_total_rate(text) else number
    if per_page > MAX_PER_PAGE_DAY:
        raise ConfigError(
            f"the budget {text!r} is {per_page:,.0f} requests per page and day, more than "
            f"{MAX_PER_PAGE_DAY:,.0f}; write a total for all pages like 1000/day"
        )
    return per_page


def _live_pages(trace: Trace) -> float:
    """Return the mean number of live pages after the warm-up."""
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
    """Run every policy with every budget on every trace; `on_begin` gets a description of each."""
    planned = [(trace, name, budget_of(text, trace)) for trace in traces for name in policies for text in budgets]
    for place, (trace, name, budget) in enumerate(planned, start=1):
        on_begin(f"{place} of {len(planned)}: {name} on {trace.site} with {budget:.3g} requests per page and day")
        found = score(trace, name, per_page_day=budget, signal=signal)
        yield PolicyTrial(trace.site, name, budget, found.freshness, found.requests_per_page_day, found.useful_share)


WIDTH, HEIGHT = 720, 320
LEFT, RIGHT, TOP, BOTTOM = 64, 150, 44, 52
COLOURS = ("#0b6e99", "#c0562b", "#4d7c0f", "#7c3aed", "#b45309", "#be185d", "#0f766e", "#525252", "#1d4ed8")
GRID = 5
MIN_REQUESTS = 1e-4  # Lower bound of the logarithmic scale, for policies without requests.


class ChartScale(NamedTuple):
    """Maps a range of values to pixels."""

    low: float
    high: float
    begin: float
    end: float

    def at(self, value: float) -> float:
        """Return the position of a value."""
        span = self.high - self.low or 1.0
        return self.begin + (value - self.low) / span * (self.end - self.begin)


def freshness_chart(runs: Sequence[PolicyTrial]) -> str:
    """Return an SVG chart of freshness against requests: a panel per trace, a line per policy."""
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
    return log10(max(run.requests_per_page_day, MIN_REQUESTS))


def _grid(x: ChartScale, y: ChartScale) -> str:
    parts = []
    for step in range(GRID + 1):
        share = step / GRID
        fresh, requests = y.low + share * (y.high - y.low), x.low + share * (x.high - x.low)
        level, column = y.at(fresh), x.at(requests)
        parts.append(
            f'<line x1="{x.begin}" y1="{level:.1f}" x2="{x.end}" y2="{level:.1f}" stroke="#ddd"/>'
            + _text(LEFT - 6, level + 4, f"{fresh:.2f}", anchor="end")
            + _text(column, y.begin + 18, f"{10**requests:.2g}", anchor="middle")
        )
    return "".join(parts)


def _line(points: Sequence[tuple[float, float]], x: ChartScale, y: ChartScale, colour: str) -> str:
    placed = [(x.at(requests), y.at(fresh)) for requests, fresh in points]
    path = " ".join(f"{across:.1f},{up:.1f}" for across, up in placed)
    dots = "".join(f'<circle cx="{across:.1f}" cy="{up:.1f}" r="3" fill="{colour}"/>' for across, up in placed)
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>{dots}'


def _text(
    x: float, y: float, words: str, *, anchor: str = "start", colour: str = "#333", weight: str = "normal"
) -> str:
    style = f'text-anchor="{anchor}" fill="{colour}" font-weight="{weight}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(words)}</text>'
