"""A served site of a few pages and a collection of it, crawled on chosen days by moving the clock."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from threading import Event, Thread

import pytest

from evercrawl.cluster import crawl_builder
from evercrawl.collection.collection import Collection
from evercrawl.collection.collection import open as open_collection
from evercrawl.model.run import Summary
from evercrawl.model.settings import Settings
from evercrawl.outpost.agent_builder import ShiftedClock

HELD_S = 20  # A held answer is sent after so many seconds even so.
HTML = "text/html; charset=utf-8"
_WHO = ("The library", "A teacher", "The mayor", "Our choir", "The garden club", "A baker", "The harbour office")
_DID = ("opened", "sold", "repaired", "painted", "described", "closed", "measured", "invited", "counted")
_WHAT = ("the old bridge", "a wooden boat", "twelve maps", "the market hall", "a small museum", "the north gate")
_WHEN = ("before the summer", "after a long winter", "without any noise", "with the help of friends", "at the river")


def _sentence(key: str) -> str:
    """Return a sentence that depends on the key alone."""
    draw = Random(key)
    first, second = (f"{draw.choice(_DID)} {draw.choice(_WHAT)} {draw.choice(_WHEN)}" for _ in range(2))
    return f"{draw.choice(_WHO)} {first}, and {draw.choice(_WHO).lower()} {second}."


class ServedSite:
    """Files in memory behind a real server, and the paths that were requested since the last look."""

    def __init__(self) -> None:
        self.files: dict[str, tuple[str, str]] = {}
        self.log: list[str] = []
        self.held: dict[str, tuple[str, Event]] = {}
        """Path -> the path that must be requested before it is answered."""
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.log.append(self.path)
                site.wait_for_others(self.path)
                kind, text = site.files.get(self.path, ("text/plain", ""))
                self.send_response(200 if self.path in site.files else 404)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_: object) -> None:
                """Print nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.base = f"http://127.0.0.1:{self.server.server_port}"

    def hold(self, path: str, *, until: str) -> None:
        """Answer requests for a path only after another path was requested."""
        self.held[path] = until, Event()

    def wait_for_others(self, path: str) -> None:
        """Let those go on who wait for this path, and wait for the one that this path is held for."""
        for other, requested in self.held.values():
            if other == path:
                requested.set()
        if path in self.held:
            self.held[path][1].wait(HELD_S)

    def put(self, path: str, *links: str, edition: int = 1) -> None:
        """Write a page with its own text and these links."""
        news = " ".join(_sentence(f"{path} {edition} {number}") for number in range(3))
        text = " ".join(_sentence(f"{path} text {number}") for number in range(3))
        listed = "".join(f'<li><a href="{link}">{link.strip("/")} page</a></li>' for link in links)
        body = f"<!doctype html><title>Page {path}</title><main><h1>{path}</h1><p>{text}</p><p>{news}</p></main>"
        self.files[path] = HTML, f"{body}<ul>{listed}</ul>"

    def requested(self) -> list[str]:
        """Return the paths requested since the last call, sorted."""
        found, self.log = sorted(self.log), []
        return found


@contextmanager
def served_site() -> Iterator[ServedSite]:
    site = ServedSite()
    thread = Thread(target=site.server.serve_forever, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.server.shutdown()
        site.server.server_close()
        thread.join()


def collection_of(site: ServedSite, folder: Path, *, policy: str, start: str = "/") -> Collection:
    """Return a new collection of the site that follows a named revisit policy."""
    base = Settings()
    settings = replace(
        base,
        identity=replace(base.identity, contact="test@example.org"),
        http=replace(base.http, allow_private=True),
        pace=replace(base.pace, mode="unlimited"),
        revisit=replace(base.revisit, policy=policy, jitter=0.0),
        scope=replace(base.scope, seeds=(site.base + start,)),
        traps=replace(base.traps, enabled=False),
    )
    return open_collection(folder, create=True, settings=settings)


def crawl_on_day(
    collection: Collection, day: float, monkeypatch: pytest.MonkeyPatch, *, refresh: bool = False
) -> Summary:
    """Crawl as if so many days had passed since today."""
    monkeypatch.setattr(crawl_builder, "SystemClock", lambda: ShiftedClock(timedelta(days=day)))
    return asyncio.run(collection.crawl(refresh=refresh))
