"""The PDFC paper's three bar charts as SVG: the paper's figures, the rerun, and outposts."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from research.papers.pdfc import CHANNEL_KBIT_S, PAPER_KHZ, PdfcExperiment

PANEL, HEIGHT = 330, 330
LEFT, TOP, BOTTOM = 44, 48, 78
BAR = 22
PAPER_COLOUR, RERUN_COLOUR = "#b8b8b8", "#0b6e99"
LABELS = {"existing": "existing", "pdfc": "PDFC", "pdfc-compressed": "PDFC, zip", "outposts": "outposts"}


class Bars(NamedTuple):
    """One group of bars: the paper's value, if any, and the rerun's."""

    label: str
    paper: float | None
    rerun: float | None


def draw_pdfc(found: PdfcExperiment) -> str:
    """Return the charts of an experiment."""
    pages = [Bars(LABELS[one.name], one.paper and one.paper[0], one.pages_sent) for one in found.variants]
    load = [Bars(LABELS[one.name], one.paper and one.paper[1], one.kbit_s) for one in found.variants]
    time = [Bars(LABELS[one.name], one.paper and one.paper[1] / CHANNEL_KBIT_S, one.seconds) for one in found.variants]
    panels = [
        _panel(0, "Pages sent of 100, per day", pages),
        _panel(1, "Load on the network, kbit/s", load),
        _panel(2, "Time on an 8 kbit/s channel, s", time),
    ]
    measured = ", ".join(f"{LABELS[name]} {value:.0f} kHz" for name, value in PAPER_KHZ.items())
    note = f"grey: the paper; blue: rerun. The paper's own bandwidth meter showed {measured}."
    width = 3 * PANEL
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" width="{width}" '
        f'height="{HEIGHT}" font-family="sans-serif" font-size="12">'
        f'<rect width="{width}" height="{HEIGHT}" fill="#fff"/>{"".join(panels)}'
        f"{_text(LEFT, HEIGHT - 14, note)}</svg>\n"
    )


def _panel(place: int, title: str, bars: Sequence[Bars]) -> str:
    left = place * PANEL + LEFT
    most = max(value for one in bars for value in (one.paper, one.rerun) if value is not None)
    floor, room = HEIGHT - BOTTOM, HEIGHT - BOTTOM - TOP
    step = (PANEL - LEFT - 10) / len(bars)
    parts = [_text(left, 26, title, weight="bold")]
    parts.append(f'<line x1="{left}" y1="{floor}" x2="{left + step * len(bars):.0f}" y2="{floor}" stroke="#444"/>')
    for number, one in enumerate(bars):
        middle = left + step * (number + 0.5)
        parts.append(_text(middle, floor + 18, one.label, anchor="middle"))
        for side, value, colour in ((-1, one.paper, PAPER_COLOUR), (0, one.rerun, RERUN_COLOUR)):
            if value is not None:
                x = middle + side * BAR if one.paper is not None else middle - BAR / 2
                parts.append(_bar(x, floor, value / most * room, colour))
                lift = 16 if side < 0 else 4
                top = floor - value / most * room - lift
                parts.append(_text(x + BAR / 2, top, f"{value:.3g}", anchor="middle"))
    return "".join(parts)


def _bar(x: float, floor: float, height: float, colour: str) -> str:
    return (
        f'<rect x="{x:.1f}" y="{floor - height:.1f}" width="{BAR - 2}" height="{max(height, 0.5):.1f}" '
        f'fill="{colour}"/>'
    )


def _text(x: float, y: float, words: str, *, anchor: str = "start", weight: str = "normal") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}" '
        f'fill="#222">{escape(words)}</text>'
    )
