"""Differences between two texts by blocks (lines), and by words inside edited blocks.
An edit is kept as what differs with the words around it: words are compared first, then long unchanged runs are cut."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from unicodedata import category

from evercrawl.core.change.sequence_diff import Gap, MatchingRun, gaps_between, matching_runs, trim_ends
from evercrawl.model.change import BlockEdit, Edit, Sign, TextDiff, Words

MAX_PAIRINGS = 2_500  # In a gap with more pairs of blocks, no block counts as edited.
MAX_BLOCKS_IN_A_ROW = 10_000  # Removed or added blocks in a row that are edits of their own.
MAX_BLOCK_CHARS = 50_000  # Characters of a block that are compared to find out which block became which.
MAX_WORDS_COMPARED = 50_000  # Of longer blocks only the common ends are found.
MIN_BLOCK_SIMILARITY = 0.4  # From this share of common words on, two blocks are one edited block.

# Scripts without spaces are compared by character, with the marks that belong to it.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
)
_MARKS = "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u17b4-\u17d3\u3099\u309a"
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_TOKEN = re.compile(rf"[{_UNSPACED}]|\w+|\s+|.")
_WORD = re.compile(rf"\s+|[{_UNSPACED}][{_MARKS}]*|[^\s{_UNSPACED}]+")  # Punctuation belongs to its word.


def diff_text(before: str, after: str) -> TextDiff:
    """Return the edits from one text to the other, in the order of the newer one."""
    if before == after:
        return TextDiff()
    old, new = text_blocks(before), text_blocks(after)
    gaps = gaps_between(matching_runs(old, new), Gap(0, len(old), 0, len(new)))
    edits = tuple(edit for gap in gaps for edit in _edits(old, new, gap))
    changed = sum(len(words.text) for edit in edits for words in edit.words if words.sign != " ")
    total = sum(map(len, old)) + sum(map(len, new))
    return TextDiff(edits, min(1.0, changed / total) if total else 0.0)


def join_moves(edits: Sequence[BlockEdit]) -> tuple[BlockEdit, ...]:
    """Return the edits with a block that was removed here and added there as one moved block, at its new place."""
    removed = Counter(edit.words[0].text for edit in edits if edit.sign == "-")
    added = Counter(edit.words[0].text for edit in edits if edit.sign == "+")
    moved = removed & added
    gone, come = Counter(moved), Counter(moved)
    found: list[BlockEdit] = []
    for edit in edits:
        left = {"-": gone, "+": come}.get(edit.sign, Counter())
        text = edit.words[0].text
        if left[text] == 0:
            found.append(edit)
            continue
        left[text] -= 1
        if edit.sign == "+":
            found.append(BlockEdit(edit.place, (Words(" ", text),)))
    return tuple(found)


def changed_words(edit: BlockEdit) -> tuple[Words, ...]:
    """Return the removed and added words of an edit, which are the same on different pages."""
    return tuple(words for words in edit.words if words.sign != " ")


def text_blocks(text: str) -> list[str]:
    return [line for line in text.split("\n") if line and not line.isspace()]


def _edits(old: list[str], new: list[str], gap: Gap) -> Iterator[BlockEdit]:
    """Yield the blocks of a gap as removed, edited and added, in order."""
    at_a, at_b = gap.a, gap.b
    for pair_a, pair_b in [*_pairs(old, new, gap), (gap.a_end, gap.b_end)]:
        yield from _whole_blocks("-", old[at_a:pair_a], [at_b])
        yield from _whole_blocks("+", new[at_b:pair_b], range(at_b, pair_b))
        if pair_a < gap.a_end:
            yield BlockEdit(pair_b + 1, _diff_words(old[pair_a], new[pair_b]))
        at_a, at_b = pair_a + 1, pair_b + 1


def _whole_blocks(sign: Sign, blocks: list[str], places: Sequence[int]) -> Iterator[BlockEdit]:
    """Yield an edit for each block, at its place or at the last one; of very many, the last ones as one edit."""
    if len(blocks) > MAX_BLOCKS_IN_A_ROW:
        blocks[MAX_BLOCKS_IN_A_ROW:] = ["\n".join(blocks[MAX_BLOCKS_IN_A_ROW:])]
    for number, block in enumerate(blocks):
        place = places[min(number, len(places) - 1)]
        yield BlockEdit(place + 1, (Words(sign, block),))


def _pairs(old: list[str], new: list[str], gap: Gap) -> list[tuple[int, int]]:
    """Return which removed block became which added one, in order on both sides."""
    if (gap.a_end - gap.a) * (gap.b_end - gap.b) > MAX_PAIRINGS:
        return []
    counts_of = {place: _word_counts(new[place]) for place in range(gap.b, gap.b_end)}
    pairs: list[tuple[int, int]] = []
    following = gap.b
    for place_a in range(gap.a, gap.a_end):
        counts = _word_counts(old[place_a])
        similarities = [(_similarity(counts, counts_of[place_b]), -place_b) for place_b in range(following, gap.b_end)]
        best, place_b = max(similarities, default=(0.0, 0))
        if best >= MIN_BLOCK_SIMILARITY:
            pairs.append((place_a, -place_b))
            following = 1 - place_b
    return pairs


def _word_counts(block: str) -> Counter[str]:
    return Counter(token for token in _TOKEN.findall(block[:MAX_BLOCK_CHARS]) if not token.isspace())


def _similarity(a: Counter[str], b: Counter[str]) -> float:
    smaller, larger = (a, b) if len(a) <= len(b) else (b, a)
    common = sum(min(count, larger[token]) for token, count in smaller.items())
    return 2 * common / (a.total() + b.total()) if common else 0.0


def _diff_words(before: str, after: str) -> tuple[Words, ...]:
    """Return the words of an edited block: " " and "+" form the newer block, " " and "-" the older one."""
    old, new = _WORD.findall(before), _WORD.findall(after)
    if max(len(old), len(new)) <= MAX_WORDS_COMPARED:
        runs = matching_runs(old, new)
    else:
        runs = []
        trim_ends(old, new, Gap(0, len(old), 0, len(new)), runs)
    pieces: list[Words] = []
    at_a, at_b = 0, 0
    shown = [run for run in runs if _is_readable(old[run.a : run.a + run.length], run, (len(old), len(new)))]
    for run in [*shown, MatchingRun(len(old), len(new), 0)]:
        pieces.append(Words("-", "".join(old[at_a : run.a])))
        pieces.append(Words("+", "".join(new[at_b : run.b])))
        pieces.append(Words(" ", "".join(old[run.a : run.a + run.length])))
        at_a, at_b = run.a + run.length, run.b + run.length
    return tuple(piece for piece in pieces if piece.text)


def _is_readable(tokens: list[str], run: MatchingRun, ends: tuple[int, int]) -> bool:
    """Return whether a common run may split a change: not spaces alone, nor a letter or two of a longer word."""
    text = "".join(tokens)
    is_inside = min(run.a, run.b) > 0 and run.a + run.length < ends[0] and run.b + run.length < ends[1]
    is_short = is_inside and len(text) < MIN_COMMON_LETTERS and _IS_UNSPACED.match(text) is not None
    return not text.isspace() and not is_short


MIN_COMMON_LETTERS = 3  # In scripts without spaces.
CONTEXT_CHARS = 60  # Unchanged text that is kept on each side of a difference, cut at words.
NARROW_CONTEXT_CHARS = 20  # The same where there are many differences.
MAX_CONTEXT_WORD_CHARS = 200  # A longer word beside a difference is cut.
MAX_EDIT_CHARS = 4_000
MAX_EDITS = 40  # Edits of the content, and of the template, that are kept of a change.
MAX_CHANGE_CHARS = 20_000  # Text that is kept of a change.
MIN_RUN_CHARS = 40
MAX_MOVED_CHARS = 200  # Text that is shown of a block that only moved.
ELLIPSIS = "…"
MARKS = {" ": ("", ""), "-": ("[-", "-]"), "+": ("{+", "+}")}


def make_edit(key: int, removed: str, added: str, *, is_template: bool, is_entry: bool = False) -> Edit:
    """Return the edit from one text of a block to the other, with every changed word and the words around it."""
    removed, added = " ".join(removed.split()), " ".join(added.split())
    words, omitted = cut_words(_diff_words(removed, added))
    return Edit(key, is_template, words, is_entry, omitted)


MIN_ALONE_CHARS = 12  # So many letters and digits are found without the words beside them, which may be other blocks.


def hidden_edits(edits: Iterable[Edit], removed: str, added: str) -> tuple[Edit, ...]:
    """Return the edits whose changed words, with a neighbour, are not in the removed and added texts."""
    sides: dict[Sign, str] = {"-": _letters(removed), "+": _letters(added)}
    return tuple(edit for edit in edits if not _is_in(edit.words, sides))


def _is_in(words: Sequence[Words], sides: dict[Sign, str]) -> bool:
    for place, run in enumerate(words):
        if run.sign != " ":
            before = _nearest_word(words[:place][::-1], -1)
            after = _nearest_word(words[place + 1 :], 0)
            text = _letters(run.text)
            forms = [side for side, word in ((before + text, before), (text + after, after)) if word]
            forms += [text] if not forms or len(text) >= MIN_ALONE_CHARS else []
            if not any(form in sides[run.sign] for form in forms):
                return False
    return True


def _nearest_word(runs: Sequence[Words], end: int) -> str:
    """Return the first or last word of the nearest unchanged words."""
    words = next((found for run in runs if run.sign == " " and (found := run.text.split())), [])
    return next((letters for word in (words if end == 0 else reversed(words)) if (letters := _letters(word))), "")


def _letters(text: str) -> str:
    """Return letters and digits only: the rest depends on how blocks are written."""
    return "".join(filter(str.isalnum, text)).casefold()


def limit_edits(edits: Iterable[Edit], count: int) -> tuple[tuple[Edit, ...], int]:
    """Return the first of `count` edits, as many as are kept of a change, and the number of the others.
    Those are not even made, which takes long."""
    kept: list[Edit] = []
    chars = 0
    for edit in edits:
        chars += sum(len(run.text) for run in edit.words)
        if kept and chars > MAX_CHANGE_CHARS:
            break
        kept.append(edit)
        if len(kept) == MAX_EDITS:
            break
    return tuple(kept), count - len(kept)


def pack_edit(edit: Edit) -> list[Any]:
    """Return the stored form of an edit, for JSON."""
    words = [run.sign + run.text for run in edit.words]
    return [f"{edit.key:x}", edit.is_template, words, edit.is_entry, edit.omitted]


def unpack_edit(stored: Sequence[Any]) -> Edit:
    """Read the stored form of an edit."""
    key, is_template, words, is_entry, omitted = stored
    return Edit(int(key, 16), is_template, tuple(Words(run[0], run[1:]) for run in words), is_entry, omitted)


def mark_words(words: Words) -> str:
    """Return words between their signs, as `git diff --word-diff` shows them: [-removed-] and {+added+}."""
    opening, closing = MARKS[words.sign]
    return f"{opening}{words.text}{closing}"


def edit_line(edit: Edit | BlockEdit) -> str:
    """Return an edit as a line: its sign, and for an edited block its words with their signs; > is a moved block."""
    sign = edit.sign
    words = "".join(mark_words(run) if sign == "~" else run.text for run in edit.words)
    return f"{sign} {words}{more_words(edit)}"


def more_words(edit: Edit | BlockEdit) -> str:
    """Return a note about changed words that are not shown; empty if there are none."""
    omitted = edit.omitted if isinstance(edit, Edit) else 0
    return f" ({omitted:,} more changed word{'s' * (omitted != 1)})" if omitted else ""


def more_edits(omitted: int) -> str:
    """Return a note about edits that are not shown."""
    return f"{ELLIPSIS} and {omitted:,} more edit{'s' * (omitted != 1)}"


def is_visible(edit: Edit) -> bool:
    """Return whether a reader sees a difference: not in spaces alone."""
    return "".join(edit.removed.split()) != "".join(edit.added.split())


def shorten_edit(edit: BlockEdit, context_chars: int = CONTEXT_CHARS) -> BlockEdit:
    """Return the edit with its changed words, and of the unchanged ones only those beside them."""
    if edit.sign == ">":
        return BlockEdit(edit.place, (Words(" ", cut_text(edit.words[0].text, MAX_MOVED_CHARS)),))
    return BlockEdit(edit.place, _cut_context(_tidy(edit.words), context_chars))


def cut_words(words: tuple[Words, ...]) -> tuple[tuple[Words, ...], int]:
    """Return the changed words with those around them, and how many changed words had to be left out."""
    words = _tidy(words)
    for context in (CONTEXT_CHARS, NARROW_CONTEXT_CHARS):
        found = _cut_context(words, context)
        if sum(len(run.text) for run in found) <= MAX_EDIT_CHARS:
            return found, 0
    longest = MAX_EDIT_CHARS
    while longest > MIN_RUN_CHARS and sum(min(len(run.text), longest) for run in found) > MAX_EDIT_CHARS:
        longest -= longest // 4
    kept: list[Words] = []
    chars = 0
    for run in found:
        text = run.text if run.sign == " " else cut_text(run.text, longest)
        chars += len(text)
        if kept and chars > MAX_EDIT_CHARS:
            kept.append(Words(" ", f" {ELLIPSIS}"))
            break
        kept.append(Words(run.sign, text))
    return tuple(kept), _count_changed(words) - _count_changed(kept)


def _tidy(words: tuple[Words, ...]) -> tuple[Words, ...]:
    """Return the words with spaces as unchanged, unless only spaces differ: marked text begins and ends with a word."""
    found = _unmark_equal(words)
    if all(run.sign == " " for run in found):
        return words
    joined: list[Words] = []
    for piece in (piece for run in found for piece in _split_spaces(run)):
        if joined and joined[-1].sign == piece.sign == " ":
            is_double = joined[-1].text.endswith(" ") and piece.text.startswith(" ")
            joined[-1] = Words(" ", joined[-1].text + piece.text[is_double:])
        else:
            joined.append(piece)
    return tuple(joined)


def _unmark_equal(words: tuple[Words, ...]) -> list[Words]:
    """Return the words with those as unchanged of which only the spaces differ."""
    found: list[Words] = []
    for run in words:
        last = found[-1] if found else None
        if last is not None and (last.sign, run.sign) == ("-", "+") and last.text.split() == run.text.split():
            found[-1] = Words(" ", run.text)
        else:
            found.append(run)
    return found


def _split_spaces(run: Words) -> Iterator[Words]:
    """Yield changed words without the spaces around them, which follow or precede as unchanged."""
    inner = run.text.strip()
    if run.sign == " " or inner == run.text:
        yield run
        return
    if run.text[0].isspace():
        yield Words(" ", " ")
    if inner:
        yield Words(run.sign, inner)
    if inner and run.text[-1].isspace():
        yield Words(" ", " ")


def _count_changed(words: Iterable[Words]) -> int:
    found = (word for run in words if run.sign != " " for word in _WORD.findall(run.text))
    return sum(not word.isspace() and word != ELLIPSIS for word in found)


def _cut_context(words: tuple[Words, ...], longest: int) -> tuple[Words, ...]:
    last = len(words) - 1
    return tuple(
        _cut_unchanged(run, 0 if place == 0 else longest, 0 if place == last else longest) if run.sign == " " else run
        for place, run in enumerate(words)
    )


def _cut_unchanged(run: Words, start: int, end: int) -> Words:
    """Return an unchanged run with about so many characters at its start and end."""
    if len(run.text) <= start + end + NARROW_CONTEXT_CHARS:
        return run
    head, tail = cut_text(run.text, start) if start else ELLIPSIS, ""
    if end:
        tail = run.text[len(run.text) - _word_border(run.text[::-1], end) :]
        tail = " " + tail.lstrip()
    return run if len(head) + len(tail) >= len(run.text) else Words(" ", head + tail)


def cut_text(text: str, longest: int) -> str:
    """Return the start of a text, cut at a word, with an ellipsis."""
    if len(text) <= longest:
        return text
    return f"{text[: _word_border(text, longest)].rstrip()} {ELLIPSIS}"


def _word_border(text: str, near: int) -> int:
    """Return the end of a word near a place; in scripts without spaces, of a character."""
    before = text.rfind(" ", 1, near + 1)
    if before > near // 2:
        return before
    if not _IS_UNSPACED.match(text[near - 1]):
        after = text.find(" ", near, near + MAX_CONTEXT_WORD_CHARS)
        if after > 0 or len(text) <= near + MAX_CONTEXT_WORD_CHARS:
            return after if after > 0 else len(text)
    border = near
    while border < len(text) and "M" in (category(text[border])[0], category(text[border - 1])[0]):
        border += 1
    return border
