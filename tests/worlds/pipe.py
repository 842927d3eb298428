"""A connection without a network: what one end writes, the other reads, in order, within one loop."""

from __future__ import annotations

import asyncio


class PipeWriter:
    """The writing end, as `asyncio.StreamWriter` has it."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._is_open = True

    def write(self, data: bytes) -> None:
        """Bytes for the other side."""
        if not self._is_open:
            raise ConnectionResetError("the pipe is closed")
        self._reader.feed_data(data)

    async def drain(self) -> None:
        """Let the other side have its turn."""
        await asyncio.sleep(0)

    def close(self) -> None:
        """The other side reads to the end and then no more."""
        if self._is_open:
            self._is_open = False
            self._reader.feed_eof()


End = tuple[asyncio.StreamReader, PipeWriter]


def pipe() -> tuple[End, End]:
    """Two ends."""
    there, back = asyncio.StreamReader(), asyncio.StreamReader()
    return (back, PipeWriter(there)), (there, PipeWriter(back))
