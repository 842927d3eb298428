"""Which folders of a site hold how much? A tree of addresses, opened as far as it can be drawn."""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

MOST_ROWS = 120
MOST_CHILDREN = 14
"""Of one folder; the others are summed up in one row."""
MOST_SINGLES = 5
"""Of them single pages, where there are too many to show all."""
_ESCAPES = re.compile(r"(?:%[0-9A-Fa-f]{2})+")


class DrawnPage(NamedTuple):
    """A page in the picture of a site."""

    url: str
    rank: float
    clicks: int | None
    """From a seed; None: no way leads there."""
    is_dead: bool = False


@dataclass(slots=True)
class Folder:
    """A part of an address, with everything below it."""

    name: str
    pages: list[int] = field(default_factory=list)
    """The pages whose address ends here."""
    children: dict[str, Folder] = field(default_factory=dict)
    count: int = 0
    rank: float = 0.0
    clicks: int | None = None
    dead: int = 0

    def add(self, page: DrawnPage) -> None:
        """One more page here or below."""
        self.count += 1
        self.rank += page.rank
        self.dead += page.is_dead
        if page.clicks is not None:
            self.clicks = page.clicks if self.clicks is None else min(self.clicks, page.clicks)


@dataclass(slots=True)
class Row:
    """One line of the picture; `members` are the pages that it stands for."""

    label: str
    level: int
    parent: int | None
    count: int
    rank: float
    clicks: int | None
    dead: int
    members: list[int]
    is_rest: bool = False


Shown = Callable[[Folder], list[Folder]]
"""Which children of a folder get a row."""


def tree_of_pages(pages: Sequence[DrawnPage]) -> Folder:
    """The tree of the pages' addresses; chains of folders with nothing else in them are one."""
    root = Folder("")
    for number, page in enumerate(pages):
        node = root
        node.add(page)
        for part in _parts(page.url):
            node = node.children.setdefault(part, Folder(part))
            node.add(page)
        node.pages.append(number)
    return _joined(root)


def _parts(url: str) -> list[str]:
    scheme, _, rest = url.partition("://")
    authority, _, path = rest.partition("/")
    return [f"{scheme}://{authority}", *(part for part in re.split(r"(?<=/)|(?=\?)", path) if part)]


def _joined(node: Folder) -> Folder:
    """A folder whose only content is another takes that one's place."""
    while len(node.children) == 1 and not node.pages:
        (only,) = node.children.values()
        glue = "" if not node.name or node.name.endswith("/") or only.name.startswith("?") else "/"
        only.name = f"{node.name}{glue}{only.name}"
        node = only
    node.children = {name: _joined(child) for name, child in node.children.items()}
    return node


def rows_of(root: Folder, *, most_rows: int = MOST_ROWS) -> list[Row]:
    """The lines of the picture, top to bottom: the folders that matter most are opened first."""
    fits = _size(root) <= most_rows
    shown = _children if fits else _most_important
    opened = _opened(root, most_rows, shown)
    rows: list[Row] = []
    _append(rows, root, None, 0, opened, shown)
    return rows


def _size(folder: Folder) -> int:
    return 1 + sum(map(_size, folder.children.values()))


def _opened(root: Folder, most_rows: int, shown_of: Shown) -> set[int]:
    """Identities of the folders whose content is shown."""
    opened: set[int] = set()
    waiting = [(-_weight(root), 0, root)]
    rows, order = 1, 0
    while waiting:
        _, _, folder = heapq.heappop(waiting)
        shown = shown_of(folder)
        cost = len(shown) + (len(shown) < len(folder.children))
        if not folder.children or rows + cost > most_rows:
            continue
        rows += cost
        opened.add(id(folder))
        for child in shown:
            order += 1
            heapq.heappush(waiting, (-_weight(child), order, child))
    return opened


def _weight(folder: Folder) -> float:
    return folder.count * (1.0 + folder.rank)


def _children(folder: Folder) -> list[Folder]:
    """All that a folder holds, what matters most first."""
    return sorted(folder.children.values(), key=lambda child: (-_weight(child), child.name))


def _most_important(folder: Folder) -> list[Folder]:
    """As many as can be shown of a large site: folders before single pages."""
    ordered = _children(folder)
    if len(ordered) <= MOST_CHILDREN + 1:
        return ordered
    singles = [child for child in ordered if child.count == 1][:MOST_SINGLES]
    return [child for child in ordered if child.count > 1][: MOST_CHILDREN - len(singles)] + singles


def _append(rows: list[Row], folder: Folder, parent: int | None, level: int, opened: set[int], shown_of: Shown) -> None:
    own = len(rows)
    is_open = id(folder) in opened
    members = list(folder.pages) if is_open else list(_all_pages(folder))
    rows.append(
        Row(readable(folder.name), level, parent, folder.count, folder.rank, folder.clicks, folder.dead, members)
    )
    if not is_open:
        return
    shown = shown_of(folder)
    for child in shown:
        _append(rows, child, own, level + 1, opened, shown_of)
    rest = [child for child in folder.children.values() if all(child is not one for one in shown)]
    if rest:
        rows.append(_rest(rest, own, level + 1))


def _rest(folders: Sequence[Folder], parent: int, level: int) -> Row:
    clicks = [folder.clicks for folder in folders if folder.clicks is not None]
    return Row(
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


def _all_pages(folder: Folder) -> Iterator[int]:
    yield from folder.pages
    for child in folder.children.values():
        yield from _all_pages(child)


def readable(part: str) -> str:
    """The part of an address as people read it."""
    return _ESCAPES.sub(lambda run: bytes.fromhex(run[0].replace("%", "")).decode("utf-8", "replace"), part)
