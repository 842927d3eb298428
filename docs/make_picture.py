"""Draws docs/images/crawl.svg from the output of a real crawl of the demo's web.

The command that is shown is the one that runs, on a pseudo-terminal; of its live line one moment is kept.
A run with a defect of ours makes no picture.
"""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text
from tests.worlds.demo_web import HOSTS, DemoWeb, serving

PICTURE = Path(__file__).resolve().parent / "images" / "crawl.svg"
WIDTH = 116
_LIVE = re.compile(r"[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] ")
_FONT = re.compile(r"\s*@font-face \{[^}]*\}")
"""A picture in the docs loads nothing from elsewhere; the reader's own monospaced font will do."""
_CURSOR = re.compile(r"\x1b\[[0-9;?]*[A-HJKSTfhlsu]|\r")


def main() -> None:
    """Crawl, keep what the terminal got, draw it."""
    with tempfile.TemporaryDirectory() as folder, serving(DemoWeb()) as port:
        arguments = ["crawl", f"http://{HOSTS[0]}:{port}/", "--gap", "0.1"]
        output = _terminal_output(arguments, folder, port)
    console = Console(record=True, width=WIDTH, file=open(os.devnull, "w"))  # noqa: SIM115
    console.print(Text(f"$ evercrawl {' '.join(arguments)}", style="bold"))
    for line in _lines(output):
        console.print(Text.from_ansi(line), soft_wrap=True)
    PICTURE.parent.mkdir(exist_ok=True)
    picture = console.export_svg(title="evercrawl", unique_id="crawl")
    PICTURE.write_text(_FONT.sub("", picture), encoding="utf-8")


def _terminal_output(arguments: list[str], folder: str, port: int) -> str:
    """What the command writes to its terminal; only what lets it find the demo's hosts is not shown."""
    keep = {name: value for name, value in os.environ.items() if not name.startswith(("EVERCRAWL_", "CI"))}
    env = keep | {
        "EVERCRAWL_CONTACT": "you@example.org",
        "EVERCRAWL_HTTP__ALLOW_PRIVATE": "true",
        "EVERCRAWL_HTTP__RESOLVE": f"{HOSTS[0]}:{port}:127.0.0.1",
        "XDG_CONFIG_HOME": folder,
        "COLUMNS": str(WIDTH),
        "TERM": "xterm-256color",
    }
    command = [sys.executable, "-m", "evercrawl", *arguments]
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, cwd=folder, env=env, stderr=theirs, stdout=theirs) as process:
        os.close(theirs)
        received = _everything(ours)
    if process.returncode or "defect" in received:
        raise SystemExit(f"the crawl failed with {process.returncode}:\n{received}")
    return received


def _everything(terminal: int) -> str:
    """What is written to a terminal until its last writer leaves, which Linux reports as an error."""
    received = b""
    while True:
        try:
            chunk = os.read(terminal, 65536)
        except OSError:
            chunk = b""
        if not chunk:
            os.close(terminal)
            return received.decode()
        received += chunk


def _lines(output: str) -> list[str]:
    """The lines that stay, with one moment of the live line at its place."""
    rows = [_CURSOR.sub("", row).rstrip() for row in re.split(r"\n|\r(?=\x1b\[2K)", output)]
    live = [row for row in rows if _LIVE.search(row)]
    moment = live[len(live) * 2 // 3 : len(live) * 2 // 3 + 1]
    first = next((number for number, row in enumerate(rows) if _LIVE.search(row)), len(rows))
    rest = [row for row in rows[first:] if not _LIVE.search(row) and row.strip()]
    return [*rows[:first], *moment, *rest]


if __name__ == "__main__":
    main()
