"""Send POST requests to web services, with the address checks of every request."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from evercrawl.adapters.http.client import Connector
from evercrawl.adapters.http.connections import ConnectionPool, FetchFailed, HttpTimeouts, StaleConnection
from evercrawl.adapters.http.dns import Resolver
from evercrawl.core.http.http1 import ReadLimits, ResponseReader
from evercrawl.core.http.message import is_sendable
from evercrawl.core.url import path_of, site_of, site_parts
from evercrawl.model.fetch import Headers
from evercrawl.model.settings import Settings

MAX_RESPONSE_BYTES = 64 * 1024  # Only this much of a response is read.


class PostResult(NamedTuple):
    """The response, or why there is none."""

    status: int | None
    detail: str = ""
    headers: Headers = ()
    body: bytes = b""


class JsonPoster:
    """Send documents; addresses that are not public are rejected unless the settings allow them."""

    def __init__(self, settings: Settings, user_agent: str) -> None:
        http = settings.http
        self._http = http
        self._agent = user_agent
        self._timeouts = HttpTimeouts.from_settings(http)
        self._resolver = Resolver(settings.dns, http)
        self._connector = Connector(http, self._resolver, pool=ConnectionPool(limit=1, keep_s=0))

    async def post(
        self,
        url: str,
        document: bytes,
        *,
        headers: Sequence[tuple[str, str]] = (),
        content_type: str = "application/json; charset=utf-8",
    ) -> PostResult:
        """Send one POST to a canonical URL without following redirects. `headers` must never come from a page."""
        try:
            return await self._post(url, document, (("Content-Type", content_type), *headers))
        except (FetchFailed, StaleConnection) as failure:
            return PostResult(None, getattr(failure, "detail", "the connection was closed"))

    async def _post(self, url: str, document: bytes, headers: Sequence[tuple[str, str]]) -> PostResult:
        if not is_sendable(url):
            return PostResult(None, "the URL is not in canonical form")
        deadline = asyncio.get_running_loop().time() + self._timeouts.total
        connection = await self._connector.connect(site_parts(site_of(url)), deadline=deadline)
        limits = ReadLimits(self._http.max_header_bytes, self._http.max_headers, MAX_RESPONSE_BYTES)
        reader = ResponseReader(limits)
        try:
            head = self._head(url, len(document), headers)
            await connection.exchange(head + document, reader, timeouts=self._timeouts, deadline=deadline)
        finally:
            connection.close()
        assert reader.head is not None
        return PostResult(reader.head.status, headers=reader.head.headers, body=reader.body)

    def _head(self, url: str, length: int, headers: Sequence[tuple[str, str]]) -> bytes:
        host = site_of(url).partition("//")[2]
        own = "".join(f"{name}: {value}\r\n" for name, value in headers)
        return (
            f"POST {path_of(url)} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: {self._agent}\r\n"
            f"{own}Accept: application/json, text/plain;q=0.5\r\n"
            f"Content-Length: {length}\r\nConnection: close\r\n\r\n"
        ).encode("latin-1")

    async def close(self) -> None:
        """Close the resolver."""
        await self._resolver.close()
