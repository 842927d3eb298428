"""What differs between two snapshots and where, and the edits in it, which have the same key on every page."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from xxhash import xxh64_intdigest

from evercrawl.core.change.noise import normalize_text, text_shape, text_similarity
from evercrawl.core.change.segments import SegmentChange, sentences
from evercrawl.core.change.text_diff import MAX_EDIT_CHARS

IsOwnBlock = Callable[[int], bool]
TITLE, DESCRIPTION, CANONICAL, ROBOTS, MOVED = range(0xFFFFFFF0, 0xFFFFFFF5)
"""Paths of metadata and of the order of paragraphs."""
REFERENCE_SLOT, IMAGE_SLOT = 0x400, 0x401
MIN_VARIATION_SIMILARITY = 0.4  # Texts at least this similar are variations of each other.
_DIGIT = re.compile(r"\d")


class RowPosition(IntEnum):
    """Where a block stands among those of the same path."""

    ALONE = 0
    FIRST = 1
    LAST = 2
    WITHIN = 3


class Hunk(NamedTuple):
    """A location where versions differ: what was removed and added; one may be empty."""

    path: int
    removed: str
    added: str
    is_own: bool
    is_linked: bool
    position: RowPosition = RowPosition.ALONE
    is_balanced: bool = True  # As many blocks of this path were removed as added.
    is_metadata: bool = False
    name: int = 0  # Name path.
    has_same_name: bool = True  # Names did not change between the versions; generated ones do.
    name_position: RowPosition = RowPosition.ALONE
    is_row: bool = False  # Row of a table.
    is_entry: bool = False  # Entry of a list.
    segments: tuple[SegmentChange, ...] = ()  # Where the two texts differ; empty if one is missing.
    form: int = 0  # Number of segments of the block.
    old_marked: str = ""
    new_marked: str = ""
    is_significant: bool = True  # More differs than ages, clocks and counts of readers.
    is_surplus: bool = False  # Beyond what is compared thoroughly: always content.
    runs: tuple[int, int] = (-1, -1)
    """The first block of the run of blocks that differ with none between them that stayed, before and after; or -1."""

    @property
    def is_number(self) -> bool:
        """Return whether only numbers, dates and the like differ."""
        return bool(self.removed and self.added) and text_shape(self.removed) == text_shape(self.added)

    @property
    def is_reference(self) -> bool:
        """Return whether the target of a link or an image differs, and no text."""
        return len(self.segments) == 1 and self.segments[0].slot in (REFERENCE_SLOT, IMAGE_SLOT)

    @property
    def is_variation(self) -> bool:
        """Return whether one text is a variation of the other."""
        return (
            bool(self.removed and self.added) and text_similarity(self.removed, self.added) >= MIN_VARIATION_SIMILARITY
        )


class Move(NamedTuple):
    """A place among own texts that are in another order: what stood there, and what does now."""

    path: int  # Of the entries, or `MOVED` for paragraphs that follow each other.
    removed: str
    added: str
    is_linked: bool = False


class SnapshotDiff(NamedTuple):
    """All differences between two versions."""

    hunks: list[Hunk]
    moved: list[Move]
    has_prose: bool = False  # The page is about its text, so that lists of links on it are side matters.


def moved_edit(moved: list[Move]) -> KeyedEdit:
    """Return the texts that changed their order as one edit."""
    return _keyed_edit(" ".join(move.removed for move in moved), " ".join(move.added for move in moved))


MAX_CACHED_EDITS = 2048  # Each edit is looked up several times while a page is classified.


class KeyedEdit(NamedTuple):
    """An edit with a key that is the same on every page; one of the texts may be empty."""

    key: int
    removed: str
    added: str

    @property
    def text(self) -> str:
        """Return the added text, else the removed one."""
        return self.added or self.removed


def edits_in(hunk: Hunk) -> list[KeyedEdit]:
    """Return the edits of a hunk: one, or two if the texts have little in common and can be shown as a whole.
    Where adverts rotate, a notice may appear on all pages at once, unrelated to the removed text."""
    if hunk.is_surplus:
        return [KeyedEdit(_text_key(f"{hunk.removed}\x1f{hunk.added}"), hunk.removed, hunk.added)]
    is_whole = max(len(hunk.removed), len(hunk.added)) <= MAX_EDIT_CHARS
    if is_whole and hunk.removed and hunk.added and not hunk.is_variation and not hunk.is_metadata:
        return [_keyed_edit(hunk.removed, ""), _keyed_edit("", hunk.added)]
    return [_keyed_edit(hunk.removed, hunk.added)]


def combine_keys(keys: set[int]) -> int | None:
    """Return one key for edits made together; None if there are none."""
    return xxh64_intdigest(repr(sorted(keys)).encode()) if keys else None


@lru_cache(maxsize=MAX_CACHED_EDITS)
def _keyed_edit(removed: str, added: str) -> KeyedEdit:
    """Return the edit with a key of the words that differ and one more on each side.
    Numbers beside them are left out: the same notice may have another count or date on each page."""
    old, new = normalize_text(removed).split(), normalize_text(added).split()
    if old and new:
        old, new = _trim_common_words(*_differing_sentences(old, new))
    sides = " ".join(old), " ".join(new)
    words = "\x1f".join(sides)
    if _DIGIT.search(words) is not None:
        shapes = text_shape(sides[0]), text_shape(sides[1])
        is_in_words = shapes[0] != shapes[1] and any(map(str.isalpha, "".join(shapes)))
        words = "\x1f".join(shapes) if is_in_words else words
    return KeyedEdit(_text_key(words), removed, added)


def _text_key(text: str) -> int:
    return xxh64_intdigest(text.encode("utf-8", "surrogatepass"))


def _differing_sentences(old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """Leave out sentences in which only numbers differ, such as the time of an answer, if there are others."""
    sides = [sentences(" ".join(words)) for words in (old, new)]
    shapes = [{text_shape(sentence) for sentence in side} for side in sides]
    same = shapes[0] & shapes[1]
    kept = [[word for text in side if text_shape(text) not in same for word in text.split()] for side in sides]
    return (kept[0], kept[1]) if same and any(kept) else (old, new)


def _trim_common_words(old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """Drop common words at both ends except the nearest ones."""
    shortest = min(len(old), len(new))
    head = 0
    while head < shortest and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shortest - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    head, tail = max(0, head - 1), max(0, tail - 1)
    return old[head : len(old) - tail], new[head : len(new) - tail]
