"""Reads a filter from a line of text: `domain(a.org) and not (protocol(http) or pattern('\\.pdf$'))`.

`not` binds closest, then `and`, then `or`. What stands in the brackets may be quoted; unquoted it ends at the
bracket that closes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from evercrawl.core.filters import And, Domain, Not, Or, Pattern, Prefix, Protocol, UrlFilter
from evercrawl.errors import ConfigError

MOST_NESTING = 50

_KINDS: dict[str, Callable[[str], UrlFilter]] = {
    "domain": Domain,
    "prefix": Prefix,
    "protocol": Protocol,
    "pattern": Pattern,
}
_WORD = re.compile(r"[A-Za-z_]+")
_QUOTED = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*\)""", re.DOTALL)
_START = "domain(…), prefix(…), protocol(…), pattern(…), not or ("


def parse_filter(text: str) -> UrlFilter:
    """The filter that the expression describes; ConfigError says where it ends and what should follow."""
    reader = _Reader(text)
    found = reader.alternatives()
    if not reader.at_end():
        raise reader.expected("and, or, or the end")
    return found


class _Reader:
    """A position in the text; each method reads one construct and moves behind it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._nesting = 0

    def at_end(self) -> bool:
        return self._peek() == ""

    def alternatives(self) -> UrlFilter:
        parts = [self._conjunction()]
        while self._took("or"):
            parts.append(self._conjunction())
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _conjunction(self) -> UrlFilter:
        parts = [self._term()]
        while self._took("and"):
            parts.append(self._term())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _term(self) -> UrlFilter:
        self._nesting += 1
        if self._nesting > MOST_NESTING:
            raise ConfigError(f"filter: more than {MOST_NESTING} brackets and nots inside each other")
        try:
            if self._took("not"):
                return Not(self._term())
            if self._took("("):
                inner = self.alternatives()
                if not self._took(")"):
                    raise self.expected("and, or, or )")
                return inner
            return self._named()
        finally:
            self._nesting -= 1

    def _named(self) -> UrlFilter:
        name = self._peek()
        if name.lower() not in _KINDS:
            raise self.expected(_START)
        self._at += len(name)
        if not self._took("("):
            raise self.expected(f"( after {name}")
        argument = self._argument()
        if not argument:
            raise self.expected(f"something in the brackets of {name}", back=1)
        return _KINDS[name.lower()](argument)

    def _argument(self) -> str:
        quoted = _QUOTED.match(self._text, self._at)
        if quoted is not None:
            self._at = quoted.end()
            quote = "'" if quoted[1] is not None else '"'
            return (quoted[1] if quoted[1] is not None else quoted[2]).replace("\\" + quote, quote)
        start, depth = self._at, 1
        for place in range(start, len(self._text)):
            depth += {"(": 1, ")": -1}.get(self._text[place], 0)
            if depth == 0:
                self._at = place + 1
                return self._text[start:place].strip()
        self._at = len(self._text)
        raise self.expected(f") for the bracket at character {start}")

    def _peek(self) -> str:
        """The next word or sign, which is not moved over; empty at the end."""
        while self._at < len(self._text) and self._text[self._at].isspace():
            self._at += 1
        word = _WORD.match(self._text, self._at)
        return word[0] if word else self._text[self._at : self._at + 1]

    def _took(self, wanted: str) -> bool:
        found = self._peek()
        if found.lower() != wanted:
            return False
        self._at += len(found)
        return True

    def expected(self, what: str, *, back: int = 0) -> ConfigError:
        found = self._peek()
        place = self._at + 1 - back
        seen = f"{found!r}" if found and not back else "the end" if not back else "nothing"
        return ConfigError(f"filter: at character {place} expected {what}, found {seen}: {self._text}")
