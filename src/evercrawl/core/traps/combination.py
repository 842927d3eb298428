"""Does a URL combine choices whose number has no end: facets, joined tags, pages far behind the last?"""

from __future__ import annotations

import re
from collections import Counter

from evercrawl.core.traps.parts import Parts, unescaped

LEAST_FACETS = 3
"""So many parameters with several values each, ..."""
LEAST_CHOICES = 7
"""... and so many choices in all, are a combination of facets."""
MOST_NUMBERED = 5
"""Facets of one list: f[0]=…&f[1]=…"""
MOST_TAGS = 8
FARTHEST_PAGE = 100_000

_NUMBERED = re.compile(r"([\w\-]+)(?:\[\d*\]|%5b\d*%5d)", re.IGNORECASE)
_TAG_FOLDERS = frozenset(("tag", "tags", "tagged", "label", "labels", "topic", "topics", "schlagwort"))
_PAGE_FOLDERS = frozenset(("page", "pages", "paged", "seite", "pagina"))
_PAGE_NAMES = frozenset(("page", "paged", "pagenum", "page_no", "pageno", "seite"))
_LISTED = re.compile("[,|]")
_JOINT = re.compile(r"[+,|&]|%2c|%2b|%20", re.IGNORECASE)


def combines(parts: Parts) -> str | None:
    """In words, which choices the URL combines beyond what somebody links to by hand; None: none."""
    return _facets(parts) or _tags(parts) or _far_page(parts)


def _facets(parts: Parts) -> str | None:
    if not parts.pairs:
        return None
    listed = Counter(match[1] for name, _ in parts.pairs if (match := _NUMBERED.fullmatch(name)))
    if listed and (most := listed.most_common(1)[0])[1] > MOST_NUMBERED and _are_choices(parts, most[0]):
        return f"{most[1]} choices in {most[0]}[]"
    names: Counter[str] = Counter()
    for name, value in parts.pairs:
        names[name] += _choices(value)
    several = sum(times > 1 for times in names.values())
    if several >= LEAST_FACETS and names.total() >= LEAST_CHOICES:
        return f"{several} facets with several values each"
    return None


def _choices(value: str) -> int:
    """How many choices a value joins; numbers with commas are a place on a map, or a date."""
    plain = unescaped(value)
    items = [item for item in _LISTED.split(plain) if item]
    return len(items) if not any(character.isdigit() for character in plain) else 1


def _are_choices(parts: Parts, name: str) -> bool:
    """Facets name themselves in the value (`f[0]=color:red`); a list of ids is one question."""
    values = [unescaped(value) for other, value in parts.pairs if other.startswith(name)]
    return all(":" in value or "=" in value for value in values)


def _tags(parts: Parts) -> str | None:
    for folder, segment in zip(parts.segments, parts.segments[1:], strict=False):
        if folder in _TAG_FOLDERS:
            joined = len(_JOINT.findall(segment)) + 1
            if joined > MOST_TAGS:
                return f"{joined} tags joined"
    return None


def _far_page(parts: Parts) -> str | None:
    for name, value in parts.pairs:
        if name in _PAGE_NAMES and value.isdigit() and int(value[:12]) >= FARTHEST_PAGE:
            return f"page {value} of a list"
    if len(parts.segments) < 2 or parts.segments[-2] not in _PAGE_FOLDERS:
        return None
    number = parts.segments[-1]
    if number.isdigit() and int(number[:12]) >= FARTHEST_PAGE:
        return f"page {number} of a list"
    return None
