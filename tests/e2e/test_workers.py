"""Several worker processes on one collection: no page lost, one summary, one Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.command_server import start_command

DOMAINS = tuple(f"harbour{number}.example" for number in range(12))
PAGES = 12
"""Pages of each domain, which only pages of other domains link to."""
GAP_S = 0.1
DEADLINE_S = 90


@dataclass
class Web:
    """Twelve domains on one port. Page n of a domain is linked from page n - 1 of the next domain."""

    asked: list[tuple[float, str, str]] = field(default_factory=list)
    port: int = 0
    pages: int = PAGES

    def note(self, host: str, path: str, agent: str) -> None:
        """A request has come."""
        self.asked.append((time.monotonic(), host, path))

    def answer(self, host: str, path: str) -> bytes | None:
        domain = host.partition(":")[0]
        number = 0 if path == "/" else int(path.removeprefix("/p/") or 0) if path.startswith("/p/") else -1
        if domain not in DOMAINS or not 0 <= number < self.pages:
            return None
        other = DOMAINS[(DOMAINS.index(domain) - 1) % len(DOMAINS)]
        link = f'<a href="http://{other}:{self.port}/p/{number + 1}">on</a>' if number + 1 < self.pages else ""
        words = " ".join(f"{domain.partition('.')[0]}word{number}x{step}" for step in range(40))
        return f"<title>{domain} {number}</title><main><p>{words}</p></main>{link}".encode()


@contextmanager
def running(web: Web) -> Iterator[int]:
    class Answering(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            host = self.headers["Host"]
            web.note(host, self.path, self.headers["User-Agent"])
            body = web.answer(host, self.path)
            self.send_response(200 if body is not None else 404)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    server.daemon_threads = True
    web.port = server.server_address[1]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield web.port
    finally:
        server.shutdown()
        server.server_close()


class Crawler:
    """The command with its flags."""

    def __init__(self, folder: Path, web: Web) -> None:
        self.folder = folder
        self.web = web
        keep = {name: value for name, value in os.environ.items() if not name.startswith("EVERCRAWL_")}
        self.env = keep | {
            "XDG_CONFIG_HOME": str(folder / "config"),
            "EVERCRAWL_CONTACT": "test@example.org",
            "EVERCRAWL_SITEMAPS__ENABLED": "false",
        }

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return start_command(
            *("-C", "c.evercrawl", *arguments),
            cwd=self.folder,
            env=self.env,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def crawl(self, *arguments: str) -> subprocess.Popen[str]:
        port = self.web.port
        seeds = [f"http://{domain}:{port}/" for domain in DOMAINS]
        resolve = [part for domain in DOMAINS for part in ("--resolve", f"{domain}:{port}:127.0.0.1")]
        flags = ["--gap", str(GAP_S), "--allow-private", "--json", *resolve]
        return self.start("crawl", *seeds, *flags, "--workers", "3", *arguments)

    def read(self, *arguments: str) -> str:
        out, err = self.start(*arguments).communicate(timeout=DEADLINE_S)
        assert "Traceback" not in err
        return out


@pytest.fixture
def web() -> Iterator[Web]:
    web = Web()
    with running(web):
        yield web


def ended(process: subprocess.Popen[str], *codes: int) -> dict[str, Any]:
    out, err = process.communicate(timeout=DEADLINE_S)
    assert process.returncode in codes, f"{process.returncode}\n{out}\n{err}"
    assert "Traceback" not in err, err
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    return found


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    """The process numbers of the workers that run for a command."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [int(child) for child in children]


def wait_for(web: Web, requests: int) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while len(web.asked) < requests and time.monotonic() < deadline:
        time.sleep(0.02)
    assert len(web.asked) >= requests


def check_pace(web: Web) -> None:
    """The server's log: one site, one request, then its gap."""
    last: dict[str, float] = {}
    for moment, host, _ in sorted(web.asked):
        assert moment - last.get(host, 0.0) >= GAP_S * 0.9, f"{host} was asked twice within its gap"
        last[host] = moment


def pages_in(crawler: Crawler) -> set[str]:
    rows = [json.loads(line) for line in crawler.read("export", "jsonl").splitlines()]
    urls = [row["url"] for row in rows]
    assert len(urls) == len(set(urls)), "a version was stored twice"
    return set(urls)


def every_page(web: Web) -> set[str]:
    front = {f"http://{domain}:{web.port}/" for domain in DOMAINS}
    return front | {f"http://{domain}:{web.port}/p/{n}" for domain in DOMAINS for n in range(1, web.pages)}


def test_links_cross_from_worker_to_worker(tmp_path: Path, web: Web) -> None:
    crawler = Crawler(tmp_path, web)
    summary = ended(crawler.crawl(), 0)
    assert summary["new"] == len(DOMAINS) * PAGES
    assert summary["requests"] == len(web.asked)
    assert pages_in(crawler) == every_page(web)
    check_pace(web)
    again = ended(crawler.crawl(), 0)
    assert (again["fetched"], again["not_needed"]) == (0, len(DOMAINS) * PAGES)


def test_a_limit_holds_for_all_workers_together(tmp_path: Path, web: Web) -> None:
    crawler = Crawler(tmp_path, web)
    summary = ended(crawler.crawl("--max-pages", "40"), 7)
    assert 40 <= summary["fetched"] <= 42, "each other worker may have one page under way"
    summary = ended(crawler.crawl("--max-pages", "none"), 0)
    assert pages_in(crawler) == every_page(web)
    check_pace(web)


def test_ctrl_c_ends_all_workers_and_a_killed_worker_is_replaced(tmp_path: Path, web: Web) -> None:
    crawler = Crawler(tmp_path, web)
    process = crawler.crawl()
    wait_for(web, 40)
    killed = workers_of(process)[1]
    os.kill(killed, signal.SIGKILL)
    wait_for(web, 80)
    assert killed not in workers_of(process)
    assert len(workers_of(process)) == 3
    process.send_signal(signal.SIGINT)
    ended(process, 130)
    ended(crawler.crawl(), 0)
    assert pages_in(crawler) == every_page(web)
    check_pace(web)


def test_workers_stop_without_their_parent(tmp_path: Path, web: Web) -> None:
    crawler = Crawler(tmp_path, web)
    process = crawler.crawl()
    wait_for(web, 30)
    workers = workers_of(process)
    process.kill()
    process.communicate(timeout=DEADLINE_S)
    deadline = time.monotonic() + DEADLINE_S
    while any(Path(f"/proc/{worker}").exists() for worker in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)
    ended(crawler.crawl(), 0)
    assert pages_in(crawler) == every_page(web)
    check_pace(web)
