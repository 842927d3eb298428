"""How is an edit shown in little room? The words that went and came, with a few around them.

Signs as in `git diff --word-diff`: [-went-] and {+came+}, readable without colours.
"""

from __future__ import annotations

from evercrawl.model.change import BlockEdit, Words

WORDS_AROUND = 6
LONGEST_RUN = 400
"""Characters of one run of changed words that are shown."""
ELLIPSIS = "…"
MARKS = {" ": ("", ""), "-": ("[-", "-]"), "+": ("{+", "+}")}


def marked(words: Words) -> str:
    """A run of words between its signs."""
    opening, closing = MARKS[words.sign]
    return f"{opening}{words.text}{closing}"


def shortened(edit: BlockEdit) -> BlockEdit:
    """The edit with long runs of words cut: unchanged ones to those beside a change, others to a limit."""
    last = len(edit.words) - 1
    words = [
        _context(run, is_first=place == 0, is_last=place == last) if run.sign == " " else _cut(run)
        for place, run in enumerate(edit.words)
    ]
    return BlockEdit(edit.place, tuple(words))


def _cut(run: Words) -> Words:
    return run if len(run.text) <= LONGEST_RUN else Words(run.sign, run.text[: LONGEST_RUN - 1] + ELLIPSIS)


def _context(run: Words, *, is_first: bool, is_last: bool) -> Words:
    words = run.text.split(" ")
    kept_before = 0 if is_first else WORDS_AROUND
    kept_behind = 0 if is_last else WORDS_AROUND
    if len(words) <= kept_before + kept_behind + 1:
        return _cut(run)
    head = " ".join(words[:kept_before]) + " " if kept_before else ""
    tail = " " + " ".join(words[-kept_behind:]) if kept_behind else ""
    return Words(" ", f"{head}{ELLIPSIS}{tail}")
