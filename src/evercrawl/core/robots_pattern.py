"""Which rule of a robots.txt decides about a path?

The rule with the longest pattern that matches wins, and Allow wins over Disallow of the same length (RFC 9309
section 2.2.2). Patterns and paths are compared in one normal form of percent-encoding. No pattern becomes a
regular expression, so none can make matching slow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple, TypeVar

_Key = TypeVar("_Key", str, tuple[bool, tuple[str, ...]])
_UNUSUAL = re.compile(r"%([0-9A-Fa-f]{2})|[^\x21-\x7e]|%")
_KEPT_ESCAPES = frozenset(b"/%")
_ESCAPED_SLASH = re.compile("%2f", re.IGNORECASE)
_DIRECTORY_INDEX = "/index.htm"
MOST_WILDCARD_PARTS = 5000
"""Parts of patterns with `*` that are looked for in a path: one verdict costs a millisecond at worst."""


class RobotsVerdict(NamedTuple):
    """Whether a path may be asked for, and which line says so; None: no rule decided."""

    allowed: bool
    line: int | None
    rule: str | None


class Line(NamedTuple):
    """An Allow or Disallow line as it stands in the file."""

    number: int
    allow: bool
    value: str


class _Rule(NamedTuple):
    rank: int
    """Twice the octets of the pattern, plus one for Allow: the greater rank wins."""
    verdict: RobotsVerdict
    parts: tuple[str, ...]
    """What must follow each other in the path; the first part is its beginning."""
    anchored: bool
    """The last part must be the end of the path."""
    needle: str
    """The longest part: a path without it needs no closer look."""


NO_RULE = RobotsVerdict(allowed=True, line=None, rule=None)
_NOTHING = _Rule(-1, NO_RULE, ("",), False, "")


def normal_form(text: str) -> str:
    """Percent-encoding in the one spelling that patterns and paths are compared in.

    RFC 9309 section 2.2.2 makes an octet and its escape equal; an escaped slash stays different from a
    slash (it does not separate folders), and an escaped percent sign from a percent sign that begins an
    escape.
    """
    return _UNUSUAL.sub(_normal_octets, text)


def _normal_octets(match: re.Match[str]) -> str:
    if match[1] is not None:
        code = int(match[1], 16)
        if 0x21 <= code <= 0x7E and code not in _KEPT_ESCAPES:
            return chr(code)
        return match[0].upper()
    octets = match[0].encode("utf-8", "surrogateescape" if "\udc80" <= match[0] <= "\udcff" else "replace")
    return "".join(f"%{octet:02X}" for octet in octets)


class RuleBook:
    """The rules that apply to us, arranged so that a verdict costs microseconds with hundreds of rules."""

    __slots__ = ("_exact", "_lengths", "_prefixes", "_wild")

    def __init__(self, lines: Iterable[Line]) -> None:
        self._prefixes: dict[str, _Rule] = {}
        self._exact: dict[str, _Rule] = {}
        wild: dict[tuple[bool, tuple[str, ...]], _Rule] = {}
        room = MOST_WILDCARD_PARTS
        for line in lines:
            for pattern in _readings(line):
                rule = _compile(pattern, line)
                if len(rule.parts) == 1:
                    _enter(self._exact if rule.anchored else self._prefixes, rule.parts[0], rule)
                elif room >= len(rule.parts):
                    room -= len(rule.parts)
                    _enter(wild, (rule.anchored, rule.parts), rule)
                elif not line.allow:
                    # No room for more: forbid all that begins like this, rather than too little.
                    _enter(self._prefixes, rule.parts[0], _shortened(rule))
        self._lengths = sorted({len(prefix) for prefix in self._prefixes}, reverse=True)
        ranked = sorted(wild.values(), key=lambda rule: rule.rank, reverse=True)
        self._wild = [(rule.rank, rule.needle, rule) for rule in ranked]

    def verdict(self, target: str) -> RobotsVerdict:
        """What the rules say about path and query of a canonical URL."""
        if "%" not in target and target.isascii():
            return self._best(target).verdict
        query = target.find("?")
        best = self._best(normal_form(target))
        if query >= 0 and _ESCAPED_SLASH.search(target, query):
            # RFC 9309's own table has a slash inside a query equal to its escape.
            slashed = target[:query] + _ESCAPED_SLASH.sub("/", target[query:])
            best = max(best, self._best(normal_form(slashed)), key=lambda rule: rule.rank)
        return best.verdict

    def _best(self, path: str) -> _Rule:
        best = self._exact.get(path, _NOTHING)
        prefixes = self._prefixes
        for length in self._lengths:
            rule = prefixes.get(path[:length])
            if rule is not None:
                if rule.rank > best.rank:
                    best = rule
                break
        least = best.rank
        for rank, needle, rule in self._wild:
            if rank <= least:
                break
            if needle in path and _matches(rule, path):
                return rule
        return best


def _enter(rules: dict[_Key, _Rule], key: _Key, rule: _Rule) -> None:
    if rule.rank > rules.get(key, _NOTHING).rank:
        rules[key] = rule


def _shortened(rule: _Rule) -> _Rule:
    """The rule with all behind its first `*` forgotten."""
    first = rule.parts[0]
    return rule._replace(rank=2 * len(first), parts=(first,), anchored=False, needle=first)


def _readings(line: Line) -> list[str]:
    """The pattern, and what else its author evidently means by it."""
    if not line.value.startswith(("/", "*")):
        return []  # Matches no path: every path begins with a slash (RFC 9309 section 2.2: path-pattern).
    readings = [line.value]
    query = line.value.find("?")
    if query >= 0 and _ESCAPED_SLASH.search(line.value, query):
        readings.append(line.value[:query] + _ESCAPED_SLASH.sub("/", line.value[query:]))
    folder, slash, page = line.value.rpartition("/")
    if line.allow and (slash + page).startswith(_DIRECTORY_INDEX):
        # As Google reads it: who allows the index page of a folder allows the folder's own address.
        readings.append(folder + "/$")
    return readings


def _compile(pattern: str, line: Line) -> _Rule:
    anchored = pattern.endswith("$")
    parts = [normal_form(part) for part in pattern.removesuffix("$").split("*")]
    octets = sum(map(len, parts)) + len(parts) - 1 + anchored
    parts = [parts[0], *filter(None, parts[1:-1]), *parts[-1:]] if len(parts) > 1 else parts
    text = f"{'Allow' if line.allow else 'Disallow'}: {line.value}"
    return _Rule(
        rank=2 * octets + line.allow,
        verdict=RobotsVerdict(line.allow, line.number, text),
        parts=tuple(parts),
        anchored=anchored,
        needle=max(parts, key=len),
    )


def _matches(rule: _Rule, path: str) -> bool:
    """Leftmost matching of the parts: linear in the path for each part, without going back."""
    first, *middle, last = rule.parts
    if not path.startswith(first):
        return False
    position = len(first)
    for part in middle:
        found = path.find(part, position)
        if found < 0:
            return False
        position = found + len(part)
    if rule.anchored:
        return path.endswith(last) and len(path) - len(last) >= position
    return path.find(last, position) >= 0
