"""The `evercrawl` command as a separate process with its own collection."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import evercrawl
from evercrawl.model.report import Explanation

DEADLINE_S = 300


def _peak_bytes(pid: int) -> int:
    """Return the peak memory of a process; wait4 would include the test's own memory."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    held = [line.split() for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(held[0][1]) * 1024 if held else 0


class CommandResult(NamedTuple):
    """The result of a call."""

    code: int
    out: str
    err: str
    peak_bytes: int
    """Peak memory of the process."""
    seconds: float

    def summary(self) -> dict[str, Any]:
        """The last JSON object that a crawl prints."""
        found: dict[str, Any] = json.loads(self.out.splitlines()[-1])
        return found


class Command:
    """Runs the command with the test's settings in the environment and none of the user's."""

    def __init__(self, folder: Path, settings: dict[str, str]) -> None:
        self.folder = folder
        self.collection = folder / "c.evercrawl"
        clean = {name: value for name, value in os.environ.items() if not name.startswith("EVERCRAWL_")}
        home = {"XDG_CONFIG_HOME": str(folder / "config"), "XDG_STATE_HOME": str(folder / "state")}
        given = {f"EVERCRAWL_{key.replace('.', '__').upper()}": value for key, value in settings.items()}
        self.env = clean | home | {"EVERCRAWL_CONTACT": "test@example.org"} | given

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start the command."""
        command = [sys.executable, "-m", "evercrawl", "-C", str(self.collection), *arguments]
        out, err = self.folder / "out", self.folder / "err"
        with out.open("wb") as stdout, err.open("wb") as stderr:
            return subprocess.Popen(command, cwd=self.folder, env=self.env, stdout=stdout, stderr=stderr)

    def call(self, *arguments: str) -> CommandResult:
        """Run the command to its end."""
        began = time.monotonic()
        process = self.start(*arguments)
        peak = 0
        while True:
            peak = max(peak, _peak_bytes(process.pid))
            pid, status = os.waitpid(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - began > DEADLINE_S:
                process.kill()
            time.sleep(0.02)
        process.returncode = os.waitstatus_to_exitcode(status)
        out, err = (self.folder / "out").read_text(), (self.folder / "err").read_text()
        assert "Traceback" not in err, err
        return CommandResult(process.returncode, out, err, peak, time.monotonic() - began)

    def crawl(self, *arguments: str) -> CommandResult:
        """Crawl on loopback, with a JSON summary."""
        return self.call("crawl", *arguments, "--allow-private", "--json")

    def why(self, url: str) -> Explanation:
        """Return what `why` prints about a URL."""
        return evercrawl.open(self.collection).why(url)
