"""Connections to sites and the pool of idle ones."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Callable
from typing import NamedTuple, cast

from evercrawl.core.http.http1 import BadResponse, ResponseReader
from evercrawl.core.url import SiteName
from evercrawl.model.fetch import Fault
from evercrawl.model.settings import HttpSettings


class HttpTimeouts(NamedTuple):
    """Timeouts of a request, in seconds."""

    first_byte: float
    idle: float
    total: float

    @classmethod
    def from_settings(cls, http: HttpSettings) -> HttpTimeouts:
        """Return the timeouts of the settings."""
        limits = http.first_byte_timeout, http.idle_timeout, http.total_timeout
        return cls(*(limit.total_seconds() for limit in limits))


class Connection(asyncio.Protocol):
    """A connection that carries one exchange at a time.
    Unexpected bytes between exchanges close the connection. An exchange ends exactly once: complete, failed or
    cancelled. Unless the connection is reusable, it is closed immediately, so that nothing more is read."""

    def __init__(self, site: SiteName, ip: str, *, on_lost: Callable[[Connection], None]) -> None:
        self.site = site
        self.ip = ip
        self.via: str | None = None
        """Header lines for a proxy that forwards the requests; None: they reach the server as they are."""
        self.is_open = False
        self.took = 0.0
        """Seconds from the last request to the end of its response."""
        self._on_lost = on_lost
        self._uses = 0
        self._transport: asyncio.Transport | None = None
        self._reader: ResponseReader | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._loop = asyncio.get_running_loop()
        self._requested_at = self._last_byte_at = self._deadline = self._sent_at = 0.0
        self._timeouts = HttpTimeouts(0, 0, 0)
        self._timer: asyncio.TimerHandle | None = None
        self._received_eof = False

    async def exchange(self, head: bytes, reader: ResponseReader, *, timeouts: HttpTimeouts, deadline: float) -> None:
        """Send the request and fill the reader; raise FetchFailed, or StaleConnection before any response."""
        if not self.is_open or self._transport is None:
            raise StaleConnection
        self._uses += 1
        self._reader, self._timeouts, self._deadline = reader, timeouts, deadline
        self._last_byte_at = 0.0
        self._requested_at = self._loop.time()
        self._waiter = self._loop.create_future()
        self._timer = self._loop.call_at(min(self._requested_at + timeouts.first_byte, deadline), self._check_time)
        self._sent_at = time.perf_counter()  # the loop's clock is too coarse for measuring delays
        self._transport.write(head)
        try:
            await self._waiter
        except BaseException:
            self.close()
            raise
        finally:
            self._timer.cancel()
            self._waiter = self._reader = None

    def close(self) -> None:
        """Close immediately, without reading remaining bytes."""
        self.is_open = False
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport."""
        self._transport = cast(asyncio.Transport, transport)
        self.is_open = True

    def data_received(self, data: bytes) -> None:
        """Pass bytes to the reader, or close the connection if none were expected."""
        reader = self._reader
        if reader is None:
            self.close()
            return
        self._last_byte_at = self._loop.time()
        try:
            if reader.feed(data):
                self._finish(None)
        except BadResponse as bad:
            self._finish(FetchFailed(bad.fault, bad.detail))

    def eof_received(self) -> None:
        """Note the end of the stream; over TLS, only an orderly close arrives here."""
        self._received_eof = True

    def connection_lost(self, exc: Exception | None) -> None:
        """End the exchange; it is complete only if the response ends with the connection."""
        self.is_open = False
        self._on_lost(self)
        if self._reader is not None:
            self._finish(self._loss_reason(self._reader, exc))

    def _loss_reason(self, reader: ResponseReader, exc: Exception | None) -> Exception | None:
        if self._uses > 1 and not self._last_byte_at:
            return StaleConnection()
        if isinstance(exc, ssl.SSLError):
            return FetchFailed(Fault.TLS, f"TLS failed within the response: {exc.reason or exc}")
        if exc is not None:
            return FetchFailed(Fault.RESET, f"the connection was lost: {exc}")
        try:
            reader.end()
        except BadResponse as bad:
            return FetchFailed(bad.fault, bad.detail)
        if self.site.scheme == "https" and not self._received_eof:
            # RFC 9112 section 9.8: without close_notify, the body may have been truncated on the way.
            return FetchFailed(Fault.INCOMPLETE, "TLS was not closed properly: a body without length may be truncated")
        return None

    def _finish(self, error: Exception | None) -> None:
        reader, self._reader = self._reader, None
        self.took = time.perf_counter() - self._sent_at
        if error is not None or (reader is not None and not reader.reusable):
            self.close()
        if self._waiter is None or self._waiter.done():
            return
        if error is None:
            self._waiter.set_result(None)
        else:
            self._waiter.set_exception(error)

    def _check_time(self) -> None:
        """Handle the single timer of an exchange: fail if a limit has passed, or wait for the next."""
        now, timeouts = self._loop.time(), self._timeouts
        if self._last_byte_at:
            quiet_until = self._last_byte_at + timeouts.idle
        else:
            quiet_until = self._requested_at + timeouts.first_byte
        if now >= self._deadline:
            detail = f"the response was not complete within {seconds_text(timeouts.total)}"
        elif now < quiet_until:
            self._timer = self._loop.call_at(min(quiet_until, self._deadline), self._check_time)
            return
        elif self._last_byte_at:
            detail = f"no further byte within {seconds_text(timeouts.idle)}"
        else:
            detail = f"no first byte within {seconds_text(timeouts.first_byte)}"
        if self._reader is not None:
            self._finish(FetchFailed(Fault.TIMEOUT, detail))


class FetchFailed(Exception):
    """The request failed; carries the fault and a description."""

    def __init__(self, fault: Fault, detail: str) -> None:
        super().__init__(detail)
        self.fault = fault
        self.detail = detail


class StaleConnection(Exception):
    """An idle connection was closed before it could carry the request; open another one."""


def seconds_text(seconds: float) -> str:
    """Format a limit for messages: `20 s`, `0.5 s`."""
    return f"{seconds:g} s"


class ConnectionPool:
    """Idle connections in the order of becoming idle: at most `limit`, none longer than `keep_s`."""

    def __init__(self, *, limit: int, keep_s: float) -> None:
        self._limit = limit
        self._keep_s = keep_s
        self._idle: dict[Connection, float] = {}
        self._by_site: dict[SiteName, list[Connection]] = {}
        self._sweep_timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._idle)

    def take(self, site: SiteName) -> Connection | None:
        """Return the most recently used connection to a site, or None."""
        idle = self._by_site.get(site)
        if not idle:
            return None
        connection = idle[-1]
        self.forget(connection)
        return connection if connection.is_open else None

    def put(self, connection: Connection) -> None:
        """Keep a connection after its exchange."""
        if not connection.is_open or self._keep_s <= 0:
            connection.close()
            return
        now = asyncio.get_running_loop().time()
        self._idle[connection] = now
        self._by_site.setdefault(connection.site, []).append(connection)
        if len(self._idle) > self._limit:
            self._drop(next(iter(self._idle)))
        if self._sweep_timer is None:
            self._sweep_at(now + self._keep_s)

    def forget(self, connection: Connection) -> None:
        """Remove a connection that was taken or lost."""
        if self._idle.pop(connection, None) is None:
            return
        idle = self._by_site[connection.site]
        idle.remove(connection)
        if not idle:
            del self._by_site[connection.site]

    def close(self) -> None:
        """Close every idle connection."""
        if self._sweep_timer is not None:
            self._sweep_timer.cancel()
            self._sweep_timer = None
        for connection in list(self._idle):
            self._drop(connection)

    def _drop(self, connection: Connection) -> None:
        self.forget(connection)
        connection.close()

    def _sweep_at(self, moment: float) -> None:
        self._sweep_timer = asyncio.get_running_loop().call_at(moment, self._sweep)

    def _sweep(self) -> None:
        """Close connections that were idle too long, and schedule the next sweep."""
        self._sweep_timer = None
        now = asyncio.get_running_loop().time()
        for connection, since in list(self._idle.items()):
            if since + self._keep_s > now:
                self._sweep_at(since + self._keep_s)
                return
            self._drop(connection)
