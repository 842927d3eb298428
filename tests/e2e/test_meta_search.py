"""One query over several collections, local and remote, some of which fail."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.e2e.test_search import Coast, _silent_server, html
from tests.e2e.test_serve import TOKEN, _serve
from tests.worlds.demo_web import DemoWeb, serving

TOLD = {"north": ("/everywhere", "/north"), "south": ("/everywhere", "/south"), "home": ("/everywhere", "/home")}
"""Collection -> the pages that it holds."""
DEADLINE_S = 15.0


class Coasts:
    """Three collections of one site, each with other pages of it."""

    def __init__(self, folder: Path, web: DemoWeb, port: int) -> None:
        self.places: dict[str, Coast] = {}
        for name, paths in TOLD.items():
            place = Coast(folder / name, web, port)
            place.folder.mkdir()
            for path in paths:
                place.put(path, html("en", f"Beacon {path}", f"A beacon stands at {path.strip('/')}."))
            place.crawl(*[place.site + path for path in paths], "--scope", "list")
            self.places[name] = place

    def folder(self, name: str) -> Path:
        return self.places[name].folder / "site.evercrawl"

    def search(self, *sources: str, timeout: float = DEADLINE_S, code: int = 0) -> tuple[list[dict], str]:
        """Hits and what is said on stderr."""
        named = [word for source in sources for word in ("--in", source)]
        process = self.places["home"].start("search", "beacon", *named, "--timeout", str(timeout), "--json")
        out, err = process.communicate(timeout=90)
        assert process.returncode == code, err
        assert "Traceback" not in err
        return [json.loads(line) for line in out.splitlines()], err


@pytest.fixture(scope="module")
def coasts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Coasts]:
    web = DemoWeb()
    with serving(web) as port:
        yield Coasts(tmp_path_factory.mktemp("coasts"), web, port)


def with_token(address: str) -> str:
    return address.replace("://", f"://{TOKEN.replace(' ', '%20')}@")


def test_results_of_remote_and_local_collections_are_merged(coasts: Coasts) -> None:
    dead = f"http://127.0.0.1:{_free_port()}"
    with ExitStack() as stack:
        _, north = stack.enter_context(_serve(coasts.folder("north")))
        _, south = stack.enter_context(_serve(coasts.folder("south")))
        slow = stack.enter_context(_silent_server())
        home = str(coasts.folder("home"))
        # The first question to each makes its index, which may take long on a busy machine.
        coasts.search(with_token(north), with_token(south), home, timeout=80)
        began = time.monotonic()
        sources = (with_token(north), with_token(south), home, slow, dead, north)
        hits, err = coasts.search(*sources)
        took = time.monotonic() - began
    assert took < DEADLINE_S + 20, "the slow one is not waited for beyond the deadline"
    first, *others = [(hit["url"].rpartition("/")[2], set(hit["source"].split(", "))) for hit in hits]
    assert first == ("everywhere", {north, south, home})
    assert sorted(others, key=str) == [("home", {home}), ("north", {north}), ("south", {south})]
    assert all(hit["title"].startswith("Beacon /") and hit["marks"] for hit in hits), "marks come along"
    assert f"! {slow}: no answer within" in err or f"! {slow}: it cannot be reached" in err
    assert f"! {dead}: it cannot be reached" in err
    assert f"! {north}: it answered with status 401: it needs a token" in err
    assert TOKEN not in err
    assert "a%20token" not in err + json.dumps(hits)


def test_a_token_is_sent_to_the_named_address_only(coasts: Coasts) -> None:
    asked: list[str | None] = []
    with _redirecting(asked) as address:
        hits, err = coasts.search(with_token(address), str(coasts.folder("home")))
    assert len(hits) == len(TOLD["home"])
    assert "it redirects to http://127.0.0.1" in err
    assert asked == [f"Bearer {TOKEN}"], "nobody was asked behind the redirect"


def test_a_search_without_any_response_fails(coasts: Coasts) -> None:
    hits, err = coasts.search(f"http://127.0.0.1:{_free_port()}", "http://[::bad", code=2)
    assert hits == []
    assert "2 collections did not answer" in err


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


@contextmanager
def _redirecting(asked: list[str | None]) -> Iterator[str]:
    """A server that sends everybody to itself, and notes what each brought."""

    class Elsewhere(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.headers["Authorization"])
            self.send_response(302)
            self.send_header("Location", f"http://127.0.0.1:{self.server.server_port}/elsewhere")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
