"""What changed, in the order of its weight, and the same edit on many pages only once?

A page's change is made of items (edited blocks, links, metadata). An item that several pages share belongs to
them all and is told once; what is a page's own is told for that page. Items that nearly the same pages
share make one group.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

from evercrawl.model.past import ChangeGroup

RANKS = {"content": 3, "metadata": 2, "noise": 1, "none": 0}
EXAMPLE_LINES = 5
SAME_PAGES = 0.6
"""Two edits belong together when their pages are the same to this share."""
MOST_COMPARED = 200
"""A group is held against so many larger ones."""


class ChangeItem(NamedTuple):
    """A part of a page's change; equal keys on two pages are the same edit."""

    key: Hashable
    change_class: str
    weight: int
    """Characters that it touches."""
    line: str


class PageChange(NamedTuple):
    """All that changed on one page."""

    url: str
    size: float
    items: tuple[ChangeItem, ...]


def change_groups(changes: Sequence[PageChange]) -> list[ChangeGroup]:
    """The changes of many pages, the most significant first: by class, then size, then number of pages."""
    pages_of = _pages_by_item(changes)
    groups: dict[tuple[int, ...], list[ChangeItem]] = {}
    for place, change in enumerate(changes):
        for item in change.items:
            pages = pages_of[item.key]
            if pages[0] == place:
                groups.setdefault(tuple(pages), []).append(item)
    found = [_group(changes, pages, items) for pages, items in _together(groups)]
    return sorted(found, key=lambda group: (-RANKS[group.change_class], -group.size, -len(group.pages)))


def _together(groups: dict[tuple[int, ...], list[ChangeItem]]) -> list[tuple[list[int], list[ChangeItem]]]:
    """Groups whose pages are nearly the same are one: a template edit touches several places at once."""
    merged: list[tuple[set[int], list[ChangeItem]]] = []
    for pages, items in sorted(groups.items(), key=lambda group: -len(group[0])):
        alike = (known for known in merged[:MOST_COMPARED] if _alike(known[0], pages))
        target = next(alike, None) if len(pages) > 1 else None
        if target is None:
            merged.append((set(pages), items))
        else:
            target[0].update(pages)
            target[1].extend(items)
    return [(sorted(pages), items) for pages, items in merged]


def _alike(known: set[int], pages: tuple[int, ...]) -> bool:
    common = len(known.intersection(pages))
    return common >= SAME_PAGES * (len(known) + len(pages) - common)


def _pages_by_item(changes: Sequence[PageChange]) -> dict[Hashable, list[int]]:
    pages_of: dict[Hashable, list[int]] = {}
    for place, change in enumerate(changes):
        for key in dict.fromkeys(item.key for item in change.items):
            pages_of.setdefault(key, []).append(place)
    return pages_of


def _group(changes: Sequence[PageChange], pages: list[int], items: list[ChangeItem]) -> ChangeGroup:
    keys = {item.key for item in items}
    sizes = [_size(changes[place], keys) for place in pages]
    lines = [item.line for item in sorted(items, key=lambda item: -RANKS[item.change_class])]
    more = [f"and {len(lines) - EXAMPLE_LINES} more"] if len(lines) > EXAMPLE_LINES else []
    return ChangeGroup(
        change_class=strongest(item.change_class for item in items),
        size=round(sum(sizes) / len(sizes), 4),
        pages=tuple(changes[place].url for place in pages),
        example="\n".join(lines[:EXAMPLE_LINES] + more),
    )


def _size(change: PageChange, keys: set[Hashable]) -> float:
    """The part of the page's change that these items make up."""
    touched = sum(item.weight for item in change.items)
    own = sum(item.weight for item in change.items if item.key in keys)
    return change.size * own / touched if touched else change.size


def strongest(classes: Iterable[str]) -> str:
    """The class that says most."""
    return max(classes, key=lambda name: RANKS.get(name, 0), default="none")
