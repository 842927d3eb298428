"""Run crawlers that are installed on one generated site and write what a server sees of them.

    python bench/compare.py --bin PEERS/bin [--out research/peers-measured.json]

Two runs each: the whole site without delay (CPU, memory), and twenty pages with the program's defaults (does it ask for
robots.txt, does it keep to it, how many connections at once, how many requests a second). The server is our own and
runs beside them, so the pages per second are not shown; CPU is that of the crawler alone.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PAGES = 400
WORDS = tuple(
    a + b + c for a in ("har", "ti", "fer", "ke", "ro", "sai") for b in ("bo", "de", "ry", "le", "pe") for c in "lmnrst"
)
FULL_LIMIT_S, DEFAULT_LIMIT_S = 120, 15
SPIDER = """
import scrapy
class Site(scrapy.Spider):
    name = "site"
    def __init__(self, url="", **options):
        super().__init__(**options)
        self.start_urls = [url]
    def parse(self, response):
        open("pages.bin", "ab").write(response.body)
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, self.parse)
"""


@dataclass
class Seen:
    """What the server saw in one run."""

    paths: list[str] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    began: float = 0.0
    ended: float = 0.0


def page(number: int, pages: int) -> str:
    """Return a page of about 6 KB with ten links and a text of its own."""
    links = "".join(f'<li><a href="/p/{(number * 7 + k) % pages}">page {k}</a>' for k in range(1, 10))
    words = random.Random(number)
    text = "".join(f"<p>{' '.join(words.choices(WORDS, k=39))}.</p>" for _ in range(23))
    return (
        f'<title>Page {number}</title><h1>Page {number}</h1><ul>{links}<li><a href="/private/{number}">x</a></ul>{text}'
    )


def is_page(path: str, pages: int) -> bool:
    """Whether the site has this page; a crawler may ask for others, to see how errors look."""
    number = path.rpartition("/")[2]
    return path.startswith(("/p/", "/private/")) and number.isdecimal() and int(number) < pages


@contextmanager
def served(pages: int) -> Iterator[tuple[str, Seen]]:
    """Serve the site and note the requests."""
    seen, lock = Seen(), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            with lock:
                seen.began = seen.began or time.monotonic()
                seen.paths.append(self.path)
                seen.at_once += 1
                seen.most_at_once = max(seen.most_at_once, seen.at_once)
            status, kind, text = 200, "text/html", ""
            if self.path == "/robots.txt":
                kind, text = "text/plain", "User-agent: *\nDisallow: /private/\n"
            elif self.path == "/" or is_page(self.path, pages):
                text = page(int(self.path.rpartition("/")[2] or 0), pages)
            else:
                status = 404
            body = text.encode()
            time.sleep(0.002)
            try:
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            finally:
                with lock:
                    seen.at_once -= 1
                    seen.ended = time.monotonic()

        do_HEAD = do_GET

        def log_message(self, *words: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/", seen
    finally:
        server.shutdown()


def commands(folder: Path, programs: Path) -> dict[str, tuple[list[str], list[str]]]:
    """Return for each program the command without delay and the one with its defaults."""
    (folder / "one_site.py").write_text(SPIDER)
    evercrawl = [str(Path(sys.executable).parent / "evercrawl"), "-C", "e", "-q", "crawl", "{url}", "--allow-private"]
    scrapy = [str(programs / "scrapy"), "runspider", "one_site.py", "-a", "url={url}", "--nolog"]
    # The settings of a project that `scrapy startproject` makes.
    project = ["-s", "ROBOTSTXT_OBEY=True", "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=1", "-s", "DOWNLOAD_DELAY=1"]
    httrack = ["httrack", "-q", "-O", "out", "{url}"]
    return {
        "evercrawl": ([*evercrawl, "--pace", "own"], evercrawl),
        "wget": (["wget", "-q", "-r", "-l", "inf", "{url}"], ["wget", "-q", "-r", "{url}"]),
        "wget2": (["wget2", "-q", "-r", "-l", "0", "{url}"], ["wget2", "-q", "-r", "{url}"]),
        "httrack": ([*httrack, "--disable-security-limits", "-c32", "-%c0", "-A0"], httrack),
        "scrapy": (scrapy, [*scrapy, *project]),
    }


def run(command: list[str], folder: Path, url: str, limit_s: float) -> tuple[float, float, bool]:
    """Run a crawler; return its CPU seconds, peak megabytes and whether it had to be ended."""
    words = [word.replace("{url}", url) for word in command]
    env = os.environ | {"EVERCRAWL_CONTACT": "bench@example.org", "XDG_CONFIG_HOME": str(folder / "config")}
    process = subprocess.Popen(
        words, cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    ended = threading.Event()

    def end() -> None:
        ended.set()
        os.killpg(process.pid, signal.SIGKILL)

    timer = threading.Timer(limit_s, end)
    timer.start()
    _, _, usage = os.wait4(process.pid, 0)
    timer.cancel()
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000, ended.is_set()


def measure(name: str, pair: tuple[list[str], list[str]], folder: Path) -> dict[str, object]:
    """Measure one program."""
    with served(PAGES) as (url, seen):
        cpu_s, peak_mb, was_ended = run(pair[0], folder, url, FULL_LIMIT_S)
        pages = len({path for path in seen.paths if path.startswith("/p/") and is_page(path, PAGES)})
    shutil.rmtree(folder / "e", ignore_errors=True)
    shutil.rmtree(folder / "out", ignore_errors=True)
    with served(20) as (url, seen):
        run(pair[1], folder, url, DEFAULT_LIMIT_S)
        seconds = max(0.1, seen.ended - seen.began)
    return {
        "name": name,
        "pages": pages,
        "complete": pages == PAGES and not was_ended,
        "cpu_s_per_1000": round(cpu_s / max(1, pages) * 1000, 2),
        "peak_mb": round(peak_mb),
        "asks_robots": "/robots.txt" in seen.paths,
        "keeps_to_robots": not any(path.startswith("/private/") for path in seen.paths),
        "connections": seen.most_at_once,
        "requests_per_s": round(len(seen.paths) / seconds, 1),
    }


def main() -> None:
    """Measure what is installed and write the results."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=Path, required=True, help="folder with programs installed by pip")
    parser.add_argument("--out", type=Path, default=Path("research/peers-measured.json"))
    options = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as name:
        for peer, pair in commands(Path(name), options.bin).items():
            if shutil.which(pair[0][0]) is None:
                continue
            place = Path(name) / peer
            place.mkdir()
            (place / "one_site.py").write_text(SPIDER)
            found.append(measure(peer, pair, place))
            print(json.dumps(found[-1]), flush=True)
    machine = f"{os.cpu_count()} cores, {platform.machine()}, CPython {platform.python_version()}"
    day = f"{datetime.now(UTC):%Y-%m-%d}"
    options.out.write_text(
        json.dumps({"date": day, "machine": machine, "pages": PAGES, "runs": found}, indent=1) + "\n"
    )


if __name__ == "__main__":
    main()
