"""A connection within one event loop, without a network."""

from __future__ import annotations

import asyncio


class PipeWriter:
    """The writing end, like `asyncio.StreamWriter`."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._is_open = True

    def write(self, data: bytes) -> None:
        """Send bytes to the other end."""
        if not self._is_open:
            raise ConnectionResetError("the pipe is closed")
        self._reader.feed_data(data)

    async def drain(self) -> None:
        """Let the other end run."""
        await asyncio.sleep(0)

    def close(self) -> None:
        """Close; the other end reads to the end."""
        if self._is_open:
            self._is_open = False
            self._reader.feed_eof()


End = tuple[asyncio.StreamReader, PipeWriter]


def pipe() -> tuple[End, End]:
    """Return the two ends of a connection."""
    there, back = asyncio.StreamReader(), asyncio.StreamReader()
    return (back, PipeWriter(there)), (there, PipeWriter(back))
