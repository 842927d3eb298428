"""Many sites for one crawl, each with its own port, name and request log.

They run in a thread, so that the crawl may be another process or block the test's thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from typing import Any, NamedTuple, TypeVar

from tests.e2e.dns_server import NameServer
from tests.worlds.hostile.servers import answer_of

T = TypeVar("T")
NO_ROBOTS = answer_of({"status": 404, "body": ""})
LOOPBACK = "127.0.0.1"


class SiteRequest(NamedTuple):
    """One request as the site saw it; `ended` is when the last byte was sent."""

    path: str
    head: bytes
    began: float
    ended: float
    ip: str
    """The address the client connected to."""

    def field(self, name: str) -> str | None:
        """Return the value of a header field."""
        for line in self.head.decode("latin-1").split("\r\n")[1:]:
            key, _, value = line.partition(":")
            if key.lower() == name.lower():
                return value.strip()
        return None


Respond = Callable[[SiteRequest, asyncio.StreamWriter], Awaitable[bool]]
"""Responds to one request; returns False if that ends the connection."""
Connected = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Site:
    """One site: its address and its requests."""

    def __init__(self, scheme: str, host: str, port: int, robots: bytes | None) -> None:
        self.scheme = scheme
        self.host = host
        self.port = port
        self.robots = robots
        self.asked: list[SiteRequest] = []
        self.connections = 0
        self.most_at_once = 0
        self._at_once: Counter[str | None] = Counter()

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}"

    def url(self, path: str = "/") -> str:
        return self.origin + path

    def paths(self) -> list[str]:
        """Every request except for robots.txt and the sitemap, in order."""
        return [asked.path for asked in self.asked if asked.path not in ("/robots.txt", "/sitemap.xml")]

    @contextlib.contextmanager
    def answering(self, host: str | None) -> Iterator[None]:
        """Count the requests in flight to one of the site's names."""
        self._at_once[host] += 1
        self.most_at_once = max(self.most_at_once, self._at_once[host])
        try:
            yield
        finally:
            self._at_once[host] -= 1


class Web:
    """The sites of one test and their name server."""

    def __init__(self, *, ttl: int = 60) -> None:
        self.names: dict[str, list[list[str]]] = {}
        self.sites: dict[str, Site] = {}
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._servers: list[asyncio.Server] = []
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._names_at: NameServer = self.call(self._start_names(ttl))

    @property
    def name_server(self) -> str:
        """The address of the name server, as `dns.servers` expects it."""
        return self._names_at.address

    def call(self, job: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the thread of the sites."""
        return asyncio.run_coroutine_threadsafe(job, self._loop).result(30)

    def add(
        self,
        name: str,
        respond: Respond,
        *,
        host: str | None = None,
        robots: bytes | None = NO_ROBOTS,
        tls: ssl.SSLContext | None = None,
        addresses: tuple[str, ...] = (LOOPBACK,),
        bind: str = LOOPBACK,
        port: int = 0,
    ) -> Site:
        """Add a site. `robots` is the whole response for /robots.txt; None leaves it to `respond`."""
        host = host or f"{name.lower()}.test"
        site = Site("http" if tls is None else "https", host, 0, robots)
        self.call(self._listen(site, respond, tls, bind, port))
        self.names[host] = [list(addresses)]
        self.sites[name] = site
        return site

    def add_plain_on_tls_port(self, name: str) -> Site:
        """Add a site with https URLs that responds in plain HTTP."""

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            site.connections += 1
            await reader.read(100)
            writer.write(answer_of({"status": 400}))
            writer.close()

        site = Site("https", f"{name}.test", 0, None)
        self.call(self._open_port(site, connected, None, LOOPBACK, 0))
        self.names[site.host] = [[LOOPBACK]]
        self.sites[name] = site
        return site

    async def _open_port(
        self, site: Site, connected: Connected, tls: ssl.SSLContext | None, bind: str, port: int
    ) -> None:
        server = await asyncio.start_server(connected, bind, port, ssl=tls, backlog=200)
        self._servers.append(server)
        site.port = server.sockets[0].getsockname()[1]

    async def _listen(self, site: Site, respond: Respond, tls: ssl.SSLContext | None, bind: str, port: int) -> None:
        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            site.connections += 1
            task = asyncio.current_task()
            assert task is not None
            self._tasks.add(task)
            try:
                await _serve(site, respond, reader, writer)
            except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError):
                pass  # the client went away, or the test is over
            finally:
                self._tasks.discard(task)
                writer.transport.abort()

        await self._open_port(site, connected, tls, bind, port)

    async def _start_names(self, ttl: int) -> NameServer:
        _, names = await self._loop.create_datagram_endpoint(
            lambda: NameServer(self.names, ttl=ttl, silent=frozenset()), local_addr=(LOOPBACK, 0)
        )
        return names

    def close(self) -> None:
        """Stop every server and the thread."""
        self.call(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _end(self) -> None:
        for server in self._servers:
            server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._names_at.close()
        await asyncio.sleep(0)


async def _serve(site: Site, respond: Respond, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    goes_on = True
    while goes_on:
        head = await reader.readuntil(b"\r\n\r\n")
        began = time.monotonic()
        path = head.split(b" ", 2)[1].decode("latin-1")
        asked = SiteRequest(path, head, began, began, writer.get_extra_info("sockname")[0])
        await reader.readexactly(int(asked.field("content-length") or 0))
        site.asked.append(asked)
        place = len(site.asked) - 1
        with site.answering(asked.field("host")):
            try:
                goes_on = await _while_wanted(_answer(site, asked, respond, writer), reader)
            finally:
                site.asked[place] = asked._replace(ended=time.monotonic())


async def _while_wanted(answer: Coroutine[Any, Any, bool], reader: asyncio.StreamReader) -> bool:
    """Answer until the client closes the connection."""
    answering = asyncio.create_task(answer)
    try:
        while not answering.done() and not reader.at_eof():
            await asyncio.wait([answering], timeout=0.05)
        return answering.done() and answering.result()
    finally:
        answering.cancel()


async def _answer(site: Site, asked: SiteRequest, respond: Respond, writer: asyncio.StreamWriter) -> bool:
    if asked.path == "/robots.txt" and site.robots is not None:
        writer.write(site.robots)
        await writer.drain()
        return True
    return await respond(asked, writer)


@contextlib.contextmanager
def web(*, ttl: int = 60) -> Iterator[Web]:
    """Run a web for the block; names are valid for `ttl` seconds."""
    made = Web(ttl=ttl)
    try:
        yield made
    finally:
        made.close()


def bytes_for(answers: Callable[[SiteRequest], bytes]) -> Respond:
    """Respond with given bytes; connections stay open unless the response says close."""

    async def respond(asked: SiteRequest, writer: asyncio.StreamWriter) -> bool:
        answer = answers(asked)
        writer.write(answer)
        await writer.drain()
        return b"\r\nConnection: close\r\n" not in answer

    return respond


def html(body: str, **spec: Any) -> bytes:
    """Return an HTML response."""
    return answer_of({"body": body, **spec})


def robots_txt(text: str) -> bytes:
    """Return the response with these rules."""
    return answer_of({"headers": {"Content-Type": "text/plain"}, "body": text})
