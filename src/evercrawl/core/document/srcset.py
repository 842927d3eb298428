"""Which images does a srcset offer? HTML standard, "parse a srcset attribute"."""

from __future__ import annotations

import re

MOST_CANDIDATES = 200

_BEFORE_URL = re.compile(r"[\t\n\f\r ,]*")
_URL = re.compile(r"[^\t\n\f\r ]+")
_DESCRIPTORS = re.compile(r"(?:[^(),]|\([^)]*\)?)*")
_WIDTH = re.compile(r"[0-9]+w\Z")
_HEIGHT = re.compile(r"[0-9]+h\Z")
_DENSITY = re.compile(r"-?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?x\Z")
_SPACE_OUTSIDE_PARENTHESES = re.compile(r"(?:[^\t\n\f\r (]|\([^)]*\)?)+")


def srcset_urls(srcset: str) -> list[str]:
    """The references of the valid candidates, in order."""
    found: list[str] = []
    at = 0
    while len(found) < MOST_CANDIDATES:
        at = _end(_BEFORE_URL, srcset, at)
        match = _URL.match(srcset, at)
        if match is None:
            break
        url, at = match[0], match.end()
        if url.endswith(","):
            found.append(url.rstrip(","))
            continue
        end = _end(_DESCRIPTORS, srcset, at)
        if _are_valid(_SPACE_OUTSIDE_PARENTHESES.findall(srcset[at:end])):
            found.append(url)
        at = end + 1
    return found


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _are_valid(descriptors: list[str]) -> bool:
    """At most one width or density; a height only beside a width; no zero width, no negative density."""
    widths = [word for word in descriptors if _WIDTH.match(word)]
    heights = [word for word in descriptors if _HEIGHT.match(word)]
    densities = [word for word in descriptors if _DENSITY.match(word)]
    if len(widths) + len(heights) + len(densities) != len(descriptors):
        return False
    if len(widths) > 1 or len(heights) > 1 or len(densities) > 1 or (densities and (widths or heights)):
        return False
    if heights and not widths:
        return False
    return all(int(word[:-1][:18]) > 0 for word in widths + heights) and all(
        float(word[:-1]) >= 0 for word in densities
    )
