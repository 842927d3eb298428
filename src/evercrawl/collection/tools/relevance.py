"""`tool relevance --examples FILE`: is a page on the topic of the examples?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from evercrawl.adapters.learned import background
from evercrawl.core.focus.relevance import focus_of, relevance

DIGITS = 6


def relevance_tool(examples: Iterable[dict[str, Any]]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A function from `url` and `html` to `score`, learned from the rows of an examples file."""
    focus = focus_of(examples, background=background())

    def score(row: dict[str, Any]) -> dict[str, Any]:
        url, html = str(row.get("url") or ""), row.get("html") or row.get("text") or ""
        return {"score": round(relevance(focus, url, str(html)), DIGITS)}

    return score
