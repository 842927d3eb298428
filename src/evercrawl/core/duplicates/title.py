"""Do two titles allow that their pages say the same? Pages of one form differ in a name or a number."""

from __future__ import annotations

import re

_WORD = re.compile(r"\w+")
_DIGIT = re.compile(r"\d")


def titles_agree(one: str | None, other: str | None) -> bool:
    """The same words, or one title is the other with words such as "to print" before or behind it.

    Other words in between are the name of something else (`a.B - manual`, `a.meta.C - manual`), and a number
    that is added makes another page of a series.
    """
    shorter, longer = sorted((_words(one), _words(other)), key=len)
    if not shorter:
        return True
    if longer[: len(shorter)] == shorter:
        added = longer[len(shorter) :]
    elif longer[-len(shorter) :] == shorter:
        added = longer[: -len(shorter)]
    else:
        return False
    return not any(map(_DIGIT.search, added))


def _words(title: str | None) -> list[str]:
    return _WORD.findall((title or "").casefold())
