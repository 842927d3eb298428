"""`tool url`: how a reference is resolved and which page it names."""

from __future__ import annotations

import re
from typing import Any

from evercrawl.core.url import canonical_of_href, join, key_of, parse

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def url(row: dict[str, Any]) -> dict[str, Any]:
    """WHATWG serialisation, canonical form and key of `input`, resolved against `base` where given."""
    reference, base = _scalar(row["input"]), row.get("base")
    href = parse(reference) if base is None else join(_scalar(base), reference)
    page = None if href is None else canonical_of_href(href)
    return {"href": href, "canonical": page, "key": None if page is None else key_of(page).hex()}


def _scalar(value: object) -> str:
    """The text with U+FFFD for what is no character, as the standard's own conversion has it."""
    if not isinstance(value, str):
        raise ValueError("input and base must be strings")
    return _LONE_SURROGATE.sub("�", value)
