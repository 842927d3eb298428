"""A chart of a site's structure as SVG, one row per folder whatever the number of pages.
Left: the folder tree; a dot's area is the number of pages, its colour their clicks from a seed. Right: a bar for the
share of PageRank, and arcs for the strongest link flows between folders."""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import log2, sqrt
from typing import NamedTuple
from urllib.parse import unquote
from xml.sax.saxutils import escape

MAX_ROWS = 120
MAX_CHILDREN = 14  # Rows of one folder; the others are summed up in one row.
MAX_SINGLE_PAGES = 5  # Rows of single pages, if there are too many to show all.


class ChartPage(NamedTuple):
    """A page of the chart."""

    url: str
    rank: float
    clicks: int | None  # Clicks from a seed; None if unreachable.
    is_dead: bool = False


@dataclass(slots=True)
class FolderNode:
    """A part of a URL with everything below it."""

    name: str
    pages: list[int] = field(default_factory=list)  # Pages whose URL ends here.
    children: dict[str, FolderNode] = field(default_factory=dict)
    count: int = 0
    rank: float = 0.0
    clicks: int | None = None
    dead: int = 0

    def add(self, page: ChartPage) -> None:
        """Count a page here or below."""
        self.count += 1
        self.rank += page.rank
        self.dead += page.is_dead
        if page.clicks is not None:
            self.clicks = page.clicks if self.clicks is None else min(self.clicks, page.clicks)


@dataclass(slots=True)
class ChartRow:
    """A row of the chart; `members` are its pages."""

    label: str
    level: int
    parent: int | None
    count: int
    rank: float
    clicks: int | None
    dead: int
    members: list[int]
    is_rest: bool = False


SelectChildren = Callable[[FolderNode], list[FolderNode]]  # Folder -> the children that get a row.


def build_folder_tree(pages: Sequence[ChartPage]) -> FolderNode:
    """Return the folder tree of the pages; chains of single folders are joined."""
    root = FolderNode("")
    for number, page in enumerate(pages):
        node = root
        node.add(page)
        for part in _parts(page.url):
            node = node.children.setdefault(part, FolderNode(part))
            node.add(page)
        node.pages.append(number)
    return _join_chains(root)


def _parts(url: str) -> list[str]:
    scheme, _, rest = url.partition("://")
    authority, _, path = rest.partition("/")
    return [f"{scheme}://{authority}", *(part for part in re.split(r"(?<=/)|(?=\?)", path) if part)]


def _join_chains(node: FolderNode) -> FolderNode:
    """Replace a folder that only holds another by that one."""
    while len(node.children) == 1 and not node.pages:
        (only,) = node.children.values()
        glue = "" if not node.name or node.name.endswith("/") or only.name.startswith("?") else "/"
        only.name = f"{node.name}{glue}{only.name}"
        node = only
    node.children = {name: _join_chains(child) for name, child in node.children.items()}
    return node


def chart_rows(root: FolderNode, *, most_rows: int = MAX_ROWS) -> list[ChartRow]:
    """Return the rows from top to bottom; the most important folders are opened first."""
    fits = _size(root) <= most_rows
    shown = _children if fits else _top_children
    opened = _open_folders(root, most_rows, shown)
    rows: list[ChartRow] = []
    _append_rows(rows, root, None, 0, opened, shown)
    return rows


def _size(folder: FolderNode) -> int:
    return 1 + sum(map(_size, folder.children.values()))


def _open_folders(root: FolderNode, most_rows: int, select: SelectChildren) -> set[int]:
    """Return the ids of the folders whose content is shown."""
    opened: set[int] = set()
    waiting = [(-_weight(root), 0, root)]
    rows, order = 1, 0
    while waiting:
        _, _, folder = heapq.heappop(waiting)
        shown = select(folder)
        cost = len(shown) + (len(shown) < len(folder.children))
        if not folder.children or rows + cost > most_rows:
            continue
        rows += cost
        opened.add(id(folder))
        for child in shown:
            order += 1
            heapq.heappush(waiting, (-_weight(child), order, child))
    return opened


def _weight(folder: FolderNode) -> float:
    return folder.count * (1.0 + folder.rank)


def _children(folder: FolderNode) -> list[FolderNode]:
    """Return all children, the most important first."""
    return sorted(folder.children.values(), key=lambda child: (-_weight(child), child.name))


def _top_children(folder: FolderNode) -> list[FolderNode]:
    """Return the most important children of a large site: folders before single pages."""
    ordered = _children(folder)
    if len(ordered) <= MAX_CHILDREN + 1:
        return ordered
    singles = [child for child in ordered if child.count == 1][:MAX_SINGLE_PAGES]
    return [child for child in ordered if child.count > 1][: MAX_CHILDREN - len(singles)] + singles


def _append_rows(
    rows: list[ChartRow], folder: FolderNode, parent: int | None, level: int, opened: set[int], select: SelectChildren
) -> None:
    own = len(rows)
    is_open = id(folder) in opened
    members = list(folder.pages) if is_open else list(_all_pages(folder))
    rows.append(
        ChartRow(unquote(folder.name), level, parent, folder.count, folder.rank, folder.clicks, folder.dead, members)
    )
    if not is_open:
        return
    shown = select(folder)
    for child in shown:
        _append_rows(rows, child, own, level + 1, opened, select)
    rest = [child for child in folder.children.values() if all(child is not one for one in shown)]
    if rest:
        rows.append(_rest_row(rest, own, level + 1))


def _rest_row(folders: Sequence[FolderNode], parent: int, level: int) -> ChartRow:
    clicks = [folder.clicks for folder in folders if folder.clicks is not None]
    return ChartRow(
        f"{len(folders):,} more",
        level,
        parent,
        sum(folder.count for folder in folders),
        sum(folder.rank for folder in folders),
        min(clicks, default=None),
        sum(folder.dead for folder in folders),
        [page for folder in folders for page in _all_pages(folder)],
        is_rest=True,
    )


def _all_pages(folder: FolderNode) -> Iterator[int]:
    yield from folder.pages
    for child in folder.children.values():
        yield from _all_pages(child)


ROW_HEIGHT = 19
INDENT = 22
MARGIN = 28
HEAD = 92
MIN_DOT, MAX_DOT = 2.6, 8.5
MAX_LABEL_CHARS = 54
CHAR_WIDTH = 6.7
BAR_WIDTH = 150
ARC_WIDTH = 170
MAX_FLOWS = 36
MIN_FLOW_LINKS = 2  # Weaker flows are left out if there are many.
CLICK_COLOURS = ("#0b3c5d", "#1d6a96", "#2f8f9d", "#5fae7f", "#a4b84d", "#d9a441", "#d8743c")
UNREACHED_COLOUR, DEAD_COLOUR = "#9aa0a6", "#c0392b"
_STYLE = (
    "text{font:12px system-ui,'DejaVu Sans',sans-serif;fill:#1f2933}"
    ".h{font-size:17px;font-weight:600}.s{fill:#52606d;font-size:11px}.r{fill:#7b8794;font-style:italic}"
    ".l{stroke:#cbd2d9;fill:none}.f{fill:none;stroke:#7a5195;stroke-opacity:.34}"
)


class LinkFlow(NamedTuple):
    """Links from the pages of one row to those of another."""

    source: int
    target: int
    links: int


def draw_structure(
    pages: Sequence[ChartPage], links: Iterable[tuple[int, int]], *, title: str, most_rows: int = MAX_ROWS
) -> str:
    """Return the chart; `links` are pairs of indexes in `pages`."""
    rows = chart_rows(build_folder_tree(pages), most_rows=most_rows)
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


def _flows(rows: Sequence[ChartRow], links: Iterable[tuple[int, int]], pages: int) -> list[LinkFlow]:
    row_of = [0] * pages
    for number, row in enumerate(rows):
        for page in row.members:
            row_of[page] = number
    counted = Counter((row_of[source], row_of[target]) for source, target in links)
    flows = [LinkFlow(*ends, count) for ends, count in counted.items() if ends[0] != ends[1]]
    if len(flows) > MAX_FLOWS:
        flows = [flow for flow in flows if flow.links >= MIN_FLOW_LINKS]
    return sorted(flows, key=lambda flow: (-flow.links, flow.source, flow.target))[:MAX_FLOWS]


def _head(title: str, pages: Sequence[ChartPage], label_end: float) -> list[str]:
    dead = sum(page.is_dead for page in pages)
    summary = f"{len(pages):,} pages" + (f", {dead:,} of them dead" if dead else "")
    parts = [
        f'<text class="h" x="{MARGIN}" y="30">{_xml(title)}</text>',
        f'<text class="s" x="{MARGIN}" y="48">{summary}</text>',
        f'<text class="s" x="{label_end:.0f}" y="{HEAD - 12}">share of PageRank</text>',
        f'<text class="s" x="{label_end + BAR_WIDTH + 8:.0f}" y="{HEAD - 12}">links between parts</text>',
    ]
    parts.append(f'<text class="s" x="{MARGIN}" y="66">clicks from a seed:</text>')
    x = MARGIN + 118.0
    legend = [(colour, f"{clicks}") for clicks, colour in enumerate(CLICK_COLOURS)]
    legend[-1] = (CLICK_COLOURS[-1], f"{len(CLICK_COLOURS) - 1}+")
    for colour, label in [*legend, (UNREACHED_COLOUR, "no path"), (DEAD_COLOUR, "dead")]:
        parts.append(f'<circle cx="{x + 5:.0f}" cy="62" r="5" fill="{colour}"/>')
        parts.append(f'<text class="s" x="{x + 14:.0f}" y="66">{label}</text>')
        x += 24 + CHAR_WIDTH * len(label)
    return parts


def _y(number: int) -> float:
    return HEAD + ROW_HEIGHT * (number + 0.5)


def _x(row: ChartRow) -> float:
    return MARGIN + row.level * INDENT + MAX_DOT


def _branch(rows: Sequence[ChartRow], number: int) -> str:
    row = rows[number]
    parent = rows[row.parent] if row.parent is not None else row
    top = _y(row.parent if row.parent is not None else number)
    return f'<path class="l" d="M{_x(parent):.1f} {top:.1f}V{_y(number):.1f}H{_x(row):.1f}"/>'


def _row(rows: Sequence[ChartRow], number: int, label_end: float) -> str:
    row, y = rows[number], _y(number)
    total = max(rows[0].rank, 1e-12)
    share = row.rank / total
    dot = _dot(row.count, rows[0].count)
    x = _x(row)
    kind = ' class="r"' if row.is_rest else ""
    bar = max(1.0, share * (BAR_WIDTH - 46)) if number else 0.0
    parts = [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{dot:.1f}" fill="{_colour(row)}"/>',
        f'<text{kind} x="{x + MAX_DOT + 5:.1f}" y="{y + 4:.1f}">{_xml(_label(row))}</text>',
    ]
    if number:
        parts.append(
            f'<rect x="{label_end:.1f}" y="{y - 5:.1f}" width="{bar:.1f}" height="10" fill="#b8c4ce"/>'
            f'<text class="s" x="{label_end + bar + 4:.1f}" y="{y + 4:.1f}">{share:.1%}</text>'
        )
    return "".join(parts)


def _dot(count: int, total: int) -> float:
    share = sqrt(count / max(1, total))
    return MIN_DOT + (MAX_DOT - MIN_DOT) * share if count > 1 else MIN_DOT


def _colour(row: ChartRow) -> str:
    if row.dead == row.count:
        return DEAD_COLOUR
    return UNREACHED_COLOUR if row.clicks is None else CLICK_COLOURS[min(row.clicks, len(CLICK_COLOURS) - 1)]


def _label(row: ChartRow) -> str:
    name = row.label if len(row.label) <= MAX_LABEL_CHARS else row.label[: MAX_LABEL_CHARS - 1] + "…"
    dead = f", {row.dead:,} dead" if row.dead and row.count > 1 else ""
    return f"{name or '/'}  ({row.count:,}{dead})" if row.count > 1 else name or "/"


def _label_width(row: ChartRow) -> float:
    wide = sum(1.8 if char > "\u1100" else 1.0 for char in _label(row))
    return wide * CHAR_WIDTH + 2 * MAX_DOT


def _arcs(flows: Sequence[LinkFlow], x: float) -> list[str]:
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
    """Escape markup and replace unprintable characters."""
    return escape("".join(char if char.isprintable() else "\ufffd" for char in text))
