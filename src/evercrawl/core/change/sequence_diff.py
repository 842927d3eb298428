"""What two sequences have in common, in near linear time.
They are aligned by items that are unique in both (patience diff), and only small gaps are searched thoroughly; what
exceeds the limits counts as replaced."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

MAX_SEARCH_CELLS = 10_000  # A gap is searched thoroughly up to this product of its lengths.
ANCHOR_ITEMS = 9  # Length of the sequences that align large gaps without unique items.
SEQUENCE_SAMPLE = 8  # One in so many sequences is compared.
MAX_DIFFERENCES = 200  # A larger gap is searched for up to this many differences,
MAX_STEPS = 2_000_000  # and as long as their number times its length is at most this.
MAX_ROUNDS = 16  # How often a gap is divided by its unique items.


class MatchingRun(NamedTuple):
    """`length` items from `a` in one sequence equal those from `b` in the other."""

    a: int
    b: int
    length: int


class Gap(NamedTuple):
    """A part of both sequences."""

    a: int
    a_end: int
    b: int
    b_end: int


def matching_runs(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[MatchingRun]:
    """Return what two sequences have in common, in order; never quadratic in their lengths."""
    runs: list[MatchingRun] = []
    waiting = [(Gap(0, len(a), 0, len(b)), MAX_ROUNDS)]
    while waiting:
        gap, rounds = waiting.pop()
        gap = trim_ends(a, b, gap, runs)
        if gap.a == gap.a_end or gap.b == gap.b_end:
            continue
        anchors = _unique_items(a, b, gap) if rounds else []
        if not anchors and (found := _search_gap(a, b, gap)):
            runs += found
            continue
        anchors = anchors or (_unique_sequences(a, b, gap) if rounds else [])
        runs += anchors
        waiting += [(inner, rounds - 1) for inner in gaps_between(anchors, gap)] if anchors else []
    return _join_runs(sorted(runs))


def trim_ends(a: Sequence[Hashable], b: Sequence[Hashable], gap: Gap, runs: list[MatchingRun]) -> Gap:
    """Return the gap without its common ends, which are added to the runs."""
    low_a, high_a, low_b, high_b = gap
    while low_a < high_a and low_b < high_b and a[low_a] == b[low_b]:
        low_a, low_b = low_a + 1, low_b + 1
    while low_a < high_a and low_b < high_b and a[high_a - 1] == b[high_b - 1]:
        high_a, high_b = high_a - 1, high_b - 1
    runs.append(MatchingRun(gap.a, gap.b, low_a - gap.a))
    runs.append(MatchingRun(high_a, high_b, gap.a_end - high_a))
    return Gap(low_a, high_a, low_b, high_b)


def _unique_items(a: Sequence[Hashable], b: Sequence[Hashable], gap: Gap) -> list[MatchingRun]:
    """Return items that are unique in both sides, as far as they are in the same order."""
    pairs = _unique_pairs(enumerate(a[gap.a : gap.a_end]), enumerate(b[gap.b : gap.b_end]))
    return [MatchingRun(gap.a + at_a, gap.b + at_b, 1) for at_a, at_b in _longest_increasing(pairs)]


def _unique_sequences(a: Sequence[Hashable], b: Sequence[Hashable], gap: Gap) -> list[MatchingRun]:
    """Return the first items of sequences that are unique in both sides."""
    numbers: dict[Hashable, int] = {}
    old, new = (
        [numbers.setdefault(item, len(numbers)) for item in side]
        for side in (a[gap.a : gap.a_end], b[gap.b : gap.b_end])
    )
    found = _unique_pairs(_sequences(old), _sequences(new))
    pairs = [(at_a, at_b) for at_a, at_b in found if old[at_a] == new[at_b]]
    return [MatchingRun(gap.a + at_a, gap.b + at_b, 1) for at_a, at_b in _longest_increasing(pairs)]


def _unique_pairs(old: Iterable[tuple[int, Hashable]], new: Iterable[tuple[int, Hashable]]) -> list[tuple[int, int]]:
    """Return the places of items that are unique in both, in the order of the older ones."""
    old_items, new_items = list(old), list(new)
    counts, new_counts = (Counter(item for _, item in items) for items in (old_items, new_items))
    places = {item: place for place, item in new_items if new_counts[item] == 1}
    return [(place, places[item]) for place, item in old_items if counts[item] == 1 and item in places]


def _sequences(numbers: list[int]) -> Iterator[tuple[int, int]]:
    """Yield a sample of the sequences by place and hash; equal sequences are chosen alike."""
    for place, sequence in enumerate(zip(*(numbers[at:] for at in range(ANCHOR_ITEMS)), strict=False)):
        mark = hash(sequence)  # Hashes of numbers are the same in every process.
        if mark % SEQUENCE_SAMPLE == 0:
            yield place, mark


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


def gaps_between(runs: list[MatchingRun], gap: Gap) -> Iterator[Gap]:
    """Yield what is between the runs of a gap."""
    at_a, at_b = gap.a, gap.b
    for run in [*runs, MatchingRun(gap.a_end, gap.b_end, 0)]:
        if run.a > at_a or run.b > at_b:
            yield Gap(at_a, run.a, at_b, run.b)
        at_a, at_b = run.a + run.length, run.b + run.length


def _search_gap(a: Sequence[Hashable], b: Sequence[Hashable], gap: Gap) -> list[MatchingRun]:
    """Return the best alignment of a small gap, or of a large one with few differences; empty: there is none."""
    if (gap.a_end - gap.a) * (gap.b_end - gap.b) > MAX_SEARCH_CELLS:
        return _few_differences(a, b, gap)
    matcher = SequenceMatcher(None, a[gap.a : gap.a_end], b[gap.b : gap.b_end], autojunk=False)
    return [MatchingRun(gap.a + at_a, gap.b + at_b, length) for at_a, at_b, length in matcher.get_matching_blocks()]


def _few_differences(a: Sequence[Hashable], b: Sequence[Hashable], gap: Gap) -> list[MatchingRun]:
    """Return the common runs of a large gap that has no unique items but few differences (Myers 1986)."""
    length_a, length_b = gap.a_end - gap.a, gap.b_end - gap.b
    rounds = min(MAX_DIFFERENCES, MAX_STEPS // (length_a + length_b))
    if abs(length_a - length_b) > rounds:
        return []
    ends: dict[int, int] = {1: 0}  # How far into `a` each diagonal reaches.
    steps: list[dict[int, int]] = []
    for number in range(rounds + 1):
        steps.append(dict(ends))
        for diagonal in range(-number, number + 1, 2):
            is_down = _goes_down(ends, diagonal, number)
            x = ends[diagonal + 1] if is_down else ends[diagonal - 1] + 1
            y = x - diagonal
            while x < length_a and y < length_b and a[gap.a + x] == b[gap.b + y]:
                x, y = x + 1, y + 1
            ends[diagonal] = x
            if x >= length_a and y >= length_b:
                return _trace_back(steps, gap)
    return []


def _goes_down(ends: dict[int, int], diagonal: int, number: int) -> bool:
    return diagonal == -number or (diagonal != number and ends[diagonal - 1] < ends[diagonal + 1])


def _trace_back(steps: list[dict[int, int]], gap: Gap) -> list[MatchingRun]:
    runs: list[MatchingRun] = []
    x, y = gap.a_end - gap.a, gap.b_end - gap.b
    for number in range(len(steps) - 1, -1, -1):
        ends, diagonal = steps[number], x - y
        is_down = _goes_down(ends, diagonal, number)
        from_x = ends[diagonal + 1] if is_down else ends[diagonal - 1]
        from_y = from_x - (diagonal + 1 if is_down else diagonal - 1)
        start = max(0, from_x if is_down else from_x + 1) if number else 0
        runs.append(MatchingRun(gap.a + start, gap.b + start - diagonal, x - start))
        x, y = from_x, from_y
    return runs


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
