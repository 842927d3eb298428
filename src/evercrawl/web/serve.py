"""Serving: the interface and the origin of replay, in one process, and the crawl too if that is wished."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn
from starlette.types import ASGIApp

from evercrawl.adapters.sql.listing_reader import IDLE_READERS
from evercrawl.collection.alerts.notifier import run_notifier
from evercrawl.engine.runtime import StopSignal
from evercrawl.errors import ConfigError, EvercrawlError
from evercrawl.model.report import Summary
from evercrawl.web.access_control import COOKIE, AllowedOrigins, loopback_origins
from evercrawl.web.app import PublicAccess, build_app
from evercrawl.web.app_state import AppState
from evercrawl.web.auth import AuthStore
from evercrawl.web.login import OneTimeLink
from evercrawl.web.pages.overview import warm_up
from evercrawl.web.replay import ReplayPages

log = logging.getLogger("evercrawl")
PORT = 8787
GRACE_S = 3
BACKLOG = 256
RENEW_EVERY_S = 30.0
"""How often we look for leases that end; the shortest lease is renewed a minute before its end."""


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """How to serve."""

    bind: str = "127.0.0.1"
    port: int = PORT
    """0: any that is free."""
    replay_port: int | None = None
    """None: the next one."""
    public_url: str | None = None
    """How others reach the interface, where a proxy stands before it."""
    replay_url: str | None = None
    token: str | None = None
    read_only: bool = False
    public_archive: bool = False
    crawl: bool = False


def is_loopback(bind: str) -> bool:
    """Only this machine can reach it."""
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


def require_safe(how: ServeOptions, auth: AuthStore) -> None:
    """ConfigError where somebody else could reach an interface that nobody can log in to."""
    for url in (how.public_url, how.replay_url):
        if url is not None and (urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc):
            raise ConfigError(f"{url!r} is not an address; write it like https://crawl.example.org")
    if not _is_address(how.bind):
        raise ConfigError(f"--bind {how.bind!r} is not an address of this machine, such as 127.0.0.1")
    if is_loopback(how.bind):
        return
    if not (how.token or auth.has_password() or auth.tokens()):
        raise ConfigError(
            f"{how.bind} can be reached by others, and nobody could log in: set a password with --password, "
            "or give a token with --token"
        )
    if how.public_url is None:
        raise ConfigError(
            f"{how.bind} can be reached by others: say under which address with --public-url, such as "
            "https://crawl.example.org; requests for other names are refused"
        )


class WebServer(uvicorn.Server):
    """A server whose signals are somebody else's business."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.began = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and say so."""
        await super().startup(sockets)
        self.began.set()

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
        """They are those of the command."""
        return nullcontext()


class WebService:
    """Both origins of one collection; `address` and `link` are known once it has begun."""

    def __init__(self, collection: Path, how: ServeOptions, *, flags: dict[str, object] | None = None) -> None:
        self.how = how
        self.auth = AuthStore(collection)
        require_safe(how, self.auth)
        self.link = OneTimeLink()
        self.sockets = open_sockets(how)
        self.ports = tuple(one.getsockname()[1] for one in self.sockets)
        self.state = AppState(
            collection,
            self.auth,
            own_origin=self.own_origin,
            replay_origin=self.replay_origin,
            public_origin=how.public_url and how.public_url.rstrip("/"),
            read_only=how.read_only,
            flags=flags,
        )
        self.stop_crawl: StopSignal | None = None
        self._servers: list[WebServer] = []

    @property
    def address(self) -> str:
        """Where the interface is."""
        return self.how.public_url or f"http://{_shown(self.how.bind)}:{self.ports[0]}"

    @property
    def first_link(self) -> str:
        """The link that opens it once."""
        return f"{self.address}/first?key={self.link.secret}"

    def own_origin(self, host: str) -> str:
        """How whoever inputs at this host reaches the interface."""
        public = (self.how.public_url or "").rstrip("/")
        return public if public and urlsplit(public).netloc == host else f"http://{host}"

    def replay_origin(self, host: str) -> str:
        """Another origin than the one that was inputs, also by name: cookies know hosts, but no ports."""
        if self.how.replay_url is not None:
            return self.how.replay_url.rstrip("/")
        name = host.rpartition(":")[0]
        if is_loopback(name):
            other = "127.0.0.1" if name == "localhost" else "localhost"
            return f"http://{other}:{self.ports[1]}"
        return f"http://{name}:{self.ports[1]}"

    def apps(self) -> tuple[ASGIApp, ASGIApp]:
        """The interface and replay."""
        origins = loopback_origins(self.ports[:1])
        replay_origins = loopback_origins(self.ports[1:])
        if self.how.public_url is not None:
            origins |= {self.how.public_url.rstrip("/").lower()}
            replay_origins |= {self.replay_origin(urlsplit(self.how.public_url).netloc).lower()}
        is_secure = (self.how.public_url or "").startswith("https:")
        cookie = f"{COOKIE}_{self.ports[0]}"
        origins = AllowedOrigins(origins, " ".join(sorted(replay_origins)), cookie=cookie, secure=is_secure)
        public = PublicAccess(self.how.token, self.how.public_archive)
        replay = ReplayPages(
            self.state,
            origins=replay_origins,
            parents=sorted(origins),
            public=self.how.public_archive,
            token=self.how.token,
        )
        return build_app(self.state, origins, self.link, public), replay.app()

    async def run(self, *, on_ready: Callable[[], None], say: Callable[[str], None]) -> None:
        """Serve until `stop` is called."""
        _log_here()
        self._servers = [WebServer(_config(app)) for app in self.apps()]
        tasks = [
            asyncio.create_task(server.serve(sockets=[one]))
            for server, one in zip(self._servers, self.sockets, strict=True)
        ]
        await asyncio.gather(*(server.began.wait() for server in self._servers))
        on_ready()
        warm = asyncio.create_task(asyncio.to_thread(warm_up, self.state))
        crawl = asyncio.create_task(self._crawl(say)) if self.how.crawl else None
        try:
            async with self._told(), self._renewed():
                await asyncio.gather(*tasks)
        finally:
            await asyncio.gather(warm, return_exceptions=True)
            if crawl is not None:
                with suppress(asyncio.CancelledError):
                    await crawl
            await asyncio.to_thread(self.state.crawl.close)
            self.auth.close()
            IDLE_READERS.close(self.state.path)

    def stop(self) -> None:
        """Let requests end; a second call ends them."""
        self.state.is_stopping = True
        for server in self._servers:
            server.force_exit = server.should_exit
            server.should_exit = True
        if self.stop_crawl is not None:
            self.stop_crawl.finish() if self.stop_crawl.stage == 0 else self.stop_crawl.cancel()

    def _told(self) -> AbstractAsyncContextManager[None]:
        """Alerts are told while nobody crawls, too; a crawl in this process tells by itself."""
        if self.how.crawl or self.how.read_only:
            return nullcontext()
        return run_notifier(self.state.path, self.state.settings)

    @asynccontextmanager
    async def _renewed(self) -> AsyncIterator[None]:
        """Subscriptions at hubs are renewed in time."""
        if not self.state.is_reachable or self.how.read_only:
            yield
            return
        task = asyncio.create_task(self._renew())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _renew(self) -> None:
        while True:
            try:
                await self.state.websub.renew()
            except EvercrawlError as error:
                log.warning("websub: %s", error)
            await asyncio.sleep(RENEW_EVERY_S)

    async def _crawl(self, say: Callable[[str], None]) -> Summary | None:
        """Keep the collection fresh beside the pages; where that cannot be, the pages go on."""
        self.stop_crawl = StopSignal()
        try:
            return await self.state.collection.crawl(forever=True, stop=self.stop_crawl)
        except Exception as error:
            log.exception("the crawl beside the web interface ended")
            say(f"the crawl ended: {error}")
            return None


def _shown(bind: str) -> str:
    return f"[{bind}]" if ":" in bind and not bind.startswith("[") else bind


def open_sockets(how: ServeOptions) -> list[socket.socket]:
    """The sockets of the interface and of replay; ConfigError where an address is taken or not ours."""
    found: list[socket.socket] = []
    try:
        first = _listen(how.bind, how.port)
        found.append(first)
        port = how.replay_port
        if port is None:
            port = 0 if how.port == 0 else first.getsockname()[1] + 1
        found.append(_listen(how.bind, port))
    except OSError as error:
        for one in found:
            one.close()
        raise ConfigError(
            f"cannot listen at {how.bind} port {how.port if not found else port}: {error.strerror or error}; "
            "choose another with --port and --replay-port"
        ) from error
    return found


def _listen(bind: str, port: int) -> socket.socket:
    host = "127.0.0.1" if bind == "localhost" else bind.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    one = socket.socket(family, socket.SOCK_STREAM)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        one.bind((host, port))
        one.listen(BACKLOG)
    except BaseException:
        one.close()
        raise
    return one


class _ToOurLog(logging.Handler):
    """What the server has to say goes where our own log goes, and never to the terminal."""

    def emit(self, record: logging.LogRecord) -> None:
        log.handle(record)


def _log_here() -> None:
    server = logging.getLogger("uvicorn")
    server.handlers, server.propagate = [_ToOurLog()], False
    server.setLevel(logging.WARNING)


def _config(app: ASGIApp) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=True,
        lifespan="off",
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE_S,
        timeout_keep_alive=30,
        limit_concurrency=1000,
        h11_max_incomplete_event_size=64 * 1024,
        http="h11",
        ws="none",
    )
