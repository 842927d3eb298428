"""A URL taken apart once, so that every rule can look at the same pieces."""

from __future__ import annotations

import re
from dataclasses import dataclass

MOST_DECODINGS = 8
"""A URL inside a URL is escaped once more at each level; deeper ones are not looked into."""

_JOINT = re.compile(r"[+\s,;|~:!=/]+|%20|%2b|%2c|%7c")
_ESCAPE = re.compile("%([0-9A-Fa-f]{2})")


@dataclass(frozen=True, slots=True)
class Parts:
    """Host, path segments (lower case, without the empty ones) and parameters in their order."""

    url: str
    host: str
    path: str
    segments: tuple[str, ...]
    query: str
    pairs: tuple[tuple[str, str], ...]
    """Names in lower case; `;` separates as `&` does."""

    @property
    def ends_in_slash(self) -> bool:
        """The last segment is a folder."""
        return self.path.endswith("/")


def parts_of(url: str) -> Parts:
    """The pieces of an absolute URL; what is no URL gives a path and nothing else."""
    start = url.find("//") + 2
    rest = url[start:] if start > 1 else url
    rest = rest.partition("#")[0]
    before, _, query = rest.partition("?")
    authority, slash, path = before.partition("/")
    path = slash + path
    segments = tuple(segment for segment in path.lower().split("/") if segment)
    return Parts(url, authority.rpartition("@")[2].lower(), path, segments, query, _pairs(query))


def _pairs(query: str) -> tuple[tuple[str, str], ...]:
    if not query:
        return ()
    pieces = (piece.partition("=") for piece in query.replace("&amp;", "&").replace(";", "&").split("&"))
    return tuple((name.lower(), value) for name, _, value in pieces if name or value)


def choices_in(url: str) -> frozenset[str]:
    """What was chosen from a larger set to make the URL: segments, values, items of joined ones."""
    parts = parts_of(url)
    values = (unescaped(value).lower() for _, value in parts.pairs)
    return frozenset(item for piece in (*parts.segments, *values) for item in _JOINT.split(piece) if len(item) > 1)


def unescaped(text: str) -> str:
    """The text with one level of percent-encoding taken off, as far as it is ASCII."""
    return _ESCAPE.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    code = int(match[1], 16)
    return chr(code) if code < 0x80 else match[0]


def wholly_unescaped(text: str) -> str:
    """The text with every level of percent-encoding taken off."""
    for _ in range(MOST_DECODINGS):
        if "%" not in text or (plain := unescaped(text)) == text:
            return text
        text = plain
    return text
