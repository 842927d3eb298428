"""Links of a page, problems of links, and figures of the link graph."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class LinkEnd(NamedTuple):
    """The other page of a link, and the anchor text."""

    url: str
    text: str
    nofollow: bool = False


@dataclass(frozen=True, slots=True)
class PageLinks:
    """A page in the link graph."""

    url: str
    incoming: tuple[LinkEnd, ...] = ()
    outgoing: tuple[LinkEnd, ...] = ()
    pagerank: float | None = None  # PageRank, as share of the total; None: the page is not in the graph.
    times_average: float | None = None
    hub: float | None = None
    authority: float | None = None
    clicks: int | None = None  # Minimum number of links from a seed; None: unreachable.
    credit: float | None = None  # Credit by the OPIC rule, 1 for an average page; None: unknown.
    incoming_count: int = 0  # Number of all links to it; the list may be shorter.


class LinkProblem(StrEnum):
    """The problem of a link."""

    DEAD = "dead"  # The target fails or does not exist.
    REDIRECT = "redirect"  # The target redirects; the link should have the new URL.
    CHAIN = "chain"  # Several redirects in a row.
    LOOP = "loop"  # The redirects form a loop.


@dataclass(frozen=True, slots=True)
class BadLink:
    """A link with a problem."""

    url: str  # The page with the link.
    target: str
    text: str
    problem: LinkProblem
    status: int | None = None
    reason: str | None = None
    chain: tuple[str, ...] = ()  # The redirect targets, in order.


@dataclass(frozen=True, slots=True)
class GraphSummary:
    """Figures of the link graph."""

    pages: int
    links: int
    orphans: int  # Known pages that no page links to, without seeds.
    unreached: int  # Pages that cannot be reached from a seed.
    deepest: int
    by_depth: tuple[int, ...]  # Number of pages by clicks from a seed.


class RankedPage(NamedTuple):
    """A page with its score."""

    url: str
    score: float
