"""What is known about the links of a page and of a collection."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class LinkEnd(NamedTuple):
    """The other end of a link, and what the link calls it."""

    url: str
    text: str
    nofollow: bool = False


@dataclass(frozen=True, slots=True)
class PageLinks:
    """A page in the link graph."""

    url: str
    incoming: tuple[LinkEnd, ...] = ()
    outgoing: tuple[LinkEnd, ...] = ()
    pagerank: float | None = None
    """Share of all importance; None: the page is not in the graph."""
    times_average: float | None = None
    hub: float | None = None
    authority: float | None = None
    clicks: int | None = None
    """Fewest links from a seed; None: no way leads there."""
    credit: float | None = None
    """What the page holds by the OPIC rule, 1 for an average one; None: nothing is known."""
    incoming_count: int = 0
    """All links to it; the list may be shorter."""


class LinkProblem(StrEnum):
    """What is wrong with a link."""

    DEAD = "dead"
    """The target answered with an error, or not at all."""
    REDIRECT = "redirect"
    """The target has moved; the link should name the new place."""
    CHAIN = "chain"
    """Several redirects in a row."""
    LOOP = "loop"
    """Redirects that never end."""


@dataclass(frozen=True, slots=True)
class BadLink:
    """A link that should be corrected."""

    url: str
    """The page that it stands on."""
    target: str
    text: str
    problem: LinkProblem
    status: int | None = None
    reason: str | None = None
    chain: tuple[str, ...] = ()
    """Where the redirects lead, one after the other."""


@dataclass(frozen=True, slots=True)
class GraphSummary:
    """The link graph in numbers."""

    pages: int
    links: int
    orphans: int
    """Known pages that no page links to, seeds left out."""
    unreached: int
    """Pages that no way of links leads to from a seed."""
    deepest: int
    by_depth: tuple[int, ...]
    """Pages at each number of clicks from a seed."""


class RankedPage(NamedTuple):
    """A page with its score, for lists of the best."""

    url: str
    score: float
