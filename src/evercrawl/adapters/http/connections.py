"""One connection to a site, which carries one exchange at a time."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Callable
from typing import NamedTuple, cast

from evercrawl.core.http.http1 import BadResponse, ResponseReader
from evercrawl.core.url import SiteName
from evercrawl.model.fetch import Fault


class HttpTimeouts(NamedTuple):
    """Limits of waiting, in seconds."""

    first_byte: float
    idle: float
    total: float


class Connection(asyncio.Protocol):
    """Outside of an exchange no byte is expected: one that comes ends the connection.

    An exchange ends exactly once: complete, failed, or by the caller's cancellation. Where it is not complete
    and the connection not reusable, the connection is closed at once, so that nothing more is read.
    """

    def __init__(self, site: SiteName, ip: str, *, lost: Callable[[Connection], None]) -> None:
        self.site = site
        self.ip = ip
        self.is_open = False
        self.took = 0.0
        """Seconds from the last request to the end of its answer."""
        self._lost = lost
        self._uses = 0
        self._transport: asyncio.Transport | None = None
        self._reader: ResponseReader | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._loop = asyncio.get_running_loop()
        self._asked = self._heard = self._deadline = self._sent = 0.0
        self._patience = HttpTimeouts(0, 0, 0)
        self._timer: asyncio.TimerHandle | None = None
        self._said_goodbye = False

    async def exchange(self, head: bytes, reader: ResponseReader, *, patience: HttpTimeouts, deadline: float) -> None:
        """Send the request and fill the reader; raises FetchFailed, or StaleConnection before any answer."""
        if not self.is_open or self._transport is None:
            raise StaleConnection
        self._uses += 1
        self._reader, self._patience, self._deadline = reader, patience, deadline
        self._heard = 0.0
        self._asked = self._loop.time()
        self._waiter = self._loop.create_future()
        self._timer = self._loop.call_at(min(self._asked + patience.first_byte, deadline), self._check_time)
        self._sent = time.perf_counter()  # the loop's clock is too coarse for the pace rule
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
        """Let go at once, without waiting for what the other side still sends."""
        self.is_open = False
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The transport is ready."""
        self._transport = cast(asyncio.Transport, transport)
        self.is_open = True

    def data_received(self, data: bytes) -> None:
        """Bytes of the answer, or bytes that nobody asked for."""
        reader = self._reader
        if reader is None:
            self.close()
            return
        self._heard = self._loop.time()
        try:
            if reader.feed(data):
                self._settle(None)
        except BadResponse as bad:
            self._settle(FetchFailed(bad.fault, bad.detail))

    def eof_received(self) -> None:
        """The server says that it has sent everything; over TLS only an orderly goodbye is heard here."""
        self._said_goodbye = True

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone: an answer that ends with it is complete, another is not."""
        self.is_open = False
        self._lost(self)
        if self._reader is not None:
            self._settle(self._why_lost(self._reader, exc))

    def _why_lost(self, reader: ResponseReader, exc: Exception | None) -> Exception | None:
        if self._uses > 1 and not self._heard:
            return StaleConnection()
        if isinstance(exc, ssl.SSLError):
            return FetchFailed(Fault.TLS, f"TLS failed inside the answer: {exc.reason or exc}")
        if exc is not None:
            return FetchFailed(Fault.RESET, f"the connection broke: {exc}")
        try:
            reader.end()
        except BadResponse as bad:
            return FetchFailed(bad.fault, bad.detail)
        if self.site.scheme == "https" and not self._said_goodbye:
            # RFC 9112 section 9.8: without close_notify anybody on the way may have cut the body.
            return FetchFailed(Fault.INCOMPLETE, "a body without length was not ended by TLS: it may be cut short")
        return None

    def _settle(self, error: Exception | None) -> None:
        reader, self._reader = self._reader, None
        self.took = time.perf_counter() - self._sent
        if error is not None or (reader is not None and not reader.reusable):
            self.close()
        if self._waiter is None or self._waiter.done():
            return
        if error is None:
            self._waiter.set_result(None)
        else:
            self._waiter.set_exception(error)

    def _check_time(self) -> None:
        """The one timer of an exchange: say which limit has passed, or wait for the next that can."""
        now, patience = self._loop.time(), self._patience
        quiet_until = self._heard + patience.idle if self._heard else self._asked + patience.first_byte
        if now >= self._deadline:
            detail = f"the answer was not complete within {seconds_text(patience.total)}"
        elif now < quiet_until:
            self._timer = self._loop.call_at(min(quiet_until, self._deadline), self._check_time)
            return
        elif self._heard:
            detail = f"no further byte within {seconds_text(patience.idle)}"
        else:
            detail = f"no first byte within {seconds_text(patience.first_byte)}"
        if self._reader is not None:
            self._settle(FetchFailed(Fault.TIMEOUT, detail))


class FetchFailed(Exception):
    """The request cannot be answered; says whom to blame and why, in words."""

    def __init__(self, fault: Fault, detail: str) -> None:
        super().__init__(detail)
        self.fault = fault
        self.detail = detail


class StaleConnection(Exception):
    """A kept connection was closed before it could carry this request; another may be opened for it."""


def seconds_text(seconds: float) -> str:
    """A limit as it stands in a message: `20 s`, `0.5 s`."""
    return f"{seconds:g} s"


class ConnectionPool:
    """Idle connections in the order of becoming idle: at most `most`, none for longer than `keep_s`."""

    def __init__(self, *, most: int, keep_s: float) -> None:
        self._most = most
        self._keep_s = keep_s
        self._idle: dict[Connection, float] = {}
        self._by_site: dict[SiteName, list[Connection]] = {}
        self._sweeper: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._idle)

    def take(self, site: SiteName) -> Connection | None:
        """The connection to a site that was used last; None where none is open."""
        waiting = self._by_site.get(site)
        if not waiting:
            return None
        connection = waiting[-1]
        self.forget(connection)
        return connection if connection.is_open else None

    def put(self, connection: Connection) -> None:
        """Keep a connection whose exchange is over."""
        if not connection.is_open or self._keep_s <= 0:
            connection.close()
            return
        now = asyncio.get_running_loop().time()
        self._idle[connection] = now
        self._by_site.setdefault(connection.site, []).append(connection)
        if len(self._idle) > self._most:
            self._drop(next(iter(self._idle)))
        if self._sweeper is None:
            self._sweep_at(now + self._keep_s)

    def forget(self, connection: Connection) -> None:
        """The connection is not idle any more: taken, or lost."""
        if self._idle.pop(connection, None) is None:
            return
        waiting = self._by_site[connection.site]
        waiting.remove(connection)
        if not waiting:
            del self._by_site[connection.site]

    def close(self) -> None:
        """Close every idle connection."""
        if self._sweeper is not None:
            self._sweeper.cancel()
            self._sweeper = None
        for connection in list(self._idle):
            self._drop(connection)

    def _drop(self, connection: Connection) -> None:
        self.forget(connection)
        connection.close()

    def _sweep_at(self, moment: float) -> None:
        self._sweeper = asyncio.get_running_loop().call_at(moment, self._sweep)

    def _sweep(self) -> None:
        """Close what has been idle for too long; the oldest that remains sets the next time."""
        self._sweeper = None
        now = asyncio.get_running_loop().time()
        for connection, since in list(self._idle.items()):
            if since + self._keep_s > now:
                self._sweep_at(since + self._keep_s)
                return
            self._drop(connection)
