"""Filters: any object with a method `accepts(url) -> bool`, combined with and, or, not.

Four kinds are built in; `core/filter_expression.py` reads them from a line of text.
"""

from __future__ import annotations

import re
import typing
from dataclasses import dataclass, field

from evercrawl.core.url import canonical, site_of, site_parts
from evercrawl.errors import ConfigError


class UrlFilter(typing.Protocol):
    """What a filter has to be; yours needs no base class."""

    def accepts(self, url: str) -> bool:
        """Whether the canonical URL may be asked for."""


class _Combinable:
    """The operators `&`, `|` and `~` for the filters of this module."""

    __slots__ = ()

    def __and__(self: UrlFilter, other: UrlFilter) -> And:
        return And((self, other))

    def __or__(self: UrlFilter, other: UrlFilter) -> Or:
        return Or((self, other))

    def __invert__(self: UrlFilter) -> Not:
        return Not(self)


@dataclass(frozen=True, slots=True)
class Domain(_Combinable):
    """URLs of a host and of everything below it."""

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
        """The host is the domain or one of its sub-domains."""
        host = site_parts(site_of(url)).host.removesuffix(".")
        return host == self.name or host.endswith(self._dotted)


@dataclass(frozen=True, slots=True)
class Prefix(_Combinable):
    """URLs that begin with a text."""

    text: str

    def accepts(self, url: str) -> bool:
        """The URL begins with the text."""
        return url.startswith(self.text)


@dataclass(frozen=True, slots=True)
class Protocol(_Combinable):
    """URLs of a scheme, such as https."""

    scheme: str

    def accepts(self, url: str) -> bool:
        """The URL has the scheme."""
        return url.partition(":")[0] == self.scheme.lower()


@dataclass(frozen=True, slots=True)
class Pattern(_Combinable):
    """URLs in which a regular expression is found."""

    expression: str
    _compiled: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_compiled", compiled_pattern(self.expression, "pattern"))

    def accepts(self, url: str) -> bool:
        """The expression is found anywhere in the URL."""
        return self._compiled.search(url) is not None


@dataclass(frozen=True, slots=True)
class And(_Combinable):
    """URLs that every part accepts."""

    parts: tuple[UrlFilter, ...]

    def accepts(self, url: str) -> bool:
        """All parts say yes."""
        return all(part.accepts(url) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Or(_Combinable):
    """URLs that some part accepts."""

    parts: tuple[UrlFilter, ...]

    def accepts(self, url: str) -> bool:
        """At least one part says yes."""
        return any(part.accepts(url) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Not(_Combinable):
    """URLs that the part does not accept."""

    part: UrlFilter

    def accepts(self, url: str) -> bool:
        """The part says no."""
        return not self.part.accepts(url)


def compiled_pattern(expression: str, where: str) -> re.Pattern[str]:
    """The regular expression, ready for use; ConfigError names it where it cannot be read."""
    try:
        return re.compile(expression)
    except (re.error, RecursionError, OverflowError) as error:
        raise ConfigError(f"{where}: {expression!r} is not a regular expression: {error}") from error
