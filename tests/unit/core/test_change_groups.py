"""The same edit on many pages is one group; a page's own change is one of its own."""

from __future__ import annotations

from evercrawl.core.change_groups import ChangeItem, PageChange, change_groups
from evercrawl.core.diff import text_difference
from evercrawl.core.edit_line import LONGEST_RUN, edit_line

FOOTER = ChangeItem(("-", "2025", "+", "2026"), "content", 8, "~ [-2025-]{+2026+}")


def own(number: int) -> ChangeItem:
    return ChangeItem(f"own {number}", "content", 92, f"+ own {number}")


def test_a_site_wide_edit_is_one_group_beside_the_pages_own() -> None:
    changes = [PageChange(f"p{number}", 0.01, (FOOTER,)) for number in range(411)]
    changes.append(PageChange("special", 0.5, (FOOTER, own(1))))
    first, second = change_groups(changes)
    assert (first.pages, first.example) == (("special",), "+ own 1")
    assert len(second.pages) == 412
    assert second.example == FOOTER.line
    assert first.size > second.size


def test_items_that_the_same_pages_share_make_one_group() -> None:
    second = ChangeItem("menu", "metadata", 0, "+ link /menu")
    changes = [PageChange(f"p{number}", 0.1, (second, FOOTER)) for number in range(3)]
    (group,) = change_groups(changes)
    assert group.change_class == "content"
    assert group.example == f"{FOOTER.line}\n{second.line}"


def test_edits_of_nearly_the_same_pages_are_one_group() -> None:
    second = ChangeItem("second place", "content", 5, "+ second place")
    changes = [PageChange(f"p{number}", 0.1, (FOOTER, second)) for number in range(9)]
    changes.append(PageChange("without", 0.1, (FOOTER,)))
    (group,) = change_groups(changes)
    assert len(group.pages) == 10


def test_content_comes_before_metadata_and_large_before_small() -> None:
    title = ChangeItem("title", "metadata", 0, "title: a → b")
    changes = [
        PageChange("small", 0.1, (own(1),)),
        PageChange("title", 0.9, (title,)),
        PageChange("large", 0.6, (own(2),)),
    ]
    assert [group.pages for group in change_groups(changes)] == [("large",), ("small",), ("title",)]


def test_an_example_is_short() -> None:
    (group,) = change_groups([PageChange("p", 1.0, tuple(own(number) for number in range(30)))])
    assert group.example.splitlines()[-1] == "and 25 more"
    assert change_groups([]) == []


def test_an_edit_is_shown_with_few_words_around() -> None:
    before = " ".join(f"w{number}" for number in range(100))
    (edit,) = text_difference(before, before.replace("w50 ", "new ")).edits
    assert edit_line(edit) == "~ … w45 w46 w47 w48 w49 [-w50-]{+new+} w51 w52 w53 w54 w55 …"
    (edit,) = text_difference("", "x" * 5000).edits
    assert len(edit_line(edit)) == LONGEST_RUN + 2
