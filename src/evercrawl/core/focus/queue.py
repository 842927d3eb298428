"""The order of a focused crawl where nothing else has a say: the best prospect first."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from evercrawl.core.focus.board import Board
from evercrawl.core.focus.priority import Steering
from evercrawl.model.document import Document


class FocusedQueue:
    """URLs that wait. Invariant: a URL is handed out once."""

    def __init__(self, steering: Steering, seeds: Iterable[str], *, admits: Callable[[str], bool]) -> None:
        self.board = Board(steering, seeds, admits=admits)
        self._done: set[str] = set()

    def next(self) -> str | None:
        """The URL to fetch now; None when nothing waits."""
        values = self.board.values
        waiting = (url for url in values if url not in self._done)
        url = max(waiting, key=values.__getitem__, default=None)
        if url is not None:
            self._done.add(url)
        return url

    def saw(self, url: str, document: Document) -> float:
        """Take in a fetched page; gives back its score."""
        return self.board.saw(url, document)
