"""The same edit on many pages is one thing."""

from __future__ import annotations

from evercrawl.core.change.review import group_changes
from evercrawl.model.change import Change, ChangeClass, Edit

MENU = Edit(1, is_template=True, removed="News", added="Stories")
FOOTER = Edit(2, is_template=True, removed="2025", added="")
PRICE = Edit(3, is_template=False, removed="9 EUR", added="8 EUR")
TEXT = Edit(4, is_template=False, removed="", added="More words")


def noise(*edits: Edit) -> Change:
    return Change(ChangeClass.NOISE, 0.0, edits)


def content(size: float, *edits: Edit) -> Change:
    return Change(ChangeClass.CONTENT, size, edits)


def test_edits_made_on_the_same_pages_are_one_group():
    changes = [(f"/{number}", noise(MENU, FOOTER)) for number in range(9)]
    (group,) = group_changes(changes)
    assert group.is_template
    assert set(group.edits) == {MENU, FOOTER}
    assert len(group.pages) == 9


def test_content_comes_first_and_is_a_group_of_its_own():
    changes = [(f"/{number}", noise(MENU)) for number in range(9)]
    changes += [("/3", content(0.5, TEXT)), ("/4", content(0.1, PRICE, MENU)), ("/5", content(0.1, PRICE))]
    groups = group_changes(changes)
    assert [(group.kind, len(group.pages)) for group in groups] == [
        (ChangeClass.CONTENT, 1),
        (ChangeClass.CONTENT, 2),
        (ChangeClass.NOISE, 9),
    ]


def test_an_edit_of_one_page_outside_its_content_is_not_shown():
    assert group_changes([("/a", noise(MENU)), ("/b", noise())]) == []
