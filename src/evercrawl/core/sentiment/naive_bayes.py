"""Paper D's naive Bayes classifier with its smoothing as printed.
Per word, a class is multiplied by count(word, class) / (words(class) + total words), so a word that it never had makes
it 0. If both are 0, the class with fewer unknown words wins, then the larger product of the rest: the limit as the
count of an unknown word goes to 0. `add_one` adds the usual 1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import exp, log
from typing import NamedTuple

from evercrawl.core.sentiment.sentences import tokenize

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

    def to_text(self) -> str:
        """Return a first line with the numbers of sentences, then a line per word with its counts."""
        known = sorted(self.positive.words.keys() | self.negative.words.keys())
        lines = [f"\t{self.positive.sentences}\t{self.negative.sentences}"]
        lines += [f"{word}\t{self.positive.words.get(word, 0)}\t{self.negative.words.get(word, 0)}" for word in known]
        return "\n".join(lines) + "\n"

    @classmethod
    def from_text(cls, table: str) -> NaiveBayesModel:
        """Read what `to_text` wrote."""
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
