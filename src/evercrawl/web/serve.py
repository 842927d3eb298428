"""The web service: the interface and the archived pages on two origins, and optionally a crawl."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from ipaddress import ip_address
from math import ceil
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn
from starlette.types import ASGIApp

from evercrawl.collection.alerts.delivery_run import run_notifier
from evercrawl.collection.crawl import StopSignal
from evercrawl.collection.runs import live_run, run_pause
from evercrawl.collection.site_list import close_readers
from evercrawl.config import is_writable, read_settings
from evercrawl.errors import ConfigError, EvercrawlError
from evercrawl.model.run import Summary
from evercrawl.model.settings import Settings, WebSettings
from evercrawl.web.access_control import (
    COOKIE,
    AccessMiddleware,
    AllowedOrigins,
    RateLimit,
    loopback_origins,
    policy_sources,
)
from evercrawl.web.app import PublicAccess, build_app
from evercrawl.web.app_state import AppState
from evercrawl.web.auth import AuthStore
from evercrawl.web.doors import BACKLOG, ConnectionGuard, Door, GuardedProtocol, IsKnown
from evercrawl.web.login import OneTimeLink
from evercrawl.web.pages.overview import warm_up
from evercrawl.web.replay import ReplayMiddleware, ReplayPages

log = logging.getLogger("evercrawl")
PORT = 8787
GRACE_S = 3
TICKS_PER_S = 10  # Of uvicorn.
LOG_BURST, LOGS_PER_S = 20, 1 / 60  # Warnings of one kind about clients.
RENEW_EVERY_S = 30.0  # How often to check for leases to renew; the shortest is renewed a minute before its end.


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """Addresses and access of the web service."""

    bind: str = "127.0.0.1"
    port: int = PORT  # 0: a free one.
    replay_port: int | None = None  # None: the next one.
    public_url: str | None = None  # URL of the interface behind a proxy.
    replay_url: str | None = None
    token: str | None = None
    read_only: bool = False
    public_archive: bool = False
    crawl: bool = False
    refresh: bool = False  # The crawl visits every known page first.


def is_loopback(bind: str) -> bool:
    """Return whether only this machine can reach the address."""
    if bind == "localhost":
        return True
    try:
        return ip_address(bind.strip("[]")).is_loopback
    except ValueError:
        return False


def _is_address(bind: str) -> bool:
    try:
        ip_address("127.0.0.1" if bind == "localhost" else bind.strip("[]"))
    except ValueError:
        return False
    return True


def check_options(options: ServeOptions, auth: AuthStore) -> None:
    """Raise ConfigError if others could reach an interface that nobody can log in to."""
    for url in (options.public_url, options.replay_url):
        if url is not None and (urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc):
            raise ConfigError(f"{url!r} is not a URL; write it like https://crawl.example.org")
    if not _is_address(options.bind):
        raise ConfigError(f"--bind {options.bind!r} is not an IP address, such as 127.0.0.1")
    if is_loopback(options.bind):
        return
    if not (options.token or auth.has_password() or auth.tokens()):
        raise ConfigError(
            f"others can reach {options.bind}, but nobody could log in; set a password with --password, "
            "or a token with --token"
        )
    if options.public_url is None:
        raise ConfigError(
            f"others can reach {options.bind}; give their URL with --public-url, such as "
            "https://crawl.example.org. Other host names are refused"
        )


class WebServer(uvicorn.Server):
    """A server that leaves signals to the command, and the acceptance of connections to a door."""

    def __init__(self, config: uvicorn.Config, guard: ConnectionGuard, *, is_known: IsKnown) -> None:
        super().__init__(config)
        self.began = asyncio.Event()
        self._guard = guard
        self._is_known = is_known
        self._doors: list[Door] = []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start listening and set `began`."""
        await super().startup([])
        for one in sockets or ():
            door = Door(one, self._guard, create_protocol=self._create_protocol, is_known=self._is_known)
            door.open()
            self._doors.append(door)
        self.began.set()

    def _create_protocol(self) -> GuardedProtocol:
        return GuardedProtocol(self.config, self.server_state, self.lifespan.state)

    async def on_tick(self, counter: int) -> bool:
        """Close the connections of slow clients every second."""
        if counter % TICKS_PER_S == 0:
            self._guard.close_overdue()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop listening and end the current requests."""
        for door in self._doors:
            door.close()
        await super().shutdown(sockets)

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
        """Capture nothing: the command handles signals."""
        return nullcontext()


class WebService:
    """Both origins of one collection."""

    def __init__(self, collection: Path, options: ServeOptions, *, flags: dict[str, object] | None = None) -> None:
        settings, is_trusted = self._read_settings(collection, flags or {})
        options = replace(options, public_url=options.public_url or settings.web.public_url)
        if options.public_url is not None:  # Alerts that this process sends link to it.
            flags = {**(flags or {}), "web.public_url": options.public_url}
        self.options = options
        self.auth = AuthStore(collection if is_trusted and is_writable(collection) else None)
        check_options(options, self.auth)
        self.link = OneTimeLink()
        self.sockets = open_sockets(options)
        self.ports = tuple(one.getsockname()[1] for one in self.sockets)
        self.state = self._open_state(
            collection,
            self.auth,
            own_origin=self.own_origin,
            replay_origin=self.replay_origin,
            public_origin=options.public_url and options.public_url.rstrip("/"),
            read_only=options.read_only or not is_writable(collection),
            flags=flags,
        )
        self.stop_crawl: StopSignal | None = None
        self._is_closing = False
        self._servers: list[WebServer] = []

    _open_state: type[AppState] = AppState

    def _read_settings(self, path: Path, flags: dict[str, object]) -> tuple[Settings, bool]:
        """Return the settings, and whether the passwords and tokens that are stored with them may be used."""
        settings = read_settings(path, flags=flags).settings
        return settings, settings.is_trusted

    @property
    def address(self) -> str:
        """Return the URL of the interface."""
        return self.options.public_url or f"http://{_host_in_url(self.options.bind)}:{self.ports[0]}"

    @property
    def first_link(self) -> str:
        """Return the one-time login link."""
        return f"{self.address}/first?key={self.link.secret}"

    def own_origin(self, host: str) -> str:
        """Return the origin of the interface for a requested host."""
        public = (self.options.public_url or "").rstrip("/")
        return public if public and urlsplit(public).netloc == host else f"http://{host}"

    def replay_origin(self, host: str) -> str:
        """Return the origin of archived pages: another host name too, since cookies ignore ports."""
        if self.options.replay_url is not None:
            return self.options.replay_url.rstrip("/")
        name = host.rpartition(":")[0]
        if is_loopback(name):
            other = "127.0.0.1" if name == "localhost" else "localhost"
            return f"http://{other}:{self.ports[1]}"
        return f"http://{name}:{self.ports[1]}"

    def apps(self) -> tuple[AccessMiddleware, ReplayMiddleware]:
        """Return the applications of the interface and of archived pages."""
        origins, public, replay_origins = self._origins()
        replay = ReplayPages(
            self.state,
            origins=replay_origins,
            parents=sorted(origins.origins),
            public=public.public_archive,
            token=public.token,
        )
        return build_app(self.state, origins, self.link, public), replay.app()

    def _origins(self) -> tuple[AllowedOrigins, PublicAccess, frozenset[str]]:
        """Return the origins of the interface, access without a login, and the origins of archived pages."""
        own_origins = loopback_origins(self.ports[:1])
        replay_origins = loopback_origins(self.ports[1:])
        if self.options.public_url is not None:
            own_origins |= {self.options.public_url.rstrip("/").lower()}
            replay_origins |= {self.replay_origin(urlsplit(self.options.public_url).netloc).lower()}
        is_secure = (self.options.public_url or "").startswith("https:")
        cookie = f"{COOKIE}_{self.ports[0]}"
        origins = AllowedOrigins(own_origins, policy_sources(replay_origins), cookie=cookie, secure=is_secure)
        return origins, PublicAccess(self.options.token, self.options.public_archive), replay_origins

    async def run(self, *, on_ready: Callable[[], None], say: Callable[[str], None]) -> None:
        """Serve until `stop` is called."""
        _redirect_server_log()
        settings = self.state.settings.web
        guard = ConnectionGuard(settings)
        self._servers = [WebServer(_config(app, settings), guard, is_known=app.is_known) for app in self.apps()]
        tasks = [
            asyncio.create_task(server.serve(sockets=[one]))
            for server, one in zip(self._servers, self.sockets, strict=True)
        ]
        await asyncio.gather(*(server.began.wait() for server in self._servers))
        if not self.state.read_only:
            self.state.jobs.delete_old_files()
        on_ready()
        try:
            async with self._work(say):
                await asyncio.gather(*tasks)
        finally:
            self.auth.close()

    @asynccontextmanager
    async def _work(self, say: Callable[[str], None]) -> AsyncIterator[None]:
        """Crawl, send alerts and renew subscriptions while serving."""
        warm = asyncio.create_task(asyncio.to_thread(warm_up, self.state))
        crawl = asyncio.create_task(self._crawl(say)) if self.options.crawl else None
        self._resume_watching()
        try:
            async with self._send_alerts(), self._keep_subscriptions():
                yield
        finally:
            await asyncio.gather(warm, return_exceptions=True)
            if crawl is not None:
                with suppress(asyncio.CancelledError):
                    await crawl
            await asyncio.to_thread(self.state.crawl.close)
            close_readers(self.state.path)

    def stop(self) -> None:
        """Stop after the current requests; a second call cancels them."""
        self.state.is_stopping = True
        for server in self._servers:
            server.force_exit = server.should_exit
            server.should_exit = True
        if self.stop_crawl is not None:
            self.stop_crawl.finish() if self.stop_crawl.stage == 0 else self.stop_crawl.cancel()

    def _resume_watching(self) -> None:
        """Keep watching if that was chosen in the interface, unless this or another process crawls already."""
        state, settings = self.state, self.state.settings
        is_wanted = settings.web.keep_watching and settings.scope.seeds and settings.is_trusted
        is_paused = run_pause(state.path) is not None
        if is_wanted and not (
            is_paused or self.options.crawl or state.read_only or live_run(state.path, now=state.now())
        ):
            state.crawl.start([], forever=True)

    @asynccontextmanager
    async def _send_alerts(self) -> AsyncIterator[None]:
        """Send alerts while serving; a crawl in this process sends them itself."""
        if self.options.crawl or self.options.read_only:
            yield
            return
        again, loop = asyncio.Event(), asyncio.get_running_loop()
        self.state.on_reopen = lambda: loop.call_soon_threadsafe(again.set)
        task = asyncio.create_task(self._send_alerts_until(again))
        try:
            yield
        finally:
            self._is_closing = True
            again.set()
            await asyncio.gather(task, return_exceptions=True)

    async def _send_alerts_until(self, again: asyncio.Event) -> None:
        """Send alerts; restart with the current file and settings whenever `again` is set."""
        while not self._is_closing:
            again.clear()
            async with run_notifier(self.state.path, self.state.settings):
                await again.wait()

    @asynccontextmanager
    async def _keep_subscriptions(self) -> AsyncIterator[None]:
        """Renew subscriptions while serving."""
        if not self.state.is_reachable or self.options.read_only:
            yield
            return
        task = asyncio.create_task(self._renew_forever())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _renew_forever(self) -> None:
        while True:
            try:
                await self.state.websub.renew()
            except EvercrawlError as error:
                log.warning("websub: %s", error)
            await asyncio.sleep(RENEW_EVERY_S)

    async def _crawl(self, say: Callable[[str], None]) -> Summary | None:
        """Keep the collection up to date; if that fails, keep serving."""
        self.stop_crawl = StopSignal()
        try:
            return await self.state.collection.crawl(forever=True, refresh=self.options.refresh, stop=self.stop_crawl)
        except Exception as error:
            log.exception("the crawl of the web service failed")
            say(f"the crawl stopped: {error}")
            return None


def _is_ipv6_loopback(bind: str) -> bool:
    return bind.strip("[]") == "::1"  # Policies cannot name it, so pages are opened at localhost and framed there.


def _host_in_url(bind: str) -> str:
    if _is_ipv6_loopback(bind):
        return "localhost"
    return f"[{bind}]" if ":" in bind and not bind.startswith("[") else bind


def open_sockets(options: ServeOptions) -> list[socket.socket]:
    """Open the sockets of both origins; raise ConfigError if an address is taken or not ours."""
    found: list[socket.socket] = []
    try:
        first = _listen(options.bind, options.port)
        found.append(first)
        port = options.replay_port
        if port is None:
            port = 0 if options.port == 0 else first.getsockname()[1] + 1
        found.append(_listen("127.0.0.1" if _is_ipv6_loopback(options.bind) else options.bind, port))
    except OSError as error:
        for one in found:
            one.close()
        raise ConfigError(
            f"cannot listen on {options.bind} port {options.port if not found else port}: {error.strerror or error}; "
            "choose other ports with --port and --replay-port"
        ) from error
    return found


def _listen(bind: str, port: int) -> socket.socket:
    host = "127.0.0.1" if bind == "localhost" else bind.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    one = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # asyncio sets TCP_NODELAY only then.
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        one.bind((host, port))
        one.listen(BACKLOG)
    except BaseException:
        one.close()
        raise
    return one


class _LogHandler(logging.Handler):
    """Send log records of the server to our log, never to the terminal; strangers can cause only so many."""

    def __init__(self) -> None:
        super().__init__()
        self._limit = RateLimit(burst=LOG_BURST, per_s=LOGS_PER_S)

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.ERROR or not self._limit.wait_s(str(record.msg)):
            log.handle(record)


def _redirect_server_log() -> None:
    server = logging.getLogger("uvicorn")
    server.handlers, server.propagate = [_LogHandler()], False
    server.setLevel(logging.WARNING)


def _config(app: ASGIApp, settings: WebSettings) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=True,
        lifespan="off",
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=list(settings.trusted_proxies),
        timeout_graceful_shutdown=GRACE_S,
        timeout_keep_alive=ceil(settings.idle_timeout.total_seconds()),
        h11_max_incomplete_event_size=64 * 1024,
        http=GuardedProtocol,
        ws="none",
    )
