"""The time of the second visit as SVG: one bar per strategy, with the paper's figure."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from research.papers.sitemap import SecondVisit

WIDTH, ROW, TOP, LEFT, RIGHT = 760, 46, 44, 330, 110
OURS, PAPER, REST = "#0b6e99", "#c0562b", "#9cc5d6"


def draw_sitemap(seconds: Sequence[SecondVisit]) -> str:
    """Return the chart."""
    height = TOP + ROW * len(seconds) + 34
    longest = max(one.counted_ms for one in seconds)
    scale = (WIDTH - LEFT - RIGHT) / longest
    bars = "".join(_row(one, TOP + ROW * place, scale) for place, one in enumerate(seconds))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" font-family="sans-serif" font-size="12">'
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>'
        + _text(16, 26, "Second visit to the paper's site: milliseconds", weight="bold")
        + bars
        + _legend(height - 14)
        + "</svg>\n"
    )


def _row(one: SecondVisit, top: float, scale: float) -> str:
    label = _text(LEFT - 8, top + 16, one.label, anchor="end")
    rest = one.counted_ms - one.ms
    parts = [
        label,
        _bar(LEFT, top + 4, one.ms * scale, 16, OURS),
        _bar(LEFT + one.ms * scale, top + 4, rest * scale, 16, REST),
        _text(LEFT + one.counted_ms * scale + 6, top + 16, f"{one.ms:,}, {len(one.downloaded)} pages"),
    ]
    if one.paper_ms is not None:
        parts.append(_bar(LEFT, top + 22, one.paper_ms * scale, 8, PAPER))
    return "".join(parts)


def _legend(y: float) -> str:
    entries = ((OURS, "evercrawl, pages"), (REST, "evercrawl, other requests"), (PAPER, "the paper"))
    return "".join(
        _bar(16 + 190 * place, y - 9, 10, 10, colour) + _text(32 + 190 * place, y, words)
        for place, (colour, words) in enumerate(entries)
    )


def _bar(x: float, y: float, width: float, height: float, colour: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height}" fill="{colour}"/>'


def _text(x: float, y: float, words: str, *, anchor: str = "start", weight: str = "normal") -> str:
    style = f'text-anchor="{anchor}" fill="#333" font-weight="{weight}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(words)}</text>'
