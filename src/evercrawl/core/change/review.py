"""Which changes has somebody looked at? An edit that comes again on other pages later is news again."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

from evercrawl.core.change.classify import MAX_EDIT_CHARS, MAX_EDITS
from evercrawl.core.change.text_diff import MatchingRun, matching_runs
from evercrawl.core.url import site_of
from evercrawl.model.change import Change, ChangeClass, Edit
from evercrawl.model.history import Mark, Mute
from evercrawl.model.listing import ChangeRecord


@dataclass(frozen=True, slots=True)
class ReadMarks:
    """What was looked at: single edits, all of a site, or everything, each up to a moment."""

    edits: dict[int, int] = field(default_factory=dict)
    sites: dict[str, int] = field(default_factory=dict)
    all_us: int = 0

    def has(self, key: int, view: ChangeRecord) -> bool:
        """This edit of a change was looked at."""
        until_us = max(self.all_us, self.edits.get(key, 0), self.sites.get(site_of(view.url), 0))
        return view.at_us <= until_us


def read_marks(marks: Iterable[Mark]) -> ReadMarks:
    """What marks say together: the latest of each counts."""
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


def filter_read(views: Iterable[ChangeRecord], reviewed: ReadMarks, *, was_seen: bool) -> list[ChangeRecord]:
    """The changes with those of their edits that were looked at, or were not; none without edits."""
    kept = []
    for view in views:
        edits = tuple(edit for edit in view.change.edits if reviewed.has(edit.key, view) is was_seen)
        if edits:
            kept.append(view._replace(change=replace(view.change, edits=edits)))
    return kept


MIN_SHARED_VISITS = 0.6
"""Two edits belong together when the visits that met them are the same to this share."""
MAX_COMPARED_EDITS = 200
"""Edits are held against so many others that more visits met."""


class EditGroup(NamedTuple):
    """Pages that changed in the same way."""

    kind: ChangeClass
    size: float
    """The largest change among them."""
    pages: tuple[str, ...]
    edits: tuple[Edit, ...]
    is_template: bool


def group_changes(changes: Iterable[tuple[str, Change]], *, with_noise: bool = False) -> list[EditGroup]:
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
        nearly = (known for known in lists[:MAX_COMPARED_EDITS] if _alike(known[0], met))
        target = next(nearly, None) if len(met) > 1 else None
        if target is None:
            lists.append((met, keys))
        else:
            target[1].extend(keys)
    return [keys for _, keys in lists]


def _alike(known: frozenset[int], met: frozenset[int]) -> bool:
    common = len(known & met)
    return common >= MIN_SHARED_VISITS * (len(known) + len(met) - common)


def _group(
    keys: list[int], edits: dict[int, Edit], met_in: dict[int, dict[int, None]], seen: list[tuple[str, Change]]
) -> EditGroup:
    visits = dict.fromkeys(place for key in keys for place in met_in[key])
    chosen = tuple(edits[key] for key in keys)
    is_template = all(edit.is_template for edit in chosen)
    found = [seen[place][1] for place in visits]
    kind = ChangeClass.NOISE if is_template else max((change.kind for change in found), key=_rank)
    size = 0.0 if is_template else max(change.size for change in found)
    return EditGroup(kind, size, tuple(dict.fromkeys(seen[place][0] for place in visits)), chosen, is_template)


def _rank(kind: ChangeClass) -> int:
    return list(ChangeClass).index(kind)


def _significance(group: EditGroup) -> tuple[int, float, int]:
    return _rank(group.kind), group.size, len(group.pages)


MIN_LETTERS = 3
"""What stays the same must have so many letters: less would mute more than was meant."""
MAX_PATTERN_CHARS = 500
SLACK_CHARS = 40
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_STARS = re.compile(r"\*[\s*]*\*")


def mute_pattern(removed: str, added: str) -> str | None:
    """The form that both texts of an edit have; None: nothing in them stays the same."""
    is_cut = max(len(removed), len(added)) >= MAX_EDIT_CHARS
    if is_cut:
        # Where a text is cut off depends on what varies in it: what stands near its end says nothing.
        removed, added = removed[: MAX_EDIT_CHARS - SLACK_CHARS], added[: MAX_EDIT_CHARS - SLACK_CHARS]
        removed, added = removed.rpartition(" ")[0], added.rpartition(" ")[0]
    if removed and added:
        form = _common_form(removed.split(), added.split())
    else:
        form = _NUMBER.sub("*", " ".join((removed or added).split()))
    form = _STARS.sub("*", form + (" *" if is_cut else ""))[:MAX_PATTERN_CHARS]
    return None if pattern_problem(form) else form


def _common_form(old: Sequence[str], new: Sequence[str]) -> str:
    runs = [MatchingRun(0, 0, 0), *matching_runs(old, new), MatchingRun(len(old), len(new), 0)]
    words: list[str] = []
    for before, after in pairwise(runs):
        is_gap = before.a + before.length < after.a or before.b + before.length < after.b
        words += ["*"] if is_gap else []
        words += ["*" if "*" in word else word for word in old[after.a : after.a + after.length]]
    return " ".join(words)


def pattern_problem(pattern: str) -> str | None:
    """None for a pattern that can be used, otherwise what is wrong with it."""
    if len(pattern) > MAX_PATTERN_CHARS:
        return f"a pattern has at most {MAX_PATTERN_CHARS} characters"
    if sum(character.isalpha() for character in pattern) < MIN_LETTERS:
        return f"a pattern names what stays the same in a part, with at least {MIN_LETTERS} letters"
    return None


def matches_pattern(pattern: str, text: str) -> bool:
    """The text has the form of the pattern; in time that grows with their lengths, whatever they are."""
    first, *others = _plain(pattern).split("*")
    rest = _plain(text)
    if not others:
        return rest == first
    if not rest.startswith(first):
        return False
    rest = rest[len(first) :]
    *middle, last = others
    for piece in middle:
        _, found, rest = rest.partition(piece) if piece else ("", True, rest)
        if not found:
            return False
    return rest.endswith(last)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def is_muted(mutes: Iterable[Mute], url: str, removed: str, added: str) -> bool:
    """Nobody wants to be told of this edit of a page."""
    texts = [text for text in (removed, added) if text]
    places = (url, site_of(url))
    return any(
        mute.place in places and all(matches_pattern(mute.pattern, text) for text in texts)
        for mute in mutes
    )  # fmt: skip


def unmuted_part(change: Change, url: str, mutes: Sequence[Mute]) -> Change | None:
    """The change without its muted edits; None: all of it is muted.

    Only the first edits of a change are known: where there may be more, it is told as it is.
    """
    edits = tuple(edit for edit in change.edits if not is_muted(mutes, url, edit.removed, edit.added))
    if len(edits) == len(change.edits) or (not edits and len(change.edits) >= MAX_EDITS):
        return change
    return replace(change, edits=edits) if edits else None


def muted_part(change: Change, url: str, mutes: Sequence[Mute]) -> Change | None:
    """The change with its muted edits alone; None: it has none."""
    edits = tuple(edit for edit in change.edits if is_muted(mutes, url, edit.removed, edit.added))
    return replace(change, edits=edits) if edits else None
