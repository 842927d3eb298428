"""Is a URL larger than any that leads to a page? Limits with names: the last line against what grows."""

from __future__ import annotations

from evercrawl.core.traps.parts import Parts

LONGEST_URL = 2000
"""Characters; longer ones are cut off by servers and caches, and grow by accident."""
MOST_SEGMENTS = 21
"""Twenty folders and a file; the deepest source trees stay below."""
MOST_PARAMETERS = 40
"""A search form with every field filled in stays below."""
MOST_HOPS = 20
"""Links away from a seed."""
LONGEST_RUN = 100
"""The same character or group of up to four over so many characters is no name."""
LONGEST_GROUP = 4


def too_large(parts: Parts) -> str | None:
    """In words, which limit the URL breaks; None: none."""
    if len(parts.url) > LONGEST_URL:
        return f"the URL has {len(parts.url)} characters, more than {LONGEST_URL}"
    if len(parts.segments) > MOST_SEGMENTS:
        return f"the path has {len(parts.segments)} segments, more than {MOST_SEGMENTS}"
    if len(parts.pairs) > MOST_PARAMETERS:
        return f"the query has {len(parts.pairs)} parameters, more than {MOST_PARAMETERS}"
    return None


def too_far(hops: int | None) -> str | None:
    """In words, why the page is too far from a seed; None: it is not, or nobody counted."""
    if hops is None or hops <= MOST_HOPS:
        return None
    return f"{hops} links away from a seed, more than {MOST_HOPS}"


def stutter(parts: Parts) -> str | None:
    """In words, which segment or value says the same few characters over and over."""
    if len(parts.url) < LONGEST_RUN:
        return None
    for piece in (*parts.segments, *(value for _, value in parts.pairs)):
        # Numbers are filled up with zeros, hashes of nothing are all zeros.
        if len(piece) >= LONGEST_RUN and not piece.isdigit() and _is_periodic(piece[-LONGEST_RUN:]):
            return f"a part that repeats {piece[:LONGEST_GROUP]!r} over {len(piece)} characters"
    return None


def _is_periodic(text: str) -> bool:
    return any(text[period:] == text[:-period] for period in range(1, LONGEST_GROUP + 1))
