"""The focus of a run: one board for all shards of the process, kept with the collection."""

from __future__ import annotations

import logging
from dataclasses import replace

from evercrawl.core.digest import content_digest
from evercrawl.core.focus.focus import Focus
from evercrawl.core.focus.focus_frontier import FocusFrontier
from evercrawl.core.focus.link_scorer import LinkScorer
from evercrawl.core.frontier import band_of_worth
from evercrawl.core.url import canonical
from evercrawl.model.document import Document
from evercrawl.model.fetch import Moved
from evercrawl.model.page import Candidate, Page

log = logging.getLogger("evercrawl")

FOCUS_KEY = (0, "focus")
"""Where the state of the focus is kept; no site has this number."""
ON_TOPIC = 0.5


class FocusGuide:
    """Says what URLs are worth, and learns from every page.

    Invariant: the board knows each URL by the page's canonical name.
    """

    def __init__(self, focus: Focus, *, window: int, bands: int) -> None:
        self.window = window
        """Pages of one site among which the best is looked for."""
        self._bands = bands
        self._board = FocusFrontier(LinkScorer(focus))
        self._name = content_digest(focus.to_bytes())

    def worth_of(self, url: str) -> float:
        """What fetching a URL is worth now, larger first."""
        return self._board.value_of(url)

    def band_of(self, candidate: Candidate) -> int:
        """The front queue of a new page; a seed is before all others."""
        if candidate.depth == 0 and not candidate.hops:
            self._board.add_seed(candidate.url)
        return band_of_worth(self.worth_of(candidate.url), bands=self._bands)

    def saw(self, page: Page, document: Document) -> float:
        """Take in a page; gives back how likely it is on topic, 0 to 1."""
        links = tuple(link._replace(url=canonical(link.url) or link.url) for link in document.links)
        return self._board.add_page(page.url, replace(document, links=links))

    def moved(self, page: Page, result: Moved) -> None:
        """A redirect leads on."""
        self._board.follow_redirect(page.url, result.target)

    def drop(self, page: Page) -> None:
        """The page gave nothing."""
        self._board.discard(page.url)

    def to_bytes(self) -> bytes:
        """What was learned on the way, behind the name of the focus."""
        return self._name + self._board.to_bytes()

    def recall(self, stored: bytes | None) -> None:
        """Go on where an earlier run with the same focus ended; what cannot be read is forgotten."""
        try:
            if stored and stored.startswith(self._name):
                self._board.restore(stored[len(self._name) :])
        except ValueError as error:
            log.warning("the focus begins anew: %s", error)
