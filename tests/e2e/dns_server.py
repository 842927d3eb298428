"""A small name server on loopback with configurable answers that counts its queries."""

from __future__ import annotations

import asyncio
import contextlib
import struct
from collections.abc import AsyncIterator
from ipaddress import IPv4Address, ip_address
from typing import cast

A, AAAA = 1, 28
NO_ERROR, NO_SUCH_NAME = 0, 3


class NameServer(asyncio.DatagramProtocol):
    """Answers from `answers`: for each name the sets of addresses, one per look-up, the last for ever."""

    def __init__(self, answers: dict[str, list[list[str]]], *, ttl: int, silent: frozenset[str]) -> None:
        self.answers = answers
        self.ttl = ttl
        self.silent = silent
        self.asked: dict[str, int] = {}
        """Look-ups of A records by name."""
        self.address = ""
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)
        self.address = "127.0.0.1:{}".format(transport.get_extra_info("sockname")[1])

    def close(self) -> None:
        """Let the port go."""
        if self._transport is not None:
            self._transport.close()

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        name, kind, question = _read_question(data)
        if kind == A:
            self.asked[name] = self.asked.get(name, 0) + 1
        if name in self.silent:
            return
        assert self._transport is not None
        self._transport.sendto(self._reply(data[:2], name, kind, question), addr)

    def _reply(self, number: bytes, name: str, kind: int, question: bytes) -> bytes:
        sets = self.answers.get(name)
        found: list[str] = []
        if sets:
            found = sets[min(max(self.asked.get(name, 1), 1) - 1, len(sets) - 1)]
        records = [_record(ip, self.ttl) for ip in found if (A if _is_v4(ip) else AAAA) == kind]
        code = NO_ERROR if sets is not None else NO_SUCH_NAME
        return number + struct.pack(">HHHHH", 0x8180 | code, 1, len(records), 0, 0) + question + b"".join(records)


def _is_v4(ip: str) -> bool:
    return isinstance(ip_address(ip), IPv4Address)


def _record(ip: str, ttl: int) -> bytes:
    packed = ip_address(ip).packed
    return b"\xc0\x0c" + struct.pack(">HHIH", A if len(packed) == 4 else AAAA, 1, ttl, len(packed)) + packed


def _read_question(data: bytes) -> tuple[str, int, bytes]:
    labels, at = [], 12
    while data[at]:
        labels.append(data[at + 1 : at + 1 + data[at]].decode())
        at += 1 + data[at]
    end = at + 5
    return ".".join(labels).lower(), int.from_bytes(data[at + 1 : at + 3], "big"), data[12:end]


@contextlib.asynccontextmanager
async def name_server(
    answers: dict[str, list[list[str]]], *, ttl: int = 60, silent: frozenset[str] = frozenset()
) -> AsyncIterator[NameServer]:
    """A running name server; `address` is what `dns.servers` takes."""
    loop = asyncio.get_running_loop()
    transport, server = await loop.create_datagram_endpoint(
        lambda: NameServer(answers, ttl=ttl, silent=silent), local_addr=("127.0.0.1", 0)
    )
    try:
        yield server
    finally:
        transport.close()
        await asyncio.sleep(0)
