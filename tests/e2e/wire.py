"""A connection between a worker and the database that can be frozen without closing it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

CHUNK_BYTES = 65_536


class Wire:
    """Ports on loopback that lead to others, as long as `flows` is set."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.ports: list[int] = []
        self._loop = loop
        self._flows = asyncio.Event()
        self._flows.set()
        self._servers: list[asyncio.Server] = []
        self._writers: set[asyncio.StreamWriter] = set()

    async def open(self, targets: Sequence[int]) -> None:
        """A port for each target."""
        for target in targets:
            server = await asyncio.start_server(self._leading_to(target), "127.0.0.1", 0)
            self._servers.append(server)
            self.ports.append(server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Nobody is let in any more, and who is in is put out."""
        for server in self._servers:
            server.close()
        for writer in list(self._writers):
            writer.transport.abort()

    def freeze(self) -> None:
        """From now on no byte passes; whoever calls is let wait."""
        self._loop.call_soon_threadsafe(self._flows.clear)

    def thaw(self) -> None:
        """Everything that was held back goes on its way."""
        self._loop.call_soon_threadsafe(self._flows.set)

    def _leading_to(self, target: int) -> Any:
        async def lead(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self._writers.add(writer)
            await self._flows.wait()
            try:
                far_reader, far_writer = await asyncio.open_connection("127.0.0.1", target)
            except OSError:
                writer.transport.abort()
                return
            self._writers.add(far_writer)
            ways = self._pass(reader, far_writer), self._pass(far_reader, writer)
            await asyncio.gather(*ways)

        return lead

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while chunk := await reader.read(CHUNK_BYTES):
                await self._flows.wait()
                writer.write(chunk)
                await writer.drain()
        await self._flows.wait()
        writer.transport.abort()
        self._writers.discard(writer)


class Wires:
    """All wires, in a thread of their own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._wires: list[Wire] = []
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def wire_to(self, targets: Sequence[int]) -> Wire:
        """One more."""
        wire = Wire(self._loop)
        self._wires.append(wire)
        self._wait(wire.open(targets))
        return wire

    def _wait(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    def close(self) -> None:
        """Cut everything."""
        for wire in self._wires:
            self._wait(wire.close())
        self._wait(_end_all_tasks())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()


async def _end_all_tasks() -> None:
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.sleep(0)  # transports that were aborted close their sockets in the next round


@contextmanager
def wires() -> Iterator[Wires]:
    """Wires as long as the block."""
    made = Wires()
    try:
        yield made
    finally:
        made.close()
