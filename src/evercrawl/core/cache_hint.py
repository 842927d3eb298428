"""For how long does a server itself call an answer fresh? A hint, never a promise (RFC 9111 section 4.2)."""

from __future__ import annotations

import re
from datetime import timedelta

from evercrawl.model.fetch import Headers, header

MOST_FRESH = timedelta(days=1)
"""Longer lifetimes are mostly meant for browsers that can reload; pages change before they end."""

_MAX_AGE = re.compile(r"(?:^|,)\s*max-age\s*=\s*\"?(\d{1,10})", re.IGNORECASE)
_NOT_STORED = re.compile(r"(?:^|,)\s*(?:no-cache|no-store)\b", re.IGNORECASE)


def fresh_for(headers: Headers) -> timedelta:
    """How long asking again would bring the same from any cache on the way; zero where nothing is said."""
    control = header(headers, "cache-control") or ""
    found = _MAX_AGE.search(control)
    if found is None or _NOT_STORED.search(control):
        return timedelta(0)
    age = (header(headers, "age") or "").strip()
    left = int(found[1]) - (int(age) if age.isascii() and age.isdigit() and len(age) <= 10 else 0)
    return min(timedelta(seconds=max(left, 0)), MOST_FRESH)
