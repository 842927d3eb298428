"""Coordinator, outposts and sites as real processes on loopback, with a network that can be disturbed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import evercrawl
from evercrawl.collection.outposts import OutpostStatus, create_pairing_code, list_outposts
from evercrawl.config import create_collection
from evercrawl.model.listing import VersionSelection
from tests.command_server import start_command

ADDRESSES = ("127.0.0.11", "127.0.0.12", "127.0.0.13")
GAP_S = 0.2
SLACK_S = 0.003
"""Tolerance: the server logs a request when its loop reads it."""
LEASE_S = 1.5


class LoggedRequest(NamedTuple):
    """One request in the sites' log."""

    at: float
    origin: str
    path: str
    agent: str


class Proxy:
    """A TCP proxy in a thread that can stall, cut and slow down connections."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._loop = asyncio.new_event_loop()
        self._writers: set[asyncio.StreamWriter] = set()
        self.is_stalled = False
        self.is_cut = False
        self.bytes_per_second: float | None = None
        self.port = 0
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._ready.wait()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        self._done = asyncio.Event()
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._done.wait()
        server.close()
        self._break()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0.05)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_cut:
            writer.close()
            return
        try:
            there = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.close()
            return
        self._writers |= {writer, there[1]}
        try:
            await asyncio.gather(self._pump(reader, there[1]), self._pump(there[0], writer))
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            for one in (writer, there[1]):
                one.close()
                self._writers.discard(one)

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(2048):
            await self._wait_while_stalled()
            if self.bytes_per_second is not None:
                await asyncio.sleep(len(data) / self.bytes_per_second)
            writer.write(data)
            await writer.drain()
        writer.close()

    async def _wait_while_stalled(self) -> None:
        while self.is_stalled:  # noqa: ASYNC110 - set from another thread
            await asyncio.sleep(0.02)

    def cut(self) -> None:
        """Abort all connections and reject new ones."""
        self.is_cut = True
        self._loop.call_soon_threadsafe(self._break)

    def _break(self) -> None:
        for writer in list(self._writers):
            writer.transport.abort()

    def heal(self) -> None:
        self.is_cut = self.is_stalled = False
        self.bytes_per_second = None

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._done.set)
        self._thread.join(5)


@dataclass
class OutpostSetup:
    """The processes and files of one test."""

    folder: Path
    origins: list[str]
    home_port: int
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def collection(self) -> Path:
        return self.folder / "home"

    def edit(self, **pages: int) -> None:
        """Set how often each page was edited."""
        target = self.folder / "edits.new"
        target.write_text(json.dumps({name.removeprefix("p"): count for name, count in pages.items()}))
        target.replace(self.folder / "edits.json")

    def start(self, *arguments: str, agent: str = "evercrawl") -> subprocess.Popen[str]:
        """Start a command in the background."""
        process = start_command(
            *arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment(agent)
        )
        self.processes.append(process)
        return process

    def crawl_arguments(self, *more: str) -> list[str]:
        own = ["--allow-private", "--gap", str(GAP_S), "--outposts", f"127.0.0.1:{self.home_port}", "--json"]
        return ["-C", str(self.collection), "crawl", *own, *more]

    def make_collection(self) -> None:
        """Create the collection with its seeds."""
        create_collection(self.collection, {"scope.seeds": tuple(f"{origin}/" for origin in self.origins)})

    def code_for_all(self) -> str:
        """Create a code for one outpost that serves all sites."""
        routes = [origin.removeprefix("http://") for origin in self.origins]
        return create_pairing_code(self.collection, name="outposta", routes=routes, valid_for=timedelta(hours=1))

    def code(self, number: int) -> str:
        route = self.origins[number].removeprefix("http://")
        name = f"outpost{'abc'[number]}"
        return create_pairing_code(self.collection, name=name, routes=[route], valid_for=timedelta(hours=1))

    def outpost_arguments(self, number: int, *more: str, port: int | None = None) -> list[str]:
        return [
            "outpost", "run", "--home", f"127.0.0.1:{port or self.home_port}",
            "--allow", self.origins[number].removeprefix("http://"),
            "--state", str(self.folder / f"outpost{number}"), "--allow-private", "--gap", str(GAP_S), *more,
        ]  # fmt: skip

    def start_outpost(self, number: int, *more: str, port: int | None = None) -> subprocess.Popen[str]:
        agent = f"outpost{'abc'[number]}"
        return self.start(*self.outpost_arguments(number, *more, port=port), agent=agent)

    def status(self) -> dict[str, OutpostStatus]:
        return {one.name: one for one in list_outposts(self.collection)}

    def log(self) -> list[LoggedRequest]:
        rows = (line.split(" ", 3) for line in (self.folder / "web.log").read_text().splitlines())
        return [LoggedRequest(float(at), origin, path, agent.split("/")[0]) for at, origin, path, agent in rows]

    def gaps(self) -> list[tuple[float, LoggedRequest, LoggedRequest]]:
        """Return consecutive requests to each site with the time between them."""
        by_site: dict[str, list[LoggedRequest]] = defaultdict(list)
        for one in self.log():
            by_site[one.origin].append(one)
        return [
            (after.at - before.at, before, after)
            for requests in by_site.values()
            for before, after in pairwise(requests)
        ]

    def assert_pace(self) -> None:
        for gap, before, after in self.gaps():
            assert gap >= GAP_S - SLACK_S, (gap, before, after)

    def versions(self) -> dict[str, int]:
        """Return the number of stored versions of each URL."""
        return dict(Counter(row["url"] for row in self.rows()))

    def rows(self) -> list[dict[str, str]]:
        """Return every stored version."""
        file = self.folder / "versions.jsonl"
        selection = VersionSelection(all_versions=True)
        evercrawl.open(self.collection).export("jsonl", file, selection=selection, force=True)
        return [json.loads(line) for line in file.read_text().splitlines()]

    def is_sound(self) -> bool:
        """Check that every stored version can be read."""
        return evercrawl.open(self.collection).verify().is_sound()

    def wait_for(self, condition: object, seconds: float = 20.0) -> None:
        assert callable(condition)
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "the condition was not met in time"
            time.sleep(0.05)


def environment(agent: str) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("EVERCRAWL_")}
    return clean | {
        "EVERCRAWL_CONTACT": "mailto:outpost@example.org",
        "EVERCRAWL_IDENTITY__PRODUCT": agent,
        "EVERCRAWL_OUTPOSTS__LEASE_TIMEOUT": f"{LEASE_S}s",
        "EVERCRAWL_OUTPOSTS__START_TIMEOUT": "30s",
        "EVERCRAWL_PACE__MAX_DELAY": "700ms",
        "EVERCRAWL_PACE__MIN_DELAY": "200ms",
        "EVERCRAWL_ROBOTS__MAX_CRAWL_DELAY": "700ms",
        "EVERCRAWL_SITEMAPS__ENABLED": "false",
    }


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running_sites(folder: Path, *, pages: int, sites: int = 3) -> Iterator[OutpostSetup]:
    """Run the sites; kill all processes at the end."""
    (folder / "edits.json").write_text("{}")
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.e2e.outpost_web", str(folder / "web.log"), str(folder / "edits.json"),
         str(pages), *ADDRESSES[:sites]],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert server.stdout is not None
    found = OutpostSetup(folder, json.loads(server.stdout.readline()), free_port())
    try:
        found.make_collection()
        yield found
    finally:
        for process in [*found.processes, server]:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
