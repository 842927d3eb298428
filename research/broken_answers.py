"""Time a crawl and a refresh of twelve loopback sites on which one answer in twenty is broken, slow or throttled.
Also crawls a server with four threads, and one with five pages that never answer: `python -m research.broken_answers`.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from socketserver import TCPServer
from typing import Any, ClassVar

SITES, PAGES, ONE_IN = 12, 25, 20
LATENCY_S = 0.02
FAULTS = ("healthy", "drop", "cut", "500", "503", "429", "429-after-1", "slow", "drop-page", "500-page")


class Site:
    """What one server counts and how it answers."""

    def __init__(self, *, pages: int, fault: str, seed: int, latency_s: float = LATENCY_S) -> None:
        self.pages, self.fault, self.seed, self.latency_s = pages, fault, seed, latency_s
        self.random = Random(seed)
        self.asked: Counter[str] = Counter()
        self.lock = threading.Lock()
        self.now = self.most = 0

    def is_broken(self, path: str) -> bool:
        """Return whether this answer is one of the broken ones; `-page`: always the same pages."""
        if self.fault in ("healthy", "hang") or path in ("/", "/robots.txt"):
            return False
        if self.fault.endswith("-page"):
            return hash_of(path) % ONE_IN == 0
        return self.random.randrange(ONE_IN) == 0


def hash_of(path: str) -> int:
    """Return a number that depends only on the path."""
    return sum(ord(letter) * place for place, letter in enumerate(path, 3))


class Handler(BaseHTTPRequestHandler):
    """Serves one `Site`."""

    protocol_version = "HTTP/1.1"
    site: ClassVar[Site]

    def log_message(self, *_: Any) -> None:
        """Log nothing."""

    def do_GET(self) -> None:
        """Answer, well or badly."""
        site = self.site
        with site.lock:
            site.asked[self.path] += 1
            site.now += 1
            site.most = max(site.most, site.now)
            broken = site.is_broken(self.path)
        try:
            self._answer(site, broken=broken)
        finally:
            with site.lock:
                site.now -= 1

    def _answer(self, site: Site, *, broken: bool) -> None:
        time.sleep(site.latency_s)
        fault = site.fault.removesuffix("-page")
        if self.path.startswith("/hang"):
            time.sleep(40)
        if not broken or fault == "slow":
            time.sleep(2.0 if broken else 0.0)
            self._send(*self._page(site))
        elif fault == "drop":
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        elif fault == "cut":
            self._send(200, b"<p>half", claimed=5000)
            self.close_connection = True
        else:
            status, _, after = fault.partition("-after-")
            self._send(int(status), b"no", after=after)

    def _page(self, site: Site) -> tuple[int, bytes]:
        if self.path == "/":
            links = "".join(f"<a href='/p/{number}'>{number}</a> " for number in range(1, site.pages))
            links += "".join(f"<a href='/hang/{number}'>h</a> " for number in range(5 if site.fault == "hang" else 0))
            return 200, f"<title>home</title><main>{links}</main>".encode()
        if self.path.startswith("/p/"):
            words = " ".join(str(Random(f"{site.seed}{self.path}{place}").random()) for place in range(60))
            return 200, f"<title>{self.path}</title><main><p>{words}</main>".encode()
        return 404, b"no"

    def _send(self, status: int, body: bytes, *, claimed: int | None = None, after: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(claimed or len(body)))
        if after:
            self.send_header("Retry-After", after)
        self.end_headers()
        self.wfile.write(body)


class FourThreads(TCPServer):
    """A server with four threads; a kept-alive connection occupies one until it is closed."""

    allow_reuse_address, request_queue_size = True, 64

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._threads = ThreadPoolExecutor(4)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Let the next free thread serve the connection."""
        self._threads.submit(self._serve, request, client_address)

    def _serve(self, request: Any, client_address: Any) -> None:
        self.finish_request(request, client_address)
        self.shutdown_request(request)


def serve(site: Site, server: Callable[..., Any] = ThreadingHTTPServer) -> str:
    """Start a server for a site; return its origin."""
    handler = type("SiteHandler", (Handler,), {"site": site})
    running = server(("127.0.0.1", 0), handler)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{running.server_address[1]}"


def crawl(folder: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    """Run a crawl; return its exit code and summary."""
    command = [sys.executable, "-m", "evercrawl", "-C", str(folder), "-q", "crawl", "--json", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    return done.returncode, json.loads(done.stdout.splitlines()[-1])


def time_sites(fault: str) -> str:
    """Crawl and refresh the sites; return a row of the table."""
    sites = [Site(pages=PAGES, fault=fault, seed=seed) for seed in range(SITES)]
    origins = [serve(site) + "/" for site in sites]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "c"
        first = crawl(folder, *origins, "--pace", "own", "--allow-private")
        second = crawl(folder, "--refresh", "--pace", "own", "--allow-private")
    cells = [
        f"{code} | {found['seconds']:.1f} s | {found['requests']} | {found['errors']} | {found['remaining']}"
        for code, found in (first, second)
    ]
    return f"| {fault} | {cells[0]} | {cells[1]} |"


def time_one(name: str, site: Site, server: Callable[..., Any]) -> str:
    """Crawl one server; return a row of the table."""
    origin = serve(site, server)
    with tempfile.TemporaryDirectory() as folder:
        code, found = crawl(Path(folder) / "c", origin + "/", "--pace", "own", "--allow-private", *sys.argv[2:])
    reached = sum(path.startswith("/p/") for path in site.asked)
    return (
        f"| {name} | {code} | {found['seconds']:.1f} s | {found['requests']} | {found['errors']} "
        f"| {found['remaining']} | {reached} | {site.most} |"
    )


def main() -> None:
    """Print the tables."""
    wanted = sys.argv[1].split(",") if len(sys.argv) > 1 else [*FAULTS, "four", "hang"]
    print("| one answer in 20 | exit | time | requests | errors | left | exit | refresh | requests | errors | left |")
    for fault in wanted:
        if fault in FAULTS:
            print(time_sites(fault), flush=True)
    print("| server | exit | time | requests | errors | left | pages | most at once |")
    if "four" in wanted:
        print(
            time_one("four threads", Site(pages=500, fault="healthy", seed=1, latency_s=0.3), FourThreads), flush=True
        )
    if "hang" in wanted:
        print(
            time_one("five hang", Site(pages=400, fault="hang", seed=1, latency_s=0.25), ThreadingHTTPServer),
            flush=True,
        )


if __name__ == "__main__":
    main()
