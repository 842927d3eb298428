"""Which edits does nobody want to be told of any more? Those in a part of a page or a site that was muted.

A part is named by what stays the same in it: `Line * runs every * minutes`, where `*` stands for anything. An
edit is muted when both what went and what came have that form. Versions are kept all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from evercrawl.core.change.judge import MOST_EDITS_SHOWN, SHOWN_CHARS
from evercrawl.core.diff import Run, matching_runs
from evercrawl.core.url import site_of
from evercrawl.model.change import Change
from evercrawl.model.history import Mute

LEAST_LETTERS = 3
"""What stays the same must have so many letters: less would mute more than was meant."""
LONGEST_PATTERN = 500
SLACK_CHARS = 40
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_STARS = re.compile(r"\*[\s*]*\*")


def pattern_of(removed: str, added: str) -> str | None:
    """The form that both texts of an edit have; None: nothing in them stays the same."""
    is_cut = max(len(removed), len(added)) >= SHOWN_CHARS
    if is_cut:
        # Where a text is cut off depends on what varies in it: what stands near its end says nothing.
        removed, added = removed[: SHOWN_CHARS - SLACK_CHARS], added[: SHOWN_CHARS - SLACK_CHARS]
        removed, added = removed.rpartition(" ")[0], added.rpartition(" ")[0]
    if removed and added:
        form = _common_form(removed.split(), added.split())
    else:
        form = _NUMBER.sub("*", " ".join((removed or added).split()))
    form = _STARS.sub("*", form + (" *" if is_cut else ""))[:LONGEST_PATTERN]
    return None if problem_with(form) else form


def _common_form(old: Sequence[str], new: Sequence[str]) -> str:
    runs = [Run(0, 0, 0), *matching_runs(old, new), Run(len(old), len(new), 0)]
    words: list[str] = []
    for before, after in pairwise(runs):
        is_gap = before.a + before.length < after.a or before.b + before.length < after.b
        words += ["*"] if is_gap else []
        words += ["*" if "*" in word else word for word in old[after.a : after.a + after.length]]
    return " ".join(words)


def problem_with(pattern: str) -> str | None:
    """None for a pattern that can be used, otherwise what is wrong with it."""
    if len(pattern) > LONGEST_PATTERN:
        return f"a pattern has at most {LONGEST_PATTERN} characters"
    if sum(character.isalpha() for character in pattern) < LEAST_LETTERS:
        return f"a pattern names what stays the same in a part, with at least {LEAST_LETTERS} letters"
    return None


def has_form(pattern: str, text: str) -> bool:
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
        mute.place in places and all(has_form(mute.pattern, text) for text in texts)
        for mute in mutes
    )  # fmt: skip


def heard(change: Change, url: str, mutes: Sequence[Mute]) -> Change | None:
    """The change without its muted edits; None: all of it is muted.

    Only the first edits of a change are known: where there may be more, it is told as it is.
    """
    edits = tuple(edit for edit in change.edits if not is_muted(mutes, url, edit.removed, edit.added))
    if len(edits) == len(change.edits) or (not edits and len(change.edits) >= MOST_EDITS_SHOWN):
        return change
    return replace(change, edits=edits) if edits else None


def muted(change: Change, url: str, mutes: Sequence[Mute]) -> Change | None:
    """The change with its muted edits alone; None: it has none."""
    edits = tuple(edit for edit in change.edits if is_muted(mutes, url, edit.removed, edit.added))
    return replace(change, edits=edits) if edits else None
