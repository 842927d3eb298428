"""Differences between two texts by blocks (lines), and by words inside edited blocks.
Sequences are aligned by items that are unique in both (patience diff), and only small gaps are searched thoroughly, so
that the cost stays near linear; what exceeds the limits counts as replaced."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from evercrawl.model.change import BlockEdit, Sign, TextDiff, Words

MAX_SEARCH_CELLS = 10_000  # A gap is searched thoroughly up to this product of its lengths.
MAX_ROUNDS = 16  # How often a gap is divided by its unique items.
MAX_PAIRINGS = 2_500  # In a gap with more pairs of blocks, no block counts as edited.
MAX_BLOCK_CHARS = 50_000  # Longer blocks are compared as a whole.
MIN_BLOCK_SIMILARITY = 0.4  # From this share of common words on, two blocks are one edited block.

_TOKEN = re.compile(
    # Scripts without spaces are compared by character.
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+|\s+|."
)


class MatchingRun(NamedTuple):
    """`length` items from `a` in one sequence equal those from `b` in the other."""

    a: int
    b: int
    length: int


class _Gap(NamedTuple):
    a: int
    a_end: int
    b: int
    b_end: int


def diff_text(before: str, after: str) -> TextDiff:
    """Return the edits from one text to the other, in the order of the newer one."""
    if before == after:
        return TextDiff()
    old, new = text_blocks(before), text_blocks(after)
    gaps = _between(matching_runs(old, new), _Gap(0, len(old), 0, len(new)))
    edits = tuple(edit for gap in gaps for edit in _edits(old, new, gap))
    changed = sum(len(words.text) for edit in edits for words in edit.words if words.sign != " ")
    total = sum(map(len, old)) + sum(map(len, new))
    return TextDiff(edits, min(1.0, changed / total) if total else 0.0)


def changed_words(edit: BlockEdit) -> tuple[Words, ...]:
    """Return the removed and added words of an edit, which are the same on different pages."""
    return tuple(words for words in edit.words if words.sign != " ")


def text_blocks(text: str) -> list[str]:
    return [line for line in text.split("\n") if line and not line.isspace()]


def matching_runs(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[MatchingRun]:
    """Return what two sequences have in common, in order; never quadratic in their lengths."""
    runs: list[MatchingRun] = []
    waiting = [(_Gap(0, len(a), 0, len(b)), MAX_ROUNDS)]
    while waiting:
        gap, rounds = waiting.pop()
        gap = _trim_ends(a, b, gap, runs)
        if gap.a == gap.a_end or gap.b == gap.b_end:
            continue
        anchors = _anchors(a, b, gap) if rounds else []
        if anchors:
            runs += anchors
            waiting += [(inner, rounds - 1) for inner in _between(anchors, gap)]
        else:
            runs += _search_gap(a, b, gap)
    return _join_runs(sorted(runs))


def _trim_ends(a: Sequence[Hashable], b: Sequence[Hashable], gap: _Gap, runs: list[MatchingRun]) -> _Gap:
    """Return the gap without its common ends, which are added to the runs."""
    low_a, high_a, low_b, high_b = gap
    while low_a < high_a and low_b < high_b and a[low_a] == b[low_b]:
        low_a, low_b = low_a + 1, low_b + 1
    while low_a < high_a and low_b < high_b and a[high_a - 1] == b[high_b - 1]:
        high_a, high_b = high_a - 1, high_b - 1
    runs.append(MatchingRun(gap.a, gap.b, low_a - gap.a))
    runs.append(MatchingRun(high_a, high_b, gap.a_end - high_a))
    return _Gap(low_a, high_a, low_b, high_b)


def _anchors(a: Sequence[Hashable], b: Sequence[Hashable], gap: _Gap) -> list[MatchingRun]:
    """Return items that are unique in both sides, as far as they are in the same order."""
    positions_a, positions_b = _unique_positions(a, gap.a, gap.a_end), _unique_positions(b, gap.b, gap.b_end)
    pairs = [(place, positions_b[item]) for item, place in positions_a.items() if item in positions_b]
    return [MatchingRun(at_a, at_b, 1) for at_a, at_b in _longest_increasing(pairs)]


def _unique_positions(items: Sequence[Hashable], start: int, end: int) -> dict[Hashable, int]:
    counts = Counter(items[start:end])
    return {items[place]: place for place in range(start, end) if counts[items[place]] == 1}


def _longest_increasing(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest choice of pairs whose second numbers increase."""
    tops: list[int] = []
    top_pairs: list[int] = []
    previous: list[int] = []
    for index, (_, number) in enumerate(pairs):
        pile = bisect_left(tops, number)
        previous.append(top_pairs[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [number]
        top_pairs[pile : pile + 1] = [index]
    chosen: list[tuple[int, int]] = []
    index = top_pairs[-1] if top_pairs else -1
    while index >= 0:
        chosen.append(pairs[index])
        index = previous[index]
    return chosen[::-1]


def _between(runs: list[MatchingRun], gap: _Gap) -> Iterator[_Gap]:
    at_a, at_b = gap.a, gap.b
    for run in [*runs, MatchingRun(gap.a_end, gap.b_end, 0)]:
        if run.a > at_a or run.b > at_b:
            yield _Gap(at_a, run.a, at_b, run.b)
        at_a, at_b = run.a + run.length, run.b + run.length


def _search_gap(a: Sequence[Hashable], b: Sequence[Hashable], gap: _Gap) -> list[MatchingRun]:
    if (gap.a_end - gap.a) * (gap.b_end - gap.b) > MAX_SEARCH_CELLS:
        return []
    matcher = SequenceMatcher(None, a[gap.a : gap.a_end], b[gap.b : gap.b_end], autojunk=False)
    return [MatchingRun(gap.a + at_a, gap.b + at_b, length) for at_a, at_b, length in matcher.get_matching_blocks()]


def _join_runs(runs: list[MatchingRun]) -> list[MatchingRun]:
    joined: list[MatchingRun] = []
    for run in runs:
        if not run.length:
            continue
        last = joined[-1] if joined else None
        if last is not None and (last.a + last.length, last.b + last.length) == (run.a, run.b):
            joined[-1] = MatchingRun(last.a, last.b, last.length + run.length)
        else:
            joined.append(run)
    return joined


def _edits(old: list[str], new: list[str], gap: _Gap) -> Iterator[BlockEdit]:
    """Yield the blocks of a gap as removed, edited and added, in order."""
    at_a, at_b = gap.a, gap.b
    for pair_a, pair_b in [*_pairs(old, new, gap), (gap.a_end, gap.b_end)]:
        yield from (_block_edit("-", old[place], at_b) for place in range(at_a, pair_a))
        yield from (_block_edit("+", new[place], place) for place in range(at_b, pair_b))
        if pair_a < gap.a_end:
            yield BlockEdit(pair_b + 1, _diff_words(old[pair_a], new[pair_b]))
        at_a, at_b = pair_a + 1, pair_b + 1


def _block_edit(sign: Sign, block: str, place: int) -> BlockEdit:
    return BlockEdit(place + 1, (Words(sign, block),))


def _pairs(old: list[str], new: list[str], gap: _Gap) -> list[tuple[int, int]]:
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
    if max(len(before), len(after)) > MAX_BLOCK_CHARS:
        return Words("-", before), Words("+", after)
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    runs = [run for run in matching_runs(old, new) if _has_words(old[run.a : run.a + run.length])]
    pieces: list[Words] = []
    at_a, at_b = 0, 0
    for run in [*runs, MatchingRun(len(old), len(new), 0)]:
        pieces.append(Words("-", "".join(old[at_a : run.a])))
        pieces.append(Words("+", "".join(new[at_b : run.b])))
        pieces.append(Words(" ", "".join(old[run.a : run.a + run.length])))
        at_a, at_b = run.a + run.length, run.b + run.length
    return tuple(piece for piece in pieces if piece.text)


def _has_words(tokens: list[str]) -> bool:
    """Return whether a run has words: spaces and commas alone would split a change."""
    return any(token[0].isalnum() for token in tokens)


CONTEXT_WORDS = 6
MAX_RUN_CHARS = 400  # Characters of a run of changed words that are shown.
ELLIPSIS = "…"
MARKS = {" ": ("", ""), "-": ("[-", "-]"), "+": ("{+", "+}")}


def mark_words(words: Words) -> str:
    """Return words between their signs, as `git diff --word-diff` shows them: [-removed-] and {+added+}."""
    opening, closing = MARKS[words.sign]
    return f"{opening}{words.text}{closing}"


def shorten_edit(edit: BlockEdit) -> BlockEdit:
    """Return the edit with long runs cut: unchanged ones to the words beside a change."""
    last = len(edit.words) - 1
    words = [
        _context(run, is_first=place == 0, is_last=place == last) if run.sign == " " else _cut(run)
        for place, run in enumerate(edit.words)
    ]
    return BlockEdit(edit.place, tuple(words))


def _cut(run: Words) -> Words:
    return run if len(run.text) <= MAX_RUN_CHARS else Words(run.sign, run.text[: MAX_RUN_CHARS - 1] + ELLIPSIS)


def _context(run: Words, *, is_first: bool, is_last: bool) -> Words:
    words = run.text.split(" ")
    kept_before = 0 if is_first else CONTEXT_WORDS
    kept_after = 0 if is_last else CONTEXT_WORDS
    if len(words) <= kept_before + kept_after + 1:
        return _cut(run)
    head = " ".join(words[:kept_before]) + " " if kept_before else ""
    tail = " " + " ".join(words[-kept_after:]) if kept_after else ""
    return Words(" ", f"{head}{ELLIPSIS}{tail}")
