"""The web of the demo: three small sites on one loopback port with different host names."""

from __future__ import annotations

import hashlib
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple, Protocol

HOSTS = ("harbour.test", "library.test", "mirror.test")
SHIPS = ("Albatross", "Bellbird", "Cormorant", "Dunlin", "Egret", "Fulmar", "Gannet", "Heron", "Ibis", "Jaeger")
BOOKS = ("Tides", "Knots", "Stars", "Sails", "Winds", "Charts", "Ropes", "Lights", "Bells", "Maps", "Reefs", "Ports")
NEWS = 8
LOGBOOK_LINES = 12_000
"""Far more than the demo's body limit."""


class Reply(NamedTuple):
    """The response for a path."""

    status: int
    body: str
    content_type: str = "text/html; charset=utf-8"
    location: str | None = None


class ServedWeb(Protocol):
    """Responses by host and path."""

    def reply(self, host: str, path: str) -> Reply: ...


class DemoWeb:
    """Responses by host and path; `change` simulates a week."""

    def __init__(self) -> None:
        self.replies: dict[tuple[str, str], Reply] = {}
        for host, site in zip(HOSTS, (_harbour(), _library(), _mirror()), strict=True):
            self.replies |= {(host, path): reply for path, reply in site.items()}

    def page_count(self) -> int:
        """The pages with content."""
        return sum(reply.status == 200 and "html" in reply.content_type for reply in self.replies.values())

    def reply(self, host: str, path: str) -> Reply:
        """Return the response; 404 if there is none."""
        return self.replies.get((host, path), Reply(404, _page("Not found", "There is no such page.")))

    def change(self) -> str:
        """Edit three pages, add one, remove one; return a description."""
        harbour = HOSTS[0]
        for number in (3, 4):
            text = f"Correction to news {number}: the ferry sails at noon, not at ten."
            self.replies[harbour, f"/news/{number}"] = Reply(200, _page(f"News {number}", text))
        self.replies[harbour, "/news/1"] = Reply(200, _page("News 1", _links({"/news/today": "Today"})))
        self.replies[harbour, "/news/today"] = Reply(200, _page("Today", "A new lighthouse keeper has arrived."))
        self.replies[harbour, "/news/2"] = Reply(410, _page("Gone", "This page was removed."))
        return "three pages were edited, one is new, one is gone"


class _Server(ThreadingHTTPServer):
    """Ignore clients that disconnect, as ours does when a body is too large."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


@contextmanager
def serving(web: ServedWeb) -> Iterator[int]:
    """Serve the web on a loopback port for the block."""

    class Answering(BaseHTTPRequestHandler):
        """Serves the web with validators, so that unchanged pages cost almost nothing."""

        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            reply = web.reply((self.headers["Host"] or "").partition(":")[0], self.path)
            body = reply.body.encode()
            etag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
            if reply.status == 200 and self.headers["If-None-Match"] == etag:
                reply, body = Reply(304, ""), b""
            self.send_response(reply.status)
            fields = {"Content-Type": reply.content_type, "Content-Length": str(len(body)), "ETag": etag}
            for name, value in (fields | ({"Location": reply.location} if reply.location else {})).items():
                self.send_header(name, value)
            self.end_headers()
            try:
                self.wfile.write(body)
            except ConnectionError:
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = _Server(("127.0.0.1", 0), Answering)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _harbour() -> dict[str, Reply]:
    ships = {f"/ships/{name.lower()}": name for name in SHIPS}
    news = {f"/news/{number}": f"News {number}" for number in range(1, NEWS + 1)}
    others = {
        "/ships/old-name": "a ship that was renamed",
        "/private/ledger": "the ledger",
        "/lost": "a lost page",
        "/logbook": "the logbook",
        "/pier.jpg": "a picture",
        "https://elsewhere.example/": "another harbour",
    }
    site = {
        "/robots.txt": Reply(200, "User-agent: *\nDisallow: /private/\n", "text/plain"),
        "/": Reply(200, _page("Harbour", _links(ships | news | others))),
        "/ships/old-name": Reply(301, "", location="/ships/albatross"),
        "/private/ledger": Reply(200, _page("Ledger", "Nobody should read this.")),
        "/logbook": Reply(200, _page("Logbook", "<p>Calm sea, light wind from the west.</p>\n" * LOGBOOK_LINES)),
    }
    site |= {path: Reply(200, _page(name, f"{name} lies at berth {len(path)}.")) for path, name in ships.items()}
    return site | {path: Reply(200, _page(title, f"{title}: fog until noon.")) for path, title in news.items()}


def _library() -> dict[str, Reply]:
    books = {f"/book/{title.lower()}": title for title in BOOKS}
    site = {"/": Reply(200, _page("Library", _links(books)))}
    return site | {path: Reply(200, _page(title, f"A book about {title.lower()}.")) for path, title in books.items()}


def _mirror() -> dict[str, Reply]:
    """The same page under two URLs, which is stored once. The copy is found on the page, so it comes second."""
    copy = _links({"/copy/tides": "the same page again"})
    tides = Reply(200, _page("Tides", f"High water at noon.{copy}"))
    return {"/": Reply(200, _page("Mirror", _links({"/tides": "Tides"}))), "/tides": tides, "/copy/tides": tides}


def _page(title: str, content: str) -> str:
    return f"<!doctype html><html lang=en><title>{title}</title><main><h1>{title}</h1>{content}</main></html>"


def _links(targets: dict[str, str]) -> str:
    return "<ul>" + "".join(f'<li><a href="{path}">{text}</a></li>' for path, text in targets.items()) + "</ul>"
