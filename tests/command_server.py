"""Start `evercrawl` commands quickly: one process per test run has everything imported and forks for each command.

Starting Python and importing evercrawl takes most of the time of a short command. A forked command is a real process:
it has its own pid, environment, folder and pipes, gets signals and can be killed. Set EVERCRAWL_TEST_FORK=0 to start
`python -m evercrawl` instead.
"""

from __future__ import annotations

import array
import atexit
import json
import os
import pkgutil
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

_STATUS = struct.Struct("i")
_LENGTH = struct.Struct("I")
_FILES = 4
"""Descriptors sent with a request: stdin, stdout, stderr and the pipe for the exit status."""
PRELOADED = ("evercrawl.cli.commands", "evercrawl.cluster", "evercrawl.collection", "evercrawl.web")


def start_command(*arguments: str, **options: Any) -> subprocess.Popen[Any]:
    """Start `evercrawl` with these arguments; the options are those of `subprocess.Popen`."""
    if os.environ.get("EVERCRAWL_TEST_FORK") == "0":
        return subprocess.Popen([sys.executable, "-m", "evercrawl", *arguments], **options)
    return ForkedCommand(["evercrawl", *arguments], **options)


def run_command(*arguments: str, timeout: float = 60.0, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run `evercrawl` with these arguments to its end and return its output."""
    process = start_command(*arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    with process:
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


class ForkedCommand(subprocess.Popen[Any]):
    """A `Popen` whose process is forked by the command server."""

    _server: _ServerConnection | None = None

    def _execute_child(self, args: list[str], *rest: Any) -> None:
        """Replace the private method of `Popen` that starts the process."""
        cwd, env = rest[4], rest[5]
        p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite = rest[9:15]
        if ForkedCommand._server is None:
            ForkedCommand._server = _ServerConnection()
        status_read, status_write = os.pipe()
        standard = (p2cread, c2pwrite, errwrite)
        files = [own if own != -1 else default for own, default in zip(standard, (0, 1, 2), strict=True)]
        request = {"arguments": args[1:], "cwd": os.fspath(cwd or Path.cwd()), "env": dict(env or os.environ)}
        try:
            self.pid = ForkedCommand._server.start(request, [*files, status_write])
        finally:
            os.close(status_write)
            null = getattr(self, "_devnull", -1)
            for own, other in ((p2cread, p2cwrite), (c2pwrite, c2pread), (errwrite, errread)):
                if -1 not in (own, other) and own != null:
                    os.close(own)
            if null != -1:
                os.close(null)
            self._closed_child_pipe_fds = True
        self._status = status_read
        self._child_created = True

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        return self._exit_code(0)

    def _wait(self, timeout: float | None) -> int:  # type: ignore[override]
        code = self._exit_code(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
        return code

    def _exit_code(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._status], [], [], timeout)[0]:
            data = os.read(self._status, _STATUS.size)
            os.close(self._status)
            status = _STATUS.unpack(data)[0] if len(data) == _STATUS.size else 0x7F00
            self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode


class _ServerConnection:
    """The client's end of a command server, which ends with the tests."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        root = Path(__file__).resolve().parents[1]
        path = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH", "")]))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.command_server", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            env=os.environ | {"PYTHONPATH": path},
            cwd=root,
        )
        theirs.close()
        self._lock = threading.Lock()
        atexit.register(self._close)

    def start(self, request: dict[str, Any], files: list[int]) -> int:
        """Let the server fork a command; return its pid."""
        body = json.dumps(request).encode()
        with self._lock:
            rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))
            self._socket.sendmsg([_LENGTH.pack(len(body))], [rights])
            self._socket.sendall(body)
            reply = self._socket.recv(_STATUS.size, socket.MSG_WAITALL)
        if len(reply) != _STATUS.size:
            raise RuntimeError("the command server has ended; see its error above")
        return int(_STATUS.unpack(reply)[0])

    def _close(self) -> None:
        self._socket.close()
        self._process.wait(timeout=30)


# The server


def serve(connection: socket.socket) -> None:
    """Fork a command for each request until the client closes the connection."""
    for package in PRELOADED:
        for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
            with suppress(ImportError):  # an extra that is not installed; the command says so
                import_module(module.name)
    woken, wake = socket.socketpair()
    for end in (woken, wake):
        end.setblocking(False)
    signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    reports: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([connection, woken], [], [])
        if woken in ready:
            woken.recv(4096)
            _report_ended(reports)
        if connection in ready:
            received = _receive(connection)
            if received is None:
                return
            request, files = received
            pid = os.fork()
            if pid == 0:
                _close_all(connection, woken, wake, reports)
                _become(request, files)
            reports[pid] = files[-1]
            for file in files[:-1]:
                os.close(file)
            connection.sendall(_STATUS.pack(pid))


def _receive(connection: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    head, ancillary, _, _ = connection.recvmsg(_LENGTH.size, socket.CMSG_SPACE(_FILES * 4))
    if len(head) < _LENGTH.size:
        return None
    files = array.array("i")
    for _, _, data in ancillary:
        files.frombytes(data)
    body = connection.recv(_LENGTH.unpack(head)[0], socket.MSG_WAITALL)
    return json.loads(body), list(files)


def _report_ended(reports: dict[int, int]) -> None:
    while reports:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        report = reports.pop(pid, None)
        if report is not None:
            with suppress(BrokenPipeError):
                os.write(report, _STATUS.pack(status))
            os.close(report)


def _close_all(connection: socket.socket, woken: socket.socket, wake: socket.socket, reports: dict[int, int]) -> None:
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL if number is signal.SIGCHLD else signal.default_int_handler)
    for end in (connection, woken, wake):
        end.close()
    for report in reports.values():
        os.close(report)


def _become(request: dict[str, Any], files: list[int]) -> None:
    """Run the command in this forked process and end with its exit code."""
    from evercrawl.cli.main import run

    code = 70
    try:
        for target, file in enumerate(files[:3]):
            os.dup2(file, target)
        for file in files:
            os.close(file)
        # The streams of the server remember what kind of file they were opened on.
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
        os.chdir(request["cwd"])
        os.environ.clear()
        os.environ.update(request["env"])
        sys.argv = ["evercrawl", *request["arguments"]]
        code = run(request["arguments"])
        threading._shutdown()  # type: ignore[attr-defined]  # joins threads, as the end of a program does
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
