"""`evercrawl serve` answers users while strangers hold connections, send slowly or do not read."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from evercrawl.config import create_collection
from tests.command_server import start_command

TOKEN = "a token for the test of doors"
STRANGERS = 1100  # More than the 1,000 connections at which everybody once got status 503.
TIMEOUT_S = 60.0


@contextmanager
def _serve(collection: Path, **settings: str) -> Iterator[tuple[str, int]]:
    create_collection(collection)
    process = start_command(
        *("-C", str(collection), "serve", "--port", "0", "--json", "--no-open", "--token", TOKEN),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | {f"EVERCRAWL_WEB__{name.upper()}": value for name, value in settings.items()},
    )
    assert process.stdout is not None
    try:
        parts = urlsplit(json.loads(process.stdout.readline())["address"])
        yield parts.netloc, parts.port or 0
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)
        process.stdout.close()


def _knock(port: int, said: bytes, *, source: int = 1) -> socket.socket:
    client = socket.create_connection(("127.0.0.1", port), TIMEOUT_S, source_address=(f"127.0.0.{source}", 0))
    client.sendall(said)
    return client


def _status(netloc: str, port: int, head: str) -> int:
    with _knock(port, f"{head}\r\nHost: {netloc}\r\nConnection: close\r\n\r\n".encode()) as client:
        return int(client.makefile("rb").readline().split()[1])


def _user_status(netloc: str, port: int) -> int:
    return _status(netloc, port, f"GET /live HTTP/1.1\r\nAuthorization: Bearer {TOKEN}")


ATTACKS = {
    "silent": b"",
    "headers": b"GET / HTTP/1.1\r\nX-Slow: ",
    "body": b"POST /login HTTP/1.1\r\nHost: %b\r\nContent-Length: 5000\r\n\r\nx",
}


@pytest.mark.parametrize("sources", [1, 20])
@pytest.mark.parametrize("attack", ATTACKS)
def test_users_are_answered_among_strangers(tmp_path: Path, attack: str, sources: int) -> None:
    with _serve(tmp_path / "c.evercrawl") as (netloc, port), ExitStack() as stack:
        said = ATTACKS[attack].replace(b"%b", netloc.encode())
        for number in range(STRANGERS):
            stack.enter_context(_knock(port, said, source=1 + number % sources))
        assert _user_status(netloc, port) == 200
        assert _status(netloc, port, "GET /login HTTP/1.1") in (200, 503)  # Who is not logged in may have to wait.


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("header_timeout", b""),
        ("header_timeout", b"GET / HTTP/1.1\r\nX-Slow: "),
        ("body_timeout", ATTACKS["body"]),
        ("idle_timeout", b"GET /healthz HTTP/1.1\r\nHost: %b\r\n\r\n"),
    ],
)
def test_slow_clients_are_disconnected(tmp_path: Path, setting: str, said: bytes) -> None:
    with _serve(tmp_path / "c.evercrawl", **{setting: "0.2 s"}) as (netloc, port):
        with _knock(port, said.replace(b"%b", netloc.encode())) as client:
            while client.recv(65536):
                pass
        assert _user_status(netloc, port) == 200
