"""Programs that answer over HTTP: how they are registered, started, asked and stopped.

Each module of programs says what it needs; all run in a folder and on a port of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from research.app_pages.generators import WORK
from research.app_pages.pages import Book
from research.app_pages.texts import Doc

APPLICATIONS: dict[str, Callable[[Book], None]] = {}


def application(build: Callable[[Book], None]) -> Callable[[Book], None]:
    APPLICATIONS[build.__name__] = build
    return build


def get(url: str) -> str:
    """Return a page, also one with an error status."""
    url = urllib.request.quote(url, safe=":/?&=;,@+%!~*'()[]#")
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return answer.read().decode("utf-8", "replace")
    except urllib.error.HTTPError as error:
        return error.read().decode("utf-8", "replace")


@contextmanager
def server(port: int, *command: object, cwd: Path | None = None, **env: str) -> Iterator[str]:
    """Run a server until it answers, and stop it afterwards."""
    log = (WORK / f"server-{port}.log").open("w")
    process = subprocess.Popen(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, **env},
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    try:
        for _ in range(120):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=30).close()
                break
            except urllib.error.HTTPError:
                break
            except OSError:
                time.sleep(0.5)
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, signal.SIGTERM)  # also its workers
        process.wait(20)
        log.close()


def wiki_kind(doc: Doc) -> str:
    return "wiki" if doc.kind in ("docs", "article") else ""
