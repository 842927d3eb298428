"""What the default method looks at: words, negated words, pairs of words, and runs of five bytes.

Runs cross the borders of words, so that endings, stems and short phrases count without any list of them. Each
feature is a bucket of a table, found by CRC-32; the kind of feature is the value that the sum begins with.
"""

from __future__ import annotations

from itertools import pairwise
from zlib import crc32

from evercrawl.core.sentiment.token import words_of

BUCKETS = 1 << 19
RUN_BYTES = 5
NEGATED_WORDS = 3
"""So many words behind a negation are negated, at most up to the next mark or `but`."""
_NEGATIONS = frozenset(
    b"not no never nothing nor none neither without cannot hardly cant dont doesnt didnt isnt wasnt wont"
    b" wouldnt couldnt shouldnt".split()
)
_ENDS_OF_NEGATION = frozenset((b".", b",", b";", b":", b"!", b"?", b"but"))
_MASK = BUCKETS - 1
_WORD, _NEGATED, _PAIR, _RUN = 1, 2, 3, 4


def features_of(text: str) -> set[int]:
    """The buckets of a text, each once; the same text always has the same."""
    words = [word.encode("utf-8", "replace") for word in words_of(text)]
    line = b" " + b" ".join(words) + b" "
    found = {crc32(word, _WORD) & _MASK for word in words}
    found |= {crc32(word, _NEGATED) & _MASK for word in _negated(words)}
    ends = [b"^", *words, b"$"]
    found |= {crc32(one + b" " + other, _PAIR) & _MASK for one, other in pairwise(ends)}
    runs = {line[start : start + RUN_BYTES] for start in range(len(line) - RUN_BYTES + 1)}
    found |= {crc32(run, _RUN) & _MASK for run in runs}
    return found


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
