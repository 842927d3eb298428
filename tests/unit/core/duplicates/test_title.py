"""Titles of pages that say nearly the same."""

from __future__ import annotations

import pytest

from evercrawl.core.duplicates.clusters import titles_match


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("News", "News"),
        ("News", "News, to print"),
        ("News", "Printable version: NEWS"),
        ("Tide table - Harbour", "tide table | harbour"),
        (None, "News"),
        (None, None),
    ],
)
def test_titles_that_may_belong_to_copies(one: str | None, other: str | None) -> None:
    assert titles_match(one, other)
    assert titles_match(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Map - Library 2.11 - lib.Map", "Set - Library 2.11 - lib.Set"),
        ("Note - Library - lib.note.Note", "getter - Library - lib.note.meta.getter"),
        ("Release 3.14 on 2016-08-08", "Release 3.14.1 on 2016-08-11"),
        ("Gallery", "Gallery, page 2"),
        ("Red shoes", "Blue shoes"),
    ],
)
def test_titles_of_pages_of_one_form(one: str, other: str) -> None:
    assert not titles_match(one, other)
    assert not titles_match(other, one)
