"""An HTTP and a SOCKS5 proxy on loopback, with user name and password, that log what they were asked for."""

from __future__ import annotations

import asyncio
import base64
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

USER, PASSWORD = "proxy-user", "proxy-s3cret"


class LoggingProxy:
    """One proxy. `asked` has the targets of requests with the right password, `refused` counts the others."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.port = 0
        self.asked: list[str] = []
        self.refused = 0

    def url(self, *, password: str = PASSWORD) -> str:
        return f"{self.kind}://{USER}:{password}@127.0.0.1:{self.port}"

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError, OSError):
            await (self._socks(reader, writer) if self.kind.startswith("socks5") else self._http(reader, writer))
        writer.close()

    async def _http(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        method, target, _ = head.split(b"\r\n", 1)[0].decode().split(" ")
        login = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        if f"Proxy-Authorization: Basic {login}".encode() not in head:
            self.refused += 1
            writer.write(b"HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n")
            return
        self.asked.append(f"{method} {target}")
        if method == "CONNECT":
            host, _, port = target.rpartition(":")
            await self._relay(reader, writer, host, int(port), b"", b"HTTP/1.1 200 OK\r\n\r\n")
            return
        site, _, path = target.removeprefix("http://").partition("/")
        host, _, port = site.partition(":")
        lines = [line for line in head.split(b"\r\n") if not line.startswith(b"Proxy-Authorization")]
        lines[0] = f"{method} /{path} HTTP/1.1".encode()
        lines.insert(1, b"Connection: close")
        await self._relay(reader, writer, host, int(port or 80), b"\r\n".join(lines), b"")

    async def _socks(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, count = await reader.readexactly(2)
        await reader.readexactly(count)
        writer.write(b"\x05\x02")
        _, length = await reader.readexactly(2)
        user = await reader.readexactly(length)
        password = await reader.readexactly((await reader.readexactly(1))[0])
        is_right = (user, password) == (USER.encode(), PASSWORD.encode())
        writer.write(b"\x01\x00" if is_right else b"\x01\x01")
        if not is_right:
            self.refused += 1
            return
        kind = (await reader.readexactly(4))[3]
        if kind == 3:
            host = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
        else:
            host = ".".join(map(str, await reader.readexactly(4)))
        port = int.from_bytes(await reader.readexactly(2), "big")
        self.asked.append(f"{host}:{port}")
        await self._relay(reader, writer, host, port, b"", b"\x05\x00\x00\x01\0\0\0\0\0\0")

    async def _relay(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        host: str,
        port: int,
        first: bytes,
        reply: bytes,
    ) -> None:
        # Names end in .test; all of them are on this machine.
        theirs, ours = await asyncio.open_connection("127.0.0.1" if host.endswith(".test") else host, port)
        writer.write(reply)
        ours.write(first)
        await asyncio.gather(_copy(theirs, writer), _copy(reader, ours))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError, OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    with suppress(ConnectionError, OSError):
        writer.close()


@contextmanager
def proxy_server(kind: str) -> Iterator[LoggingProxy]:
    """Run a proxy in a thread until the block ends."""
    proxy, loop = LoggingProxy(kind), asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(proxy.handle, "127.0.0.1", 0))
    proxy.port = server.sockets[0].getsockname()[1]
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0.05))
        loop.close()
