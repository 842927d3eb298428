"""Which changes are one? The same edit on 412 pages is a single thing to look at.

Edits that were made on the same pages belong together: a template edit touches several places of a page at
once. A page's edits of its own content make a group of their own, unless other pages had the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from evercrawl.model.change import Change, ChangeClass, Edit

SAME_PAGES = 0.6
"""Two edits belong together when their pages are the same to this share."""


class Group(NamedTuple):
    """Pages that changed in the same way."""

    kind: ChangeClass
    size: float
    """The largest change among them."""
    pages: tuple[str, ...]
    edits: tuple[Edit, ...]
    is_template: bool


def groups_of(changes: Iterable[tuple[str, Change]]) -> list[Group]:
    """The groups of the given changes (page URL, change), the most significant first.

    An edit of a single page outside its content is not shown: it is no news about the page nor the site.
    """
    edits: dict[int, Edit] = {}
    pages_of: dict[int, dict[str, None]] = defaultdict(dict)
    of_page: dict[str, Change] = {}
    for url, change in changes:
        if url not in of_page or change.size >= of_page[url].size:
            of_page[url] = change
        for edit in change.edits:
            is_template = edit.is_template or edits.get(edit.key, edit).is_template
            edits[edit.key] = edit._replace(is_template=is_template)
            pages_of[edit.key][url] = None
    groups = [_group(keys, edits, pages_of, of_page) for keys in _together(pages_of)]
    shown = [group for group in groups if len(group.pages) > 1 or not group.is_template]
    return sorted(shown, key=_significance, reverse=True)


def _together(pages_of: dict[int, dict[str, None]]) -> list[list[int]]:
    """The edits in lists of those that happened on the same pages."""
    lists: list[tuple[set[str], list[int]]] = []
    for key in sorted(pages_of, key=lambda key: len(pages_of[key]), reverse=True):
        pages = set(pages_of[key])
        for first_pages, keys in lists:
            if len(pages & first_pages) >= SAME_PAGES * len(pages | first_pages):
                keys.append(key)
                break
        else:
            lists.append((pages, [key]))
    return [keys for _, keys in lists]


def _group(
    keys: list[int],
    edits: dict[int, Edit],
    pages_of: dict[int, dict[str, None]],
    of_page: dict[str, Change],
) -> Group:
    pages = tuple(dict.fromkeys(url for key in keys for url in pages_of[key]))
    chosen = tuple(edits[key] for key in keys)
    is_template = all(edit.is_template for edit in chosen)
    kinds = [of_page[url].kind for url in pages]
    kind = ChangeClass.NOISE if is_template else max(kinds, key=list(ChangeClass).index)
    size = 0.0 if is_template else max(of_page[url].size for url in pages)
    return Group(kind, size, pages, chosen, is_template)


def _significance(group: Group) -> tuple[int, float, int]:
    return list(ChangeClass).index(group.kind), group.size, len(group.pages)
