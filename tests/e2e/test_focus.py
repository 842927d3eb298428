"""`crawl --focus` on a real server: by examples, words and a URL; and analysers."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from evercrawl.cli.terminal import ExitCode
from tests.e2e.test_cli import HOST, Place
from tests.unit.core.focus.pages import web
from tests.worlds.demo_web import DemoWeb

COURSES = 12


@contextmanager
def served(pages: dict[str, str], asked: list[str]) -> Iterator[int]:
    """The pages by path, on loopback."""

    class Site(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            html = pages.get(self.path)
            body = (html or "no").encode()
            if html is not None:
                asked.append(self.path)
            self.send_response(200 if html is not None else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def asked() -> list[str]:
    return []


@pytest.fixture
def place(tmp_path: Path, asked: list[str]) -> Iterator[Place]:
    pages = dict(web(""))
    pages["/review.html"] = "<html lang=en><p>A wonderful, touching film. I loved every minute of it.</p>"
    with served(pages, asked) as port:
        found = Place(tmp_path, DemoWeb(), port)
        # One at a time, so that the order is the focus's alone.
        found.flags += ["--concurrency", "1"]
        yield found


def examples_file(folder: Path) -> str:
    path = folder / "examples.jsonl"
    rows = [{"url": url, "html": html, "on_topic": "/classes/" in url} for url, html in web("http://one.test").items()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def courses_in(order: list[str]) -> int:
    return sum(path.startswith("/classes/") for path in order)


def test_pages_like_the_examples_are_first_also_after_a_resume(place: Place, asked: list[str]):
    focus = examples_file(place.folder)
    first = place.crawl(place.site + "/", "--focus", focus, "--max-pages", "8", code=ExitCode.LIMIT)
    assert courses_in(asked) >= 4
    assert 0.4 <= first["harvest_ratio"] <= 1.0
    resumed = place.crawl("--max-pages", "9", code=ExitCode.LIMIT)
    assert "harvest_ratio" in resumed, "the collection remembers its focus"
    assert courses_in(asked) == COURSES
    why = place.why("/classes/cs100/")
    assert why["relevance"] > 0.5
    assert "on topic" in place.call("why", place.site + "/classes/cs100/")


def test_a_focus_by_words_can_be_removed(place: Place, asked: list[str]):
    words = "course"
    place.crawl(place.site + "/", "--focus", words, "--max-pages", "16", code=ExitCode.LIMIT)
    assert courses_in(asked) >= COURSES - 3
    ended = place.crawl("--focus", "none")
    assert "harvest_ratio" not in ended


def test_an_example_url_is_fetched_politely(place: Place, asked: list[str]):
    example = place.site + "/classes/cs100/"
    ended = place.crawl(place.site + "/", "--focus", example, "--max-pages", "16", code=ExitCode.LIMIT)
    assert asked[0] == "/classes/cs100/"
    assert courses_in(asked[1:]) >= COURSES - 3
    fetched = list(dict.fromkeys(asked))
    assert ended["harvest_ratio"] == pytest.approx(courses_in(fetched) / len(fetched), abs=0.1)


def test_an_example_that_cannot_be_fetched_is_a_clear_error(place: Place, asked: list[str]):
    process = place.start("crawl", place.site + "/", "--focus", place.site + "/classes/none/", *place.flags)
    _, err = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "the example could not be fetched" in err
    assert "404" in err
    assert asked == [], "nothing is crawled without a topic"


def test_an_invalid_focus_is_a_clear_error(place: Place):
    for named, word in (("missing.jsonl", "no such file"), ("!!", "word")):
        process = place.start("crawl", place.site + "/", "--focus", named, *place.flags)
        _, err = process.communicate(timeout=60)
        assert process.returncode != 0
        assert word in err
        assert "Traceback" not in err
    bad = place.folder / "bad.jsonl"
    bad.write_text('{"url": "x"}\n', encoding="utf-8")
    process = place.start("crawl", place.site + "/", "--focus", str(bad), *place.flags)
    _, err = process.communicate(timeout=60)
    assert "line 1" in err


def test_a_version_stores_the_results_of_analysers(place: Place):
    page = f"http://{HOST}:{place.port}/review.html"
    env = place.env | {"EVERCRAWL_ANALYSIS__ANALYSERS": "language,sentiment"}
    place.env = env
    place.crawl(page, "--scope", "list")
    said = json.loads(place.call("show", page, "--json"))["analysis"]
    assert said["language"] == "en"
    assert said["sentiment"] > 0.3
    assert "sentiment:" in place.call("show", page, "--analysis")
    mood = json.loads(place.call("sentiment", page, "--json"))
    assert [then["version"] for then in mood["versions"]] == [1]
    assert mood["site"]["pages"] == 1
    assert "sentiment +" in place.call("history", page)
    exported = json.loads(place.call("export", "jsonl").splitlines()[0])
    assert exported["analysis"]["sentiment"] == said["sentiment"]
