"""Frames over a connection: bounded before they are read, sealed, and counted."""

from __future__ import annotations

import asyncio
import socket
import ssl
from typing import Protocol

from evercrawl.outpost.protocol.message import Message, decode_message, encode_message
from evercrawl.outpost.protocol.seal import LENGTH_BYTES, MOST_FRAME_BYTES, FrameSigner, FrameVerifier, NotAuthentic


class ByteReader(Protocol):
    """Where bytes come from, as `asyncio.StreamReader` has it."""

    async def readexactly(self, n: int) -> bytes: ...


class ByteWriter(Protocol):
    """Where bytes go to, as `asyncio.StreamWriter` has it."""

    def write(self, data: bytes) -> None: ...
    async def drain(self) -> None: ...
    def close(self) -> None: ...


TLS_RECORD_BYTES = 22
"""What TLS 1.3 adds to a frame: header, type and tag. It is counted, so that reports are honest."""
KEEP_ALIVE = {"TCP_KEEPIDLE": 60, "TCP_KEEPINTVL": 15, "TCP_KEEPCNT": 4}
"""Seconds of silence before the system asks whether the other side lives, then between asks, and how many."""

CHANNEL_ERRORS = (OSError, EOFError, TimeoutError, ssl.SSLError, NotAuthentic, ValueError)
"""What ends a connection: the network, or words that cannot be believed or understood."""


def enable_keep_alive(connection: socket.socket | None) -> None:
    """Let the system find out, without a word of ours, when the other side is gone, and keep NAT open."""
    if connection is None:
        return
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in KEEP_ALIVE.items():
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


class SecureChannel:
    """One connection, first with plain frames, then sealed ones."""

    def __init__(self, reader: ByteReader, writer: ByteWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._sealer: FrameSigner | None = None
        self._opener: FrameVerifier | None = None
        self._turn = asyncio.Lock()
        self.bytes_in = 0
        self.bytes_out = 0

    def trust(self, sealer: FrameSigner, opener: FrameVerifier) -> None:
        """From now on only sealed frames count."""
        self._sealer, self._opener = sealer, opener

    async def send_plain(self, content: bytes) -> None:
        """A frame without a seal."""
        async with self._turn:
            await self._write(content)

    async def receive_plain(self, most: int) -> bytes:
        """The next frame, of at most so many bytes; NotAuthentic where it announces more."""
        size = int.from_bytes(await self._reader.readexactly(LENGTH_BYTES), "big")
        if size > most:
            raise NotAuthentic(f"a frame of {size} bytes is announced, more than {most}")
        content = await self._reader.readexactly(size)
        self.bytes_in += LENGTH_BYTES + size + TLS_RECORD_BYTES
        return content

    async def send(self, message: Message) -> None:
        """A sealed message, in turn with others."""
        async with self._turn:
            if self._sealer is None:
                raise NotAuthentic("nothing is sent before the other side is known")
            await self._write(self._sealer.seal(encode_message(message)))

    async def receive(self) -> Message:
        """The next message; anything that is not authentic or not understood ends the connection."""
        content = await self.receive_plain(MOST_FRAME_BYTES)
        if self._opener is None:
            raise NotAuthentic("nothing is taken before the other side is known")
        return decode_message(self._opener.open(content))

    async def _write(self, content: bytes) -> None:
        self._writer.write(len(content).to_bytes(LENGTH_BYTES, "big") + content)
        self.bytes_out += LENGTH_BYTES + len(content) + TLS_RECORD_BYTES
        await self._writer.drain()

    def close(self) -> None:
        """End the connection."""
        self._writer.close()
