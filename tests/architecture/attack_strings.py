"""Strings that make a regular expression slow, derived from its own parts: for every repetition without an upper bound
what comes before it and then its body many times, and an end that does not match."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

ENDS = ("", "\0", "!", "\n\0", " \0")
MANY = 200  # A repetition up to this often is bounded.
VARIANTS = 4
REPETITIONS = frozenset((codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT))
ALPHABET = [*map(chr, range(32, 127)), "\n", "\t", "é", "·", "|"]
_IS_IN = {
    codes.CATEGORY_DIGIT: str.isdigit,
    codes.CATEGORY_SPACE: str.isspace,
    codes.CATEGORY_WORD: lambda char: char.isalnum() or char == "_",
    codes.CATEGORY_NOT_DIGIT: lambda char: not char.isdigit(),
    codes.CATEGORY_NOT_SPACE: lambda char: not char.isspace(),
    codes.CATEGORY_NOT_WORD: lambda char: not (char.isalnum() or char == "_"),
}


def attack_strings(pattern: re.Pattern[Any], size: int) -> Iterator[Any]:
    """Return strings of about `size` characters, or bytes for a pattern of bytes."""
    tree = parser.parse(pattern.pattern, pattern.flags)
    for before, pump in sorted(set(_repetitions(tree, ""))):
        for end in ENDS:
            text = before + pump * (size // len(pump)) + end
            yield text.encode("latin-1", "replace") if isinstance(pattern.pattern, bytes) else text


def _repetitions(nodes: Iterable[Any], before: str) -> Iterator[tuple[str, str]]:
    for code, value in nodes:
        if code in REPETITIONS:
            _, most, body = value
            if most > MANY:
                for variant in range(VARIANTS):
                    pump = _sample(body, variant) or "a"
                    yield from ((before, pump), ("", before + pump), ("", pump))
            yield from _repetitions(body, before)
        for part in _parts(code, value):
            yield from _repetitions(part, before)
        before += _sample_one(code, value, 0)


def _parts(code: Any, value: Any) -> list[Any]:
    if code is codes.SUBPATTERN:
        return [value[-1]]
    if code is codes.ATOMIC_GROUP:
        return [value]
    if code is codes.BRANCH:
        return list(value[1])
    return [value[1]] if code in (codes.ASSERT, codes.ASSERT_NOT) else []


def _sample(nodes: Iterable[Any], variant: int) -> str:
    return "".join(_sample_one(code, value, variant) for code, value in nodes)


def _sample_one(code: Any, value: Any, variant: int) -> str:
    """Return a text that one part of a pattern matches; another one for each variant."""
    if code is codes.LITERAL:
        return chr(value)
    if code in (codes.NOT_LITERAL, codes.ANY):
        return "b" if value == ord("a") else "a"
    if code is codes.IN:
        fitting = [char for char in _candidates(value) if _is_in(value, char)] or ["a"]
        return fitting[variant % len(fitting)]
    if code in REPETITIONS:
        least, most, body = value
        return _sample(body, variant) * max(least, min(1, most) if variant % 2 else least)
    if code in (codes.ASSERT, codes.ASSERT_NOT):
        return ""
    parts = _parts(code, value)
    return _sample(parts[variant % len(parts)], variant) if parts else ""


def _candidates(members: Iterable[Any]) -> list[str]:
    named = [chr(one) for code, value in members if code is codes.LITERAL for one in [value]]
    named += [chr(value[0]) for code, value in members if code is codes.RANGE]
    return [*named, *ALPHABET]


def _is_in(members: Iterable[Any], char: str) -> bool:
    is_negated = False
    is_found = False
    for code, value in members:
        if code is codes.NEGATE:
            is_negated = True
        elif code is codes.LITERAL:
            is_found |= ord(char) == value
        elif code is codes.RANGE:
            is_found |= value[0] <= ord(char) <= value[1]
        elif code is codes.CATEGORY:
            is_found |= bool(_IS_IN[value](char))
    return is_found != is_negated
