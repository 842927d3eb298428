"""Freshness against requests as an SVG picture: one panel a trace, one line a policy."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import cycle
from math import floor, log10
from typing import NamedTuple

from evercrawl.collection.simulate.run import Run

WIDTH, HEIGHT = 720, 320
LEFT, RIGHT, TOP, BOTTOM = 64, 150, 44, 52
COLOURS = ("#0b6e99", "#c0562b", "#4d7c0f", "#7c3aed", "#b45309", "#be185d", "#0f766e", "#525252", "#1d4ed8")
GRID = 5
LEAST_REQUESTS = 1e-4
"""A policy that asked for nothing has a place on a logarithmic scale all the same."""


class Scale(NamedTuple):
    """A range of values, drawn from one place to another."""

    low: float
    high: float
    begin: float
    end: float

    def at(self, value: float) -> float:
        """The place of a value."""
        span = self.high - self.low or 1.0
        return self.begin + (value - self.low) / span * (self.end - self.begin)


def drawing(runs: Sequence[Run]) -> str:
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


def _panel(name: str, runs: Sequence[Run], colours: dict[str, str], *, top: int) -> str:
    places = [_place(run) for run in runs]
    x = Scale(min(places), max(places), LEFT, WIDTH - RIGHT)
    lowest = floor(20.0 * min(run.freshness for run in runs)) / 20.0
    y = Scale(min(lowest, 0.95), 1.0, top + HEIGHT - BOTTOM, top + TOP)
    parts = [_text(LEFT, top + 24, f"{name}: freshness against requests", weight="bold"), _grid(x, y)]
    parts.append(_text((x.begin + x.end) / 2, y.begin + 40, "requests per page and day", anchor="middle"))
    for row, policy in enumerate(dict.fromkeys(run.policy for run in runs)):
        own = sorted((_place(run), run.freshness) for run in runs if run.policy == policy)
        parts.append(_line(own, x, y, colours[policy]))
        parts.append(_text(WIDTH - RIGHT + 12, top + TOP + 16 * row, policy, colour=colours[policy]))
    return "".join(parts)


def _place(run: Run) -> float:
    return log10(max(run.requests_per_page_day, LEAST_REQUESTS))


def _grid(x: Scale, y: Scale) -> str:
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


def _line(points: Sequence[tuple[float, float]], x: Scale, y: Scale, colour: str) -> str:
    placed = [(x.at(asked), y.at(fresh)) for asked, fresh in points]
    path = " ".join(f"{across:.1f},{up:.1f}" for across, up in placed)
    dots = "".join(f'<circle cx="{across:.1f}" cy="{up:.1f}" r="3" fill="{colour}"/>' for across, up in placed)
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>{dots}'


def _text(
    x: float, y: float, words: str, *, anchor: str = "start", colour: str = "#333", weight: str = "normal"
) -> str:
    style = f'text-anchor="{anchor}" fill="{colour}" font-weight="{weight}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(words)}</text>'
