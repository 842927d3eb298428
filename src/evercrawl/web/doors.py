"""Limits and time-outs of client connections, so that slow or silent clients cannot keep others out."""

from __future__ import annotations

import asyncio
import logging
import resource
import socket
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from urllib.parse import unquote

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as AsgiScope
from uvicorn.protocols.http.h11_impl import H11Protocol

from evercrawl.model.connection_limits import OpenConnections, address_block
from evercrawl.model.settings import WebSettings

log = logging.getLogger("evercrawl")
IsKnown = Callable[[str, Headers], bool]  # Returns whether a user sends a request with this path and these headers.
BACKLOG = 4096  # Connections that the system holds until we accept them.
ACCEPTS_PER_TURN = 256  # Connections to accept before those that are open are read.
ACCEPT_PAUSE_S = 0.2
ENTER_INTERVAL_S = 0.05  # Strangers are let in a few at a time.
MAX_HEAD_BYTES = 16 * 1024  # A longer head is read by the HTTP parser, which has its own limit.
RESERVED_FILES = 300  # Descriptors for everything but connections: the store, the archive, a crawl.
MIN_CONNECTIONS = 64
RATE_BURST_S = 0.5  # Unused time of the rate of anonymous clients that can be used at once.
TURN_TIMEOUT_S = 5.0  # How long a request of an anonymous client waits for its turn before it gets status 503.
SMALL_BODY_BYTES = 64 * 1024  # Bodies of anonymous clients up to this size are always received.
MAX_ANONYMOUS_BODY_BYTES = 64 * 1024 * 1024  # Of all of them together, beyond which longer ones are refused.
CONNECTION = "connection"  # Name of the connection in the state of a request.


def connection_limit(wanted: int) -> int:
    """Return how many connections the system allows, at most `wanted`; raise the limit of descriptors if possible."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            soft = hard
    if soft == resource.RLIM_INFINITY:
        return wanted
    return min(wanted, max(MIN_CONNECTIONS, soft - RESERVED_FILES))


class ConnectionGuard:
    """The connections of both origins of one web service."""

    def __init__(self, settings: WebSettings, *, clock: Callable[[], float] = time.monotonic) -> None:
        limit = connection_limit(settings.max_connections)
        per_address = min(settings.max_connections_per_address, max(1, limit // 2))
        self.open: OpenConnections[Visitor] = OpenConnections(limit=limit, limit_per_address=per_address)
        self.settings = settings
        self._clock = clock
        self._unsent: OrderedDict[Visitor, int] = OrderedDict()  # Sizes when they stalled, the oldest first.
        self._unsent_bytes = 0
        self._ready: OrderedDict[str, deque[Visitor]] = OrderedDict()
        self._is_entering = False

    def accept(self, visitor: Visitor) -> None:
        """Take a new connection; close others that it has to make room for."""
        self._abort(self.open.add(visitor, visitor.block, deadline=self._after(self.settings.header_timeout)))

    def enter_later(self, visitor: Visitor) -> None:
        """Let strangers in at a limited rate, each address in turn, so that users are not behind all of them."""
        self._ready.setdefault(visitor.block, deque()).append(visitor)
        if not self._is_entering:
            self._is_entering = True
            asyncio.get_running_loop().call_soon(self._enter_some)

    def _enter_some(self) -> None:
        most = max(1, round(self.settings.anonymous_rate * ENTER_INTERVAL_S))
        for _ in range(most):
            if not self._ready:
                break
            block, visitors = self._ready.popitem(last=False)
            visitors.popleft().enter()
            if visitors:
                self._ready[block] = visitors
        self._is_entering = bool(self._ready)
        if self._is_entering:
            asyncio.get_running_loop().call_later(ENTER_INTERVAL_S, self._enter_some)

    def wait(self, visitor: Visitor, timeout: timedelta) -> None:
        """Wait for the client, at most `timeout`."""
        self.open.wait(visitor, deadline=self._after(timeout))

    def stall(self, visitor: Visitor) -> None:
        """Wait for a client that reads too slowly; close the oldest of them if they hold too much memory."""
        self.wait(visitor, self.settings.send_timeout)
        self._forget_unsent(visitor)
        self._unsent[visitor] = visitor.unsent_bytes
        self._unsent_bytes += self._unsent[visitor]
        while self._unsent_bytes > self.settings.max_unsent_bytes and len(self._unsent) > 1:
            self._abort([next(iter(self._unsent))])

    def resume(self, visitor: Visitor) -> None:
        """Stop to wait: the client has read what it was sent."""
        self._forget_unsent(visitor)
        self.open.serve(visitor)

    def remove(self, visitor: Visitor) -> None:
        """Forget a closed connection."""
        self._forget_unsent(visitor)
        self.open.remove(visitor)

    def _forget_unsent(self, visitor: Visitor) -> None:
        self._unsent_bytes -= self._unsent.pop(visitor, 0)

    def close_overdue(self) -> None:
        """Close the connections whose clients took too long."""
        self._abort(self.open.overdue(self._clock()))

    def _after(self, timeout: timedelta) -> float:
        return self._clock() + timeout.total_seconds()

    def _abort(self, visitors: list[Visitor]) -> None:
        for one in visitors:
            self.remove(one)
            one.abort()


class Door:
    """Accepts the connections of one listening socket, and lets them in once they have sent a request.
    Until then a connection is only a socket and a few bytes: thousands of silent ones cost next to nothing."""

    def __init__(
        self,
        listener: socket.socket,
        guard: ConnectionGuard,
        *,
        create_protocol: Callable[[], GuardedProtocol],
        is_known: IsKnown,
    ) -> None:
        self.guard = guard
        self.create_protocol = create_protocol
        self.is_known = is_known
        self.loop = asyncio.get_running_loop()
        self._listener = listener

    def open(self) -> None:
        """Start to accept connections."""
        if self._listener.fileno() >= 0:
            self._listener.setblocking(False)
            self._listener.listen(BACKLOG)
            self.loop.add_reader(self._listener.fileno(), self._accept)

    def close(self) -> None:
        """Stop to accept connections."""
        if self._listener.fileno() >= 0:
            self.loop.remove_reader(self._listener.fileno())

    def _accept(self) -> None:
        for _ in range(ACCEPTS_PER_TURN):
            try:
                client, address = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:  # Out of descriptors or memory.
                log.warning("cannot accept connections for a moment: %s", error)
                self.close()
                self.loop.call_later(ACCEPT_PAUSE_S, self.open)
                return
            client.setblocking(False)
            Visitor(client, self).arrive(str(address[0]))


class Visitor:
    """One connection: first a socket whose request is not complete, then an HTTP protocol."""

    def __init__(self, client: socket.socket, door: Door) -> None:
        self._client = client
        self._door = door
        self._head = b""
        self.block = ""
        self._protocol: GuardedProtocol | None = None
        self.is_closed = False

    @property
    def unsent_bytes(self) -> int:
        """Return how much the client has not read yet."""
        return 0 if self._protocol is None else self._protocol.transport.get_write_buffer_size()

    def arrive(self, address: str) -> None:
        """Wait for the head of the first request."""
        self.block = address_block(address)
        self._door.loop.add_reader(self._client.fileno(), self._read)
        self._door.guard.accept(self)

    def abort(self) -> None:
        """Close the connection. Unlike `close` of a transport, this does not wait for the client to read."""
        self.is_closed = True
        if self._protocol is not None:
            if self._protocol.transport is not None:  # Otherwise `connection_made` follows.
                self._protocol.transport.abort()
        elif self._client.fileno() >= 0:
            self._door.loop.remove_reader(self._client.fileno())
            self._client.close()

    def _read(self) -> None:
        try:
            part = self._client.recv(MAX_HEAD_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            part = b""
        if not part:
            self._leave()
            return
        tail = self._head[-3:] + part
        self._head += part
        if b"\n\r\n" in tail or b"\n\n" in tail or len(self._head) >= MAX_HEAD_BYTES:
            self._door.loop.remove_reader(self._client.fileno())
            is_known = self._door.is_known(*_parse_head(self._head))
            self._door.guard.open.prove(self, is_known=is_known)
            self.enter() if is_known else self._door.guard.enter_later(self)

    def enter(self) -> None:
        """Become an HTTP connection."""
        if self._client.fileno() >= 0:
            task = self._door.loop.create_task(self._connect())
            _ENTERING.add(task)
            task.add_done_callback(_ENTERING.discard)

    async def _connect(self) -> None:
        def create() -> GuardedProtocol:
            self._protocol = self._door.create_protocol()
            self._protocol.enter(self, self._door.guard, self._head)
            self._head = b""
            return self._protocol

        try:
            await self._door.loop.connect_accepted_socket(create, self._client)
        except OSError:
            self._leave()

    def _leave(self) -> None:
        self._door.guard.remove(self)
        self.abort()


_ENTERING: set[asyncio.Task[None]] = set()  # Tasks need a reference until they end.


def _parse_head(head: bytes) -> tuple[str, Headers]:
    """Return path and headers of a request, to see who sends it before it is parsed strictly."""
    first, *lines = head.replace(b"\r", b"").split(b"\n")
    fields = [(name.strip().lower(), value.strip()) for name, _, value in (line.partition(b":") for line in lines)]
    return unquote(first.partition(b" ")[2].partition(b" ")[0].decode("latin-1")), Headers(raw=fields)


class GuardedProtocol(H11Protocol):
    """An HTTP connection that tells the guard what it waits for."""

    visitor: Visitor
    guard: ConnectionGuard

    def enter(self, visitor: Visitor, guard: ConnectionGuard, head: bytes) -> None:
        """Take over a connection that has sent the head of its first request."""
        self.visitor, self.guard = visitor, guard
        self._first = head
        self._waits_for = "headers"
        self.app_state = {**self.app_state, CONNECTION: self}

    def prove(self, *, is_known: bool) -> None:
        """Note whether the client has proved who it is."""
        self.guard.open.prove(self.visitor, is_known=is_known)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Handle what was received at the door."""
        super().connection_made(transport)
        if self.visitor.is_closed:
            transport.abort()
        else:
            self.data_received(self._first)
        self._first = b""

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self.guard.remove(self.visitor)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read; each part of a request has one deadline, however slowly its bytes arrive."""
        super().data_received(data)
        self._update()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        if not self.transport.is_closing():
            self._update(is_idle=True)

    def pause_writing(self) -> None:
        """Wait for a client that does not read."""
        super().pause_writing()
        self._waits_for = "reading"
        self.guard.stall(self.visitor)

    def resume_writing(self) -> None:
        """Continue, now that the client has read."""
        super().resume_writing()
        self.guard.resume(self.visitor)
        self._waits_for = ""
        self._update(is_idle=self.cycle is not None and self.cycle.response_complete)

    def _update(self, *, is_idle: bool = False) -> None:
        if self._waits_for == "reading":
            return
        is_running = self.cycle is not None and not self.cycle.response_complete
        awaited = ("body" if self.cycle.more_body else "") if is_running else "request" if is_idle else "headers"
        if awaited == self._waits_for:
            return
        self._waits_for = awaited
        settings = self.guard.settings
        match awaited:
            case "":
                self.guard.open.serve(self.visitor)
            case "body":
                self.guard.wait(self.visitor, settings.body_timeout)
            case "request":
                self.guard.wait(self.visitor, settings.idle_timeout)
            case _:
                self.guard.wait(self.visitor, settings.header_timeout)


class AnonymousTurns:
    """Let requests of anonymous clients be computed at most so many at a time and so many per second.
    Users find free threads and processor time, whatever strangers ask for."""

    def __init__(self, settings: WebSettings, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._turns = asyncio.Semaphore(settings.anonymous_requests)
        self._gap_s = 1 / settings.anonymous_rate
        self._clock = clock
        self._next_s = 0.0
        self._body_bytes = 0

    async def run(self, app: ASGIApp, scope: AsgiScope, receive: Receive, send: Send) -> bool:
        """Run the application when it is its turn; return False if that takes too long.
        A client that is slow to send its body does not use up a turn."""
        now = self._clock()
        start_s = max(self._next_s, now - RATE_BURST_S) + self._gap_s
        if start_s > now + TURN_TIMEOUT_S:
            return False
        self._next_s = start_s
        if start_s > now:
            await asyncio.sleep(start_s - now)
        try:
            async with asyncio.timeout(TURN_TIMEOUT_S):
                await self._turns.acquire()
        except TimeoutError:
            return False
        has_turn, received = True, 0

        async def receive_aside() -> Message:
            nonlocal has_turn, received
            has_turn = False
            self._turns.release()
            message = await receive()
            size = len(message.get("body", b""))
            received += size
            self._body_bytes += size
            await self._turns.acquire()
            has_turn = True
            is_too_much = received > SMALL_BODY_BYTES and self._body_bytes > MAX_ANONYMOUS_BODY_BYTES
            return {"type": "http.disconnect"} if is_too_much else message

        try:
            await app(scope, receive_aside if scope["method"] == "POST" else receive, send)
        finally:
            self._body_bytes -= received
            if has_turn:
                self._turns.release()
        return True
