"""The state behind all pages: the collection, its settings, the crawl process, and cached answers.
The cache computes slow answers in the background and returns the last one meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, TypeVar

from evercrawl.collection.alerts.subscriptions import WebsubClient, callback_url_at, no_callback
from evercrawl.collection.collection import Collection
from evercrawl.collection.site_list import close_readers
from evercrawl.config import LoadedSettings, collection_file, read_settings
from evercrawl.config.load import env_variable
from evercrawl.errors import CollectionBusy
from evercrawl.model.listing import PageLinks
from evercrawl.model.search import SearchResults
from evercrawl.model.settings import Settings
from evercrawl.web.access_control import RateLimit
from evercrawl.web.auth import AuthStore
from evercrawl.web.doors import AnonymousTurns
from evercrawl.web.jobs import JobRunner

T = TypeVar("T")
WAIT_S = 0.15  # How long a page waits for a first answer.
FAST_S = 0.25  # An answer computed this fast is waited for instead of showing the old one.
COST_FACTOR = 50.0  # An answer is recomputed when its age exceeds its cost by this factor.
MAX_ENTRIES = 256
SEVERAL_MIN_AGE_S = 3.0  # Minimum age before several answers of one page are recomputed.

TEST_BURST, TESTS_PER_S = 3, 1 / 20
PREVIEW_BURST = 20  # Somebody who adds sites tries some of them twice.
FIRST_INDEX_WAIT_S = 5.0  # How long a search without results waits for an index that is being updated.
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
        self.base = ""
        """Path below which a collection of a folder is served, such as /c/news; empty: the root."""
        self.read_only = read_only
        self.is_stopping = False
        """Streams end when this is set."""
        self.own_views: tuple[Any, ...] = ()
        """Views of the navigation; empty: those of a collection."""
        self.cache = AnswerCache()
        self._index_lock = threading.Lock()
        self.crawl = CrawlProcess(collection, flags)
        self.jobs = JobRunner(collection)
        self.table_parts = GrowingAnswers()
        self.on_reopen: Callable[[], object] = lambda: None
        """Called when the folder was replaced, or settings of alerts have changed."""
        self.looks: OrderedDict[str, Any] = OrderedDict()
        """Looks at sites that may be added, by key."""
        self.test_limit = RateLimit(burst=TEST_BURST, per_s=TESTS_PER_S)
        self.preview_limit = RateLimit(burst=PREVIEW_BURST, per_s=TESTS_PER_S)
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
        self.turns = AnonymousTurns(self.settings.web)

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

    def reopen(self) -> None:
        """Forget everything that was read: the folder has been replaced by a backup."""
        self.cache.clear()
        self._loaded = None
        close_readers(self.path)
        self.auth.reopen()
        self.on_reopen()

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
        """Search; the index is updated in the background, which only a search without results waits for."""
        for wait_s in (INDEX_WAIT_S, FIRST_INDEX_WAIT_S):
            lag = self.cached("index", self._update_index, wait_s=wait_s)
            with closing(self.collection.searcher()) as searching:
                found = searching.find(query, limit=limit, as_of=as_of, with_facets=with_facets)
            if found.hits or lag is not None:
                break
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
        with self._index_lock:
            self.collection.update_graph()
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

    def __init__(self, collection: Path, flags: Mapping[str, object] | None = None) -> None:
        self._collection = collection
        self._public_url = (flags or {}).get("web.public_url")
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._is_forever = False
        self._is_stopped = False
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
        self.last_exit = 0 if self._is_stopped else code
        return False

    def start(
        self, urls: list[str], *, forever: bool = False, refresh: bool = False, max_pages: int | None = None
    ) -> int:
        """Start a crawl and return its process id; raise CollectionBusy if ours is still running."""
        with self._lock:
            if self.is_running:
                raise CollectionBusy("a crawl is already running; stop it first")
            command = [sys.executable, "-P", "-m", "evercrawl", "-C", str(self._collection)]
            command += ["watch" if forever else "crawl", "--no-progress", "--json"]
            command += ["--refresh"] if refresh else []
            command += ["--max-pages", str(max_pages)] if max_pages is not None else []
            command += ["--", *urls]
            env = dict(os.environ)
            if self._public_url is not None:  # Alerts that the crawl sends link to this interface.
                env[env_variable("web.public_url")] = str(self._public_url)
            with (self._collection / OUTPUT_FILE).open("wb") as out:
                self._child = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True, env=env
                )
            self._is_forever, self._is_stopped, self.last_exit = forever, False, None
            return self._child.pid

    @contextmanager
    def interrupted(self) -> Iterator[None]:
        """Stop our crawl for the block, and continue it afterwards."""
        was_running = self.is_running
        self.close()
        try:
            yield
        finally:
            if was_running:
                self.start([], forever=self._is_forever)

    def stop(self) -> bool:
        """Stop our crawl, which saves its state; return False if there is none."""
        if not self.is_running or self._child is None:
            return False
        self._is_stopped = True
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


class CachedAnswer(Generic[T]):
    """One answer, computed by at most one thread at a time."""

    def __init__(self, compute: Callable[[], T], *, min_age_s: float) -> None:
        self._compute = compute
        self._min_age_s = min_age_s
        self._lock = threading.Lock()
        self._ready = threading.Event()
        self._value: T | None = None
        self._error: Exception | None = None
        self._at = -1e9
        self._cost_s = 0.0
        self._busy = False
        self._began = 0.0

    def get(self, wait_s: float = WAIT_S) -> T | None:
        """Return the last answer; None while the first one is being computed.
        No caller waits longer than `wait_s` after the computation began."""
        with self._lock:
            age = time.monotonic() - self._at
            if not self._busy and age > max(self._min_age_s, COST_FACTOR * self._cost_s):
                self._busy = True
                self._began = time.monotonic()
                if self._cost_s < FAST_S:
                    self._ready.clear()  # it will be quick: wait for the new answer
                threading.Thread(target=self._refresh, daemon=True).start()
        self._ready.wait(max(0.0, self._began + wait_s - time.monotonic()))
        if self._error is not None:
            raise self._error
        return self._value

    def _refresh(self) -> None:
        try:
            value, error = self._compute(), None
        except Exception as caught:
            value, error = self._value, caught  # type: ignore[assignment]
        with self._lock:
            self._value, self._error = value, error
            self._at = time.monotonic()
            self._cost_s = self._at - self._began
            self._busy = False
        self._ready.set()


class GrowingAnswers:
    """First parts of answers that are still being computed, by key."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._parts: dict[str, Any] = {}

    def put(self, key: str, part: object) -> None:
        """Offer a part to those who wait."""
        with self._changed:
            self._parts[key] = part
            self._changed.notify_all()

    def drop(self, key: str) -> None:
        """Forget a part: the answer is complete."""
        with self._changed:
            self._parts.pop(key, None)
            self._changed.notify_all()

    def wait_for(self, key: str, seconds: float) -> Any:
        """Return a part, waiting for it; None: there is none yet, or the answer is complete."""
        with self._changed:
            if key not in self._parts:
                self._changed.wait(seconds)
            return self._parts.get(key)


class AnswerCache:
    """Cached answers by key; the least recently used are evicted."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, CachedAnswer[Any]] = OrderedDict()

    def invalidate(self, key: Hashable) -> None:
        """Drop an answer that is no longer true."""
        with self._lock:
            self._entries.pop(key, None)

    def clear(self) -> None:
        """Drop all answers."""
        with self._lock:
            self._entries.clear()

    def get(
        self, key: Hashable, compute: Callable[[], T], *, min_age_s: float = 2.0, wait_s: float = WAIT_S
    ) -> T | None:
        """Return the answer for a key; None while the first one is being computed."""
        with self._lock:
            found = self._entries.get(key)
            if found is None:
                found = self._entries[key] = CachedAnswer(compute, min_age_s=min_age_s)
            self._entries.move_to_end(key)
            while len(self._entries) > MAX_ENTRIES:
                self._entries.popitem(last=False)
        return found.get(wait_s)
