"""Parse and compare documents in processes of their own, which end if one takes too much processor time or memory.
A process is kept for the next document, and ends with its parent."""

from __future__ import annotations

import asyncio
import pickle
import signal
import socket
import subprocess
import sys
import threading
from dataclasses import replace
from typing import Any

from evercrawl.adapters import parse_worker
from evercrawl.adapters.parse_worker import GRACE_S, ParseReply, receive_message, send_message, verb_of
from evercrawl.engine.parsing import parse_beginning
from evercrawl.engine.ports import LongCall, ParseTask
from evercrawl.model.document import Document

MAX_PROCESSES = 2
PATIENCE_S = 1.0  # Most documents take less time than a second process needs to start.
WALL_FACTOR = 30  # A process that neither computes nor answers is ended after this many times the budget.


class ParseProcesses:
    """Implements `DocumentParser`. Processes are started when they are needed."""

    def __init__(self) -> None:
        self._slots = asyncio.Semaphore(MAX_PROCESSES)
        self._free = threading.Semaphore(MAX_PROCESSES)
        self._changed = threading.Condition()
        self._idle: list[_Process] = []
        self._busy: set[_Process] = set()

    async def parse(self, task: ParseTask) -> Document | None:
        """Parse without blocking the event loop."""
        async with self._slots:
            return await asyncio.to_thread(self.parse_now, task)

    def parse_now(self, task: ParseTask) -> Document | None:
        """Parse, and wait for the result."""
        reply = self._ask(task)
        document: Document | None = reply.result
        if reply.stopped is None:
            return document
        return replace(document or parse_beginning(task), stopped=reply.stopped)

    async def call(self, call: LongCall) -> tuple[Any, str | None]:
        """Call a function without blocking the event loop."""
        async with self._slots:
            return await asyncio.to_thread(self.call_now, call)

    def call_now(self, call: LongCall) -> tuple[Any, str | None]:
        """Call a function, and wait for the result."""
        reply = self._ask(call)
        return reply.result, reply.stopped

    def _ask(self, task: ParseTask | LongCall) -> ParseReply:
        with self._free:
            process = self._take()
            try:
                reply = process.ask(task)
            except BaseException:
                process.end()
                raise
            finally:
                self._put_back(process)
        return reply

    def close(self) -> None:
        """End every process; documents in progress are given up."""
        for process in (*self._idle, *self._busy):
            process.end()
        self._idle.clear()

    def _take(self) -> _Process:
        """Return an idle process; another one is started if none becomes idle soon."""
        with self._changed:
            if self._busy:
                self._changed.wait_for(lambda: self._idle or not self._busy, PATIENCE_S)
            while self._idle:
                process = self._idle.pop()
                if not process.has_ended():
                    break
                process.end()
            else:
                process = _Process()
            self._busy.add(process)
            return process

    def _put_back(self, process: _Process) -> None:
        with self._changed:
            self._busy.discard(process)
            if process.has_ended():
                process.end()
            else:
                self._idle.append(process)
            self._changed.notify()


class _Process:
    """A process that parses one document at a time."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        # A session of its own: Ctrl-C in a terminal is for the crawl, which then ends its processes itself.
        command = (sys.executable, "-P", "-c", f"from {parse_worker.__name__} import main; main()")
        self._process = subprocess.Popen(
            command, stdin=theirs.fileno(), stdout=subprocess.DEVNULL, start_new_session=True
        )
        theirs.close()

    def ask(self, task: ParseTask | LongCall) -> ParseReply:
        """Return the reply; it says so if the process has ended instead."""
        what = verb_of(task)
        budget = task.limits.max_cpu_time.total_seconds()
        try:
            self._socket.settimeout(WALL_FACTOR * budget)
            send_message(self._socket, pickle.dumps(task))
            reply: ParseReply = pickle.loads(receive_message(self._socket))
        except TimeoutError:
            self._process.kill()
            return ParseReply(None, f"{what} did not end within {WALL_FACTOR * budget:g} s")
        except (OSError, EOFError):
            return ParseReply(None, self._how_it_ended(what, budget))
        return reply

    def _how_it_ended(self, what: str, budget: float) -> str:
        try:
            code = self._process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        if code == -signal.SIGXCPU:
            return f"{what} took more than {budget:g} s of CPU time"
        return f"the parser ended with {signal.Signals(-code).name if code < 0 else f'exit code {code}'}"

    def has_ended(self) -> bool:
        """Return whether the process has ended."""
        return self._process.poll() is not None

    def end(self) -> None:
        """End the process. Whoever waits for its reply gets the end of the stream."""
        self._process.kill()
        self._process.wait()
        self._socket.close()
