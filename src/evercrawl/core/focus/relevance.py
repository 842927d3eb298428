"""Is this page on topic? One page at a time, by what was learned from examples."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

from evercrawl.core.document.html import parse_document
from evercrawl.core.focus.background import Shares, drawn
from evercrawl.core.focus.focus import ENOUGH_OFF_TOPIC, ExamplePage, Focus, learned
from evercrawl.model.document import Document
from evercrawl.model.settings import ParseSettings

SEED = 7
"""Learning shuffles its examples; the same examples give the same scores."""
_HTML = (("Content-Type", "text/html; charset=utf-8"),)
_LIMITS = ParseSettings()


def page_of(url: str, html: str) -> Document:
    """The document of a page that is at hand as text."""
    body = html.encode("utf-8", "replace")
    return parse_document(url, _HTML, body, agent="evercrawl", limits=_LIMITS)


def example_of(row: dict[str, Any]) -> ExamplePage:
    """A row of an examples file: `url`, `html` or `text`, `on_topic` (true where it is absent)."""
    url = str(row.get("url") or "")
    html = row.get("html")
    document = page_of(url, str(html)) if html is not None else Document("utf-8", url, text=str(row["text"]))
    return ExamplePage(url, document, bool(row.get("on_topic", True)))


def focus_of(rows: Iterable[dict[str, Any]], *, background: Shares) -> Focus:
    """The topic of an examples file; raises ValueError where no row is on topic."""
    examples = [example_of(row) for row in rows]
    if not any(example.on_topic for example in examples):
        raise ValueError("an examples file needs at least one row with on_topic true")
    random = Random(SEED)
    return learned(examples, random=random, background=drawn(background, pages=ENOUGH_OFF_TOPIC, random=random))


def relevance(focus: Focus, url: str, html: str) -> float:
    """How likely the page is on topic, 0 to 1."""
    return focus.score(url, page_of(url, html))
