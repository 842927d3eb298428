"""The inbox of changes: read marks, groups of equal edits, and mutes.
A mute names what stays the same in a part of a page: `Line * runs every * minutes`, where `*` stands for anything. An
edit is muted if both its texts match. Versions are stored all the same."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

from evercrawl.core.change.text_diff import ELLIPSIS, MatchingRun, matching_runs
from evercrawl.core.url import matches_glob, site_of
from evercrawl.model.change import Change, ChangeClass, Edit
from evercrawl.model.history import Mute, ReadMark
from evercrawl.model.listing import ChangeRecord


@dataclass(frozen=True, slots=True)
class ReadMarks:
    """What was read: single edits, all of a site, or everything, each up to a time."""

    edits: dict[int, int] = field(default_factory=dict)
    sites: dict[str, int] = field(default_factory=dict)
    all_us: int = 0

    def has(self, key: int, view: ChangeRecord) -> bool:
        """Return whether this edit of a change was read."""
        until_us = max(self.all_us, self.edits.get(key, 0), self.sites.get(site_of(view.url), 0))
        return view.at_us <= until_us


def read_marks(marks: Iterable[ReadMark]) -> ReadMarks:
    """Combine marks; the latest of each counts."""
    edits: dict[int, int] = {}
    sites: dict[str, int] = {}
    all_us = 0
    for mark in marks:
        if mark.key is not None:
            edits[mark.key] = max(mark.until_us, edits.get(mark.key, 0))
        elif mark.site is not None:
            sites[mark.site] = max(mark.until_us, sites.get(mark.site, 0))
        else:
            all_us = max(all_us, mark.until_us)
    return ReadMarks(edits, sites, all_us)


def filter_read(views: Iterable[ChangeRecord], marks: ReadMarks, *, read: bool) -> list[ChangeRecord]:
    """Return the changes with only their read, or only their unread, edits."""
    kept = []
    for view in views:
        edits = tuple(edit for edit in view.change.edits if marks.has(edit.key, view) is read)
        if edits:
            kept.append(view._replace(change=replace(view.change, edits=edits)))
    return kept


MIN_SHARED_VISITS = 0.6  # Edits form one group if this share of their visits is the same.
MAX_COMPARED_EDITS = 200  # An edit is compared with this many groups, the largest first.


class EditGroup(NamedTuple):
    """Pages that changed in the same way."""

    kind: ChangeClass
    size: float  # The largest change among them.
    pages: tuple[str, ...]
    edits: tuple[Edit, ...]  # Those of one page as an example, then what only other pages have.
    is_template: bool
    omitted: int = 0  # Edits of the page that are not stored.


def group_changes(changes: Iterable[tuple[str, Change]], *, with_noise: bool = False) -> list[EditGroup]:
    """Return the groups of the given changes (page URL, change), the most significant first.
    A template edit on a single page is shown only `with_noise`."""
    seen = list(changes)
    edits: dict[int, Edit] = {}
    visits_of: dict[int, dict[int, None]] = defaultdict(dict)
    for place, (_, change) in enumerate(seen):
        for edit in change.edits:
            is_template = edit.is_template or edits.get(edit.key, edit).is_template
            edits[edit.key] = edit._replace(is_template=is_template)
            visits_of[edit.key][place] = None
    groups = [_group(keys, edits, visits_of, seen) for keys in _group_by_visits(visits_of)]
    shown = [group for group in groups if with_noise or len(group.pages) > 1 or not group.is_template]
    return sorted(shown, key=lambda group: (_rank(group.kind), group.size, len(group.pages)), reverse=True)


def _group_by_visits(visits_of: dict[int, dict[int, None]]) -> list[list[int]]:
    """Return the edits in lists of those seen at the same visits, the most frequent first."""
    same: dict[frozenset[int], list[int]] = {}
    for key, visits in visits_of.items():
        same.setdefault(frozenset(visits), []).append(key)
    lists: list[tuple[frozenset[int], list[int]]] = []
    for visit_set, keys in sorted(same.items(), key=lambda entry: len(entry[0]), reverse=True):
        nearly = (known for known in lists[:MAX_COMPARED_EDITS] if _is_similar(known[0], visit_set))
        target = next(nearly, None) if len(visit_set) > 1 else None
        if target is None:
            lists.append((visit_set, keys))
        else:
            target[1].extend(keys)
    return [keys for _, keys in lists]


def _is_similar(known: frozenset[int], visit_set: frozenset[int]) -> bool:
    common = len(known & visit_set)
    return common >= MIN_SHARED_VISITS * (len(known) + len(visit_set) - common)


def _group(
    keys: list[int], edits: dict[int, Edit], visits_of: dict[int, dict[int, None]], seen: list[tuple[str, Change]]
) -> EditGroup:
    wanted = set(keys)
    visits = dict.fromkeys(place for key in keys for place in visits_of[key])
    is_template = all(edits[key].is_template for key in keys)
    found = [seen[place][1] for place in visits]
    kind = ChangeClass.NOISE if is_template else max((change.kind for change in found), key=_rank)
    size = 0.0 if is_template else max(change.size for change in found)
    pages = tuple(dict.fromkeys(seen[place][0] for place in visits))
    example = max(found, key=lambda change: sum(edit.key in wanted for edit in change.edits))
    shown = tuple(edit for edit in example.edits if edit.key in wanted)
    others = tuple(edits[key] for key in wanted.difference(edit.key for edit in shown))
    return EditGroup(kind, size, pages, shown + others, is_template, 0 if is_template else example.omitted)


def _rank(kind: ChangeClass) -> int:
    return list(ChangeClass).index(kind)


MIN_LETTERS = 3  # Fewer letters would mute more than was meant.
MAX_PATTERN_CHARS = 500
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_STARS = re.compile(r"\*[\s*]*\*")


def mute_pattern(removed: str, added: str) -> str | None:
    """Return the pattern that both texts of an edit match; None if nothing stays the same."""
    if removed and added:
        pattern = _common_pattern(removed.split(), added.split())
    else:
        pattern = _NUMBER.sub("*", " ".join((removed or added).split()))
    pattern = _STARS.sub("*", pattern.replace(ELLIPSIS, "*"))
    if len(pattern) > MAX_PATTERN_CHARS:
        pattern = pattern[: MAX_PATTERN_CHARS - 1].rpartition(" ")[0] + " *"
    return None if pattern_problem(pattern) else pattern


def _common_pattern(old: Sequence[str], new: Sequence[str]) -> str:
    runs = [MatchingRun(0, 0, 0), *matching_runs(old, new), MatchingRun(len(old), len(new), 0)]
    words: list[str] = []
    for before, after in pairwise(runs):
        is_gap = before.a + before.length < after.a or before.b + before.length < after.b
        words += ["*"] if is_gap else []
        words += ["*" if "*" in word else word for word in old[after.a : after.a + after.length]]
    return " ".join(words)


def pattern_problem(pattern: str) -> str | None:
    """Return what is wrong with a pattern."""
    if len(pattern) > MAX_PATTERN_CHARS:
        return f"a pattern has at most {MAX_PATTERN_CHARS} characters"
    if sum(character.isalpha() for character in pattern) < MIN_LETTERS:
        return f"a pattern needs at least {MIN_LETTERS} letters that stay the same"
    return None


def matches_pattern(pattern: str, text: str) -> bool:
    """Return whether the text matches, whatever its case and spaces."""
    form = _fold(pattern)
    # A star at an end may stand for nothing, not even a space.
    return matches_glob(form[form.startswith(" *") : len(form) - form.endswith("* ")], _fold(text))


def _fold(text: str) -> str:
    return f" {' '.join(text.split()).casefold()} "


def is_muted(mutes: Iterable[Mute], url: str, removed: str, added: str) -> bool:
    """Return whether this edit of a page is muted."""
    texts = [text for text in (removed, added) if text]
    places = (url, site_of(url))
    return any(
        mute.place in places and all(matches_pattern(mute.pattern, text) for text in texts)
        for mute in mutes
    )  # fmt: skip


def unmuted_part(change: Change, url: str, mutes: Sequence[Mute]) -> Change | None:
    """Return the change without its muted edits; None if all are muted.
    If not all edits of a change are stored, it stays as it is."""
    edits = tuple(edit for edit in change.edits if not is_muted(mutes, url, edit.removed, edit.added))
    if len(edits) == len(change.edits) or (not edits and change.omitted):
        return change
    return replace(change, edits=edits) if edits else None


def muted_part(change: Change, url: str, mutes: Sequence[Mute]) -> Change | None:
    """Return the change with only its muted edits; None if it has none."""
    edits = tuple(edit for edit in change.edits if is_muted(mutes, url, edit.removed, edit.added))
    return replace(change, edits=edits) if edits else None
