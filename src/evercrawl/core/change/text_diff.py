"""What differs between two texts: which blocks, and inside them which words?

Blocks (lines) are aligned first, then the words of blocks that were edited. Sequences are aligned by what is
unique in both (patience diff), and only the small gaps in between are searched thoroughly, so that the cost
stays close to linear however long a page is; what no limit allows to align counts as replaced.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from evercrawl.model.change import BlockEdit, Sign, TextDiff, Words

MAX_SEARCH_CELLS = 10_000
"""A gap is searched thoroughly up to this product of its two lengths."""
MAX_ROUNDS = 16
"""How often a gap is divided by what is unique in it."""
MAX_PAIRINGS = 2_500
"""In a gap with more pairs of blocks than this, nothing is taken for an edited form of something else."""
MAX_BLOCK_CHARS = 50_000
"""Longer blocks are compared as wholes."""
MIN_BLOCK_SIMILARITY = 0.4
"""From this share of common words on, two blocks are one block that was edited."""

_TOKEN = re.compile(
    # Scripts without spaces between words are compared by the character.
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+|\s+|."
)


class MatchingRun(NamedTuple):
    """`length` items from `a` on in the one sequence are those from `b` on in the other."""

    a: int
    b: int
    length: int


class _Gap(NamedTuple):
    a: int
    a_end: int
    b: int
    b_end: int


def diff_text(before: str, after: str) -> TextDiff:
    """The edits that lead from one text to the other, in the order of the newer one."""
    if before == after:
        return TextDiff()
    old, new = text_blocks(before), text_blocks(after)
    edits = tuple(edit for gap in _gaps_between(old, new) for edit in _edits(old, new, gap))
    changed = sum(len(words.text) for edit in edits for words in edit.words if words.sign != " ")
    total = sum(map(len, old)) + sum(map(len, new))
    return TextDiff(edits, min(1.0, changed / total) if total else 0.0)


def changed_words(edit: BlockEdit) -> tuple[Words, ...]:
    """What the same edit has in common on different pages: the words that went and came, not those around."""
    return tuple(words for words in edit.words if words.sign != " ")


def text_blocks(text: str) -> list[str]:
    return [line for line in text.split("\n") if line and not line.isspace()]


# Aligning


def matching_runs(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[MatchingRun]:
    """What two sequences have in common, in order; never quadratic in their lengths."""
    runs: list[MatchingRun] = []
    waiting = [(_Gap(0, len(a), 0, len(b)), MAX_ROUNDS)]
    while waiting:
        gap, rounds = waiting.pop()
        gap = _without_ends(a, b, gap, runs)
        if gap.a == gap.a_end or gap.b == gap.b_end:
            continue
        anchors = _anchors(a, b, gap) if rounds else []
        if anchors:
            runs += anchors
            waiting += [(inner, rounds - 1) for inner in _between(anchors, gap)]
        else:
            runs += _searched(a, b, gap)
    return _joined(sorted(runs))


def _without_ends(a: Sequence[Hashable], b: Sequence[Hashable], gap: _Gap, runs: list[MatchingRun]) -> _Gap:
    """The gap without what its beginnings and ends have in common, which goes to the runs."""
    low_a, high_a, low_b, high_b = gap
    while low_a < high_a and low_b < high_b and a[low_a] == b[low_b]:
        low_a, low_b = low_a + 1, low_b + 1
    while low_a < high_a and low_b < high_b and a[high_a - 1] == b[high_b - 1]:
        high_a, high_b = high_a - 1, high_b - 1
    runs.append(MatchingRun(gap.a, gap.b, low_a - gap.a))
    runs.append(MatchingRun(high_a, high_b, gap.a_end - high_a))
    return _Gap(low_a, high_a, low_b, high_b)


def _anchors(a: Sequence[Hashable], b: Sequence[Hashable], gap: _Gap) -> list[MatchingRun]:
    """Items that stand once in each side, as far as they come in the same order (longest such sequence)."""
    places_a, places_b = _places_of_unique(a, gap.a, gap.a_end), _places_of_unique(b, gap.b, gap.b_end)
    pairs = [(place, places_b[item]) for item, place in places_a.items() if item in places_b]
    return [MatchingRun(at_a, at_b, 1) for at_a, at_b in _longest_rising(pairs)]


def _places_of_unique(items: Sequence[Hashable], start: int, end: int) -> dict[Hashable, int]:
    counts = Counter(items[start:end])
    return {items[place]: place for place in range(start, end) if counts[items[place]] == 1}


def _longest_rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Of pairs in order of their first numbers the longest choice whose second numbers rise too."""
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


def _searched(a: Sequence[Hashable], b: Sequence[Hashable], gap: _Gap) -> list[MatchingRun]:
    if (gap.a_end - gap.a) * (gap.b_end - gap.b) > MAX_SEARCH_CELLS:
        return []
    matcher = SequenceMatcher(None, a[gap.a : gap.a_end], b[gap.b : gap.b_end], autojunk=False)
    return [MatchingRun(gap.a + at_a, gap.b + at_b, length) for at_a, at_b, length in matcher.get_matching_blocks()]


def _joined(runs: list[MatchingRun]) -> list[MatchingRun]:
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


def _gaps_between(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[_Gap]:
    return list(_between(matching_runs(a, b), _Gap(0, len(a), 0, len(b))))


# Edits inside a gap


def _edits(old: list[str], new: list[str], gap: _Gap) -> Iterator[BlockEdit]:
    """The blocks of a gap as removed, edited and added ones, in order."""
    at_a, at_b = gap.a, gap.b
    for pair_a, pair_b in [*_pairs(old, new, gap), (gap.a_end, gap.b_end)]:
        yield from (_whole("-", old[place], at_b) for place in range(at_a, pair_a))
        yield from (_whole("+", new[place], place) for place in range(at_b, pair_b))
        if pair_a < gap.a_end:
            yield BlockEdit(pair_b + 1, _word_difference(old[pair_a], new[pair_b]))
        at_a, at_b = pair_a + 1, pair_b + 1


def _whole(sign: Sign, block: str, place: int) -> BlockEdit:
    return BlockEdit(place + 1, (Words(sign, block),))


def _pairs(old: list[str], new: list[str], gap: _Gap) -> list[tuple[int, int]]:
    """Which removed block lives on in which added one; in order on both sides."""
    if (gap.a_end - gap.a) * (gap.b_end - gap.b) > MAX_PAIRINGS:
        return []
    bags = {place: _bag(new[place]) for place in range(gap.b, gap.b_end)}
    pairs: list[tuple[int, int]] = []
    following = gap.b
    for place_a in range(gap.a, gap.a_end):
        bag = _bag(old[place_a])
        likeness = [(_likeness(bag, bags[place_b]), -place_b) for place_b in range(following, gap.b_end)]
        best, place_b = max(likeness, default=(0.0, 0))
        if best >= MIN_BLOCK_SIMILARITY:
            pairs.append((place_a, -place_b))
            following = 1 - place_b
    return pairs


def _bag(block: str) -> Counter[str]:
    return Counter(token for token in _TOKEN.findall(block[:MAX_BLOCK_CHARS]) if not token.isspace())


def _likeness(a: Counter[str], b: Counter[str]) -> float:
    smaller, larger = (a, b) if len(a) <= len(b) else (b, a)
    common = sum(min(count, larger[token]) for token, count in smaller.items())
    return 2 * common / (a.total() + b.total()) if common else 0.0


def _word_difference(before: str, after: str) -> tuple[Words, ...]:
    """The words of an edited block; " " and "+" together are the newer block, " " and "-" the older one."""
    if max(len(before), len(after)) > MAX_BLOCK_CHARS:
        return Words("-", before), Words("+", after)
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    runs = [run for run in matching_runs(old, new) if _says_something(old[run.a : run.a + run.length])]
    pieces: list[Words] = []
    at_a, at_b = 0, 0
    for run in [*runs, MatchingRun(len(old), len(new), 0)]:
        pieces.append(Words("-", "".join(old[at_a : run.a])))
        pieces.append(Words("+", "".join(new[at_b : run.b])))
        pieces.append(Words(" ", "".join(old[run.a : run.a + run.length])))
        at_a, at_b = run.a + run.length, run.b + run.length
    return tuple(piece for piece in pieces if piece.text)


def _says_something(tokens: list[str]) -> bool:
    """A run of spaces and commas between two changes would only tear them apart."""
    return any(token[0].isalnum() for token in tokens)


CONTEXT_WORDS = 6
MAX_RUN_CHARS = 400
"""Characters of one run of changed words that are shown."""
ELLIPSIS = "…"
MARKS = {" ": ("", ""), "-": ("[-", "-]"), "+": ("{+", "+}")}


def mark_words(words: Words) -> str:
    """A run of words between its signs."""
    opening, closing = MARKS[words.sign]
    return f"{opening}{words.text}{closing}"


def shorten_edit(edit: BlockEdit) -> BlockEdit:
    """The edit with long runs of words cut: unchanged ones to those beside a change, others to a limit."""
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
    kept_behind = 0 if is_last else CONTEXT_WORDS
    if len(words) <= kept_before + kept_behind + 1:
        return _cut(run)
    head = " ".join(words[:kept_before]) + " " if kept_before else ""
    tail = " " + " ".join(words[-kept_behind:]) if kept_behind else ""
    return Words(" ", f"{head}{ELLIPSIS}{tail}")
