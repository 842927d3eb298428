"""Tables and definition lists of a page as rows of texts, and the cells that labels name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from evercrawl.core.fields.outline import Element, PageOutline

MAX_TABLES = 200  # Tables of a page that are read.
MAX_CELLS = 20_000  # Cells of all tables of a page.
MAX_CELL_CHARS = 2000
_LETTERS = re.compile(r"[^\W_]+")


class PageTable(NamedTuple):
    """A table: its title, its column heads (empty: none) and its rows."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def label_of(text: str) -> str:
    """Return a label in the form in which labels are compared: words in lower case."""
    return " ".join(_LETTERS.findall(text.lower()))


def page_tables(page: PageOutline) -> list[PageTable]:
    """Return the tables and definition lists of a page in order; nested tables are tables of their own."""
    rows: dict[int, list[tuple[bool, tuple[str, ...]]]] = {}
    left = MAX_CELLS
    for element in page.elements:
        if element.tag not in ("table", "tr", "dl") or left <= 0:
            continue
        if element.tag == "table" and len(rows) < MAX_TABLES:
            rows[element.place] = []
        elif element.tag == "dl" and len(rows) < MAX_TABLES:
            rows[element.place] = [(False, pair) for pair in _pairs(page, element)]
            left -= 2 * len(rows[element.place])
        elif element.tag == "tr":
            table = next((one.place for one in page.ancestors(element) if one.tag == "table"), -1)
            cells = [page.elements[at] for at in page.children.get(element.place, [])]
            cells = [cell for cell in cells if cell.tag in ("td", "th")]
            left -= len(cells)
            if table in rows and cells:
                is_head = all(cell.tag == "th" for cell in cells) and len(cells) > 1
                rows[table].append((is_head, tuple(page.text(cell, MAX_CELL_CHARS) or "" for cell in cells)))
    return [_as_table(page, at, found) for at, found in rows.items() if found]


def _as_table(page: PageOutline, at: int, rows: list[tuple[bool, tuple[str, ...]]]) -> PageTable:
    heads = rows[0][1] if rows[0][0] else ()
    body = tuple(cells for is_head, cells in (rows[1:] if heads else rows) if not is_head or not heads)
    if len(heads) > 1 and len(body) == 1 and len(body[0]) == len(heads):
        heads, body = (), tuple(zip(heads, body[0], strict=True))  # One record across.
    captions = [page.elements[one] for one in page.children.get(at, []) if page.elements[one].tag == "caption"]
    title = page.text(captions[0], MAX_CELL_CHARS) if captions else page.heading(page.elements[at])
    return PageTable(title or "", heads, body)


def _pairs(page: PageOutline, dl: Element) -> Iterator[tuple[str, str]]:
    """Yield the terms of a definition list, each with its description, also where they are wrapped in elements."""
    term = ""
    for element in page.elements[dl.place + 1 :]:
        if element.start >= dl.end:
            return
        if element.tag == "dt":
            term = page.text(element, MAX_CELL_CHARS) or ""
        elif element.tag == "dd" and term:
            yield term, page.text(element, MAX_CELL_CHARS) or ""


def select_cells(page: PageOutline, expression: str) -> list[str]:
    """Return what `LABEL`, `LABEL/COLUMN` or `LABEL/*` selects: cells of rows with this label, the cell below a head,
    or all rows of the table that has the label."""
    label, slash, column = expression.rpartition("/") if "/" in expression else (expression, "", "")
    wanted, head = label_of(label), label_of(column)
    for table in page_tables(page):
        named = [row for row in table.rows if len(row) > 1 and label_of(row[0]) == wanted]
        if not named:
            continue
        if not slash:
            return [cell for row in named for cell in row[1:2]]
        if column.strip() == "*":
            return [" ".join(row) for row in table.rows]
        heads = [label_of(one) for one in table.heads]
        if head in heads:
            return [row[heads.index(head)] for row in named if heads.index(head) < len(row)]
    return []
