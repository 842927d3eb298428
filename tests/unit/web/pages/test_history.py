"""Differences as rows of two columns."""

from __future__ import annotations

import pytest

from evercrawl.core.change.text_diff import diff_text, join_moves, text_blocks
from evercrawl.web.pages.history import side_by_side

BEFORE = "one\ntwo\nthree\nfour\nfive\nsix\nseven"


def _rows(after: str) -> list[tuple[str, str, str]]:
    found = diff_text(BEFORE, after)
    rows = side_by_side(found.edits, text_blocks(after))
    return [(row.kind, "".join(run.text for run in row.before), "".join(run.text for run in row.after)) for row in rows]


def test_a_replaced_block_is_one_row_with_its_context():
    assert _rows(BEFORE.replace("four", "something else")) == [
        ("gap", "", ""),
        ("same", "three", "three"),
        ("edit", "four", "something else"),
        ("same", "five", "five"),
        ("gap", "", ""),
    ]


def test_added_and_removed_blocks():
    assert ("edit", "two", "") in _rows(BEFORE.replace("two\n", ""))
    assert ("edit", "", "new") in _rows(BEFORE.replace("two\n", "two\nnew\n"))


def test_no_difference():
    assert _rows(BEFORE) == []


@pytest.mark.parametrize(
    "after",
    [
        "zero\n" + BEFORE,
        BEFORE + "\neight",
        BEFORE.replace("one\n", "").replace("seven", "8"),
        "",
        "x\ny",
        "\n".join(reversed(BEFORE.split("\n"))),
    ],
)
def test_every_block_of_the_newer_text_is_shown_or_counted(after: str):
    found = diff_text(BEFORE, after)
    rows = side_by_side(found.edits, text_blocks(after))
    counted = sum(row.hidden if row.kind == "gap" else bool(row.after) for row in rows)
    assert counted == len(text_blocks(after))


def test_a_moved_block_is_one_row():
    after = BEFORE.replace("one\n", "") + "\none"
    rows = side_by_side(join_moves(diff_text(BEFORE, after).edits), text_blocks(after))
    assert [(row.kind, row.after[0].text) for row in rows if row.after] == [("same", "seven"), ("moved", "one")]
