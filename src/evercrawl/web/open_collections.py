"""A folder of collections on one origin: its state, the collections that are open, and the way to each of them.
A collection is served below /c/NAME as it is served alone; users, tokens and the audit log belong to the folder."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from urllib.parse import quote, unquote

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as AsgiScope

from evercrawl.collection.folder import (
    MAX_COLLECTIONS,
    CollectionSummary,
    collection_stamp,
    collections_in,
    summarise_collection,
)
from evercrawl.collection.runs import live_run
from evercrawl.collection.site_list import close_readers
from evercrawl.config import LoadedSettings, is_collection, is_writable, read_settings
from evercrawl.errors import CollectionBusy, EvercrawlError
from evercrawl.web.access_control import COLLECTION_PREFIX, RateLimit, split_base
from evercrawl.web.app import PublicAccess, build_routes, collection_routes
from evercrawl.web.app_state import AppState, CrawlProcess
from evercrawl.web.auth import AccessScope, AuthStore
from evercrawl.web.endpoints import check_access, error_page
from evercrawl.web.pages.history import is_replay_key
from evercrawl.web.replay import BURST, PER_S, ReplayPages, has_token, replay_policy

SURVEY_MIN_AGE_S = 1.0  # How old the list of collections may be before it is read again.
RECOUNT_FACTOR = 20.0  # A collection that changes all the time is counted again when this many times the cost passed.
FIRST_SURVEY_WAIT_S = 0.6  # How long the home page waits for collections that were never counted.
HEALTH_PATHS = ("/healthz", "/readyz")
ROOT_PATHS = ("//", COLLECTION_PREFIX, "/static/", "/login", "/logout", "/collections")
"""Beginnings of locations that do not belong to one collection."""


@dataclass(frozen=True, slots=True)
class FolderListing:
    """The collections of a folder: those that were counted, and the names of the others."""

    known: tuple[CollectionSummary, ...]
    uncounted: tuple[str, ...] = ()
    left_off: int = 0  # Beyond the limit.


class FolderSurvey:
    """Counts the collections of a folder in the background, one after the other; unchanged ones are not read again."""

    def __init__(self, folder: Path, env: Mapping[str, str]) -> None:
        self._folder = folder
        self._env = env
        self._lock = threading.Lock()
        self._counted: dict[str, tuple[CollectionSummary, tuple[int, ...], float, float]] = {}
        self._at = -1e9
        self._is_running = False
        self._done = threading.Event()

    def listing(self, wait_s: float = FIRST_SURVEY_WAIT_S) -> FolderListing:
        """Return the collections; those that were never counted are waited for, but not longer than `wait_s`."""
        paths = collections_in(self._folder)
        names = list(paths)[:MAX_COLLECTIONS]
        end = time.monotonic() + wait_s
        for _ in range(2):  # A survey that began before a collection was created does not count it.
            self._refresh({name: paths[name] for name in names})
            while self._is_running and any(name not in self._counted for name in names) and time.monotonic() < end:
                self._done.wait(0.02)
        found = [self._current(self._counted[name][0], paths[name]) for name in names if name in self._counted]
        uncounted = tuple(name for name in names if name not in self._counted)
        return FolderListing(tuple(found), uncounted, len(paths) - len(names))

    def forget(self, name: str) -> None:
        """Count a collection again."""
        with self._lock:
            self._counted.pop(name, None)
            self._at = -1e9

    def _current(self, summary: CollectionSummary, path: Path) -> CollectionSummary:
        """Return the summary with what runs now."""
        run = live_run(path, now=datetime.now(UTC))
        running = None if run is None else "watching" if run.forever else "crawling"
        is_idle = run is not None and not run.progress.queued and not run.progress.in_flight
        return replace(summary, running=running, is_idle=is_idle)

    def _refresh(self, paths: Mapping[str, Path]) -> None:
        with self._lock:
            for name in [name for name in self._counted if name not in paths]:
                del self._counted[name]
            is_recent = time.monotonic() - self._at < SURVEY_MIN_AGE_S and paths.keys() <= self._counted.keys()
            if self._is_running or is_recent:
                return
            self._is_running = True
            self._done.clear()
        threading.Thread(target=self._count_all, args=(dict(paths),), name="survey", daemon=True).start()

    def _count_all(self, paths: Mapping[str, Path]) -> None:
        try:
            for name, path in paths.items():
                self._count(name, path)
        finally:
            with self._lock:
                self._is_running = False
                self._at = time.monotonic()
            self._done.set()

    def _count(self, name: str, path: Path) -> None:
        known, stamp, began = self._counted.get(name), collection_stamp(path), time.monotonic()
        if known is not None and (known[1] == stamp or began - known[2] < RECOUNT_FACTOR * known[3]):
            return
        summary = summarise_collection(name, path, env=self._env, now=datetime.now(UTC))
        with self._lock:
            self._counted[name] = (summary, stamp, began, time.monotonic() - began)


class FolderCrawls:
    """The crawl processes of a folder, at most `limit` at the same time."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._processes: dict[Path, FolderCrawl] = {}

    @property
    def limit(self) -> int:
        """Return how many crawls may run."""
        return self._limit

    def of(self, path: Path, flags: Mapping[str, object]) -> FolderCrawl:
        """Return the process of a collection."""
        with self._lock:
            return self._processes.setdefault(path, FolderCrawl(path, flags, self))

    def running(self) -> list[FolderCrawl]:
        """Return the processes that run; forget those that do not and that no open collection uses."""
        with self._lock:
            return [one for one in self._processes.values() if one.is_running]

    def forget(self, path: Path) -> None:
        """Drop what is known about the process of a collection unless it runs."""
        with self._lock:
            found = self._processes.get(path)
            if found is not None and not found.is_running:
                del self._processes[path]

    def make_room(self) -> None:
        """Stop the longest watch if the limit is reached; raise CollectionBusy if only single crawls run."""
        running = self.running()
        if len(running) < self._limit:
            return
        watching = sorted((one for one in running if one.is_forever), key=lambda one: one.began)
        if not watching:
            raise CollectionBusy(
                f"{len(running)} crawls are running, and web.max_crawls allows no more; stop one or wait for its end"
            )
        watching[0].close()  # It waits for its next turn.

    def close(self) -> None:
        """Stop all crawls and wait for them."""
        running = self.running()
        for one in running:
            one.stop()
        for one in running:
            one.close()


class FolderCrawl(CrawlProcess):
    """The crawl process of a collection of a folder."""

    def __init__(self, collection: Path, flags: Mapping[str, object], crawls: FolderCrawls) -> None:
        super().__init__(collection, flags)
        self.collection = collection
        self._crawls = crawls
        self.began = 0.0
        self.is_forever = False

    def start(
        self, urls: list[str], *, forever: bool = False, refresh: bool = False, max_pages: int | None = None
    ) -> int:
        """Start a crawl when there is room for it."""
        if not self.is_running:
            self._crawls.make_room()
        pid = super().start(urls, forever=forever, refresh=refresh, max_pages=max_pages)
        self.began, self.is_forever = time.monotonic(), forever
        return pid


class FolderState(AppState):
    """The state of the home page of a folder."""

    survey: FolderSurvey
    collections: OpenCollections
    crawls: FolderCrawls

    @property
    def loaded_settings(self) -> LoadedSettings:
        """Return the user's settings: a folder has none of its own."""
        if self._loaded is None:
            self._loaded = read_settings(None, flags=self._flags, env=self._env)
        return self._loaded


class OpenCollection:
    """An open collection with its two applications, and how many requests use it."""

    def __init__(self, state: AppState, interface: ASGIApp, replay: ASGIApp) -> None:
        self.state = state
        self.interface = interface
        self.replay = replay
        self.users = 0


class OpenCollections:
    """The open collections of a folder, at most `limit`: the one that was used least recently is closed."""

    def __init__(self, folder: Path, open_one: Callable[[str, Path], OpenCollection], *, limit: int) -> None:
        self._folder = folder
        self._open_one = open_one
        self._limit = limit
        self._lock = threading.Lock()
        self._open: OrderedDict[str, OpenCollection] = OrderedDict()

    def __len__(self) -> int:
        return len(self._open)

    @contextmanager
    def use(self, name: str) -> Iterator[OpenCollection | None]:
        """Yield a collection, which stays open for the block; None: there is no such one."""
        found = self._acquire(name)
        try:
            yield found
        finally:
            self._release(found)

    def _acquire(self, name: str) -> OpenCollection | None:
        """Return the collection for one more user; raise CollectionBusy if all that may be open are in use."""
        with self._lock:
            found = self._open.get(name)
            if found is not None and not is_collection(found.state.path):
                self._close(self._open.pop(name))
                found = None
            if found is None:
                path = collections_in(self._folder).get(name)
                if path is None:
                    return None
                self._close_oldest()
                found = self._open[name] = self._open_one(name, path)
            self._open.move_to_end(name)
            found.users += 1
            return found

    def _release(self, found: OpenCollection | None) -> None:
        with self._lock:
            if found is not None:
                found.users -= 1

    def _close_oldest(self) -> None:
        if len(self._open) < self._limit:
            return
        idle = next((name for name, one in self._open.items() if not one.users), None)
        if idle is None:
            raise CollectionBusy("too many collections are in use (web.max_open_collections); try again in a moment")
        self._close(self._open.pop(idle))

    def _close(self, one: OpenCollection) -> None:
        one.state.is_stopping = True
        close_readers(one.state.path)

    def close(self, name: str | None = None) -> None:
        """Close one collection, or all."""
        with self._lock:
            names = list(self._open) if name is None else [name] if name in self._open else []
            for one in [self._open.pop(known) for known in names]:
                self._close(one)


@dataclass(frozen=True, slots=True)
class FolderOrigins:
    """How the collections of a folder are reached."""

    own: Callable[[str], str]
    replay: Callable[[str], str]
    public_url: str | None
    public: PublicAccess
    replay_origins: frozenset[str]
    parents: tuple[str, ...]


def base_of(name: str) -> str:
    """Return the path below which a collection is served."""
    return COLLECTION_PREFIX + quote(name, safe="")


def collection_opener(state: FolderState, origins: FolderOrigins) -> Callable[[str, Path], OpenCollection]:
    """Return the function that opens a collection of the folder."""

    def open_one(name: str, path: Path) -> OpenCollection:
        base = base_of(name)
        public_url = None if origins.public_url is None else origins.public_url.rstrip("/") + base
        flags: dict[str, object] = {} if public_url is None else {"web.public_url": public_url}
        own = AppState(
            path,
            state.auth.for_collection(name),
            own_origin=lambda host: origins.own(host) + base,
            replay_origin=lambda host: origins.replay(host) + base,
            public_origin=public_url,
            read_only=state.read_only or not is_writable(path),
            flags=flags,
        )
        own.base, own.crawl = base, state.crawls.of(path, flags)
        replay = ReplayPages(
            own,
            origins=origins.replay_origins,
            parents=origins.parents,
            public=origins.public.public_archive,
            token=origins.public.token,
        )
        return OpenCollection(own, build_routes(own, collection_routes(own, origins.public)), replay.routes())

    return open_one


class FolderRouter:
    """Sends a request below /c/NAME to its collection, without that part of the path, and others to the folder."""

    def __init__(
        self,
        state: FolderState,
        root: ASGIApp,
        choose: Callable[[OpenCollection], ASGIApp],
        *,
        hides_names: bool = False,
    ) -> None:
        self.state = state
        self.root = root
        self.choose = choose
        self.hides_names = hides_names  # Strangers do not learn which collections there are.

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        raw = scope.get("raw_path") or quote(scope.get("path", "")).encode()
        name, rest = split_base(raw.partition(b"?")[0].decode("latin-1"))
        if scope["type"] != "http" or name is None:
            await self.root(scope, receive, send)
            return
        if not rest:
            await RedirectResponse(f"{COLLECTION_PREFIX}{name}/", 308)(scope, receive, send)
            return
        use = self.state.collections.use(unquote(name))
        try:
            found = await run_in_threadpool(use.__enter__)
        except EvercrawlError as error:  # It is not open: its settings are not valid, or there is no room.
            await self._refuse(scope, 503, str(error))(scope, receive, send)
            return
        try:
            await self._answer(found, rest, scope, receive, send)
        finally:
            use.__exit__(None, None, None)

    async def _answer(
        self, found: OpenCollection | None, rest: str, scope: AsgiScope, receive: Receive, send: Send
    ) -> None:
        if found is None:
            await self._refuse(scope, 404, "there is no such collection")(scope, receive, send)
            return
        state = dict(scope.get("state", {}))  # What the collection notes there is not for the folder's answer.
        inner = {**scope, "path": unquote(rest), "raw_path": rest.encode("latin-1"), "state": state}
        is_stranger = self.hides_names and not state.get("user")
        gate = _StrangerGate(send, is_open=rest not in HEALTH_PATHS) if is_stranger else None
        await self.choose(found)(inner, receive, _with_base(send if gate is None else gate.send, found.state.base))
        if gate is not None and gate.is_refused:
            await self._refuse(scope, 404, "there is no such collection")(scope, receive, send)

    def _refuse(self, scope: AsgiScope, status: int, message: str) -> Response:
        """Return the error for users; others learn nothing about the collections."""
        request = Request(scope)
        request.state.user = scope.get("state", {}).get("user")
        return check_access(request, self.state, AccessScope.READ) or error_page(request, status, message, self.state)


class _StrangerGate:
    """Passes on what a collection gives to strangers, such as the page of a signed link, but no refusal: the folder
    answers instead, as for a collection that does not exist."""

    def __init__(self, send: Send, *, is_open: bool) -> None:
        self._send = send
        self.is_refused = not is_open

    async def send(self, message: Message) -> None:
        """Send a part of an answer, or drop it."""
        if message["type"] == "http.response.start":
            location = MutableHeaders(scope=message).get("location", "")
            is_error = message["status"] >= 400 and message["status"] != HTTPStatus.GONE  # For hubs.
            self.is_refused = self.is_refused or is_error or location.startswith("/login")
        if not self.is_refused:
            await self._send(message)


def _with_base(send: Send, base: str) -> Send:
    """Put the path of the collection in front of the locations that it sends."""

    async def send_with_base(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            location = headers.get("location", "")
            if location.startswith("/") and not location.startswith(ROOT_PATHS):
                headers["location"] = base + location
        await send(message)

    return send_with_base


class FolderReplay:
    """Decides which requests for archived pages of a folder are answered."""

    def __init__(self, state: FolderState, origins: FolderOrigins) -> None:
        self.hosts = frozenset(origin.partition("://")[2] for origin in origins.replay_origins)
        self.policy = replay_policy(origins.parents)
        self.rate = RateLimit(burst=BURST, per_s=PER_S)
        self.turns = state.turns
        self._state = state
        self._token = origins.public.token

    def is_known(self, path: str, headers: Headers) -> bool:
        """Return whether a user sends the request, by a token or by a key of the collection's interface."""
        auth: AuthStore = self._state.auth
        name, rest = split_base(path)
        parts = rest.split("/")
        if name is not None and len(parts) > 2 and parts[1] in ("r", "p"):
            own = auth.for_collection(unquote(name))
            if is_replay_key(own, parts[2], now=self._state.now()):
                return True
        return has_token(headers, auth, self._token)
