"""Sitemaps, validators and the schedule on a real server, checked by its log."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from evercrawl.cli.terminal import ExitCode
from tests.e2e.test_cli import Place
from tests.worlds.demo_web import DemoWeb

PAPER_PAGES = (
    "home", "about", "teaching", "research", "results", "students", "staff", "library", "placement", "hostel",
    "sports", "contact", "admission",
)  # fmt: skip
"""The 13 pages of paper C's example."""
UPDATED = ("teaching", "results", "placement")
NEW = "alumni"


@dataclass
class College:
    """A site whose pages, sitemap and validators the test sets; it writes down what is asked for."""

    versions: dict[str, int] = field(default_factory=dict)
    updated_ms: dict[str, int] = field(default_factory=dict)
    sitemap: str = "extended"
    etags: str = "none"
    cache_control: str | None = None
    asked: list[tuple[str, int]] = field(default_factory=list)

    def put(self, name: str) -> None:
        """A page is new, or changes."""
        self.versions[name] = self.versions.get(name, 0) + 1
        self.updated_ms[name] = int(time.time() * 1000)

    def page(self, name: str) -> bytes:
        links = "".join(f'<a href="/{other}">{other}</a> ' for other in self.versions)
        words = " ".join(f"{name}{number}" for number in range(30))
        news = f"In edition {'x' * self.versions[name]} the college tells what is new about {name}."
        return f"<title>{name}</title><main><p>{words}</p><p>{news}</p></main><nav>{links}</nav>".encode()

    def answer(self, target: str, headers: dict[str, str]) -> tuple[int, bytes, str, str | None]:
        path, _, query = target.partition("?")
        name = path.strip("/") or "home"
        if path == "/sitemap.xml" and self.sitemap == query.lower().replace("xtnd", "extended"):
            rows = "".join(
                f"<PAGE><ANCHOR_TEXT>{page}</ANCHOR_TEXT><URL>http://{headers['host']}/{page}</URL>"
                f"<LAST_UPDATED>{moment}</LAST_UPDATED></PAGE>"
                for page, moment in self.updated_ms.items()
            )
            return 200, f"<EXTENDED_SITEMAP>{rows}</EXTENDED_SITEMAP>".encode(), "application/xml", None
        if name not in self.versions:
            return 404, b"no", "text/plain", None
        etag = None
        if self.etags != "none":
            etag = '"always"' if self.etags == "lying" else f'"{name}-{self.versions[name]}"'
        if etag is not None and headers.get("if-none-match") == etag:
            return 304, b"", "text/html", etag
        return 200, self.page(name), "text/html", etag

    def asked_pages(self) -> list[str]:
        """Paths of pages since the last call, without robots.txt and sitemaps."""
        paths = [path for path, _ in self.asked if not path.startswith(("/robots.txt", "/sitemap"))]
        self.asked.clear()
        return paths


@contextmanager
def running(college: College) -> Iterator[int]:
    class Answering(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, body, kind, etag = college.answer(self.path, headers)
            college.asked.append((self.path, status))
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            if etag is not None:
                self.send_header("ETag", etag)
            if college.cache_control is not None:
                self.send_header("Cache-Control", college.cache_control)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def college() -> College:
    made = College()
    for name in PAPER_PAGES:
        made.put(name)
    return made


def test_the_papers_example(tmp_path: Path, college: College) -> None:
    """13 pages at first; then exactly those that the extended sitemap tells are new or newer (C6)."""
    with running(college) as port:
        place = Place(tmp_path, DemoWeb(), port)
        place.env["EVERCRAWL_SITEMAPS__EXTENDED"] = "always"
        first = place.crawl(place.site + "/home")
        assert sorted(college.asked_pages()) == sorted(f"/{name}" for name in PAPER_PAGES)
        assert first["new"] == len(PAPER_PAGES)
        for name in (*UPDATED, NEW):
            college.put(name)
        second = place.crawl()
        assert sorted(college.asked_pages()) == sorted(f"/{name}" for name in (*UPDATED, NEW))
        assert (second["new"], second["changed"]) == (1, len(UPDATED))
        assert second["not_needed"] == len(PAPER_PAGES) - len(UPDATED)
        third = place.crawl()
        assert college.asked_pages() == []
        assert third["not_needed"] == len(PAPER_PAGES) + 1
        assert third["not_needed_by"] == {"sitemap": len(PAPER_PAGES) + 1}


@pytest.mark.parametrize(("cache_control", "cause"), [(None, "model"), ("max-age=86400", "cache")])
def test_a_second_crawl_explains_skipped_pages(
    tmp_path: Path, college: College, cache_control: str | None, cause: str
) -> None:
    college.sitemap, college.cache_control = "none", cache_control
    with running(college) as port:
        place = Place(tmp_path, DemoWeb(), port)
        place.env |= {"EVERCRAWL_REVISIT__MAX_INTERVAL": "3d", "EVERCRAWL_REVISIT__MIN_FRESHNESS_GAIN": "1m"}
        place.crawl(place.site + "/home")
        again = place.crawl()
        assert again["not_needed_by"] == {cause: len(PAPER_PAGES)}
        assert again["not_needed"] == len(PAPER_PAGES)


def test_without_a_sitemap_every_page_is_visited(tmp_path: Path, college: College) -> None:
    college.sitemap = "none"
    with running(college) as port:
        place = Place(tmp_path, DemoWeb(), port)
        place.crawl(place.site + "/home")
        probes = [path for path, _ in college.asked if path.startswith("/sitemap")]
        assert probes == ["/sitemap.xml"]
        college.asked_pages()
        college.put("teaching")
        refreshed = place.crawl("--refresh")
        assert sorted(college.asked_pages()) == sorted(f"/{name}" for name in PAPER_PAGES)
        assert refreshed["changed"] == 1


def test_validators_save_bodies_and_false_ones_are_detected(tmp_path: Path, college: College) -> None:
    college.sitemap, college.etags = "none", "true"
    with running(college) as port:
        place = Place(tmp_path, DemoWeb(), port)
        place.crawl(place.site + "/home")
        college.asked.clear()
        summary = place.crawl("--refresh")
        counts = Counter(status for path, status in college.asked if path.strip("/") in PAPER_PAGES)
        assert summary["not_modified"] == counts[304] >= 10
        assert counts[304] + counts[200] == len(PAPER_PAGES)
        college.etags = "lying"
        place.crawl("--refresh")
        for turn in range(12):
            for name in PAPER_PAGES[turn % 4 :: 4]:
                college.put(name)
            place.crawl("--refresh")
        college.asked.clear()
        for name in UPDATED:
            college.put(name)
        assert place.crawl("--refresh")["changed"] == len(UPDATED)
        assert all(status == 200 for path, status in college.asked if path.strip("/") in PAPER_PAGES)


def test_watch_finds_changes_soon(tmp_path: Path, college: College) -> None:
    """`watch` goes on by itself; what it saved is what the server's log says."""
    with running(college) as port:
        place = Place(tmp_path, DemoWeb(), port)
        place.env |= {"EVERCRAWL_REVISIT__MIN_INTERVAL": "1s", "EVERCRAWL_REVISIT__MAX_INTERVAL": "2s"}
        process = place.start("watch", place.site + "/home", *place.flags, "--max-time", "12", "--json")
        deadline = time.monotonic() + 10
        while ("/results", 200) not in college.asked and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(0.5)
        college.put("results")
        _, err = process.communicate(timeout=60)
        assert process.returncode == ExitCode.LIMIT, err
        versions = place.call("history", place.site + "/results", "--json").splitlines()
        assert len(versions) == 2
        assert sum(path == "/results" for path, _ in college.asked) >= 2
