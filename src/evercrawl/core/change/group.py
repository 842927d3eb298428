"""Which changes are one? The same edit on 412 pages is a single thing to look at.

Edits that the same visits met belong together: a template edit touches several places of a page at once. A
page's edits of its own content make a group of their own, unless other pages had the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from evercrawl.model.change import Change, ChangeClass, Edit

SAME_VISITS = 0.6
"""Two edits belong together when the visits that met them are the same to this share."""
MOST_COMPARED = 200
"""Edits are held against so many others that more visits met."""


class Group(NamedTuple):
    """Pages that changed in the same way."""

    kind: ChangeClass
    size: float
    """The largest change among them."""
    pages: tuple[str, ...]
    edits: tuple[Edit, ...]
    is_template: bool


def groups_of(changes: Iterable[tuple[str, Change]], *, with_noise: bool = False) -> list[Group]:
    """The groups of the given changes (page URL, change), the most significant first.

    An edit of a single page outside its content is shown only `with_noise`: it is no news about the page
    nor the site.
    """
    seen = list(changes)
    edits: dict[int, Edit] = {}
    met_in: dict[int, dict[int, None]] = defaultdict(dict)
    for place, (_, change) in enumerate(seen):
        for edit in change.edits:
            is_template = edit.is_template or edits.get(edit.key, edit).is_template
            edits[edit.key] = edit._replace(is_template=is_template)
            met_in[edit.key][place] = None
    groups = [_group(keys, edits, met_in, seen) for keys in _together(met_in)]
    shown = [group for group in groups if with_noise or len(group.pages) > 1 or not group.is_template]
    return sorted(shown, key=_significance, reverse=True)


def _together(met_in: dict[int, dict[int, None]]) -> list[list[int]]:
    """The edits in lists of those that the same visits met, those that most met first."""
    same: dict[frozenset[int], list[int]] = {}
    for key, visits in met_in.items():
        same.setdefault(frozenset(visits), []).append(key)
    lists: list[tuple[frozenset[int], list[int]]] = []
    for met, keys in sorted(same.items(), key=lambda entry: len(entry[0]), reverse=True):
        nearly = (known for known in lists[:MOST_COMPARED] if _alike(known[0], met))
        target = next(nearly, None) if len(met) > 1 else None
        if target is None:
            lists.append((met, keys))
        else:
            target[1].extend(keys)
    return [keys for _, keys in lists]


def _alike(known: frozenset[int], met: frozenset[int]) -> bool:
    common = len(known & met)
    return common >= SAME_VISITS * (len(known) + len(met) - common)


def _group(
    keys: list[int], edits: dict[int, Edit], met_in: dict[int, dict[int, None]], seen: list[tuple[str, Change]]
) -> Group:
    visits = dict.fromkeys(place for key in keys for place in met_in[key])
    chosen = tuple(edits[key] for key in keys)
    is_template = all(edit.is_template for edit in chosen)
    found = [seen[place][1] for place in visits]
    kind = ChangeClass.NOISE if is_template else max((change.kind for change in found), key=_rank)
    size = 0.0 if is_template else max(change.size for change in found)
    return Group(kind, size, tuple(dict.fromkeys(seen[place][0] for place in visits)), chosen, is_template)


def _rank(kind: ChangeClass) -> int:
    return list(ChangeClass).index(kind)


def _significance(group: Group) -> tuple[int, float, int]:
    return _rank(group.kind), group.size, len(group.pages)
