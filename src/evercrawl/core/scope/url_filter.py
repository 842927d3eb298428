"""URL filters: objects with a method `accepts(url) -> bool`, combined with and, or, not.

A filter can be parsed from text: `domain(a.org) and not (protocol(http) or pattern('\\.pdf$'))`. `not` binds closest,
then `and`, then `or`. Arguments may be quoted; unquoted ones end at the closing bracket.
"""

from __future__ import annotations

import re
import typing
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol

import re2

from evercrawl.core.url import canonical, site_of, site_parts
from evercrawl.errors import ConfigError


class UrlFilter(typing.Protocol):
    """The interface of a filter. Yours needs no base class."""

    def accepts(self, url: str) -> bool:
        """True if the canonical URL may be requested."""


class _Combinable:
    """The operators `&`, `|` and `~` for the filters of this module."""

    __slots__ = ()

    def __and__(self: UrlFilter, other: UrlFilter) -> AllFilter:
        return AllFilter((self, other))

    def __or__(self: UrlFilter, other: UrlFilter) -> AnyFilter:
        return AnyFilter((self, other))

    def __invert__(self: UrlFilter) -> NotFilter:
        return NotFilter(self)


@dataclass(frozen=True, slots=True)
class DomainFilter(_Combinable):
    """URLs of a host and its subdomains."""

    name: str
    _dotted: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        page = canonical(f"http://{self.name.strip().lstrip('.')}/")
        if page is None or page.count("/") != 3:
            raise ConfigError(f"domain({self.name}): {self.name!r} is not a domain name")
        name = site_parts(site_of(page)).host.removesuffix(".")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "_dotted", "." + name)

    def accepts(self, url: str) -> bool:
        host = site_parts(site_of(url)).host.removesuffix(".")
        return host == self.name or host.endswith(self._dotted)


@dataclass(frozen=True, slots=True)
class PrefixFilter(_Combinable):
    """URLs that begin with a text."""

    text: str

    def accepts(self, url: str) -> bool:
        return url.startswith(self.text)


@dataclass(frozen=True, slots=True)
class SchemeFilter(_Combinable):
    """URLs of a scheme, such as https."""

    scheme: str

    def accepts(self, url: str) -> bool:
        return url.partition(":")[0] == self.scheme.lower()


@dataclass(frozen=True, slots=True)
class PatternFilter(_Combinable):
    """URLs in which a regular expression is found."""

    expression: str
    _compiled: Expression = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_compiled", compile_pattern(self.expression, "pattern"))

    def accepts(self, url: str) -> bool:
        return self._compiled.search(url) is not None


@dataclass(frozen=True, slots=True)
class AllFilter(_Combinable):
    """URLs that every part accepts."""

    parts: tuple[UrlFilter, ...]

    def accepts(self, url: str) -> bool:
        return all(part.accepts(url) for part in self.parts)


@dataclass(frozen=True, slots=True)
class AnyFilter(_Combinable):
    """URLs that some part accepts."""

    parts: tuple[UrlFilter, ...]

    def accepts(self, url: str) -> bool:
        return any(part.accepts(url) for part in self.parts)


@dataclass(frozen=True, slots=True)
class NotFilter(_Combinable):
    """URLs that the part does not accept."""

    part: UrlFilter

    def accepts(self, url: str) -> bool:
        return not self.part.accepts(url)


def compile_pattern(expression: str, where: str) -> Expression:
    """Compile a regular expression; ConfigError names an invalid one."""
    try:
        return compile_expression(expression)
    except ValueError as error:
        raise ConfigError(f"{where}: {expression!r} is not a regular expression: {error}") from error


MAX_NESTING = 50

_KINDS: dict[str, Callable[[str], UrlFilter]] = {
    "domain": DomainFilter,
    "prefix": PrefixFilter,
    "protocol": SchemeFilter,
    "pattern": PatternFilter,
}
_WORD = re.compile(r"[A-Za-z_]+")
_QUOTED = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*\)""", re.DOTALL)
_EXPECTED = "domain(…), prefix(…), protocol(…), pattern(…), not or ("


def parse_filter(text: str) -> UrlFilter:
    """Parse a filter expression; ConfigError says where it fails and what is expected."""
    reader = _Reader(text)
    found = reader.alternatives()
    if not reader.at_end():
        raise reader.expected("and, or, or the end")
    return found


class _Reader:
    """A position in the text. Each method reads one construct and moves past it."""

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
        return parts[0] if len(parts) == 1 else AnyFilter(tuple(parts))

    def _conjunction(self) -> UrlFilter:
        parts = [self._term()]
        while self._took("and"):
            parts.append(self._term())
        return parts[0] if len(parts) == 1 else AllFilter(tuple(parts))

    def _term(self) -> UrlFilter:
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise ConfigError(f"filter: more than {MAX_NESTING} brackets and nots inside each other")
        try:
            if self._took("not"):
                return NotFilter(self._term())
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
            raise self.expected(_EXPECTED)
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
        """Return the next word or sign without moving; empty at the end."""
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


MAX_EXPRESSION_CHARS: Final = 10_000


class Expression(Protocol):
    """A compiled regular expression."""

    @property
    def pattern(self) -> str:
        """The expression as it was written."""
        ...

    def search(self, text: str) -> object | None:
        """Return a match if the expression is found in the text."""
        ...

    def fullmatch(self, text: str) -> object | None:
        """Return a match if the expression is the whole text."""
        ...


def compile_expression(expression: str) -> Expression:
    """Compile a regular expression; raise ValueError with what is wrong about it."""
    if len(expression) > MAX_EXPRESSION_CHARS:
        raise ValueError(f"it has more than {MAX_EXPRESSION_CHARS} characters")
    options = re2.Options()
    options.log_errors = False
    try:
        compiled: Expression = re2.compile(expression, options)
    except re2.error as error:
        message = error.args[0] if error.args else b""
        text = message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)
        if text.startswith("invalid perl operator"):
            text = "look-ahead and look-behind are not supported, since they may take very long"
        raise ValueError(text) from error
    except UnicodeEncodeError as error:
        raise ValueError("it is not valid Unicode") from error
    return compiled
