"""A difference as rows of two columns, with a little of what stayed the same around every edit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile, zip_longest
from typing import Literal, NamedTuple

from evercrawl.model.change import BlockEdit, Words

AROUND = 1
"""Blocks that are shown before and behind an edit."""
MOST_ROWS = 1000


class DiffRow(NamedTuple):
    """One row: an edit, a block that is the same on both sides, or a number of such blocks left out."""

    kind: Literal["edit", "same", "gap"]
    place: int
    before: tuple[Words, ...] = ()
    after: tuple[Words, ...] = ()
    left_out: int = 0


def side_by_side(edits: Sequence[BlockEdit], blocks: Sequence[str]) -> list[DiffRow]:
    """The rows of a difference; `blocks` is the newer text."""
    rows: list[DiffRow] = []
    shown = 0
    for begin, end, group in _groups(edits):
        rows += _unchanged(blocks, shown, begin - 1, is_first=shown == 0)
        rows += group
        shown = end
        if len(rows) > MOST_ROWS:
            return rows[:MOST_ROWS]
    return rows + _unchanged(blocks, shown, len(blocks), is_last=True) if rows else rows


def _groups(edits: Sequence[BlockEdit]) -> Iterator[tuple[int, int, list[DiffRow]]]:
    """Edits in a row: first and last block of the newer text, and rows that pair old with new."""
    at = 0
    while at < len(edits):
        place = edits[at].place
        if edits[at].sign == "~":
            yield place, place, [_row(edits[at])]
            at += 1
            continue
        went = list(takewhile(lambda edit: edit.sign == "-" and edit.place == place, edits[at:]))  # noqa: B023
        came = _that_follow(edits[at + len(went) :], place)
        yield place, place + len(came) - 1, _paired(went, came)
        at += len(went) + len(came)


def _that_follow(edits: Sequence[BlockEdit], place: int) -> list[BlockEdit]:
    """New blocks that stand one behind the other, from `place` on."""
    numbered = takewhile(lambda pair: pair[1].sign == "+" and pair[1].place == place + pair[0], enumerate(edits))
    return [edit for _, edit in numbered]


def _paired(went: Sequence[BlockEdit], came: Sequence[BlockEdit]) -> list[DiffRow]:
    pairs = zip_longest(went, came)
    return [
        DiffRow("edit", (new or old).place, old.words if old else (), new.words if new else ()) for old, new in pairs
    ]


def _row(edit: BlockEdit) -> DiffRow:
    before = tuple(run for run in edit.words if run.sign != "+")
    after = tuple(run for run in edit.words if run.sign != "-")
    return DiffRow("edit", edit.place, before if edit.sign != "+" else (), after if edit.sign != "-" else ())


def _unchanged(
    blocks: Sequence[str], begin: int, end: int, *, is_first: bool = False, is_last: bool = False
) -> list[DiffRow]:
    """Blocks from `begin` to `end`, counted from 0, without those far from any edit."""
    places = range(max(0, begin), min(end, len(blocks)))
    kept = [
        place
        for place in places
        if (not is_first and place < begin + AROUND) or (not is_last and place >= end - AROUND)
    ]
    rows: list[DiffRow] = []
    following = places.start
    for place in kept:
        rows += _gap(following, place)
        words = (Words(" ", blocks[place]),)
        rows.append(DiffRow("same", place + 1, words, words))
        following = place + 1
    return rows + _gap(following, places.stop)


def _gap(begin: int, end: int) -> list[DiffRow]:
    return [DiffRow("gap", begin + 1, left_out=end - begin)] if end > begin else []
