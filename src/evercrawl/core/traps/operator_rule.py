"""What the operator says about patterns of URLs, and what it would do before it is said.

A pattern is written as `trap list` shows it (`/shop?color=`, `/cal/{n}/{n}`, `/old/**`) or as a glob over the
whole URL (`https://example.org/shop/*`). The newest rule that matches decides; taking a rule out undoes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from evercrawl.core.traps.pattern import patterns_of
from evercrawl.core.url import site_of

EXAMPLES = 5


class Word(Enum):
    """What the operator says."""

    EXCLUDE = "exclude"
    ALLOW = "allow"


class OperatorRule(NamedTuple):
    """A word about a pattern, on one site or on all."""

    word: Word
    pattern: str
    site: str | None = None


class Effect(NamedTuple):
    """What a rule does to some URLs."""

    matched: int
    of: int
    examples: tuple[str, ...]


def matches(pattern: str, url: str) -> bool:
    """The URL belongs to the pattern."""
    if "://" in pattern or ("*" in pattern and "**" not in pattern and not pattern.endswith("?*")):
        return bool(_glob(pattern).fullmatch(url if "://" in pattern else url[len(site_of(url)) :]))
    return any(name == pattern for name, _ in patterns_of(url)) or url[len(site_of(url)) :] == pattern


@lru_cache(maxsize=256)
def _glob(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(re.escape(piece) for piece in pattern.split("*")), re.DOTALL)


def effect(pattern: str, urls: Iterable[str]) -> Effect:
    """How many of the URLs the pattern takes, with a few examples: the look before the word is said."""
    seen = matched = 0
    examples: list[str] = []
    for url in urls:
        seen += 1
        if matches(pattern, url):
            matched += 1
            if len(examples) < EXAMPLES:
                examples.append(url)
    return Effect(matched, seen, tuple(examples))


def word_on(rules: Sequence[OperatorRule], url: str) -> OperatorRule | None:
    """The newest rule that speaks about the URL; None: the crawl decides by itself."""
    site = site_of(url)
    for rule in reversed(rules):
        if (rule.site is None or rule.site == site) and matches(rule.pattern, url):
            return rule
    return None
