"""A crawl that the page starts and stops: a process of its own, so that nothing here slows it down."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

from evercrawl.errors import CollectionBusy

OUTPUT_FILE = "web-crawl.log"
STOP_WAIT_S = 30.0


class CrawlChild:
    """At most one child; `is_running` and `stop` are about it and about no other process."""

    def __init__(self, collection: Path) -> None:
        self._collection = collection
        self._turn = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self.last_exit: int | None = None

    @property
    def pid(self) -> int | None:
        """The child's number; None: there is none."""
        return self._child.pid if self.is_running and self._child is not None else None

    @property
    def is_running(self) -> bool:
        """The child has not ended."""
        if self._child is None:
            return False
        code = self._child.poll()
        if code is None:
            return True
        self.last_exit = code
        return False

    def start(self, urls: list[str], *, forever: bool = False, refresh: bool = False) -> int:
        """Start a crawl and give its number; CollectionBusy where ours is still running."""
        with self._turn:
            if self.is_running:
                raise CollectionBusy("a crawl is running already; stop it first")
            command = [sys.executable, "-m", "evercrawl", "-C", str(self._collection)]
            command += ["watch" if forever else "crawl", "--no-progress", "--json"]
            command += ["--refresh"] if refresh and not forever else []
            command += ["--", *urls]
            with (self._collection / OUTPUT_FILE).open("wb") as out:
                self._child = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
                )
            return self._child.pid

    def stop(self) -> bool:
        """Ask our crawl to end; it saves its state. False: there is none."""
        if not self.is_running or self._child is None:
            return False
        self._child.send_signal(signal.SIGTERM)
        return True

    def close(self) -> None:
        """Stop our crawl and wait for it; the process that serves is ending."""
        if self.stop() and self._child is not None:
            with suppress(subprocess.TimeoutExpired):
                self._child.wait(STOP_WAIT_S)

    def last_words(self, most: int = 4000) -> str:
        """The end of what the last crawl said."""
        try:
            data = (self._collection / OUTPUT_FILE).read_bytes()[-most:]
        except OSError:
            return ""
        return data.decode("utf-8", "replace")
