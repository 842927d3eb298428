"""The index beside a running crawl: a thread looks every few seconds at what was stored."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from time import monotonic

from evercrawl.errors import EvercrawlError
from evercrawl.model.settings import SearchSettings

log = logging.getLogger("evercrawl")

GRAPH_EVERY = timedelta(hours=1)
"""Where a crawl goes on for ever, the link graph is made anew no more often."""


class Beside:
    """The thread; it never stops the crawl, whatever happens to the index."""

    def __init__(self, collection: Path, settings: SearchSettings) -> None:
        self._collection = collection
        self._settings = settings
        self._stop = threading.Event()
        self.is_done = False
        """The crawl has ended by itself: time for the link graph."""
        self._thread = threading.Thread(target=self._run, name="evercrawl-index", daemon=True)

    def start(self) -> None:
        """Begin to follow."""
        self._thread.start()

    def finish(self) -> None:
        """Index what is left, and end."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            self._follow()
        except EvercrawlError as error:
            log.warning("the search index stays behind: %s", error)
        except Exception:
            log.exception("defect while indexing; the crawl goes on without")

    def _follow(self) -> None:
        built = monotonic()
        while not self._stop.wait(self._settings.every.total_seconds()):
            self._catch_up()
            if monotonic() - built > GRAPH_EVERY.total_seconds():
                self._renew_graph()
                built = monotonic()
        self._catch_up()
        if self.is_done:
            self._renew_graph()

    def _catch_up(self) -> None:
        # Imported late: a crawl that has stored nothing yet need not wait for it.
        from evercrawl.adapters.tantivy import IndexBusy
        from evercrawl.collection.search.follow import catch_up, open_text_index

        try:
            catch_up(self._collection, open_text_index(self._collection), self._settings)
        except IndexBusy:
            log.info("another process writes the search index")

    def _renew_graph(self) -> None:
        from evercrawl.collection.linkgraph.build import build_graph, is_worn

        if is_worn(self._collection):
            build_graph(self._collection)


@asynccontextmanager
async def indexing(collection: Path, settings: SearchSettings, *, forever: bool = False) -> AsyncIterator[Beside]:
    """The index follows while the block runs, and has everything behind it, where the settings want that."""
    beside = Beside(collection, settings)
    follows = settings.enabled and (settings.follow == "always" or (settings.follow == "watch" and forever))
    if follows:
        beside.start()
    try:
        yield beside
    finally:
        if follows:
            await asyncio.to_thread(beside.finish)
