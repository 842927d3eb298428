"""A site's structure as an SVG that can be read: one line for each part, whatever the number of pages.

Left: the tree of addresses; a dot's area is the number of pages, its colour how many clicks they are from a
seed. Right: a bar for the share of PageRank, and arcs for the strongest flows of links between the parts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import log2, sqrt
from typing import NamedTuple
from xml.sax.saxutils import escape

from evercrawl.core.linkgraph.folder import MOST_ROWS, DrawnPage, Row, rows_of, tree_of_pages

ROW_HEIGHT = 19
INDENT = 22
MARGIN = 28
HEAD = 92
LEAST_DOT, LARGEST_DOT = 2.6, 8.5
LONGEST_LABEL = 54
CHAR_WIDTH = 6.7
BAR_WIDTH = 150
ARC_WIDTH = 170
MOST_FLOWS = 36
FEWEST_LINKS = 2
"""Flows of fewer links are not drawn where there are many."""
CLICK_COLOURS = ("#0b3c5d", "#1d6a96", "#2f8f9d", "#5fae7f", "#a4b84d", "#d9a441", "#d8743c")
UNREACHED_COLOUR, DEAD_COLOUR = "#9aa0a6", "#c0392b"
_STYLE = (
    "text{font:12px system-ui,'DejaVu Sans',sans-serif;fill:#1f2933}"
    ".h{font-size:17px;font-weight:600}.s{fill:#52606d;font-size:11px}.r{fill:#7b8794;font-style:italic}"
    ".l{stroke:#cbd2d9;fill:none}.f{fill:none;stroke:#7a5195;stroke-opacity:.34}"
)


class Flow(NamedTuple):
    """Links from the pages of one row to those of another."""

    source: int
    target: int
    links: int


def draw_structure(
    pages: Sequence[DrawnPage], links: Iterable[tuple[int, int]], *, title: str, most_rows: int = MOST_ROWS
) -> str:
    """The picture; `links` are pairs of places in `pages`."""
    rows = rows_of(tree_of_pages(pages), most_rows=most_rows)
    flows = _flows(rows, links, len(pages))
    label_end = MARGIN + max(row.level * INDENT + _label_width(row) for row in rows) + 30
    width = int(label_end + BAR_WIDTH + ARC_WIDTH + MARGIN)
    height = HEAD + ROW_HEIGHT * len(rows) + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img"'
        f' viewBox="0 0 {width} {height}"><title>{_xml(title)}</title><style>{_STYLE}</style>'
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        *_head(title, pages, label_end),
        *(_branch(rows, number) for number in range(1, len(rows))),
        *(_row(rows, number, label_end) for number in range(len(rows))),
        *_arcs(flows, label_end + BAR_WIDTH + 8),
        "</svg>\n",
    ]
    return "\n".join(parts)


def _flows(rows: Sequence[Row], links: Iterable[tuple[int, int]], pages: int) -> list[Flow]:
    row_of = [0] * pages
    for number, row in enumerate(rows):
        for page in row.members:
            row_of[page] = number
    counted = Counter((row_of[source], row_of[target]) for source, target in links)
    flows = [Flow(*ends, count) for ends, count in counted.items() if ends[0] != ends[1]]
    if len(flows) > MOST_FLOWS:
        flows = [flow for flow in flows if flow.links >= FEWEST_LINKS]
    return sorted(flows, key=lambda flow: (-flow.links, flow.source, flow.target))[:MOST_FLOWS]


def _head(title: str, pages: Sequence[DrawnPage], label_end: float) -> list[str]:
    dead = sum(page.is_dead for page in pages)
    said = f"{len(pages):,} pages" + (f", {dead:,} of them dead" if dead else "")
    parts = [
        f'<text class="h" x="{MARGIN}" y="30">{_xml(title)}</text>',
        f'<text class="s" x="{MARGIN}" y="48">{said}</text>',
        f'<text class="s" x="{label_end:.0f}" y="{HEAD - 12}">share of PageRank</text>',
        f'<text class="s" x="{label_end + BAR_WIDTH + 8:.0f}" y="{HEAD - 12}">links between parts</text>',
    ]
    parts.append(f'<text class="s" x="{MARGIN}" y="66">clicks from a seed:</text>')
    x = MARGIN + 118.0
    legend = [(colour, f"{clicks}") for clicks, colour in enumerate(CLICK_COLOURS)]
    legend[-1] = (CLICK_COLOURS[-1], f"{len(CLICK_COLOURS) - 1}+")
    for colour, label in [*legend, (UNREACHED_COLOUR, "no way"), (DEAD_COLOUR, "dead")]:
        parts.append(f'<circle cx="{x + 5:.0f}" cy="62" r="5" fill="{colour}"/>')
        parts.append(f'<text class="s" x="{x + 14:.0f}" y="66">{label}</text>')
        x += 24 + CHAR_WIDTH * len(label)
    return parts


def _y(number: int) -> float:
    return HEAD + ROW_HEIGHT * (number + 0.5)


def _x(row: Row) -> float:
    return MARGIN + row.level * INDENT + LARGEST_DOT


def _branch(rows: Sequence[Row], number: int) -> str:
    row = rows[number]
    parent = rows[row.parent] if row.parent is not None else row
    top = _y(row.parent if row.parent is not None else number)
    return f'<path class="l" d="M{_x(parent):.1f} {top:.1f}V{_y(number):.1f}H{_x(row):.1f}"/>'


def _row(rows: Sequence[Row], number: int, label_end: float) -> str:
    row, y = rows[number], _y(number)
    total = max(rows[0].rank, 1e-12)
    share = row.rank / total
    dot = _dot(row.count, rows[0].count)
    x = _x(row)
    kind = ' class="r"' if row.is_rest else ""
    bar = max(1.0, share * (BAR_WIDTH - 46)) if number else 0.0
    parts = [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{dot:.1f}" fill="{_colour(row)}"/>',
        f'<text{kind} x="{x + LARGEST_DOT + 5:.1f}" y="{y + 4:.1f}">{_xml(_label(row))}</text>',
    ]
    if number:
        parts.append(
            f'<rect x="{label_end:.1f}" y="{y - 5:.1f}" width="{bar:.1f}" height="10" fill="#b8c4ce"/>'
            f'<text class="s" x="{label_end + bar + 4:.1f}" y="{y + 4:.1f}">{share:.1%}</text>'
        )
    return "".join(parts)


def _dot(count: int, total: int) -> float:
    share = sqrt(count / max(1, total))
    return LEAST_DOT + (LARGEST_DOT - LEAST_DOT) * share if count > 1 else LEAST_DOT


def _colour(row: Row) -> str:
    if row.dead == row.count:
        return DEAD_COLOUR
    return UNREACHED_COLOUR if row.clicks is None else CLICK_COLOURS[min(row.clicks, len(CLICK_COLOURS) - 1)]


def _label(row: Row) -> str:
    name = row.label if len(row.label) <= LONGEST_LABEL else row.label[: LONGEST_LABEL - 1] + "…"
    dead = f", {row.dead:,} dead" if row.dead and row.count > 1 else ""
    return f"{name or '/'}  ({row.count:,}{dead})" if row.count > 1 else name or "/"


def _label_width(row: Row) -> float:
    wide = sum(1.8 if char > "\u1100" else 1.0 for char in _label(row))
    return wide * CHAR_WIDTH + 2 * LARGEST_DOT


def _arcs(flows: Sequence[Flow], x: float) -> list[str]:
    parts = []
    for flow in reversed(flows):
        top, bottom = _y(flow.source), _y(flow.target)
        reach = min(ARC_WIDTH - 14.0, 16.0 + 0.45 * abs(bottom - top))
        thick = 0.7 + 0.45 * log2(1 + flow.links)
        far = x + reach * 1.33
        way = f"M{x:.0f} {top:.1f}C{far:.1f} {top:.1f} {far:.1f} {bottom:.1f} {x:.0f} {bottom:.1f}"
        parts.append(f'<path class="f" stroke-width="{thick:.1f}" d="{way}"><title>{flow.links:,} links</title></path>')
    return parts


def _xml(text: str) -> str:
    """Safe inside an element: markup is text, and what XML cannot say is left out."""
    return escape("".join(char if char.isprintable() else "\ufffd" for char in text))
