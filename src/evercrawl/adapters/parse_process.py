"""Parse and compare documents in processes of their own, which end if one takes too much processor time or memory.
A process is kept for the next document, and ends with its parent."""

from __future__ import annotations

import asyncio
import os
import pickle
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from math import ceil
from typing import Any, NamedTuple, NoReturn

from evercrawl.adapters.plugins import InstalledHandlers
from evercrawl.engine.interpret import parse_beginning, parse_task
from evercrawl.engine.ports import DocumentHandler, LongCall, ParseTask
from evercrawl.model.document import Document

MAX_PROCESSES = 2
GRACE_S = 2  # Processor time after the budget in which the text read so far can be returned.
REPEAT_S = 0.1  # A parser that ignores the signal gets it again.
WALL_FACTOR = 30  # A process that neither computes nor answers is ended after this many times the budget.
_LENGTH_BYTES = 8


class ParseReply(NamedTuple):
    """What a process answers."""

    result: Any  # A document, or what a function returned.
    stopped: str | None  # Why the work was not done to its end.


class ParseProcesses:
    """Implements `DocumentParser`. Processes are started when they are needed."""

    def __init__(self) -> None:
        self._slots = asyncio.Semaphore(MAX_PROCESSES)
        self._free = threading.Semaphore(MAX_PROCESSES)
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
            finally:
                self._busy.discard(process)
            if process.has_ended():
                process.end()
            else:
                self._idle.append(process)
        return reply

    def close(self) -> None:
        """End every process; documents in progress are given up."""
        for process in (*self._idle, *self._busy):
            process.end()
        self._idle.clear()

    def _take(self) -> _Process:
        while self._idle:
            process = self._idle.pop()
            if not process.has_ended():
                break
            process.end()
        else:
            process = _Process()
        self._busy.add(process)
        return process


class _Process:
    """A process that parses one document at a time."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        # A session of its own: Ctrl-C in a terminal is for the crawl, which then ends its processes itself.
        command = (sys.executable, "-P", "-c", f"from {__name__} import main; main()")
        self._process = subprocess.Popen(
            command, stdin=theirs.fileno(), stdout=subprocess.DEVNULL, start_new_session=True
        )
        theirs.close()

    def ask(self, task: ParseTask | LongCall) -> ParseReply:
        """Return the reply; it says so if the process has ended instead."""
        what = _verb(task)
        budget = task.limits.max_cpu_time.total_seconds()
        try:
            self._socket.settimeout(WALL_FACTOR * budget)
            _send(self._socket, pickle.dumps(task))
            reply: ParseReply = pickle.loads(_receive(self._socket))
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


# The process


def parse_within_budget(task: ParseTask, handler_of: Callable[[str], DocumentHandler | None]) -> ParseReply:
    """Parse until the CPU budget is spent; a handler that then returns what it has read so far loses nothing.
    Code that does not come back to Python is ended by the system soon after."""
    return _run_within_budget(task, lambda: parse_task(task, handler_of))


def call_within_budget(call: LongCall) -> ParseReply:
    """Call a function until the CPU budget is spent."""
    return _run_within_budget(call, lambda: call.function(*call.arguments))


def _verb(task: ParseTask | LongCall) -> str:
    return task.what if isinstance(task, LongCall) else "parsing"


def _run_within_budget(task: ParseTask | LongCall, work: Callable[[], Any]) -> ParseReply:
    budget, what = task.limits.max_cpu_time.total_seconds(), _verb(task)
    stopped: str | None = None

    def stop(*_: object) -> NoReturn:
        nonlocal stopped
        stopped = f"{what} took more than {budget:g} s of CPU time"
        raise TimeoutError(stopped)

    before = signal.signal(signal.SIGPROF, stop)
    result = None
    try:
        try:
            signal.setitimer(signal.ITIMER_PROF, budget, REPEAT_S)
            result = work()
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    except MemoryError:
        stopped = f"{what} took more than {task.limits.max_memory_bytes} bytes of memory"
    except Exception as error:
        stopped = (
            stopped or f"{what if isinstance(task, LongCall) else 'the parser'} failed: {type(error).__name__}: {error}"
        )
    finally:
        signal.signal(signal.SIGPROF, before)
    return ParseReply(result, stopped)


def _limit_process(task: ParseTask | LongCall) -> None:
    """Let the system end this process where the parser cannot be interrupted."""
    end = ceil(time.process_time() + task.limits.max_cpu_time.total_seconds()) + GRACE_S
    for kind, limit in ((resource.RLIMIT_CPU, end), (resource.RLIMIT_AS, task.limits.max_memory_bytes)):
        most = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (limit if most == resource.RLIM_INFINITY else min(limit, most), most))


def _send(connection: socket.socket, data: bytes) -> None:
    connection.sendall(len(data).to_bytes(_LENGTH_BYTES, "big") + data)


def _receive(connection: socket.socket) -> bytes:
    return _read(connection, int.from_bytes(_read(connection, _LENGTH_BYTES), "big"))


def _read(connection: socket.socket, size: int) -> bytes:
    data = bytearray(size)
    view, at = memoryview(data), 0
    while at < size:
        count = connection.recv_into(view[at:])
        if not count:
            raise EOFError
        at += count
    return bytes(data)


def main() -> None:
    """Parse what arrives on standard input, which is a socket, until the parent closes it."""
    connection = socket.socket(fileno=os.dup(0))
    handlers = InstalledHandlers()
    handlers.get("")  # Loads them, which costs no document its time.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while True:
        try:
            task: ParseTask | LongCall = pickle.loads(_receive(connection))
            _limit_process(task)
            reply = call_within_budget(task) if isinstance(task, LongCall) else parse_within_budget(task, handlers.get)
            _send(connection, pickle.dumps(reply))
        except (EOFError, ConnectionError):
            return
