"""The state behind all pages: the collection, its settings, cached answers, and the crawl process."""

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
from evercrawl.web.access_control import RateLimit
from evercrawl.web.auth import AuthStore
from evercrawl.web.cache import WAIT_S, AnswerCache

T = TypeVar("T")
SEVERAL_MIN_AGE_S = 3.0  # Minimum age before several answers of one page are recomputed.

TEST_BURST, TESTS_PER_S = 3, 1 / 20
INDEX_WAIT_S = 0.25  # How long a page waits for the index or the link graph before it shows the last one.
UNKNOWN_LAG = -1  # The index is being updated, and its lag is not known yet.


class AppState:
    """The state of the interface of one collection."""

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
        """Streams end when this is set."""
        self.cache = AnswerCache()
        self._index_lock = threading.Lock()
        self.crawl = CrawlProcess(collection)
        self.test_limit = RateLimit(burst=TEST_BURST, per_s=TESTS_PER_S)
        """Limits actions that send something to others."""
        self.own_origin = own_origin
        """Maps the requested host to the origin of the interface."""
        self.replay_origin = replay_origin
        """Maps the requested host to the origin of archived pages."""
        self._public_origin = public_origin
        self._env = dict(os.environ) if env is None else dict(env)
        self._flags = dict(flags or {})
        self._loaded: LoadedSettings | None = None
        self._mtime_ns = -1

    @property
    def loaded_settings(self) -> LoadedSettings:
        """Return the settings and their origins; reload them when the file has changed."""
        try:
            mtime_ns = collection_file(self.path).stat().st_mtime_ns
        except OSError:
            mtime_ns = 0
        if self._loaded is None or mtime_ns != self._mtime_ns:
            self._loaded = read_settings(self.path, flags=self._flags, env=self._env)
            self._mtime_ns = mtime_ns
        return self._loaded

    @property
    def settings(self) -> Settings:
        """Return the settings in force."""
        return self.loaded_settings.settings

    @property
    def collection(self) -> Collection:
        """Return the collection with the settings in force."""
        return Collection(self.path, self.settings)

    @property
    def is_reachable(self) -> bool:
        """Return whether other programs can call us back."""
        return self._public_origin is not None

    @property
    def websub(self) -> WebsubClient:
        """Return the WebSub subscriptions."""
        origin = self._public_origin
        return WebsubClient(
            self.path, self.settings, callback=no_callback if origin is None else callback_url_at(origin)
        )

    def search(
        self, query: str, *, limit: int, as_of: datetime | None = None, with_facets: bool = False
    ) -> SearchResults:
        """Search; the index is updated in the background."""
        lag = self.cached("index", self._update_index, wait_s=INDEX_WAIT_S)
        with closing(self.collection.searcher()) as searching:
            found = searching.find(query, limit=limit, as_of=as_of, with_facets=with_facets)
        return replace(found, lag=UNKNOWN_LAG if lag is None else lag)

    def _update_index(self) -> int:
        """Update the index and return the number of visits that are not indexed yet."""
        from evercrawl.collection.search import update_index
        from evercrawl.collection.search_index import index_lag, open_text_index

        with self._index_lock:
            is_busy = update_index(self.path, self.settings.search)
        return index_lag(self.path, open_text_index(self.path)) if is_busy else 0

    def links(self, url: str) -> tuple[PageLinks, bool]:
        """Return the links of a page, and whether the link graph is ready; it is updated in the background."""
        is_ready = self.cached("link graph", self._update_graph, wait_s=INDEX_WAIT_S)
        return self.collection.links(url, rebuild=False), bool(is_ready)

    def _update_graph(self) -> bool:
        from evercrawl.collection.graph_builder import up_to_date_graph

        with self._index_lock:
            up_to_date_graph(self.path)
        return True

    def now(self) -> datetime:
        """Return the current time."""
        return datetime.now(UTC)

    def cached(
        self, name: str, compute: Callable[[], T], *, min_age_s: float = 2.0, wait_s: float = WAIT_S
    ) -> T | None:
        """Return a cached answer; None while the first one is being computed."""
        return self.cache.get(name, compute, min_age_s=min_age_s, wait_s=wait_s)

    def invalidate(self, name: str) -> None:
        """Drop a cached answer that is no longer true."""
        self.cache.invalidate(name)

    def cached_all(self, wanted: Mapping[str, Callable[[], Any]], *, wait_s: float) -> dict[str, Any]:
        """Return several cached answers, computed in parallel within one waiting time."""
        for name, compute in wanted.items():
            self.cached(name, compute, min_age_s=SEVERAL_MIN_AGE_S, wait_s=0.0)
        end = time.monotonic() + wait_s
        return {
            name: self.cached(name, compute, min_age_s=SEVERAL_MIN_AGE_S, wait_s=max(0.0, end - time.monotonic()))
            for name, compute in wanted.items()
        }


OUTPUT_FILE = "web-crawl.log"
STOP_WAIT_S = 30.0


class CrawlProcess:
    """A crawl that the interface starts and stops, at most one, in its own process."""

    def __init__(self, collection: Path) -> None:
        self._collection = collection
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self.last_exit: int | None = None

    @property
    def pid(self) -> int | None:
        """Return the process id; None if no crawl of ours is running."""
        return self._child.pid if self.is_running and self._child is not None else None

    @property
    def is_running(self) -> bool:
        """Return whether our crawl is running."""
        if self._child is None:
            return False
        code = self._child.poll()
        if code is None:
            return True
        self.last_exit = code
        return False

    def start(self, urls: list[str], *, forever: bool = False, refresh: bool = False) -> int:
        """Start a crawl and return its process id; raise CollectionBusy if ours is still running."""
        with self._lock:
            if self.is_running:
                raise CollectionBusy("a crawl is already running; stop it first")
            command = [sys.executable, "-P", "-m", "evercrawl", "-C", str(self._collection)]
            command += ["watch" if forever else "crawl", "--no-progress", "--json"]
            command += ["--refresh"] if refresh and not forever else []
            command += ["--", *urls]
            with (self._collection / OUTPUT_FILE).open("wb") as out:
                self._child = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
                )
            return self._child.pid

    def stop(self) -> bool:
        """Stop our crawl, which saves its state; return False if there is none."""
        if not self.is_running or self._child is None:
            return False
        self._child.send_signal(signal.SIGTERM)
        return True

    def close(self) -> None:
        """Stop our crawl and wait for it."""
        if self.stop() and self._child is not None:
            with suppress(subprocess.TimeoutExpired):
                self._child.wait(STOP_WAIT_S)

    def last_output(self, limit: int = 4000) -> str:
        """Return the end of the last crawl's output."""
        try:
            data = (self._collection / OUTPUT_FILE).read_bytes()[-limit:]
        except OSError:
            return ""
        return data.decode("utf-8", "replace")
