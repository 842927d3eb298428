"""Tell choices from variables in the URLs of a site, and name the narrowest pattern of a URL by its choices.
A parameter with few values, or a word of the path before parameters, chooses what a page is: `action=history`,
`/index.php/view?id=`. One with many values is a variable: `title=`, `/wiki/{word}`. So `/index.php?action=raw&title`
and the same with `action=history` are judged apart, without a list of words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from xxhash import xxh32_intdigest

from evercrawl.core.traps.url_parts import query_pairs
from evercrawl.core.traps.url_pattern import (
    MAX_NAMES,
    MAX_PATTERN_CHARS,
    Breadth,
    UrlPattern,
    patterns_of,
    placeholder,
    split_path,
    word_placeholder,
)

MAX_CHOICES = 32  # Values up to which a place holds a choice.
MAX_CHOICE_CHARS = 24
MAX_CHOICE_SEGMENTS = 3  # Only the first segments of a path may be choices; a path that repeats itself chooses nothing.
MAX_PLACES = 256  # Places of one site that are remembered.

Choices = Mapping[str, tuple[int, ...]]
"""Hashes of the values at each place of a site's URLs; none for a variable."""


class _Place(NamedTuple):
    name: str
    value: str


def patterns_with_choices(choices: Choices, url: str) -> tuple[UrlPattern, ...]:
    """Return every pattern of the URL, the narrowest first: its shape with the choices, if it makes any."""
    patterns = patterns_of(url)
    if patterns[-1].breadth is Breadth.SKELETON or "?" not in url:
        return patterns  # It has no parameters.
    variant, _ = _variant(choices, url)
    return patterns if variant == patterns[0].name else (UrlPattern(variant, Breadth.VARIANT), *patterns)


def learn_choices(choices: Choices, url: str) -> Choices:
    """Return the choices with the values of one more URL."""
    if "?" not in url:
        return choices
    learned: dict[str, tuple[int, ...]] = {}
    _, places = _variant(choices, url)
    for place in places:
        known = choices.get(place.name)
        value = _hash(place.value)
        if known is None or (known and value not in known):
            values = (*(known or ()), value)
            learned[place.name] = values if len(values) <= MAX_CHOICES else ()
    if not learned:
        return choices
    both = {**choices, **learned}
    return both if len(both) <= MAX_PLACES else dict(list(both.items())[-MAX_PLACES * 3 // 4 :])


def is_kind(pattern: str, url: str) -> bool:
    """True if the URL belongs to a pattern that names some of its choices: `/index.php?action=raw&title`."""
    path, query = split_path(url)
    wanted_path, _, wanted = pattern.partition("?")
    pairs = dict(pair.partition("=")[::2] for pair in query_pairs(query))
    parts = dict(pair.partition("=")[::2] for pair in query_pairs(wanted))
    if pairs.keys() != parts.keys() or any(value not in ("", pairs[name]) for name, value in parts.items()):
        return False
    segments, wanted_segments = path.split("/"), wanted_path.split("/")
    return len(segments) == len(wanted_segments) and all(
        part in (segment, placeholder(segment) or word_placeholder(segment))
        for segment, part in zip(segments, wanted_segments, strict=True)
    )


def _variant(choices: Choices, url: str) -> tuple[str, list[_Place]]:
    """Return the name of the URL's shape with its choices, and the places that may hold one."""
    path, query = split_path(url)
    places: list[_Place] = []
    name, has_word = "", False
    segments = path.split("/")[1:]
    for depth, segment in enumerate(segments):
        kind = placeholder(segment)
        if kind is None:
            place = _Place(name + "/", segment)
            kind = segment
            if has_word:
                is_able = depth < MAX_CHOICE_SEGMENTS and _may_be_choice(segment) and segments.count(segment) == 1
                if is_able:
                    places.append(place)
                if not is_able or not _is_choice(choices, place):
                    kind = word_placeholder(segment)
            has_word = True
        name += "/" + kind
    shown = _parameters(choices, name, query, places)
    name += "?" + "&".join(shown) if shown else ""
    return name[:MAX_PATTERN_CHARS], places


def _parameters(choices: Choices, path: str, query: str, places: list[_Place]) -> list[str]:
    values: dict[str, str] = {}
    for pair in query_pairs(query):
        parameter, _, value = pair.partition("=")
        if parameter:
            values[parameter] = value
    shown = []
    for number, (parameter, value) in enumerate(sorted(values.items())):
        place = _Place(f"{path}?{parameter}", value)
        is_able = number < MAX_NAMES and bool(value) and _may_be_choice(value)
        if is_able:
            places.append(place)
        shown.append(f"{parameter}={value}" if is_able and _is_choice(choices, place) else parameter)
    return shown


def _may_be_choice(value: str) -> bool:
    return len(value) <= MAX_CHOICE_CHARS and not any(map(str.isdigit, value))


def _is_choice(choices: Choices, place: _Place) -> bool:
    known = choices.get(place.name)
    return known is None or (bool(known) and (len(known) < MAX_CHOICES or _hash(place.value) in known))


def _hash(value: str) -> int:
    return int(xxh32_intdigest(value.encode("utf-8", "surrogatepass")))
