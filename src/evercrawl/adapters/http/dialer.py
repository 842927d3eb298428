"""Connections for libraries that block (mail, urllib): the same address checks as the crawler's own connections.
Names are resolved once, every answer is checked, and the connection goes to the checked address."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Sequence
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from typing import Any, NamedTuple
from urllib.request import HTTPHandler, HTTPSHandler, ProxyHandler, Request

from evercrawl.adapters.http.client import Connector
from evercrawl.adapters.http.connections import ConnectionPool, FetchFailed, HttpTimeouts, StaleConnection
from evercrawl.adapters.http.dns import PRIVATE_HINT, Resolver, localhost_addresses, parse_overrides
from evercrawl.core.http.http1 import ReadLimits, ResponseReader
from evercrawl.core.http.ip_address import address_refusal, parse_ip_literal
from evercrawl.core.http.message import is_sendable
from evercrawl.core.url import path_of, site_of, site_parts
from evercrawl.errors import ConfigError
from evercrawl.model.fetch import Headers
from evercrawl.model.settings import HttpSettings, Settings

MAX_TRIED = 4  # Addresses of a host to try.

FindAddresses = Callable[[str, int], tuple[str, ...]]


def system_addresses(host: str, port: int) -> tuple[str, ...]:
    """Ask the system for the addresses of a host."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))


class GuardedDialer:
    """Open connections to public addresses, and to private ones only if they are allowed."""

    def __init__(
        self, http: HttpSettings, *, is_named: bool = False, find_addresses: FindAddresses = system_addresses
    ) -> None:
        """`is_named`: the user named the host, so a private address that stands there itself (also as localhost or in
        `http.resolve`) is meant. What a name server answers is never taken for the user's word."""
        self._allow_private = http.allow_private
        self._is_named = is_named
        self._overrides = parse_overrides(http.resolve)
        self._find_addresses = find_addresses

    def addresses(self, host: str, port: int) -> tuple[str, ...]:
        """Return the addresses that may be used; raise ConfigError if there are only others."""
        name = host.removesuffix(".").lower()
        fixed = self._overrides.get((name, port)) or parse_ip_literal(name) or localhost_addresses(name)
        found = fixed or self._find_addresses(name, port)
        if self._allow_private or (fixed and self._is_named):
            return found
        allowed = tuple(ip for ip in found if address_refusal(ip) is None)
        if not allowed:
            refused = next(filter(None, map(address_refusal, found)), "it has no address")
            remedy = f"if you mean it, set http.resolve to {name}:{port}:ADDRESS" if self._is_named else PRIVATE_HINT
            raise ConfigError(f"{host} is not allowed: {refused}; {remedy}")
        return allowed

    def connect(self, host: str, port: int, *, timeout_s: float | None) -> socket.socket:
        """Open a connection; raise ConfigError, or OSError if no address answers."""
        failure: OSError = OSError(f"{host} has no address")
        for ip in self.addresses(host, port)[:MAX_TRIED]:
            try:
                return socket.create_connection((ip, port), timeout_s)
            except OSError as error:
                failure = error
        raise failure

    def handlers(self) -> tuple[ProxyHandler, HTTPHandler, HTTPSHandler]:
        """Return what makes `urllib` connect through this dialer and through no proxy."""
        return ProxyHandler({}), _GuardedHttp(self), _GuardedHttps(self)

    def http_connection(self, kind: type[HTTPConnection], host: str, **options: Any) -> HTTPConnection:
        """Return an HTTP connection that connects through this dialer."""
        made = kind(host, **options)

        def create(address: tuple[str, int], timeout: float | None = None, _source: object = None) -> socket.socket:
            return self.connect(*address, timeout_s=timeout)

        made._create_connection = create  # type: ignore[attr-defined]  # The only way in without a copy of connect().
        return made


class _GuardedHttp(HTTPHandler):
    def __init__(self, dialer: GuardedDialer) -> None:
        super().__init__()
        self._dialer = dialer

    def http_open(self, req: Request) -> HTTPResponse:
        return self.do_open(lambda host, **options: self._dialer.http_connection(HTTPConnection, host, **options), req)


class _GuardedHttps(HTTPSHandler):
    def __init__(self, dialer: GuardedDialer) -> None:
        super().__init__()
        self._dialer = dialer

    def https_open(self, req: Request) -> HTTPResponse:
        return self.do_open(lambda host, **options: self._dialer.http_connection(HTTPSConnection, host, **options), req)


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
