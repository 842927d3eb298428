"""An edit is shown in little room: the words that went and came, and a few around them."""

from __future__ import annotations

from evercrawl.core.change.text_diff import LONGEST_RUN, marked, shortened, text_difference


def test_an_edit_is_shown_with_few_words_around() -> None:
    before = " ".join(f"w{number}" for number in range(100))
    (edit,) = text_difference(before, before.replace("w50 ", "new ")).edits
    line = "".join(marked(words) for words in shortened(edit).words)
    assert line == "… w45 w46 w47 w48 w49 [-w50-]{+new+} w51 w52 w53 w54 w55 …"


def test_a_long_run_is_cut() -> None:
    (edit,) = text_difference("", "x" * 5000).edits
    (words,) = shortened(edit).words
    assert len(words.text) == LONGEST_RUN
