"""What the default method looks at: words, negated words, pairs of words, what stands around `but`, and runs
of bytes.

Runs tell endings, stems and short phrases without any list of them. There are two kinds, those across the
borders of words and those inside words: two machines learn, each with one of them (`fit.py`). Each feature is
a bucket of a table, found by CRC-32; the kind of feature is the value that the sum begins with.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple
from zlib import crc32

from evercrawl.core.sentiment.token import words_of

BUCKETS = 1 << 20
BYTES_ACROSS, BYTES_INSIDE = 5, 4
KNOWN_WORDS = 8192
"""Words whose runs are remembered."""
NEGATED_WORDS = 3
"""So many words behind a negation are negated, at most up to the next mark or `but`."""
_NEGATIONS = frozenset(
    b"not no never nothing nor none neither without cannot hardly cant dont doesnt didnt isnt wasnt wont"
    b" wouldnt couldnt shouldnt".split()
)
_TURN = b"but"
_ENDS_OF_NEGATION = frozenset((b".", b",", b";", b":", b"!", b"?", _TURN))
_MASK = BUCKETS - 1
_WORD, _NEGATED, _PAIR, _ACROSS, _INSIDE, _APART, _BEFORE_TURN, _BEHIND_TURN = range(1, 9)


class Views(NamedTuple):
    """The buckets of a text: what both machines see, and what only one of them does."""

    shared: set[int]
    across: set[int]
    inside: set[int]


def features_of(text: str) -> set[int]:
    """All buckets of a text, each once; the same text always has the same."""
    shared, across, inside = views_of(text)
    return shared | across | inside


def views_of(text: str) -> Views:
    """The same, as the machines see them."""
    words = [word.encode("utf-8", "replace") for word in words_of(text)]
    ends = [b"^", *words, b"$"]
    shared = _buckets(words, _WORD) | _buckets(_negated(words), _NEGATED)
    shared |= _buckets([one + b" " + other for one, other in pairwise(ends)], _PAIR)
    shared |= _buckets([one + b" " + other for one, other in zip(ends, ends[2:], strict=False)], _APART)
    if _TURN in words:
        turn = len(words) - 1 - words[::-1].index(_TURN)
        shared |= _buckets(words[:turn], _BEFORE_TURN) | _buckets(words[turn + 1 :], _BEHIND_TURN)
    line = b" " + b" ".join(words) + b" "
    inside = set().union(*map(_inside, words))
    return Views(shared, _buckets(_runs(line, BYTES_ACROSS), _ACROSS), inside)


@lru_cache(maxsize=KNOWN_WORDS)
def _inside(word: bytes) -> frozenset[int]:
    """The same words come again and again."""
    return frozenset(_buckets(_runs(b" " + word + b" ", BYTES_INSIDE), _INSIDE))


def _buckets(features: Iterable[bytes], kind: int) -> set[int]:
    return {crc32(feature, kind) & _MASK for feature in features}


def _runs(line: bytes, size: int) -> set[bytes]:
    return {line[start : start + size] for start in range(len(line) - size + 1)}


def _negated(words: list[bytes]) -> list[bytes]:
    found: list[bytes] = []
    left = 0
    for word in words:
        if word in _NEGATIONS:
            left = NEGATED_WORDS
        elif word in _ENDS_OF_NEGATION:
            left = 0
        elif left:
            found.append(word)
            left -= 1
    return found
