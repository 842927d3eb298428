"""Which URLs of a site are of one kind? URLs are generalised into patterns that can be read and compared.

Numbers, dates, hashes and sessions become placeholders; words stay in the first segment and become `{word}`
behind it; of the query only the names stay. A URL belongs to several patterns, from its exact shape to the
folder and the parameters that it shares with others.
"""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from evercrawl.core.traps.url_parts import looks_random

MOST_NAMES = 8
"""Parameters of one URL that are looked at one by one."""
MOST_FOLDERS = 3
"""Folders on the way to a page that are patterns of their own."""
LONGEST_PATTERN = 160
MOST_WAYS = 1024
"""Folders at hand: the pages of one differ in their names only."""

_DIGIT = re.compile(r"\d")
_DATE = re.compile(r"\d{4}[-_.]\d{1,2}(?:[-_.]\d{1,2})?(?:t[\d:.z+-]+)?\Z|\d{4}-?w\d{2}\Z", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d+(?:[.,:]\d+)*\Z")
_HEX = re.compile(r"(?=[a-f]*\d)[0-9a-f]{8,}\Z|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.IGNORECASE)
_SESSION = re.compile(r"\((?:[asf]\([^()]*\))+\)\Z", re.IGNORECASE)
_ENDING = re.compile(
    r"(.+)(\.(?:[xsp]?html?|php\d?|aspx?|jspx?|cfml?|cgi|do|action|pl|py|txt|md|rst|xml|json|rss|atom|csv"
    r"|pdf|docx?|xlsx?|pptx?|od[tsp]|rtf|epub|ps|zip|t?gz|bz2|xz|tar|rpm|deb|jpe?g|png|gif|svg|webp|mp[34]|webm))\Z",
    re.IGNORECASE,
)
"""Endings that tell a kind of file; whatever else stands behind a dot may be anybody's name."""
_JOINTS = re.compile(r"[+,=:;~|!]|%2c|%2b|%3a|%3d|%7c", re.IGNORECASE)


class Breadth(IntEnum):
    """How many kinds of pages a pattern spans; the narrowest that explains a finding gets the blame."""

    SHAPE = 0
    PARAMETER = 1
    FAMILY = 2
    FOLDER = 3
    SITE_PARAMETER = 4
    SKELETON = 5


class UrlPattern(NamedTuple):
    """A set of URLs of one site, by name."""

    name: str
    breadth: Breadth


@lru_cache(maxsize=8192)
def patterns_of(url: str) -> tuple[UrlPattern, ...]:
    """Every pattern to which the URL belongs, its exact shape first."""
    path, names = _split(url)
    shape = path_shape(path)
    folder, _, name = path.rpartition("/")
    way = _way(folder)
    if not names:
        skeleton = f"/**{way.skeleton}/{placeholder(name) or _worded(name)}"
        bones = (_pattern(skeleton, Breadth.SKELETON),) if path != "/" else ()
        return (_pattern(shape, Breadth.SHAPE), *way.folders, *bones)
    return (
        _pattern(f"{shape}?{'&'.join(names)}", Breadth.SHAPE),
        *(_pattern(f"{shape}?{name}=", Breadth.PARAMETER) for name in names[:MOST_NAMES]),
        _pattern(f"{shape}?*", Breadth.FAMILY),
        *way.folders,
        *(_pattern(f"/**?{name}=", Breadth.SITE_PARAMETER) for name in names[:MOST_NAMES]),
    )


def shape_of(url: str) -> str:
    """The name of the URL's exact shape."""
    return patterns_of(url)[0].name


def _pattern(name: str, breadth: Breadth) -> UrlPattern:
    return UrlPattern(name[:LONGEST_PATTERN], breadth)


def _split(url: str) -> tuple[str, list[str]]:
    start = url.find("/", url.find("//") + 2)
    path, _, query = (url[start:] if start >= 0 else "/").partition("#")[0].partition("?")
    names = {pair.partition("=")[0] for pair in query.split("&")} if query else set()
    return path, sorted(name for name in names if name)


def path_shape(path: str) -> str:
    """The path with placeholders; the first word stays, and an ending such as .html."""
    folder, _, name = path.rpartition("/")
    way = _way(folder)
    kind = placeholder(name)
    if kind is None:
        kind = _worded(name) if way.has_word else name
    return f"{way.shape}/{kind}"


class _Way(NamedTuple):
    """What all pages of one folder have in common."""

    shape: str
    has_word: bool
    skeleton: str
    folders: tuple[UrlPattern, ...]


@lru_cache(maxsize=MOST_WAYS)
def _way(folder: str) -> _Way:
    segments = folder.split("/")[1:]
    shape = skeleton = ""
    has_word = False
    for segment in segments:
        kind = placeholder(segment)
        bone = kind if kind is not None else _worded(segment)
        shape += "/" + (bone if kind is not None or has_word else segment)
        skeleton += "/" + bone
        has_word = has_word or kind is None
    return _Way(shape, has_word, skeleton, _folders(segments))


@lru_cache(maxsize=8192)
def placeholder(segment: str) -> str | None:
    """What stands for a segment that is drawn from a large set; None: it is a word."""
    if not segment:
        return ""
    name, ending = _without_ending(segment)
    if not _DIGIT.search(name):
        return None
    if _NUMBER.match(name):
        return "{n}" + ending
    if _DATE.match(name):
        return "{date}" + ending
    if _HEX.match(name) or looks_random(name) or _SESSION.match(name):
        return "{id}" + ending
    return None


@lru_cache(maxsize=8192)
def _worded(segment: str) -> str:
    if not segment:
        return ""
    name, ending = _without_ending(segment)
    joints = _JOINTS.findall(name)
    return "{word" + "".join(sorted(set(joints))) + "}" + ending


def _without_ending(segment: str) -> tuple[str, str]:
    match = _ENDING.match(segment)
    return (match[1], match[2].lower()) if match is not None else (segment, "")


def _folders(segments: list[str]) -> tuple[UrlPattern, ...]:
    """The folders on the way, by name: a symbolic link or a maze hides behind one of them."""
    kinds = [placeholder(segment) or segment for segment in segments[:MOST_FOLDERS]]
    ways = ("/".join(kinds[: depth + 1]) for depth in range(len(kinds)))
    return tuple(_pattern(f"/{way}/**", Breadth.FOLDER) for way in ways)


def path_of_shape(shape: UrlPattern) -> str:
    """The shape without its parameters."""
    return shape.name.partition("?")[0]


def is_extension(pattern: UrlPattern, others: tuple[UrlPattern, ...]) -> bool:
    """A URL of the other patterns is of this one, or only lengthens it by segments or parameters."""
    if pattern in others:
        return True
    if pattern.breadth is Breadth.SHAPE:
        path, question, _ = pattern.name.partition("?")
        other = path_of_shape(others[0])
        return other == path if question else other.startswith(path.removesuffix("/") + "/")
    longer = pattern.name.removesuffix("/") + "/"
    return pattern.breadth is Breadth.SKELETON and any(name.startswith(longer) for name, _ in others)


def lengthens(patterns: tuple[UrlPattern, ...], name: str) -> bool:
    """A URL of these patterns is of the named shape or skeleton, or has more segments behind it."""
    longer = name.removesuffix("/") + "/"
    whole = (own for own, breadth in patterns if breadth in (Breadth.SHAPE, Breadth.SKELETON))
    return any(own == name or own.startswith(longer) for own in whole)


def parent_shape(pattern: UrlPattern) -> str:
    """The shape that this one lengthens by a segment or a parameter; empty: none."""
    if pattern.breadth is not Breadth.SHAPE:
        return ""
    path, question, names = pattern.name.partition("?")
    if question:
        return f"{path}?{names.rpartition('&')[0]}" if "&" in names else ""
    bare = path.removesuffix("/")
    above = bare.rpartition("/")[0]
    return above + path[len(bare) :] if above else ""
