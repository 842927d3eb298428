"""Does `evercrawl serve` answer users while 10,000 slow or half-open connections knock at its door?

    python bench/doors.py [CONNECTIONS [SECONDS]]

Each kind of attack keeps so many connections open from one address and from 50, and opens closed ones again, at most
1,000 a second; a user with a token asks for the overview, each time over a new connection. Prints one JSON object per
attack.
"""

from __future__ import annotations

import errno
import json
import os
import resource
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import Event, Process, Value
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import evercrawl
from evercrawl.config import create_collection

TOKEN = "a token for the benchmark of doors"
CONNECTIONS, SECONDS = 10_000, 15.0
PAUSE_S = 0.1
SETTLING_S = 4.0
PER_TURN = 200  # Connections to open before the others are looked at.
REOPENED_PER_S = 1000
ATTACKS = {
    "silent": b"",
    "headers": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ",  # Then one byte after the other.
    "body": b"POST /login HTTP/1.1\r\nHost: %b\r\nContent-Length: 50000\r\n\r\n",
    "unread": b"GET /static/style.css HTTP/1.1\r\nHost: %b\r\n\r\n" * 40,
}


def attack(port: int, kind: str, addresses: int, wanted: int, counts: Any, opened: Any, stop: Any) -> None:
    """Keep `wanted` connections open until told to stop."""
    chosen = selectors.DefaultSelector()
    waiting: deque[socket.socket] = deque()
    first = ATTACKS[kind].replace(b"%b", f"127.0.0.1:{port}".encode())
    total, is_read, began = 0, kind != "unread", time.monotonic()
    while not stop.is_set():
        allowed = wanted + int((time.monotonic() - began) * REOPENED_PER_S) - total
        for _ in range(min(PER_TURN, allowed, wanted - len(chosen.get_map()))):
            client = socket.socket()
            client.setblocking(False)
            with suppress(OSError):
                client.bind((f"127.0.0.{1 + total % addresses}", 0))
            total += 1
            if client.connect_ex(("127.0.0.1", port)) not in (0, errno.EINPROGRESS):
                client.close()
                continue
            chosen.register(client, selectors.EVENT_WRITE)
        for key, events in chosen.select(0.01):
            client = key.fileobj  # type: ignore[assignment]
            try:
                if events & selectors.EVENT_WRITE:
                    client.send(first or b"")
                    chosen.modify(client, selectors.EVENT_READ)
                    waiting.append(client)
                elif not client.recv(65536 if is_read else 1):
                    raise ConnectionError
            except (BlockingIOError, InterruptedError):
                pass
            except OSError:
                chosen.unregister(client)
                client.close()
        if kind in ("headers", "body"):
            for _ in range(min(PER_TURN, len(waiting))):
                client = waiting.popleft()
                with suppress(OSError):
                    client.send(b"x")
                    waiting.append(client)
        counts.value, opened.value = len(chosen.get_map()), total


@contextmanager
def serving(folder: Path) -> Iterator[tuple[int, str]]:
    """Serve an empty collection; give the process and the address."""
    create_collection(folder)
    command = [sys.executable, "-P", "-m", "evercrawl", "-C", str(folder), "serve", "--port", "0", "--json"]
    process = subprocess.Popen(
        [*command, "--no-open", "--token", TOKEN], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    try:
        yield process.pid, json.loads(process.stdout.readline())["address"]
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)


def ask(address: str) -> tuple[float, int]:
    """Ask for the overview over a new connection; return the seconds and the status, 0 if there is no answer."""
    parts = urlsplit(address)
    began = time.monotonic()
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=10) as client:
            client.sendall(
                f"GET / HTTP/1.1\r\nHost: {parts.netloc}\r\nAuthorization: Bearer {TOKEN}\r\n"
                "Connection: close\r\n\r\n".encode()
            )
            answer = b""
            while part := client.recv(65536):
                answer += part
        return time.monotonic() - began, int(answer.split(b" ", 2)[1]) if answer else 0
    except OSError:
        return time.monotonic() - began, 0


def measure(address: str, pid: int, kind: str, addresses: int, wanted: int, seconds: float) -> dict[str, Any]:
    """Ask as a user during one attack."""
    stop, counts, opened = Event(), Value("i", 0), Value("i", 0)
    port = urlsplit(address).port
    attacker = Process(target=attack, args=(port, kind, addresses, wanted, counts, opened, stop))
    attacker.start()
    time.sleep(SETTLING_S)
    times, statuses, most = [], [], 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        took, status = ask(address)
        times.append(took)
        statuses.append(status)
        most = max(most, counts.value)
        time.sleep(PAUSE_S)
    stop.set()
    attacker.join()
    times.sort()
    return {
        "attack": kind,
        "addresses": addresses,
        "connections": most,
        "opened": opened.value,
        "server_files": len(os.listdir(f"/proc/{pid}/fd")),
        "server_mb": int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize() // 2**20,
        "asked": len(times),
        "answered": statuses.count(200),
        "median_s": round(times[len(times) // 2], 3),
        "max_s": round(times[-1], 3),
    }


def main() -> None:
    """Run every attack from one address and from 50."""
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else CONNECTIONS
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else SECONDS
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    print(json.dumps({"evercrawl": evercrawl.__version__, "cpus": os.cpu_count()}))
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder) / "c.evercrawl") as (pid, address):
        quiet = sorted(ask(address)[0] for _ in range(20))
        print(json.dumps({"attack": None, "median_s": round(quiet[10], 3), "max_s": round(quiet[-1], 3)}), flush=True)
        for kind in ATTACKS:
            for addresses in (1, 50):
                print(json.dumps(measure(address, pid, kind, addresses, wanted, seconds)), flush=True)


if __name__ == "__main__":
    main()
