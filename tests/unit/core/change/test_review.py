"""Mutes: parts of pages whose changes are hidden."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from evercrawl.core.change.review import (
    MAX_PATTERN_CHARS,
    edit_patterns,
    is_muted,
    matches_pattern,
    mute_pattern,
    muted_part,
    unmuted_part,
)
from evercrawl.core.change.text_diff import make_edit
from evercrawl.model.change import Change, ChangeClass, Mute

URL = "https://a.test/page"


def rule(pattern: str, place: str = "https://a.test") -> Mute:
    return Mute(1, 0, "me", place, pattern)


@pytest.mark.parametrize(
    ("removed", "added", "form"),
    [
        ("Line 3 runs every 20 minutes", "Line 3 runs every 15 minutes", "Line 3 runs every * minutes"),
        ("Visitors today: 12", "Visitors today: 1,344", "Visitors today: *"),
        ("rain until noon", "sun", None),
        ("", "Posted 12:30 on 2026-11-15 by Ann", "Posted * on * by Ann"),
        ("", "42", None),
        ("2 * 3 apples today", "2 * 4 apples today", "2 * apples today"),
    ],
)
def test_the_mute_pattern_is_what_both_texts_share(removed: str, added: str, form: str | None) -> None:
    assert mute_pattern(removed, added) == form
    if form is not None:
        assert all(matches_pattern(form, text) for text in (removed, added) if text)


def test_the_pattern_of_a_cut_text_is_that_of_its_window() -> None:
    long = " ".join(f"word{number}" for number in range(900))
    edits = [
        make_edit(1, f"{long} seen {one} times {long}", f"{long} seen {one + 1} times {long}", is_template=False)
        for one in (1, 99)
    ]
    (form,) = edit_patterns(edits[0].removed, edits[0].added)
    assert form.startswith("word")
    assert "word899 seen * times word0" in form
    assert is_muted([rule(form)], URL, edits[1].removed, edits[1].added)
    assert matches_pattern("* word899 seen * times word0 *", "word899 seen 2 times word0")


@pytest.mark.parametrize(
    ("pattern", "text", "is_form"),
    [
        ("Line * runs every * minutes", "line 7  runs every 5 MINUTES", True),
        ("Line * runs every * minutes", "Line 7 runs every 5 hours", False),
        ("updated * ago", "not updated a day ago", False),
        ("*ago", "a day ago", True),
        ("a*a", "a", False),
        ("exactly this", "exactly this", True),
        ("exactly this", "exactly this one", False),
    ],
)
def test_patterns_match(pattern: str, text: str, is_form: bool) -> None:
    assert matches_pattern(pattern, text) is is_form


def test_a_hostile_pattern_takes_linear_time() -> None:
    began = time.process_time()
    assert not matches_pattern("a*" * (MAX_PATTERN_CHARS // 2) + "b", "a" * 100_000)
    assert time.process_time() - began < 0.5


def test_a_mute_applies_to_its_page_or_site_and_both_texts() -> None:
    edit = ("seen 3 times", "seen 4 times")
    assert is_muted([rule("seen * times")], URL, *edit)
    assert is_muted([rule("seen * times", URL)], URL, *edit)
    assert not is_muted([rule("seen * times", f"{URL}/other")], URL, *edit)
    assert not is_muted([rule("seen * times", "https://b.test")], URL, *edit)
    assert not is_muted([rule("seen * times")], URL, "seen 3 times", "the shop is closed for good")


def test_each_window_of_an_edit_can_be_muted_by_another_mute() -> None:
    long = " ".join(f"word{number}" for number in range(90))
    text = f"seen {{}} times {long} sold {{}} pieces"
    edit = make_edit(1, text.format(1, 2), text.format(3, 4), is_template=False)
    seen, sold = map(rule, edit_patterns(edit.removed, edit.added))
    assert seen.pattern.startswith("seen * times word0")
    assert sold.pattern.endswith("word89 sold * pieces")
    assert is_muted([seen, sold], URL, edit.removed, edit.added)
    assert not is_muted([seen], URL, edit.removed, edit.added)


def _change(*edits: tuple[str, str]) -> Change:
    found = tuple(make_edit(key, *edit, is_template=False) for key, edit in enumerate(edits))
    return Change(ChangeClass.CONTENT, 0.5, found)


def test_only_muted_edits_are_left_out() -> None:
    mutes = [rule("seen * times")]
    both = _change(("seen 3 times", "seen 4 times"), ("open", "closed"))
    left = unmuted_part(both, URL, mutes)
    assert left is not None
    assert [edit.added for edit in left.edits] == ["closed"]
    found = muted_part(both, URL, mutes)
    assert found is not None
    assert [edit.added for edit in found.edits] == ["seen 4 times"]
    alone = _change(("seen 3 times", "seen 4 times"))
    assert unmuted_part(alone, URL, mutes) is None
    other = _change(("open", "closed"))
    assert unmuted_part(other, URL, mutes) is other
    assert muted_part(other, URL, mutes) is None


def test_a_change_with_unknown_edits_is_never_muted() -> None:
    many = replace(_change(("seen 3 times", "seen 4 times")), omitted=1)
    assert unmuted_part(many, URL, [rule("seen * times")]) is many
