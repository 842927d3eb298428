"""Fetch from the real web over HTTP/1.1, with address checks and limits; results are values."""

from __future__ import annotations

import asyncio
import errno
import os
import ssl
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from evercrawl.adapters.http.connections import (
    Connection,
    ConnectionPool,
    FetchFailed,
    HttpTimeouts,
    StaleConnection,
    seconds_text,
)
from evercrawl.adapters.http.dns import Resolver
from evercrawl.adapters.http.proxy import ProxyOf, forward_lines, no_proxy, open_tunnel, proxy_targets
from evercrawl.adapters.http.request_signing import RequestSigner
from evercrawl.adapters.system import file_shares
from evercrawl.core.http.content_coding import DecodeLimits
from evercrawl.core.http.http1 import ReadLimits, ResponseReader
from evercrawl.core.http.ip_address import parse_ip_literal
from evercrawl.core.http.message import (
    ACCEPT_ENCODING,
    RawResponse,
    constant_headers,
    fetch_result,
    header_refusal,
    is_sendable,
    request_bytes,
)
from evercrawl.core.url import SiteName, site_of, site_parts
from evercrawl.engine.ports import Clock
from evercrawl.errors import ConfigError, LeaseLost
from evercrawl.model.fetch import Exchange, Failed, Fault, FetchResult, Request
from evercrawl.model.settings import HttpSettings, Settings

IDLE_PER_REQUEST = 4  # Idle connections to keep per concurrent request.


MAX_ADDRESSES_TRIED = 4  # Addresses of a site to try for one request.
SOCKET_RETRY_S = 0.1  # Wait before the next try when this process has no descriptor left.
MIN_CONNECT_S = 0.05
_LOCAL_ERRORS = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.EADDRNOTAVAIL))
"""Errors of this machine, which no site is to blame for."""
_TLS_ERRORS = {
    "WRONG_VERSION_NUMBER": "the server does not speak TLS on this port",
    "HTTP_REQUEST": "the server does not speak TLS on this port",
    "RECORD_LAYER_FAILURE": "the server does not speak TLS on this port",
    "UNSUPPORTED_PROTOCOL": "the server only supports insecure versions of TLS",
    "TLSV1_ALERT_PROTOCOL_VERSION": "the server only supports insecure versions of TLS",
    "SSLV3_ALERT_HANDSHAKE_FAILURE": "no common cipher with the server",
    "UNEXPECTED_EOF_WHILE_READING": "the server closed the connection during the TLS handshake",
}


def _always() -> bool:
    return True


class HttpFetcher:
    """Implements `Fetcher`. Only cancellation and LeaseLost leave `fetch` as exceptions."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        user_agent: str,
        *,
        may_send: Callable[[], bool] = _always,
        accept_encoding: str = ACCEPT_ENCODING,
        proxy_of: ProxyOf = no_proxy,
        signer: RequestSigner | None = None,
    ) -> None:
        """`may_send` is called just before a request is sent; if it returns False, LeaseLost is raised.
        `proxy_of` returns the proxy for a site."""
        http = settings.http
        self._may_send = may_send
        self._clock = clock
        self._signer = signer
        self._http = http
        self._constant = constant_headers(user_agent, http.accept_language, accept_encoding=accept_encoding)
        self._timeouts = HttpTimeouts.from_settings(http)
        sockets = file_shares(concurrency=settings.crawl.concurrency, shards=settings.store.shards).sockets
        self._slots = asyncio.Semaphore(max(1, sockets // 2))
        """Requests in flight; the other half of the sockets waits for the next requests."""
        self._pool = ConnectionPool(
            limit=min(settings.crawl.concurrency * IDLE_PER_REQUEST, max(1, sockets - sockets // 2)),
            keep_s=http.keep_alive_timeout.total_seconds(),
        )
        self._resolver = Resolver(settings.dns, http)
        self._connector = Connector(http, self._resolver, pool=self._pool, proxy_of=proxy_of)

    async def fetch(self, request: Request) -> FetchResult:
        """Fetch a page and return the result."""
        async with self._slots:
            return await self._fetch(request)

    async def _fetch(self, request: Request) -> FetchResult:
        began, loop = self._clock.now(), asyncio.get_running_loop()
        start = loop.time()
        try:
            if not is_sendable(request.url):
                raise FetchFailed(Fault.INTERNAL, "the URL is not in canonical form")
            return await self._request(request, began, start + self._timeouts.total)
        except FetchFailed as failure:
            fault, detail = failure.fault, failure.detail
        except LeaseLost:
            raise
        except Exception as error:
            # A bug triggered by a site ends this visit, not the crawl; INTERNAL faults are reported.
            fault, detail = Fault.INTERNAL, f"{type(error).__name__}: {error}"
        return Failed(request.url, fault, detail, timedelta(seconds=loop.time() - start))

    async def address_of(self, site: str) -> str | None:
        """Return the first address of a site's host; None: it has none that may be used, or is behind a proxy."""
        parts = site_parts(site)
        if self._connector.proxy_of(parts) is not None:
            return None
        try:
            return (await self._resolver.addresses(parts.host, parts.port))[0]
        except FetchFailed:
            return None

    async def close(self) -> None:
        """Close all connections."""
        self._pool.close()
        await self._resolver.close()
        await asyncio.sleep(0)  # lets the transports close their sockets

    async def _request(self, request: Request, began: datetime, deadline: float) -> FetchResult:
        site = site_parts(site_of(request.url))
        is_post = request.form is not None or request.post is not None  # It is never repeated.
        idle = None if is_post else self._pool.take(site)
        if idle is not None:
            try:
                return await self._exchange(request, idle, began, deadline)
            except StaleConnection:
                # GET is safe to repeat (RFC 9110 section 9.2.2), but the server may have seen the first request.
                await self._wait(request.delay_s, deadline)
        fresh = await self._connect(site, deadline)
        try:
            return await self._exchange(request, fresh, began, deadline)
        except StaleConnection as error:
            raise FetchFailed(Fault.RESET, "the connection was closed before the request was sent") from error

    async def _wait(self, delay_s: float, deadline: float) -> None:
        if asyncio.get_running_loop().time() + delay_s >= deadline:
            raise FetchFailed(Fault.RESET, "the server closed an idle connection without a response")
        if delay_s > 0:
            await asyncio.sleep(delay_s)

    async def _connect(self, site: SiteName, deadline: float) -> Connection:
        return await self._connector.connect(site, deadline=deadline)

    async def _exchange(
        self, request: Request, connection: Connection, began: datetime, deadline: float
    ) -> FetchResult:
        if not self._may_send():  # no await between this check and the first byte sent
            connection.close()
            raise LeaseLost(f"{request.url} is no longer covered by a lease")
        wants = request.conditions
        reader = ResponseReader(
            _read_limits(self._http, request), wants_body=lambda head: header_refusal(wants, head) is None
        )
        failure: FetchFailed | None = None
        try:
            constant = self._constant
            if self._signer is not None:
                constant += self._signer.lines(site_of(request.url), now=self._clock.now())
            sent = request_bytes(request, constant, via=connection.via)
            await connection.exchange(sent, reader, timeouts=self._timeouts, deadline=deadline)
        except FetchFailed as error:
            failure = error
        else:
            if reader.reusable:
                self._pool.put(connection)
        is_plain = connection.via is None and not (request.secrets or request.headers) and request.form is None
        head = sent if is_plain else request_bytes(request, constant, masked=True)
        return self._result(request, reader, _exchange_of(connection, head, reader, began), failure)

    def _result(
        self, request: Request, reader: ResponseReader, exchange: Exchange, failure: FetchFailed | None
    ) -> FetchResult:
        """Return the result; the status of an incomplete response counts if it is 300 or above."""
        response_head = reader.head
        if response_head is not None and (failure is None or response_head.status >= 300):
            answer = RawResponse(response_head, exchange, is_cut=reader.truncated or failure is not None)
            return fetch_result(request, answer, limits=_decode_limits(self._http, request))
        if failure is None:
            raise FetchFailed(Fault.INTERNAL, "the exchange ended without a response and without a failure")
        if response_head is None:
            return Failed(request.url, failure.fault, failure.detail, exchange.took)
        status, headers = response_head.status, response_head.headers
        return Failed(request.url, failure.fault, failure.detail, exchange.took, status, headers, exchange)


def _exchange_of(connection: Connection, head: bytes, reader: ResponseReader, began: datetime) -> Exchange:
    raw = reader.head.raw if reader.head is not None else b""
    ip = connection.ip if connection.via is None and parse_ip_literal(connection.ip) else None
    return Exchange(head, raw, reader.body, ip, began, timedelta(seconds=connection.took))


def _read_limits(http: HttpSettings, request: Request) -> ReadLimits:
    most = _least(http.max_wire_bytes, request.body_limit)
    if request.conditions.max_bytes is not None:
        most = min(most, request.conditions.max_bytes + 1)  # one byte more shows that it is too large
    return ReadLimits(http.max_header_bytes, http.max_headers, most)


def _decode_limits(http: HttpSettings, request: Request) -> DecodeLimits:
    return DecodeLimits(_least(http.max_decoded_bytes, request.body_limit), http.max_compression_ratio)


def _least(limit: int, own: int | None) -> int:
    return limit if own is None else min(limit, own)


class Connector:
    """Open connections to allowed addresses within a time limit."""

    def __init__(
        self, http: HttpSettings, resolver: Resolver, *, pool: ConnectionPool, proxy_of: ProxyOf = no_proxy
    ) -> None:
        """Idle connections of the pool are closed when there are no sockets left."""
        self._http = http
        self._resolver = resolver
        self._pool = pool
        self.proxy_of = proxy_of
        self._limit = http.connect_timeout.total_seconds()
        if http.ca_file is not None:
            _ = self._tls  # report an unreadable file at startup

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """Create the TLS context on first use: reading the system's authorities takes many milliseconds."""
        context = ssl.create_default_context()
        context.set_alpn_protocols(["http/1.1"])
        if self._http.ca_file is not None:
            try:
                context.load_verify_locations(self._http.ca_file)
            except OSError as error:
                raise ConfigError(f"http.ca_file {self._http.ca_file!r} cannot be read: {error}") from error
        if not self._http.verify_tls:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context

    async def connect(self, site: SiteName, *, deadline: float) -> Connection:
        """Connect to the first address that answers; raise FetchFailed if none does."""
        proxy = self.proxy_of(site)
        if proxy is None:
            addresses = await self._resolver.addresses(site.host, site.port)
        else:
            addresses = await proxy_targets(proxy, site, self._resolver, verify_tls=self._http.verify_tls)
        addresses = addresses[:MAX_ADDRESSES_TRIED]
        loop = asyncio.get_running_loop()
        end = min(loop.time() + self._limit, deadline)
        failure = FetchFailed(Fault.TIMEOUT, f"no connection within {seconds_text(self._limit)}")
        for tried, ip in enumerate(addresses):
            timeout_s = (end - loop.time()) / (len(addresses) - tried)
            if timeout_s <= 0:
                break
            try:
                return await self._connect_with_retries(site, ip, timeout_s)
            except FetchFailed as error:
                failure = error
        raise failure

    async def _connect_with_retries(self, site: SiteName, ip: str, timeout_s: float) -> Connection:
        """Connect to an address; without a free descriptor, close idle connections and try again in time."""
        loop = asyncio.get_running_loop()
        end = loop.time() + timeout_s
        while True:
            try:
                return await self._connect_to(site, ip, max(MIN_CONNECT_S, end - loop.time()))
            except FetchFailed as error:
                if error.fault is not Fault.LOCAL or loop.time() + SOCKET_RETRY_S >= end:
                    raise
            self._pool.close()
            await asyncio.sleep(SOCKET_RETRY_S)

    async def _connect_to(self, site: SiteName, ip: str, seconds: float) -> Connection:
        loop = asyncio.get_running_loop()
        is_tls = site.scheme == "https"
        proxy = self.proxy_of(site)
        connection = Connection(site, ip, on_lost=self._pool.forget)
        try:
            async with asyncio.timeout(seconds):
                where: dict[str, Any] = {"host": ip, "port": site.port}
                if proxy is not None:
                    connection.via = forward_lines(proxy, site)
                    where = {"sock": await open_tunnel(proxy, ip, site.port, forwards=connection.via is not None)}
                if is_tls:
                    name = parse_ip_literal(site.host) or (site.host.removesuffix("."),)
                    where |= {"ssl": self._tls, "server_hostname": name[0]}
                await loop.create_connection(lambda: connection, **where)
        except TimeoutError as error:
            raise FetchFailed(Fault.TIMEOUT, f"no connection to {ip} within {seconds_text(self._limit)}") from error
        except (OSError, ssl.SSLError) as error:
            raise _connect_failure(error, ip, site) from error
        return connection


def _connect_failure(error: OSError, ip: str, site: SiteName) -> FetchFailed:
    if error.errno in _LOCAL_ERRORS:
        return FetchFailed(Fault.LOCAL, f"no socket for {ip} port {site.port}: {error.strerror or error}")
    if isinstance(error, ssl.SSLCertVerificationError):
        return FetchFailed(Fault.TLS, f"the certificate of {site.host} is invalid: {error.verify_message}")
    if isinstance(error, ssl.SSLError):
        reason = error.reason or str(error)
        return FetchFailed(Fault.TLS, _TLS_ERRORS.get(reason, f"the TLS handshake failed: {reason.lower()}"))
    if site.scheme == "https" and isinstance(error, (ConnectionResetError, ConnectionAbortedError, BrokenPipeError)):
        return FetchFailed(Fault.TLS, "the server closed the connection during the TLS handshake")
    # The text of asyncio names the call, not the problem.
    problem = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror or error
    return FetchFailed(Fault.CONNECT, f"cannot connect to {ip} port {site.port}: {problem}")
