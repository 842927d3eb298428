"""Draw the result of `growth.py` as an SVG file: speed and memory over the number of URLs.

python bench/plot.py growth-64.jsonl growth-1.jsonl --out growth.svg
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from html import escape
from pathlib import Path

WIDTH, HEIGHT = 720, 260
LEFT, RIGHT, TOP, BOTTOM = 70, 120, 40, 40
COLOURS = ("#0b6e99", "#c0562b", "#4d7c0f", "#7c3aed")
LINES = 4
"""Lines of the grid over each panel."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One diagram: what is drawn, and the bar that it must keep."""

    title: str
    field: str
    bar: float


PANELS = (
    Panel("distinct new URLs per CPU-second", "new_per_cpu_s", 25_000),
    Panel("resident memory in MB", "rss_mb", 600),
)


@dataclass(frozen=True, slots=True)
class Series:
    """The rows of one run."""

    name: str
    rows: list[dict[str, float]]


def read(path: Path) -> Series:
    """A run; its lines about take/finish steps have no place in these diagrams."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    shards = rows[0]["shards"]
    name = f"{shards} shard" if shards == 1 else f"{shards} shards"
    return Series(name, [row for row in rows if "rss_mb" in row])


def drawing(runs: list[Series]) -> str:
    """The whole picture, one panel below the other."""
    body = "".join(panel(one, runs, top=HEIGHT * place) for place, one in enumerate(PANELS))
    height = HEIGHT * len(PANELS)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}"'
        f' height="{height}" font-family="sans-serif" font-size="12">'
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>'
        f"{body}</svg>\n"
    )


def panel(chosen: Panel, runs: list[Series], *, top: int) -> str:
    """One diagram with its grid, its bar and a line for each run."""
    longest = max(row["urls"] for run in runs for row in run.rows)
    highest = 1.1 * max([chosen.bar, *(row[chosen.field] for run in runs for row in run.rows)])

    def x(urls: float) -> float:
        return LEFT + urls / longest * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        return top + HEIGHT - BOTTOM - value / highest * (HEIGHT - TOP - BOTTOM)

    parts = [text(LEFT, top + 24, chosen.title, weight="bold")]
    for step in range(LINES + 1):
        value, urls = highest * step / LINES, longest * step / LINES
        parts.append(line((LEFT, y(value)), (WIDTH - RIGHT, y(value)), colour="#ddd"))
        parts.append(text(LEFT - 6, y(value) + 4, f"{value:,.0f}", anchor="end"))
        parts.append(text(x(urls), top + HEIGHT - BOTTOM + 18, f"{urls / 1e6:.1f} M", anchor="middle"))
    parts.append(line((LEFT, y(chosen.bar)), (WIDTH - RIGHT, y(chosen.bar)), colour="#b91c1c", dashes="6 4"))
    parts.append(text(WIDTH - RIGHT + 6, y(chosen.bar) + 4, "bar", colour="#b91c1c"))
    for run, colour in zip(runs, COLOURS, strict=False):
        points = " ".join(f"{x(row['urls']):.1f},{y(row[chosen.field]):.1f}" for row in run.rows)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        place = top + TOP + 16 * runs.index(run)
        parts.append(text(WIDTH - RIGHT + 6, place, run.name, colour=colour))
    return "".join(parts)


def line(start: tuple[float, float], end: tuple[float, float], *, colour: str, dashes: str | None = None) -> str:
    """A straight line."""
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    places = f'x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}"'
    return f'<line {places} stroke="{colour}"{dashed}/>'


def text(x: float, y: float, words: str, *, anchor: str = "start", colour: str = "#333", weight: str = "normal") -> str:
    """Some words."""
    style = f'text-anchor="{anchor}" fill="{colour}" font-weight="{weight}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(words)}</text>'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, default=Path("growth.svg"))
    arguments = parser.parse_args()
    arguments.out.write_text(drawing([read(path) for path in arguments.results]), encoding="utf-8")


if __name__ == "__main__":
    main()
