"""A simulated site on a real port, and the command that crawls it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from tests.command_server import start_command
from tests.worlds.traps.sites import HOST, TrapSite

DEADLINE_S = 300


class Served:
    """A simulated site on a real port, with the requested paths."""

    def __init__(self, site: TrapSite) -> None:
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
            if reply.location:
                self.send_header("Location", reply.location)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Asking


@contextmanager
def serving(site: TrapSite) -> Iterator[Served]:
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
    """Run the command in its own folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        keep = {name: value for name, value in os.environ.items() if not name.startswith("EVERCRAWL_")}
        home = {"XDG_CONFIG_HOME": str(folder / "config"), "XDG_STATE_HOME": str(folder / "state")}
        self.env = keep | home | {"EVERCRAWL_CONTACT": "test@example.org"}

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return start_command(
            *("-C", "trapped", *arguments),
            cwd=self.folder,
            env=self.env,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def call(self, *arguments: str, code: int = 0) -> str:
        process = self.start(*arguments)
        out, err = process.communicate(timeout=DEADLINE_S)
        assert process.returncode == code, f"{arguments}: {process.returncode}\n{out}\n{err}"
        return out

    def crawl(self, served: Served, *more: str, code: int = 0) -> dict[str, Any]:
        out = self.call(*crawl_arguments(served), *more, "--json", code=code)
        found: dict[str, Any] = json.loads(out.splitlines()[-1])
        return found

    def lines(self, *arguments: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.call(*arguments, "--json").splitlines()]


def crawl_arguments(served: Served) -> tuple[str, ...]:
    seed = served.origin + served.site.seed.removeprefix(HOST)
    return ("crawl", seed, "--pace", "own", "--allow-private")
