"""Differences of texts by block and word, in limited time."""

from __future__ import annotations

import json
import random
import time
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from evercrawl.core.change.sequence_diff import matching_runs
from evercrawl.core.change.text_diff import (
    MAX_EDIT_CHARS,
    MAX_EDITS,
    changed_words,
    diff_text,
    hidden_edits,
    join_moves,
    limit_edits,
    make_edit,
    mark_words,
    pack_edit,
    shorten_edit,
    unpack_edit,
)
from evercrawl.model.change import BlockEdit, Edit, Words

LONGEST_S = 2.0


def rebuilt(edits: tuple[BlockEdit, ...], sign: str) -> list[str]:
    """Return what one side has according to the edits."""
    sides = ["".join(words.text for words in edit.words if words.sign in (" ", sign)) for edit in edits]
    return [side for side in sides if side]


def test_equal_texts_have_no_difference() -> None:
    assert diff_text("a\nb", "a\nb").edits == ()
    assert diff_text("", "").size == 0.0


def test_a_word_inside_a_block() -> None:
    found = diff_text("Title\nThe price is 30 euros today.\nEnd", "Title\nThe price is 25 euros today.\nEnd")
    (edit,) = found.edits
    assert edit.sign == "~"
    assert edit.place == 2
    assert changed_words(edit) == (Words("-", "30"), Words("+", "25"))
    assert 0 < found.size < 0.1


def test_added_and_removed_blocks() -> None:
    found = diff_text("one\ntwo\nthree", "one\nthree\nfour")
    assert [(edit.sign, edit.words[0].text, edit.place) for edit in found.edits] == [("-", "two", 2), ("+", "four", 3)]


def test_a_block_that_moved_is_shown_once() -> None:
    found = diff_text("a a\nb b\nc c\nd d\ne", "b b\nc c\nd d\na a\nf")
    edits = join_moves(found.edits)
    assert {(edit.sign, edit.words[0].text) for edit in edits} == {(">", "a a"), ("-", "e"), ("+", "f")}
    assert join_moves(diff_text("a\nb", "a\nc").edits) == diff_text("a\nb", "a\nc").edits


def test_a_new_first_block_leaves_the_others_unchanged() -> None:
    blocks = [f"paragraph {number} says something of its own" for number in range(50)]
    found = diff_text("\n".join(blocks), "\n".join(["news!", *blocks]))
    assert [edit.sign for edit in found.edits] == ["+"]


def test_an_edited_block_beside_a_new_one_is_found() -> None:
    before = "intro\nThe harbour is open from nine to five.\nend"
    after = "intro\nA storm is coming.\nThe harbour is open from ten to five.\nend"
    found = diff_text(before, after)
    assert [edit.sign for edit in found.edits] == ["+", "~"]


def test_words_of_scripts_without_spaces() -> None:
    (edit,) = diff_text("東京の天気は晴れです。", "東京の天気は雨です。").edits
    assert edit.sign == "~"
    assert changed_words(edit) == (Words("-", "晴れ"), Words("+", "雨"))


def test_spaces_do_not_split_a_change() -> None:
    (edit,) = diff_text("we sell red apples in autumn only", "we sell green pears in autumn only").edits
    assert changed_words(edit) == (Words("-", "red apples"), Words("+", "green pears"))


def test_the_same_edit_has_the_same_key_on_other_pages() -> None:
    (one,) = diff_text("About ships. Call 123 now.", "About ships. Call 456 now.").edits
    (two,) = diff_text("On boats and more. Call 123 now.", "On boats and more. Call 456 now.").edits
    assert changed_words(one) == changed_words(two)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from("abcdef"), max_size=30), st.lists(st.sampled_from("abcdef"), max_size=30))
def test_matching_runs_are_common_and_ordered(a: list[str], b: list[str]) -> None:
    at_a = at_b = 0
    for run in matching_runs(a, b):
        assert run.a >= at_a
        assert run.b >= at_b
        assert a[run.a : run.a + run.length] == b[run.b : run.b + run.length]
        at_a, at_b = run.a + run.length, run.b + run.length
    assert at_a <= len(a)
    assert at_b <= len(b)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from("ab"), min_size=150, max_size=250), st.data())
def test_few_differences_among_repeated_items_are_found(items: list[str], data: st.DataObject) -> None:
    other = list(items)
    for _ in range(data.draw(st.integers(1, 6))):
        other.insert(data.draw(st.integers(0, len(other))), "c")
        del other[data.draw(st.integers(0, len(other) - 1))]
    runs = matching_runs(items, other)
    assert sum(run.length for run in runs) >= len(items) - 12
    assert all(items[run.a : run.a + run.length] == other[run.b : run.b + run.length] for run in runs)
    assert all(one.a + one.length <= two.a and one.b + one.length <= two.b for one, two in pairwise(runs))


_BLOCKS = st.lists(st.text("ab c,", min_size=1, max_size=12).filter(str.strip), max_size=12)


@settings(max_examples=150, deadline=None)
@given(_BLOCKS, _BLOCKS)
def test_edits_cover_all_differences(old: list[str], new: list[str]) -> None:
    found = diff_text("\n".join(old), "\n".join(new))
    removed, added = rebuilt(found.edits, "-"), rebuilt(found.edits, "+")
    assert len(old) - len(removed) == len(new) - len(added)
    left_old, left_new = list(old), list(new)
    for block in removed:
        left_old.remove(block)
    for block in added:
        left_new.remove(block)
    assert sorted(left_old) == sorted(left_new)
    assert 0.0 <= found.size <= 1.0
    assert (found.size == 0.0) == (old == new)


def timed(before: str, after: str) -> float:
    began = time.process_time()
    diff_text(before, after)
    return time.process_time() - began


def test_large_and_hostile_pages_are_compared_in_limited_time() -> None:
    chance = random.Random(5)
    lines = [f"line {chance.random()}" for _ in range(20_000)]
    shuffled = chance.sample(lines, len(lines))
    assert timed("\n".join(lines), "\n".join(shuffled)) < LONGEST_S
    few = ["a", "b", "c"]
    assert timed("\n".join(chance.choices(few, k=20_000)), "\n".join(chance.choices(few, k=20_000))) < LONGEST_S
    assert timed("a b " * 10_000, "b a a " * 8_000) < LONGEST_S
    assert timed("x" * 200_000, "y" * 200_000) < LONGEST_S


def test_an_edit_is_shown_with_little_context() -> None:
    before = " ".join(f"word-number-{number}" for number in range(100))
    (edit,) = diff_text(before, before.replace("word-number-50 ", "new ")).edits
    line = "".join(mark_words(words) for words in shorten_edit(edit).words)
    assert line.startswith("… word-number-46 word-number-47 word-number-48 word-number-49 [-word-number-50-]{+new+} ")
    assert line.endswith(" word-number-53 word-number-54 …")


def test_a_change_at_the_end_of_a_long_block_is_kept() -> None:
    long = "The ferry leaves the old harbour at dawn and returns at dusk. " * 300
    edit = make_edit(1, f"{long}Tickets cost 12 euros.", f"{long}Tickets cost 15 euros.", is_template=False)
    assert edit.removed == "… the old harbour at dawn and returns at dusk. Tickets cost 12 euros."
    assert edit.added == "… the old harbour at dawn and returns at dusk. Tickets cost 15 euros."


def test_several_differences_of_a_block_have_a_window_each() -> None:
    long = "and so on and on " * 30
    edit = make_edit(1, f"one {long}two {long}three", f"uno {long}dos {long}tres", is_template=False)
    assert edit.omitted == 0
    assert edit.added.count(" … ") == 2
    assert all(word in edit.added for word in ("uno", "dos", "tres"))
    assert all(word in edit.removed for word in ("one", "two", "three"))


def test_a_window_in_a_script_without_spaces_is_cut_at_characters() -> None:
    long = "東京の天気は晴れです。" * 40
    edit = make_edit(1, f"{long}朝{long}", f"{long}夜{long}", is_template=False)
    assert [run for run in edit.words if run.sign != " "] == [Words("-", "朝"), Words("+", "夜")]
    assert 40 < len(edit.added) < 200


def test_marks_stay_with_their_letters() -> None:
    edit = make_edit(1, "मौसम ठीक है", "मौसम ठंडा है", is_template=False)
    assert [run.text for run in edit.words if run.sign != " "] == ["ठीक", "ठंडा"]


def test_too_much_text_is_counted() -> None:
    edit = make_edit(1, "", " ".join(f"word{n}" for n in range(5000)), is_template=False)
    assert len(edit.added) <= MAX_EDIT_CHARS + 10
    assert edit.added.endswith(" …")
    assert edit.omitted + len(edit.added.split()) == 5001
    many = [make_edit(n, f"a {n} b", f"a {n + 1} b", is_template=False) for n in range(100)]
    kept, omitted = limit_edits(many, len(many))
    assert (len(kept), omitted) == (MAX_EDITS, 100 - MAX_EDITS)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(["a", "b", "c", "d", "e", "ü", "東", "京", "กิ", "x,"]), max_size=200), st.data())
def test_an_edit_keeps_every_changed_word(words: list[str], data: st.DataObject) -> None:
    old, new = list(words), list(words)
    for number in range(data.draw(st.integers(1, 5))):
        new.insert(data.draw(st.integers(0, len(new))), f"new{number}")
        old.insert(data.draw(st.integers(0, len(old))), f"old{number}")
    edit = make_edit(1, " ".join(old), " ".join(new), is_template=False)
    assert all(word in edit.added.split() for word in new if word.startswith("new"))
    assert all(word in edit.removed.split() for word in old if word.startswith("old"))
    assert unpack_edit(json.loads(json.dumps(pack_edit(edit)))) == edit


def test_a_line_of_code_that_the_text_shows_is_not_shown_again() -> None:
    words = (Words(" ", "port = 80 retries = "), Words("-", "3"), Words("+", "5"), Words(" ", " timeout = 30"))
    edit = Edit(1, False, words)
    assert hidden_edits([edit], "retries = 3", "retries = 5") == ()
    assert hidden_edits([edit], "attempts = 3", "attempts = 5") == (edit,)


def test_a_moved_sentence_that_the_text_shows_is_not_shown_again() -> None:
    sentence = "Fires are not allowed after dark."
    edit = Edit(1, False, (Words("+", f"{sentence} "), Words(" ", "Dogs are welcome. "), Words("-", sentence)))
    assert hidden_edits([edit], sentence, sentence) == ()
