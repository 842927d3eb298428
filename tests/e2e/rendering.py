"""Shared by tests of the renderer: pages of a site that exists only here, and a canary that nothing may reach."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from evercrawl.adapters.browser.renderer import ChromiumRenderer
from evercrawl.engine.ports import FetchForPage
from evercrawl.model.fetch import Exchange, Failed, Fault, Fetched, FetchResult, Moved, Rendered, RenderResult, Request
from evercrawl.model.settings import RenderSettings
from tests.e2e.fetching import fetcher

SITE = "https://site.test"
EXCHANGE = Exchange(b"", b"", b"", None, datetime(2026, 1, 1, tzinfo=UTC), timedelta(0))
TYPES = {"js": "text/javascript", "json": "application/json", "css": "text/css", "gif": "image/gif"}
Answer = str | FetchResult | Callable[[Request], Awaitable[FetchResult]]


def page(html: str, *, url: str = f"{SITE}/page", headers: tuple[tuple[str, str], ...] = ()) -> Fetched:
    """A page of the site as our client fetched it."""
    return Fetched(url, 200, (("Content-Type", "text/html; charset=utf-8"), *headers), html.encode(), EXCHANGE)


def moved(target: str) -> Moved:
    """A redirect of one of the site's files."""
    return Moved(f"{SITE}/moved", 302, target, (), EXCHANGE)


@dataclass
class Files:
    """The files of the site by their path; `asked` has the URLs of all requests. Other sites are really requested."""

    answers: Mapping[str, Answer] = field(default_factory=dict)
    others: FetchForPage | None = None
    asked: list[Request] = field(default_factory=list)

    async def __call__(self, request: Request) -> FetchResult:
        self.asked.append(request)
        if not request.url.startswith(SITE) and self.others is not None:
            return await self.others(request)
        match self.answers.get(request.url.removeprefix(SITE)):
            case None:
                return Failed(request.url, Fault.NOT_FOUND, "404", timedelta(0), status=404)
            case str(text):
                kind = TYPES.get(request.url.rpartition(".")[2], "text/html")
                return Fetched(request.url, 200, (("Content-Type", kind),), text.encode(), EXCHANGE)
            case Fetched() | Moved() | Failed() as result:
                return replace(result, url=request.url)
            case answer:
                assert callable(answer)
                return await answer(request)

    def paths(self) -> list[str]:
        """The paths of the site that were requested."""
        return [request.url.removeprefix(SITE) for request in self.asked]


@contextlib.asynccontextmanager
async def renderer(**limits: Any) -> AsyncIterator[ChromiumRenderer]:
    """A renderer, closed at the end."""
    made = ChromiumRenderer(RenderSettings(**limits))
    try:
        yield made
    finally:
        await made.close()


async def render(html: str, answers: Mapping[str, Answer] | None = None, **limits: Any) -> RenderResult:
    """Render one page with a browser of its own."""
    async with renderer(**limits) as one:
        return await one.render(page(html), Files(answers or {}))


async def rendered(html: str, answers: Mapping[str, Answer] | None = None, **limits: Any) -> Rendered:
    """Render one page, which must work."""
    result = await render(html, answers, **limits)
    assert isinstance(result, Rendered), result
    return result


class Canary(asyncio.DatagramProtocol):
    """Ports of TCP and UDP on loopback that note whatever arrives."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.port = 0

    def datagram_received(self, data: bytes, addr: object) -> None:
        self.heard.append(f"udp {data[:100]!r}")

    async def note(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection."""
        data = await reader.read(1000)
        self.heard.append(f"tcp {data[:100]!r}")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\ncanary")
        writer.close()


@contextlib.asynccontextmanager
async def listening() -> AsyncIterator[Canary]:
    """Run the canary for the block, and prove at its end that it could hear."""
    canary = Canary()
    server = await asyncio.start_server(canary.note, "127.0.0.1", 0)
    canary.port = server.sockets[0].getsockname()[1]
    loop = asyncio.get_running_loop()
    udp, _ = await loop.create_datagram_endpoint(lambda: canary, local_addr=("127.0.0.1", canary.port))
    try:
        yield canary
        before = len(canary.heard)
        async with fetcher() as allowed:
            await allowed.fetch(Request(f"http://127.0.0.1:{canary.port}/"))
        assert len(canary.heard) > before, "the canary is deaf"
    finally:
        udp.close()
        server.close()
        await server.wait_closed()
