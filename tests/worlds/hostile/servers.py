"""Servers that misbehave on purpose: raw bytes over loopback, as a description says."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import gzip
import random
import ssl
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import brotli
import zstandard
from isal import isal_zlib

SPEED = 40
"""How many times faster than described slow servers send, to keep tests short."""
Play = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Hostile:
    """A running server: its port, the request heads it received, and the number of connections."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.heads: list[bytes] = []
        self.connections = 0


@contextlib.asynccontextmanager
async def serving(
    spec: dict[str, Any], *, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1"
) -> AsyncIterator[Hostile]:
    """Run a server that responds to every request as described."""
    async with playing(lambda seen: _play(spec, seen), tls=tls, host=host) as seen:
        yield seen


@contextlib.asynccontextmanager
async def playing(
    make: Callable[[Hostile], Play], *, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1"
) -> AsyncIterator[Hostile]:
    """Run a server whose connections a given function handles."""
    seen = Hostile(0)
    tasks: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.connections += 1
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await make(seen)(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass  # the client went away, or the test is over
        finally:
            tasks.discard(task)
            writer.transport.abort()

    server = await asyncio.start_server(connected, host, 0, ssl=tls)
    seen.port = server.sockets[0].getsockname()[1]
    try:
        yield seen
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()


def _play(spec: dict[str, Any], seen: Hostile) -> Play:
    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            seen.heads.append(await reader.readuntil(b"\r\n\r\n"))
            if not await respond(spec, writer):
                return

    return play


async def respond(spec: dict[str, Any], writer: asyncio.StreamWriter) -> bool:
    """Send one response as described; return False if that ends the connection."""
    if "steps" in spec:
        await _take_steps(spec["steps"], writer)
        return False
    if "raw" in spec:
        writer.write(spec["raw"].encode("latin-1"))
        await writer.drain()
        writer.close()
        await writer.wait_closed()
        return False
    writer.write(answer_of(spec))
    await writer.drain()
    return True


async def _take_steps(steps: list[dict[str, Any]], writer: asyncio.StreamWriter) -> None:
    for step in steps:
        if "send" in step:
            writer.write(step["send"].encode("latin-1"))
            await writer.drain()
        elif "drip" in step:
            while True:
                writer.write(step["drip"].encode())
                await writer.drain()
                await asyncio.sleep(step["every_s"] / SPEED)
        elif "stream" in step:
            await _stream(step["stream"].encode() * 1000, writer)
        elif "chunks" in step:
            size = step["size"]
            await _stream((b"%x\r\n" % size + step["chunks"].encode() * size + b"\r\n") * 20, writer)
        elif "pause" in step:
            await asyncio.sleep(step["pause"])
        elif "hang" in step:
            await asyncio.Event().wait()


async def _stream(block: bytes, writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(block)
        await writer.drain()


def answer_of(spec: dict[str, Any]) -> bytes:
    """Return a well-framed response with the described status, headers and body."""
    status = spec.get("status", 200)
    body = body_of(spec)
    fields = list(spec.get("headers", {}).items()) + [tuple(pair) for pair in spec.get("headers_list", [])]
    fields += [(name, value.encode().decode("unicode_escape")) for name, value in spec.get("headers_raw", {}).items()]
    fields += _made_headers(spec.get("header_gen", {}))
    fields.append(("Content-Length", str(len(body))))
    if "content-type" not in {name.lower() for name, _ in fields}:
        fields.append(("Content-Type", "text/html"))
    lines = [f"HTTP/1.1 {status} X", *(f"{name}: {_dated(value)}" for name, value in fields)]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def _dated(value: str) -> str:
    if value == "<now>":
        return format_datetime(datetime.now(UTC), usegmt=True)
    if value.startswith("<HTTP date in "):
        seconds = int(value.split()[3])
        return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)
    return value


def _made_headers(spec: dict[str, Any]) -> list[tuple[str, str]]:
    if "count" in spec:
        return [(f"X-{number}", "v") for number in range(spec["count"])]
    if "set_cookie" in spec:
        return [("Set-Cookie", f"c{number}=v; Path=/") for number in range(spec["set_cookie"])]
    if "set_cookie_bytes" in spec:
        return [("Set-Cookie", "c=" + "v" * spec["set_cookie_bytes"])]
    return []


def body_of(spec: dict[str, Any]) -> bytes:
    """Return the bytes of a described body."""
    if "body_b64" in spec:
        return base64.b64decode(spec["body_b64"])
    if "body_gen" in spec:
        return _made_body(spec["body_gen"])
    if "size" in spec:
        return b"PK\x03\x04" + bytes(spec["size"] - 4)
    text = spec.get("body", "" if spec.get("status") == 304 else "<html>page</html>")
    noise = random.Random(1)
    if text == "gzip member + 100 random bytes":
        return gzip.compress(b"<html>page</html>") + b"\xff" + noise.randbytes(99)
    if text == "1 MB random bytes":
        return noise.randbytes(1_000_000)
    return str(text).encode()


def _made_body(spec: dict[str, Any]) -> bytes:
    if "decoded_bytes" in spec:
        return bomb(spec["coding"], spec["decoded_bytes"])
    if "attributes" in spec:
        return b"<p " + b"".join(b"a%d=1 " % number for number in range(spec["attributes"])) + b">"
    if "text_bytes" in spec:
        return b"x" * spec["text_bytes"]
    if "nested" in spec:
        return spec["nested"].encode() * spec["levels"]
    if "bytes" in spec:
        return spec["prefix"].encode() + spec["filler"].encode() * (spec["bytes"] // len(spec["filler"]))
    return str(spec["filler"]).encode()


def bomb(coding: str, decoded_bytes: int) -> bytes:
    """Return compressed zero bytes, as small as the coding allows."""
    block = bytes(1024 * 1024)
    blocks = decoded_bytes // len(block)
    if coding in ("gzip", "deflate"):
        press = isal_zlib.compressobj(1, zlib.DEFLATED, 31 if coding == "gzip" else 15)
        return b"".join([press.compress(block) for _ in range(blocks)]) + press.flush()
    if coding == "br":
        pressed = brotli.Compressor(quality=1)
        return b"".join([pressed.process(block) for _ in range(blocks)]) + pressed.finish()
    packer = zstandard.ZstdCompressor(write_content_size=False).compressobj()
    return b"".join([packer.compress(block) for _ in range(blocks)]) + packer.flush()
