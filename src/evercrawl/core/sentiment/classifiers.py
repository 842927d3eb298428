"""The two classifiers of sentiment: naive Bayes as in the paper, and NB-SVM."""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import exp, log, tanh
from typing import NamedTuple
from zlib import crc32

from evercrawl.core.sentiment.sentences import tokenize

BUCKETS = 1 << 20
BYTES_ACROSS, BYTES_INSIDE = 5, 4
MAX_CACHED_WORDS = 8192
NEGATED_WORDS = 3  # Words after a negation that are negated, up to the next punctuation or `but`.
_NEGATIONS = frozenset(
    b"not no never nothing nor none neither without cannot hardly cant dont doesnt didnt isnt wasnt wont"
    b" wouldnt couldnt shouldnt".split()
)
_BUT = b"but"
_NEGATION_ENDS = frozenset((b".", b",", b";", b":", b"!", b"?", _BUT))
_MASK = BUCKETS - 1
_WORD, _NEGATED, _PAIR, _ACROSS, _INSIDE, _SKIP_PAIR, _BEFORE_BUT, _AFTER_BUT = range(1, 9)


class FeatureViews(NamedTuple):
    """The buckets of a text: what both SVMs use, and what only one of them does."""

    shared: set[int]
    across: set[int]
    inside: set[int]


def text_features(text: str) -> set[int]:
    """Return all buckets of a text."""
    shared, across, inside = feature_views(text)
    return shared | across | inside


def feature_views(text: str) -> FeatureViews:
    """Return the buckets of a text by SVM."""
    words = [word.encode("utf-8", "replace") for word in tokenize(text)]
    ends = [b"^", *words, b"$"]
    shared = _buckets(words, _WORD) | _buckets(_negated(words), _NEGATED)
    shared |= _buckets([one + b" " + other for one, other in pairwise(ends)], _PAIR)
    shared |= _buckets([one + b" " + other for one, other in zip(ends, ends[2:], strict=False)], _SKIP_PAIR)
    if _BUT in words:
        but_at = len(words) - 1 - words[::-1].index(_BUT)
        shared |= _buckets(words[:but_at], _BEFORE_BUT) | _buckets(words[but_at + 1 :], _AFTER_BUT)
    line = b" " + b" ".join(words) + b" "
    inside = set().union(*map(_inside_buckets, words))
    return FeatureViews(shared, _buckets(_ngrams(line, BYTES_ACROSS), _ACROSS), inside)


@lru_cache(maxsize=MAX_CACHED_WORDS)
def _inside_buckets(word: bytes) -> frozenset[int]:
    return frozenset(_buckets(_ngrams(b" " + word + b" ", BYTES_INSIDE), _INSIDE))


def _buckets(features: Iterable[bytes], kind: int) -> set[int]:
    return {crc32(feature, kind) & _MASK for feature in features}


def _ngrams(line: bytes, size: int) -> set[bytes]:
    return {line[start : start + size] for start in range(len(line) - size + 1)}


def _negated(words: list[bytes]) -> list[bytes]:
    found: list[bytes] = []
    left = 0
    for word in words:
        if word in _NEGATIONS:
            left = NEGATED_WORDS
        elif word in _NEGATION_ENDS:
            left = 0
        elif left:
            found.append(word)
            left -= 1
    return found


FORMAT = 1


@dataclass(frozen=True, slots=True)
class NbSvmModel:
    """A weight per bucket, in steps; `slope` turns a sum into a score."""

    weights: array[int]
    step: float
    slope: float

    def margin(self, text: str) -> float:
        """Return the sum over the text: above 0 is positive."""
        weights = self.weights
        return self.step * sum([weights[bucket] for bucket in text_features(text)])

    def score(self, text: str) -> float:
        """Return -1 to 1; (1 + score) / 2 is the probability of positive."""
        return tanh(0.5 * self.slope * self.margin(text))

    def to_bytes(self) -> bytes:
        """Return the stored form."""
        head = {"format": FORMAT, "buckets": BUCKETS, "step": self.step, "slope": self.slope}
        return json.dumps(head).encode() + b"\n" + zlib.compress(self.weights.tobytes(), 9)

    @classmethod
    def from_bytes(cls, stored: bytes) -> NbSvmModel:
        """Read the stored form; raises ValueError for another format."""
        line, _, packed = stored.partition(b"\n")
        head = json.loads(line)
        if (head.get("format"), head.get("buckets")) != (FORMAT, BUCKETS):
            raise ValueError("the stored sentiment model is of another format")
        return cls(array("b", zlib.decompress(packed)), head["step"], head["slope"])


_MARKS = frozenset(".,;:!?")
_MAX_LOG_ODDS = 700.0


class ClassProduct(NamedTuple):
    """A product of probabilities: the number of zero factors, and the log of the product of the others."""

    zeros: int
    log_rest: float


class ClassCounts(NamedTuple):
    """Counts over the sentences of one class."""

    sentences: int
    words: Mapping[str, int]
    total: int


@dataclass(frozen=True, slots=True)
class NaiveBayesModel:
    """The counts of both classes."""

    positive: ClassCounts
    negative: ClassCounts

    def score(self, text: str, *, add_one: bool = False) -> float:
        """Return P(pos) - P(neg), normalized to a sum of 1; 0 if the rule cannot decide."""
        words = sentence_words(text)
        one, other = (self.product(words, side, add_one=add_one) for side in (self.positive, self.negative))
        if one.zeros != other.zeros:
            return 1.0 if one.zeros < other.zeros else -1.0
        odds = max(-_MAX_LOG_ODDS, min(_MAX_LOG_ODDS, one.log_rest - other.log_rest))
        return 2.0 / (1.0 + exp(-odds)) - 1.0

    def product(self, words: Iterable[str], side: ClassCounts, *, add_one: bool = False) -> ClassProduct:
        """Return the paper's product for one class."""
        sentences = self.positive.sentences + self.negative.sentences
        divisor = side.total + self.positive.total + self.negative.total
        added = 1 if add_one else 0
        zeros, total = 0, log(side.sentences / sentences)
        for word in words:
            count = side.words.get(word, 0) + added
            if count:
                total += log(count / divisor)
            else:
                zeros += 1
        return ClassProduct(zeros, total)

    @classmethod
    def from_text(cls, table: str) -> NaiveBayesModel:
        """Read a line with the numbers of sentences, then a line per word with its counts, in columns of tabs."""
        sides: tuple[dict[str, int], dict[str, int]] = ({}, {})
        first, *lines = table.splitlines()
        for line in lines:
            word, *numbers = line.split("\t")
            for side, number in zip(sides, numbers, strict=True):
                if number != "0":
                    side[word] = int(number)
        _, *sentences = first.split("\t")
        return cls(*(class_counts(int(number), side) for number, side in zip(sentences, sides, strict=True)))


def sentence_words(text: str) -> list[str]:
    """Return the words of a sentence without punctuation."""
    return [word for word in tokenize(text) if word not in _MARKS]


def class_counts(sentences: int, words: Mapping[str, int]) -> ClassCounts:
    """Return the counts of one class."""
    return ClassCounts(sentences, words, sum(words.values()))
