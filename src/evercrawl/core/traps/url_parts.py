"""Split a URL once, so that every rule works on the same parts."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_DECODINGS = 8  # Percent-encodings to undo. A URL inside a URL is encoded once more at each level.

_JOINT = re.compile(r"[+\s,;|~:!=/]+|%20|%2b|%2c|%7c")
_ESCAPE = re.compile("%([0-9A-Fa-f]{2})")
_PAIR_END = re.compile("[&;]")


@dataclass(frozen=True, slots=True)
class UrlParts:
    """Host, non-empty path segments in lower case, and parameters in order."""

    url: str
    host: str
    path: str
    segments: tuple[str, ...]
    query: str
    pairs: tuple[tuple[str, str], ...]  # Names in lower case. `;` separates like `&`.


def split_url(url: str) -> UrlParts:
    """Split an absolute URL. Text that is no URL becomes a path."""
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


def query_pairs(query: str) -> list[str]:
    """Return the parameters of a query as written. `;` separates like `&`."""
    return [pair for pair in (_PAIR_END.split(query) if ";" in query else query.split("&")) if pair]


def choices_in(url: str) -> frozenset[str]:
    """Return the words that the URL combines: segments, values, and items of lists."""
    parts = split_url(url)
    values = (percent_decode(value).lower() for _, value in parts.pairs)
    return frozenset(item for piece in (*parts.segments, *values) for item in _JOINT.split(piece) if len(item) > 1)


def percent_decode(text: str) -> str:
    """Undo one level of percent-encoding, for ASCII only."""
    return _ESCAPE.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    code = int(match[1], 16)
    return chr(code) if code < 0x80 else match[0]


def percent_decode_all(text: str) -> str:
    """Undo every level of percent-encoding."""
    for _ in range(MAX_DECODINGS):
        if "%" not in text or (plain := percent_decode(text)) == text:
            return text
        text = plain
    return text


MIN_RANDOM_CHARS = 12
_RANDOM_TEXT = re.compile(r"[0-9a-z\-_.~%+=]+\Z", re.IGNORECASE)
_BETWEEN_WORDS = re.compile(r"[-_.~+]")
_VOWEL = re.compile(r"[aeiouy]", re.IGNORECASE)
_WORD = re.compile(r"[a-z]{5,}", re.IGNORECASE)


def looks_random(value: str) -> bool:
    """True for a long mix of letters and digits without a word inside, such as a session id."""
    if len(value) < MIN_RANDOM_CHARS or not _RANDOM_TEXT.match(value):
        return False
    digits = sum(character.isdigit() for character in value)
    letters = sum(character.isalpha() for character in value)
    if not digits:
        return len(value) >= 2 * MIN_RANDOM_CHARS and value.isalpha() and not _reads_well(value)
    if digits < 2 or letters < 2:
        return False
    worded = sum(len(word) for word in _WORD.findall(value))
    return worded <= len(value) // 2 and not _is_slug(value)


def _is_slug(value: str) -> bool:
    """True for words with hyphens and a number: `building-apps-101`."""
    pieces = [piece for piece in _BETWEEN_WORDS.split(value) if piece]
    named = sum(len(piece) for piece in pieces if piece.isalpha() and _VOWEL.search(piece))
    return len(pieces) > 1 and 2 * named >= sum(map(len, pieces))


def _reads_well(value: str) -> bool:
    """True if vowels are as frequent as in language, in one case."""
    vowels = sum(character in "aeiouyAEIOUY" for character in value)
    return vowels >= len(value) // 4 and (value.islower() or value.isupper() or value.istitle())
