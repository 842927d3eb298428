"""Sites with traps on loopback, crawled by the command: it ends, tells why, and hears the operator."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import pytest

from evercrawl.sim.trapped import HOST, TrappedSite, generator
from evercrawl.sim.trapped_more import MORE_GENERATORS

DEADLINE_S = 90
MOST_FACETS = 2000
MOST_MONTHS = 400


class Served:
    """A virtual site behind a real port, with the paths that it was asked for."""

    def __init__(self, site: TrappedSite) -> None:
        self.site = site
        self.asked: list[str] = []
        self.port = 0
        self._lock = Lock()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pages_asked(self) -> list[str]:
        return [path for path in self.asked if not path.startswith(("/robots.txt", "/sitemap"))]

    @property
    def reached(self) -> set[str]:
        found = {self.site.page_of(HOST + path) for path in self.asked}
        return {name for name in found if name is not None}

    def note(self, path: str) -> None:
        with self._lock:
            self.asked.append(path)


def _asking(served: Served) -> type[BaseHTTPRequestHandler]:
    class Asking(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            served.note(self.path)
            reply = served.site.answer(HOST + self.path)
            status = 404 if self.path.startswith(("/robots.txt", "/sitemap")) else reply.status
            body = reply.html.encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Asking


@contextmanager
def serving(site: TrappedSite) -> Iterator[Served]:
    served = Served(site)
    with ThreadingHTTPServer(("127.0.0.1", 0), _asking(served)) as server:
        server.daemon_threads = True
        served.port = server.server_address[1]
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield served
        finally:
            server.shutdown()
            thread.join()


class Command:
    """The command in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        keep = {name: value for name, value in os.environ.items() if not name.startswith("EVERCRAWL_")}
        home = {"XDG_CONFIG_HOME": str(folder / "config"), "XDG_STATE_HOME": str(folder / "state")}
        self.env = keep | home | {"EVERCRAWL_CONTACT": "test@example.org"}

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "evercrawl", "-C", "trapped", *arguments]
        return subprocess.Popen(
            command, cwd=self.folder, env=self.env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def call(self, *arguments: str, code: int = 0) -> str:
        process = self.start(*arguments)
        out, err = process.communicate(timeout=DEADLINE_S)
        assert process.returncode == code, f"{arguments}: {process.returncode}\n{out}\n{err}"
        return out

    def crawl(self, served: Served, *more: str, code: int = 0) -> dict[str, Any]:
        out = self.call(*_crawl(served), *more, "--json", code=code)
        found: dict[str, Any] = json.loads(out.splitlines()[-1])
        return found

    def lines(self, *arguments: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.call(*arguments, "--json").splitlines()]


def _crawl(served: Served) -> tuple[str, ...]:
    seed = served.origin + served.site.seed.removeprefix(HOST)
    return ("crawl", seed, "--pace", "own", "--allow-private")


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(tmp_path)


def test_a_shop_of_ten_million_lists_is_crawled_to_its_end(command: Command) -> None:
    with serving(generator("facet explosion")) as served:
        summary = command.crawl(served)
        assert summary["skipped"] > 0
        assert len(served.pages_asked) <= MOST_FACETS
        assert len(served.reached) >= 0.95 * served.site.real_pages
        _traps_are_told(command, served)


def _traps_are_told(command: Command, served: Served) -> None:
    rows = command.lines("trap", "list")
    assert {"site", "pattern", "class", "evidence", "requests", "state"} <= set(rows[0])
    fenced = [row for row in rows if row["state"] == "fenced"]
    assert fenced
    assert all(row["site"] == served.origin and row["pattern"].startswith("/shop?") for row in fenced)
    assert all("requests" in row["evidence"] for row in fenced)
    assert "fenced" in command.call("trap", "list")
    (status,) = command.lines("status")
    assert status["traps"][0]["site"] == served.origin
    assert "trap on" in command.call("status")
    refused = next(row for row in command.lines("skipped") if row["reason"] == "trap")
    (why,) = command.lines("why", refused["url"])
    assert (why["outcome"], why["reason"]) == ("rejected", "trap")
    assert "new text" in why["detail"]


def test_a_calendar_without_end_is_left(command: Command) -> None:
    with serving(MORE_GENERATORS["slow calendar"]()) as served:
        command.crawl(served)
        assert len(served.pages_asked) <= MOST_MONTHS
        assert len(served.reached) >= 0.95 * served.site.real_pages
        before = len(served.pages_asked)
        command.crawl(served)
        assert len(served.pages_asked) == before


def test_a_running_crawl_hears_what_is_excluded(command: Command) -> None:
    command.env["EVERCRAWL_TRAPS__ENABLED"] = "false"
    with serving(generator("random word maze")) as served:
        running = command.start(*_crawl(served), "--gap", "0.05", "--json")
        _wait_for(served, 10)
        (effect,) = command.lines("trap", "exclude", "/m/**", "--site", served.origin, "--yes")
        assert effect["done"] is True
        out, err = running.communicate(timeout=DEADLINE_S)
        assert running.returncode == 0, f"{out}\n{err}"
        counts = {row["reason"]: row["count"] for row in command.lines("skipped", "--by", "reason")}
        assert counts["excluded"] > 0
        asked = len(served.pages_asked)
        command.call("trap", "undo", "/m/**", "--site", served.origin)
        command.crawl(served, "--max-pages", "40", code=7)
        assert len(served.pages_asked) > asked


def _wait_for(served: Served, requests: int) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while len(served.pages_asked) < requests:
        assert time.monotonic() < deadline
        time.sleep(0.05)
