"""A URL taken apart once, so that every rule can look at the same pieces."""

from __future__ import annotations

import re
from dataclasses import dataclass

MOST_DECODINGS = 8
"""A URL inside a URL is escaped once more at each level; deeper ones are not looked into."""

_JOINT = re.compile(r"[+\s,;|~:!=/]+|%20|%2b|%2c|%7c")
_ESCAPE = re.compile("%([0-9A-Fa-f]{2})")


@dataclass(frozen=True, slots=True)
class UrlParts:
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


def split_url(url: str) -> UrlParts:
    """The pieces of an absolute URL; what is no URL gives a path and nothing else."""
    start = url.find("//") + 2
    rest = url[start:] if start > 1 else url
    rest = rest.partition("#")[0]
    before, _, query = rest.partition("?")
    authority, slash, path = before.partition("/")
    path = slash + path
    segments = tuple(segment for segment in path.lower().split("/") if segment)
    return UrlParts(url, authority.rpartition("@")[2].lower(), path, segments, query, _pairs(query))


def _pairs(query: str) -> tuple[tuple[str, str], ...]:
    if not query:
        return ()
    pieces = (piece.partition("=") for piece in query.replace("&amp;", "&").replace(";", "&").split("&"))
    return tuple((name.lower(), value) for name, _, value in pieces if name or value)


def choices_in(url: str) -> frozenset[str]:
    """What was chosen from a larger set to make the URL: segments, values, items of joined ones."""
    parts = split_url(url)
    values = (percent_decode(value).lower() for _, value in parts.pairs)
    return frozenset(item for piece in (*parts.segments, *values) for item in _JOINT.split(piece) if len(item) > 1)


def percent_decode(text: str) -> str:
    """The text with one level of percent-encoding taken off, as far as it is ASCII."""
    return _ESCAPE.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    code = int(match[1], 16)
    return chr(code) if code < 0x80 else match[0]


def percent_decode_all(text: str) -> str:
    """The text with every level of percent-encoding taken off."""
    for _ in range(MOST_DECODINGS):
        if "%" not in text or (plain := percent_decode(text)) == text:
            return text
        text = plain
    return text


LEAST_RANDOM_CHARS = 12


_RANDOM_TEXT = re.compile(r"[0-9a-z\-_.~%+=]+\Z", re.IGNORECASE)


_BETWEEN_WORDS = re.compile(r"[-_.~+]")


_VOWEL = re.compile(r"[aeiouy]", re.IGNORECASE)


_WORD = re.compile(r"[a-z]{5,}", re.IGNORECASE)


def looks_random(value: str) -> bool:
    """Letters and digits mixed, long, and without a word inside: drawn by lot rather than named."""
    if len(value) < LEAST_RANDOM_CHARS or not _RANDOM_TEXT.match(value):
        return False
    digits = sum(character.isdigit() for character in value)
    letters = sum(character.isalpha() for character in value)
    if not digits:
        return len(value) >= 2 * LEAST_RANDOM_CHARS and value.isalpha() and not _reads_well(value)
    if digits < 2 or letters < 2:
        return False
    worded = sum(len(word) for word in _WORD.findall(value))
    return worded <= len(value) // 2 and not _is_slug(value)


def _is_slug(value: str) -> bool:
    """Words with hyphens between them, and a number: `building-apps-101`."""
    pieces = [piece for piece in _BETWEEN_WORDS.split(value) if piece]
    named = sum(len(piece) for piece in pieces if piece.isalpha() and _VOWEL.search(piece))
    return len(pieces) > 1 and 2 * named >= sum(map(len, pieces))


def _reads_well(value: str) -> bool:
    """Vowels at about the rate of language, and one case."""
    vowels = sum(character in "aeiouyAEIOUY" for character in value)
    return vowels >= len(value) // 4 and (value.islower() or value.isupper() or value.istitle())
