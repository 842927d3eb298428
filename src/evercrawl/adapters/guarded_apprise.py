"""Send by apprise in a process of its own, whose guard sees every connection, file and program of a plug-in.
Plug-ins make their own connections and some options read files or fetch documents, so the guard is at the lowest level
that Python has: its audit events. The process may connect to public addresses only, read Python's own files and
certificates, write nothing and start nothing."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from datetime import timedelta
from importlib.machinery import all_suffixes
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from evercrawl.core.http.ip_address import address_refusal
from evercrawl.errors import ConfigError

SENT, NOT_UNDERSTOOD, NOT_SENT = 0, 3, 4  # Exit codes; Python itself ends with 1 and 2.
KEPT_VARIABLES = frozenset({"PATH", "LANG", "LC_ALL", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", "PYTHONPATH"})
"""All others stay with us: proxies would connect for the plug-in, and some variables hold passwords."""
SYSTEM_FILES = ("/dev/null", "/dev/urandom", "/etc/hosts", "/etc/localtime", "/etc/mime.types", "/etc/resolv.conf")
SYSTEM_FOLDERS = (
    "/etc/ssl/certs",
    "/etc/pki/tls/certs",
    "/etc/pki/ca-trust",
    "/usr/share/zoneinfo",
    "/usr/share/ca-certificates",
)
MODULE_SUFFIXES = tuple(all_suffixes())
_CONNECTS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
_STARTS = frozenset({
    "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.startfile", "os.system", "pty.spawn",
    "subprocess.Popen",
})  # fmt: skip
_WRITES = frozenset({
    "os.chmod", "os.chown", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink", "os.truncate",
    "shutil.copyfile", "shutil.move", "shutil.rmtree", "sqlite3.connect",
})  # fmt: skip


def send_by_apprise(address: str, title: str, text: str, *, allow_private: bool, timeout: timedelta) -> bool:
    """Send a message and return whether apprise could; raise ConfigError if it does not understand the address."""
    command = [sys.executable, "-B", "-P", "-m", __spec__.name]  # -B: the guard refuses to write compiled modules.
    # On standard input: others can read the command line.
    message = json.dumps([address, title, text, allow_private])
    env = {name: value for name, value in os.environ.items() if name in KEPT_VARIABLES}
    try:
        done = subprocess.run(
            command, input=message.encode(), env=env, cwd="/", capture_output=True, timeout=timeout.total_seconds()
        )
    except subprocess.TimeoutExpired as error:
        raise ConfigError(f"apprise was not done within {timeout.total_seconds():g} s") from error
    if done.returncode == NOT_UNDERSTOOD:
        raise ConfigError("apprise does not understand the address")
    refusals = [line for line in done.stdout.decode("utf-8", "replace").splitlines() if line]
    if refusals and done.returncode != SENT:
        raise ConfigError(f"apprise could not send it: {refusals[0]}")
    if done.returncode not in (SENT, NOT_SENT):
        errors = done.stderr.decode("utf-8", "replace").splitlines() or [f"exit code {done.returncode}"]
        raise ConfigError(f"apprise could not be run: {errors[-1]}")
    return done.returncode == SENT


class EventGuard(NamedTuple):
    """What the process may do."""

    folders: tuple[str, ...]  # Where it may read.
    allow_private: bool = False
    code_folders: tuple[str, ...] = ()  # Where it may read Python modules: PYTHONPATH may name a home.

    def refusal(self, event: str, args: tuple[Any, ...]) -> str | None:
        """Return why an audit event is refused; None if it is allowed."""
        if event in _CONNECTS:
            return self._address_refusal(args[1])
        if event in _STARTS:
            return "it may not start programs"
        if event in _WRITES:
            return "it may not change files"
        return self._file_refusal(*args) if event == "open" else None

    def _address_refusal(self, address: object) -> str | None:
        if not isinstance(address, tuple):  # A socket file, or nothing.
            return None if address is None else "it may connect to no program of this machine"
        return None if self.allow_private else address_refusal(str(address[0]))

    def _file_refusal(self, path: object, mode: object, flags: int) -> str | None:
        if isinstance(path, int):
            return None
        shown = os.fsdecode(path)  # type: ignore[arg-type]
        if shown not in SYSTEM_FILES and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            return "it may not write files"
        # Links may lead out of a folder.
        true = os.path.realpath(shown)
        places = self.folders + (self.code_folders if true.endswith(MODULE_SUFFIXES) else ())
        if shown in SYSTEM_FILES or any(true == place or true.startswith(f"{place}/") for place in places):
            return None
        return f"it may not read the file {shown}"


def readable_folders(packages: Iterable[ModuleType]) -> tuple[str, ...]:
    """Return where Python, some packages and the system's certificates are."""
    certificates = [path for path in ssl.get_default_verify_paths() if path is not None]
    python = {place for name, place in sysconfig.get_paths().items() if name not in ("data", "scripts")}
    return true_folders(
        {*(path for package in packages for path in package.__path__), *python, *certificates, *SYSTEM_FOLDERS}
    )


def true_folders(places: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({os.path.realpath(place) for place in places if Path(place).is_absolute()} - {"/"}))


def main() -> int:
    """Send the message on standard input under guard; print what was refused."""
    address, title, text, allow_private = json.loads(sys.stdin.buffer.read())

    def check(event: str, args: tuple[Any, ...]) -> None:
        why = guard.refusal(event, args)
        if why is not None:
            print(why, flush=True)
            raise PermissionError(why)

    import apprise
    import certifi

    guard = EventGuard(readable_folders((apprise, certifi)), allow_private, true_folders(sys.path))
    sys.addaudithook(check)
    sender = apprise.Apprise()
    if not sender.add(address):
        return NOT_UNDERSTOOD
    return SENT if sender.notify(title=title, body=text) else NOT_SENT


if __name__ == "__main__":
    sys.exit(main())
