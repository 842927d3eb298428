"""Is a text among what a query asks for? Words, "phrases", -without and OR, whatever the case."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

MOST_TERMS = 64
LONGEST_QUERY = 2000

_TERM = re.compile(r'(?P<sign>-?)(?:"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+))')
_WORD = re.compile(r"\w+")


class WordQuery(NamedTuple):
    """Of each group one term must be there, and none of `without`; a term is words in a row."""

    groups: tuple[tuple[str, ...], ...]
    without: tuple[str, ...]


@lru_cache(maxsize=256)
def parse_words(query: str) -> WordQuery:
    """The query; ValueError where it asks for nothing or for too much."""
    if len(query) > LONGEST_QUERY:
        raise ValueError(f"has more than {LONGEST_QUERY} characters")
    groups: list[tuple[str, ...]] = []
    without: list[str] = []
    joins = False
    for match in _TERM.finditer(query):
        if match["word"] == "OR" and not match["sign"]:
            joins = bool(groups)
            continue
        term = _plain(match["word"] or match["phrase"] or "")
        if not term.strip():
            continue
        if match["sign"]:
            without.append(term)
        elif joins:
            groups[-1] = (*groups[-1], term)
        else:
            groups.append((term,))
        joins = False
    if not groups:
        raise ValueError("has no word to look for")
    if sum(map(len, groups)) + len(without) > MOST_TERMS:
        raise ValueError(f"has more than {MOST_TERMS} words")
    return WordQuery(tuple(groups), tuple(without))


def says(query: str, text: str) -> bool:
    """The text has what the query asks for."""
    asked, plain = parse_words(query), _plain(text)
    has_all = all(any(term in plain for term in group) for group in asked.groups)
    return has_all and not any(term in plain for term in asked.without)


def _plain(text: str) -> str:
    """Its words in lower case with a space on each side, so that words in a row can be looked for."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return f" {' '.join(_WORD.findall(folded))} "
