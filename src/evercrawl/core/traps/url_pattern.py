"""Generalise URLs into patterns that can be read and compared.
Numbers, dates, hashes and session ids become placeholders, words after the first segment `{word}`. A URL belongs to
several patterns, from its exact shape to the folder and the parameters that it shares with others."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from evercrawl.core.traps.url_parts import looks_random, query_pairs

MAX_NAMES = 8  # Parameters of one URL that are examined.
MAX_FOLDERS = 3  # Parent folders that are patterns of their own.
MAX_PATTERN_CHARS = 160
CACHED_FOLDERS = 1024  # Cached folders. The pages of a folder differ only in their names.

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
"""Known file endings. Anything else after a dot may be part of a name."""
_JOINTS = re.compile(r"[+,=:;~|!]|%2c|%2b|%3a|%3d|%7c", re.IGNORECASE)


class Breadth(IntEnum):
    """How many kinds of pages a pattern covers. The narrowest one that explains a finding gets the blame."""

    VARIANT = 0
    SHAPE = 1
    PARAMETER = 2
    FAMILY = 3
    FOLDER = 4
    SKELETON = 5


class UrlPattern(NamedTuple):
    """A named set of URLs of one site."""

    name: str
    breadth: Breadth


@lru_cache(maxsize=8192)
def patterns_of(url: str) -> tuple[UrlPattern, ...]:
    """Return every pattern of the URL, its exact shape first."""
    path, query = split_path(url)
    names = sorted({pair.partition("=")[0] for pair in query_pairs(query)} - {""}) if query else []
    shape = path_shape(path)
    folder, _, name = path.rpartition("/")
    parent = _folder(folder)
    if not names:
        skeleton = f"/**{parent.skeleton}/{placeholder(name) or word_placeholder(name)}"
        skeletons = (_pattern(skeleton, Breadth.SKELETON),) if path != "/" else ()
        return (_pattern(shape, Breadth.SHAPE), *parent.folders, *skeletons)
    return (
        _pattern(f"{shape}?{'&'.join(names)}", Breadth.SHAPE),
        *(_pattern(f"{shape}?{name}=", Breadth.PARAMETER) for name in names[:MAX_NAMES]),
        _pattern(f"{shape}?*", Breadth.FAMILY),
        *parent.folders,
    )


def shape_of(url: str) -> str:
    """Return the name of the URL's exact shape."""
    return patterns_of(url)[0].name


def _pattern(name: str, breadth: Breadth) -> UrlPattern:
    return UrlPattern(name[:MAX_PATTERN_CHARS], breadth)


def split_path(url: str) -> tuple[str, str]:
    """Return path and query of a URL."""
    start = url.find("/", url.find("//") + 2)
    path, _, query = (url[start:] if start >= 0 else "/").partition("#")[0].partition("?")
    return path, query


def path_shape(path: str) -> str:
    """Return the path with placeholders. The first word and a known ending stay."""
    folder, _, name = path.rpartition("/")
    parent = _folder(folder)
    kind = placeholder(name)
    if kind is None:
        kind = word_placeholder(name) if parent.has_word else name
    return f"{parent.shape}/{kind}"


class _Folder(NamedTuple):
    """What all pages of one folder share."""

    shape: str
    has_word: bool
    skeleton: str
    folders: tuple[UrlPattern, ...]


@lru_cache(maxsize=CACHED_FOLDERS)
def _folder(folder: str) -> _Folder:
    segments = folder.split("/")[1:]
    shape = skeleton = ""
    has_word = False
    for segment in segments:
        kind = placeholder(segment)
        part = kind if kind is not None else word_placeholder(segment)
        shape += "/" + (part if kind is not None or has_word else segment)
        skeleton += "/" + part
        has_word = has_word or kind is None
    return _Folder(shape, has_word, skeleton, _folders(segments))


@lru_cache(maxsize=8192)
def placeholder(segment: str) -> str | None:
    """Return the placeholder for a segment drawn from a large set; None for a word."""
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
def word_placeholder(segment: str) -> str:
    """Return the placeholder for a word."""
    if not segment:
        return ""
    name, ending = _without_ending(segment)
    joints = _JOINTS.findall(name)
    return "{word" + "".join(sorted(set(joints))) + "}" + ending


def _without_ending(segment: str) -> tuple[str, str]:
    match = _ENDING.match(segment)
    return (match[1], match[2].lower()) if match is not None else (segment, "")


def _folders(segments: list[str]) -> tuple[UrlPattern, ...]:
    """Return the parent folders by name. A symbolic link or a maze hides behind one of them."""
    kinds = [placeholder(segment) or segment for segment in segments[:MAX_FOLDERS]]
    paths = ("/".join(kinds[: depth + 1]) for depth in range(len(kinds)))
    return tuple(_pattern(f"/{parent}/**", Breadth.FOLDER) for parent in paths)


def path_of_shape(shape: UrlPattern) -> str:
    """Return the shape without its parameters."""
    return shape.name.partition("?")[0]


def is_extension(pattern: UrlPattern, others: tuple[UrlPattern, ...]) -> bool:
    """True if a URL of the other patterns belongs to this one or only adds segments or parameters."""
    if pattern in others:
        return True
    if pattern.breadth <= Breadth.SHAPE:
        path, question, _ = pattern.name.partition("?")
        other = path_of_shape(others[0] if pattern.breadth is Breadth.VARIANT else shape_among(others))
        return other == path if question else other.startswith(path.removesuffix("/") + "/")
    longer = pattern.name.removesuffix("/") + "/"
    return pattern.breadth is Breadth.SKELETON and any(name.startswith(longer) for name, _ in others)


def shape_among(patterns: tuple[UrlPattern, ...]) -> UrlPattern:
    """Return the shape of the URL that these patterns belong to."""
    return patterns[0] if patterns[0].breadth is Breadth.SHAPE else patterns[1]


def lengthens(patterns: tuple[UrlPattern, ...], name: str) -> bool:
    """True if a URL of these patterns has the named shape or skeleton, or more segments after it."""
    longer = name.removesuffix("/") + "/"
    whole = (own for own, breadth in patterns if breadth in (Breadth.SHAPE, Breadth.SKELETON))
    return any(own == name or own.startswith(longer) for own in whole)


def parent_shape(pattern: UrlPattern) -> str:
    """Return the shape without its last segment or parameter; empty if there is none."""
    if pattern.breadth is not Breadth.SHAPE:
        return ""
    path, question, names = pattern.name.partition("?")
    if question:
        return f"{path}?{names.rpartition('&')[0]}" if "&" in names else ""
    bare = path.removesuffix("/")
    above = bare.rpartition("/")[0]
    return above + path[len(bare) :] if above else ""
