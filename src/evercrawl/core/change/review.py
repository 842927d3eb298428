"""The inbox of changes: read marks, mutes, and corrections of what is noise.
A mute names what stays the same in a part of a page: `Line * runs every * minutes`, where `*` stands for anything. An
edit is muted if both its texts match. Versions are stored all the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from evercrawl.core.change.hunk import combine_keys
from evercrawl.core.change.sequence_diff import MatchingRun, matching_runs
from evercrawl.core.change.text_diff import ELLIPSIS
from evercrawl.core.url import matches_glob, site_of
from evercrawl.model.change import Change, ChangeClass, Mute
from evercrawl.model.listing import ChangeRecord

if TYPE_CHECKING:
    from evercrawl.model.history import ReadMark

KEY_MASK = (1 << 64) - 1  # Keys are stored as signed numbers.


@dataclass(frozen=True, slots=True)
class ReadMarks:
    """What was read: single edits, all of a site, or everything, each up to a time."""

    edits: dict[int, int] = field(default_factory=dict)
    sites: dict[str, int] = field(default_factory=dict)
    all_us: int = 0

    def has(self, key: int, view: ChangeRecord) -> bool:
        """Return whether this edit of a change was read."""
        until_us = max(self.all_us, self.edits.get(key & KEY_MASK, 0), self.sites.get(site_of(view.url), 0))
        return view.at_us <= until_us


def read_marks(marks: Iterable[ReadMark]) -> ReadMarks:
    """Combine marks; the latest of each counts."""
    edits: dict[int, int] = {}
    sites: dict[str, int] = {}
    all_us = 0
    for mark in marks:
        if mark.key is not None:
            key = mark.key & KEY_MASK
            edits[key] = max(mark.until_us, edits.get(key, 0))
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


MIN_LETTERS = 3  # Fewer letters would mute more than was meant.
MAX_PATTERN_CHARS = 500
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_STARS = re.compile(r"\*[\s*]*\*")


def edit_patterns(removed: str, added: str) -> list[str]:
    """Return the patterns that mute an edit, one for each of its windows where something stays the same."""
    old, new = _windows(removed), _windows(added)
    pairs = zip(old, new, strict=True) if len(old) == len(new) else [(removed, added)]
    found = [mute_pattern(*pair) for pair in pairs if pair[0] != pair[1]] if removed and added else []
    if not removed or not added:
        found = [mute_pattern(window, "") for window in old + new]
    return list(dict.fromkeys(pattern for pattern in found if pattern is not None))


def _windows(text: str) -> list[str]:
    return [part.strip() for part in text.split(ELLIPSIS) if part.strip()]


def mute_pattern(removed: str, added: str) -> str | None:
    """Return the pattern that both texts of a window match; None if nothing stays the same."""
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
    """Return whether this edit of a page is muted: each of its windows by some mute."""
    places = (url, site_of(url))
    patterns = [mute.pattern for mute in mutes if mute.place in places]
    windows = _windows(removed) + _windows(added)
    return bool(windows and patterns) and all(
        any(matches_pattern(pattern, window) for pattern in patterns) for window in windows
    )


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


MIN_CORRECTED_SIZE = 0.01  # Size of a change that only a correction made content.


def correct_change(change: Change, url: str, rules: Sequence[Mute]) -> Change:
    """Return the change with the edits as content that the rules say are content."""
    if not rules or not (change.noise or change.edits):
        return change
    wanted = {
        edit.key
        for edit in (*change.edits, *change.noise)
        if edit.is_template and is_muted(rules, url, edit.removed, edit.added)
    }
    if not wanted:
        return change
    found = tuple(edit for edit in (*change.edits, *change.noise) if edit.key in wanted)
    content = tuple({edit.key: edit._replace(is_template=False) for edit in found}.values())
    others = tuple(edit for edit in change.edits if edit.key not in wanted)
    own = {edit.key for edit in (*content, *others) if not edit.is_template}
    return replace(
        change,
        kind=ChangeClass.CONTENT,
        size=max(change.size, MIN_CORRECTED_SIZE),
        edits=(*content, *others),
        edit_key=combine_keys(own),
        noise=tuple(edit for edit in change.noise if edit.key not in wanted),
    )
