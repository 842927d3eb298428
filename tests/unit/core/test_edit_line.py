"""An edit is shown in little room: the words that went and came, and a few around them."""

from __future__ import annotations

from evercrawl.core.change.text_diff import MAX_RUN_CHARS, diff_text, mark_words, shorten_edit


def test_an_edit_is_shown_with_few_words_around() -> None:
    before = " ".join(f"w{number}" for number in range(100))
    (edit,) = diff_text(before, before.replace("w50 ", "new ")).edits
    line = "".join(mark_words(words) for words in shorten_edit(edit).words)
    assert line == "… w45 w46 w47 w48 w49 [-w50-]{+new+} w51 w52 w53 w54 w55 …"


def test_a_long_run_is_cut() -> None:
    (edit,) = diff_text("", "x" * 5000).edits
    (words,) = shorten_edit(edit).words
    assert len(words.text) == MAX_RUN_CHARS
