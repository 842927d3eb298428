"""What every page needs at hand: the collection, its settings, what was computed before, and the crawl."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from evercrawl.collection.alerts.subscriptions import WebsubClient, callback_url_at, no_callback
from evercrawl.collection.collection import Collection
from evercrawl.config import LoadedSettings, collection_file, read_settings
from evercrawl.errors import CollectionBusy
from evercrawl.model.links import PageLinks
from evercrawl.model.search import SearchResults
from evercrawl.model.settings import Settings
from evercrawl.web.auth import AuthStore
from evercrawl.web.cache import WAIT_S, AnswerCache
from evercrawl.web.middleware import RateLimit

T = TypeVar("T")
SEVERAL_MIN_AGE_S = 3.0
"""How old an answer may be at least, where a page shows several."""

TEST_BURST, TESTS_PER_S = 3, 1 / 20
INDEX_WAIT_S = 0.25
"""How long a page waits for the index or the link graph, before it shows what there is."""
UNKNOWN_LAG = -1
"""The index is being brought up, and nobody knows yet how far it is behind."""


class AppState:
    """One collection that is being looked at."""

    def __init__(
        self,
        collection: Path,
        auth: AuthStore,
        *,
        own_origin: Callable[[str], str],
        replay_origin: Callable[[str], str],
        public_origin: str | None = None,
        read_only: bool = False,
        env: Mapping[str, str] | None = None,
        flags: Mapping[str, object] | None = None,
    ) -> None:
        self.path = collection
        self.auth = auth
        self.read_only = read_only
        self.is_stopping = False
        """Streams end themselves when they see this."""
        self.shelf = AnswerCache()
        self._making_graph = threading.Lock()
        self.crawl = CrawlProcess(collection)
        self.tries = RateLimit(burst=TEST_BURST, per_s=TESTS_PER_S)
        """Of what sends something to others at the push of a button."""
        self.own_origin = own_origin
        """Host of a request -> origin of the interface for it."""
        self.replay_origin = replay_origin
        """Host of a request -> origin of replay for it."""
        self._public_origin = public_origin
        self._env = dict(os.environ) if env is None else dict(env)
        self._flags = dict(flags or {})
        self._configured: LoadedSettings | None = None
        self._mtime_ns = -1

    @property
    def configured(self) -> LoadedSettings:
        """The settings in force, read again when the file was changed."""
        try:
            mtime_ns = collection_file(self.path).stat().st_mtime_ns
        except OSError:
            mtime_ns = 0
        if self._configured is None or mtime_ns != self._mtime_ns:
            self._configured = read_settings(self.path, flags=self._flags, env=self._env)
            self._mtime_ns = mtime_ns
        return self._configured

    @property
    def settings(self) -> Settings:
        """The values alone."""
        return self.configured.settings

    @property
    def collection(self) -> Collection:
        """The library's view."""
        return Collection(self.path, self.settings)

    @property
    def can_be_reached(self) -> bool:
        """Programs elsewhere can call us back."""
        return self._public_origin is not None

    @property
    def websub(self) -> WebsubClient:
        """The subscriptions at hubs."""
        origin = self._public_origin
        return WebsubClient(
            self.path, self.settings, callback=no_callback if origin is None else callback_url_at(origin)
        )

    def search(
        self, query: str, *, limit: int, as_of: datetime | None = None, with_facets: bool = False
    ) -> SearchResults:
        """The best hits; the index is brought up beside the page, which does not wait for a long way."""
        lag = self.remembered("index", self._bring_up, wait_s=INDEX_WAIT_S)
        with closing(self.collection.searching()) as searching:
            found = searching.find(query, limit=limit, as_of=as_of, with_facets=with_facets)
        return replace(found, lag=UNKNOWN_LAG if lag is None else lag)

    def _bring_up(self) -> int:
        """The number of visits that another process has still to index."""
        from evercrawl.collection.search import update_index
        from evercrawl.collection.search_index import index_lag, open_text_index

        with self._making_graph:
            is_busy = update_index(self.path, self.settings.search)
        return index_lag(self.path, open_text_index(self.path)) if is_busy else 0

    def links(self, url: str) -> tuple[PageLinks, bool]:
        """The links of a page, and whether a link graph was made here yet; it is renewed beside the page, by
        one thread at a time.
        """
        is_made = self.remembered("link graph", self._renew_graph, wait_s=INDEX_WAIT_S)
        return self.collection.links(url, as_it_was=True), bool(is_made)

    def _renew_graph(self) -> bool:
        from evercrawl.collection.graph_builder import up_to_date_graph

        with self._making_graph:
            up_to_date_graph(self.path)
        return True

    def now(self) -> datetime:
        """The present moment."""
        return datetime.now(UTC)

    def remembered(
        self, name: str, compute: Callable[[], T], *, least_s: float = 2.0, wait_s: float = WAIT_S
    ) -> T | None:
        """Something that takes long in a large collection; None: it is still being computed."""
        return self.shelf.get(name, compute, least_s=least_s, wait_s=wait_s)

    def forget(self, name: str) -> None:
        """An answer is not true any more."""
        self.shelf.forget(name)

    def remembered_all(self, wishes: Mapping[str, Callable[[], Any]], *, wait_s: float) -> dict[str, Any]:
        """Several such answers, computed at the same time and waited for no longer than one would be."""
        for name, compute in wishes.items():
            self.remembered(name, compute, least_s=SEVERAL_MIN_AGE_S, wait_s=0.0)
        end = time.monotonic() + wait_s
        return {
            name: self.remembered(name, compute, least_s=SEVERAL_MIN_AGE_S, wait_s=max(0.0, end - time.monotonic()))
            for name, compute in wishes.items()
        }


OUTPUT_FILE = "web-crawl.log"
STOP_WAIT_S = 30.0


class CrawlProcess:
    """At most one child; `is_running` and `stop` are about it and about no other process."""

    def __init__(self, collection: Path) -> None:
        self._collection = collection
        self._turn = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self.last_exit: int | None = None

    @property
    def pid(self) -> int | None:
        """The child's number; None: there is none."""
        return self._child.pid if self.is_running and self._child is not None else None

    @property
    def is_running(self) -> bool:
        """The child has not ended."""
        if self._child is None:
            return False
        code = self._child.poll()
        if code is None:
            return True
        self.last_exit = code
        return False

    def start(self, urls: list[str], *, forever: bool = False, refresh: bool = False) -> int:
        """Start a crawl and give its number; CollectionBusy where ours is still running."""
        with self._turn:
            if self.is_running:
                raise CollectionBusy("a crawl is running already; stop it first")
            command = [sys.executable, "-m", "evercrawl", "-C", str(self._collection)]
            command += ["watch" if forever else "crawl", "--no-progress", "--json"]
            command += ["--refresh"] if refresh and not forever else []
            command += ["--", *urls]
            with (self._collection / OUTPUT_FILE).open("wb") as out:
                self._child = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
                )
            return self._child.pid

    def stop(self) -> bool:
        """Ask our crawl to end; it saves its state. False: there is none."""
        if not self.is_running or self._child is None:
            return False
        self._child.send_signal(signal.SIGTERM)
        return True

    def close(self) -> None:
        """Stop our crawl and wait for it; the process that serves is ending."""
        if self.stop() and self._child is not None:
            with suppress(subprocess.TimeoutExpired):
                self._child.wait(STOP_WAIT_S)

    def last_words(self, most: int = 4000) -> str:
        """The end of what the last crawl said."""
        try:
            data = (self._collection / OUTPUT_FILE).read_bytes()[-most:]
        except OSError:
            return ""
        return data.decode("utf-8", "replace")
