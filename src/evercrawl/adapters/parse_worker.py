"""The process that parses and compares documents for `parse_process`. It loads no more than a page needs."""

from __future__ import annotations

import os
import pickle
import resource
import signal
import socket
import time
from collections.abc import Callable
from functools import cache
from math import ceil
from typing import Any, NamedTuple, NoReturn

from evercrawl.engine.parsing import BUILT_IN_TYPES, parse_task
from evercrawl.engine.ports import DocumentHandler, LongCall, ParseTask

GRACE_S = 2  # Processor time after the budget in which the text read so far can be returned.
REPEAT_S = 0.1  # A parser that ignores the signal gets it again.
_LENGTH_BYTES = 8


class ParseReply(NamedTuple):
    """What a process answers."""

    result: Any  # A document, or what a function returned.
    stopped: str | None  # Why the work was not done to its end.


def parse_within_budget(task: ParseTask, handler_of: Callable[[str], DocumentHandler | None]) -> ParseReply:
    """Parse until the CPU budget is spent; a handler that then returns what it has read so far loses nothing.
    Code that does not come back to Python is ended by the system soon after."""
    return _run_within_budget(task, lambda: parse_task(task, handler_of))


def call_within_budget(call: LongCall) -> ParseReply:
    """Call a function until the CPU budget is spent."""
    return _run_within_budget(call, lambda: call.function(*call.arguments))


def verb_of(task: ParseTask | LongCall) -> str:
    """Return what is being done, for messages."""
    return task.what if isinstance(task, LongCall) else "parsing"


def _run_within_budget(task: ParseTask | LongCall, work: Callable[[], Any]) -> ParseReply:
    budget, what = task.limits.max_cpu_time.total_seconds(), verb_of(task)
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


def send_message(connection: socket.socket, data: bytes) -> None:
    """Send data with its length."""
    connection.sendall(len(data).to_bytes(_LENGTH_BYTES, "big") + data)


def receive_message(connection: socket.socket) -> bytes:
    """Return the data of the next message."""
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
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while True:
        try:
            task: ParseTask | LongCall = pickle.loads(receive_message(connection))
            reply = _reply_to(task)
            send_message(connection, pickle.dumps(reply))
        except (EOFError, ConnectionError):
            return


def _reply_to(task: ParseTask | LongCall) -> ParseReply:
    if isinstance(task, LongCall):
        _limit_process(task)
        return call_within_budget(task)
    # Before the limits: loading the handlers costs no document its time.
    handler_of = _no_handler if task.kind in BUILT_IN_TYPES else _installed_handlers()
    _limit_process(task)
    return parse_within_budget(task, handler_of)


def _no_handler(_: str) -> None:
    return None


@cache
def _installed_handlers() -> Callable[[str], DocumentHandler | None]:
    """Load the document handlers, which most processes never need."""
    from evercrawl.adapters.plugins import InstalledHandlers

    handlers = InstalledHandlers()
    handlers.get("")
    return handlers.get
