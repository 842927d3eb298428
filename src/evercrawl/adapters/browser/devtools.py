"""A client of the Chrome DevTools protocol over `--remote-debugging-pipe`: JSON messages that end with a NUL byte."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from typing import Any

MAX_MESSAGE_BYTES = 256 * 1024 * 1024  # A longer message ends the connection; the largest is a document in JSON.
Params = dict[str, Any]
EventHandler = Callable[[str, Params], None]


class DevToolsError(Exception):
    """The browser refused a command, or is gone."""


class DevTools(asyncio.Protocol):
    """One connection. Answers go to their calls, events to the handler of their session; "" is the browser itself."""

    def __init__(self) -> None:
        self.handlers: dict[str, EventHandler] = {}
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._calls: dict[int, asyncio.Future[Params]] = {}
        self._last_id = 0
        self._received = bytearray()
        self._transports: list[asyncio.BaseTransport] = []
        self._output: asyncio.WriteTransport | None = None

    async def connect(self, read_fd: int, write_fd: int) -> None:
        """Take over both pipes."""
        loop = asyncio.get_running_loop()
        reading, _ = await loop.connect_read_pipe(lambda: self, os.fdopen(read_fd, "rb", 0))
        self._transports.append(reading)
        writing, _ = await loop.connect_write_pipe(asyncio.Protocol, os.fdopen(write_fd, "wb", 0))
        self._transports.append(writing)
        self._output = writing

    async def call(self, method: str, *, session: str = "", **params: Any) -> Params:
        """Send a command and return its result; raise DevToolsError."""
        answer = self.send(method, session=session, **params)
        return await answer

    def send(self, method: str, *, session: str = "", **params: Any) -> asyncio.Future[Params]:
        """Send a command without waiting; a failure that nobody awaits is ignored."""
        answer: asyncio.Future[Params] = asyncio.get_running_loop().create_future()
        answer.add_done_callback(lambda done: done.cancelled() or done.exception())
        if self.closed.done() or self._output is None:
            answer.set_exception(DevToolsError("the browser has ended"))
            return answer
        self._last_id += 1
        self._calls[self._last_id] = answer
        message = {"id": self._last_id, "method": method, "params": params} | (
            {"sessionId": session} if session else {}
        )
        self._output.write(json.dumps(message).encode() + b"\0")
        return answer

    def data_received(self, data: bytes) -> None:
        """Collect bytes and handle every complete message."""
        checked = len(self._received)
        self._received += data
        while (end := self._received.find(b"\0", checked)) >= 0:
            message = bytes(self._received[:end])
            del self._received[: end + 1]
            checked = 0
            self._handle(json.loads(message))
        if len(self._received) > MAX_MESSAGE_BYTES:
            self.close()

    def _handle(self, message: Params) -> None:
        if "id" in message:
            call = self._calls.pop(message["id"], None)
            if call is None or call.done():
                return
            if "error" in message:
                call.set_exception(DevToolsError(str(message["error"].get("message", message["error"]))))
            else:
                call.set_result(message["result"])
        elif handler := self.handlers.get(message.get("sessionId", "")):
            handler(message["method"], message.get("params", {}))

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail every open call."""
        self.close()

    def close(self) -> None:
        """Close both pipes, which also ends the browser."""
        for transport in self._transports:
            transport.close()
        if not self.closed.done():
            self.closed.set_result(None)
        for call in self._calls.values():
            if not call.done():
                call.set_exception(DevToolsError("the browser has ended"))
        self._calls.clear()
