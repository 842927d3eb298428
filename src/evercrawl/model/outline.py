"""What a page says about other pages, and its own headings: what search and the link graph are made of."""

from __future__ import annotations

from typing import NamedTuple

from evercrawl.model.document import Link


class Outline(NamedTuple):
    """The skeleton of the newest sight of a page."""

    headings: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    noindex: bool = False
    """The page asks to be kept out of published search."""
