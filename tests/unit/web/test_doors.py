"""Connections of clients that do not read, and requests for MCP without its token."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from dataclasses import replace
from typing import Any

from evercrawl.model.settings import WebSettings
from evercrawl.web.doors import ConnectionGuard
from evercrawl.web.mcp_server import TokenCheck


class Unread:
    """A connection whose client does not read; counts how often its buffer is looked at."""

    def __init__(self, size: int) -> None:
        self.block = "here"
        self.size = size
        self.looks = 0
        self.is_closed = False

    @property
    def unsent_bytes(self) -> int:
        self.looks += 1
        return self.size

    def abort(self) -> None:
        self.is_closed = True


def guard_with(most: int) -> ConnectionGuard:
    return ConnectionGuard(replace(WebSettings(), max_unsent_bytes=most), clock=lambda: 0.0)


def test_the_longest_unread_responses_are_given_up_first() -> None:
    guard = guard_with(most=25)
    clients = [Unread(10) for _ in range(5)]
    for one in clients:
        guard.accept(one)  # type: ignore[arg-type]
        guard.stall(one)  # type: ignore[arg-type]
    assert [one.is_closed for one in clients] == [True, True, True, False, False]


def test_a_response_larger_than_the_limit_is_sent_if_it_is_the_only_one() -> None:
    guard, one = guard_with(most=25), Unread(1000)
    guard.accept(one)  # type: ignore[arg-type]
    guard.stall(one)  # type: ignore[arg-type]
    assert not one.is_closed


def test_what_was_read_does_not_count() -> None:
    guard = guard_with(most=25)
    clients = [Unread(10) for _ in range(20)]
    for one in clients:
        guard.accept(one)  # type: ignore[arg-type]
        guard.stall(one)  # type: ignore[arg-type]
        guard.resume(one)  # type: ignore[arg-type]
    assert not any(one.is_closed for one in clients)


def test_a_stalled_connection_costs_the_same_however_many_there_are() -> None:
    guard = guard_with(most=1 << 40)
    clients = [Unread(10) for _ in range(300)]
    for one in clients:
        guard.accept(one)  # type: ignore[arg-type]
        guard.stall(one)  # type: ignore[arg-type]
    assert sum(one.looks for one in clients) == len(clients)


def test_mcp_answers_no_websocket_and_no_request_without_the_token() -> None:
    reached: list[str] = []
    sent: list[MutableMapping[str, Any]] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        reached.append(scope["type"])

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    async def receive() -> MutableMapping[str, Any]:
        raise AssertionError("nothing may be read")

    check = TokenCheck(application, "secret")
    for kind, headers in (
        ("websocket", []),
        ("http", []),
        ("http", [(b"authorization", b"Bearer secre")]),
        ("http", [(b"authorization", b"Bearer secret")]),
    ):
        asyncio.run(check({"type": kind, "headers": headers}, receive, send))
    assert reached == ["http"]
    assert [message.get("status") for message in sent if "start" in message["type"]] == [401, 401]
    assert sent[0] == {"type": "websocket.close", "code": 1008}
