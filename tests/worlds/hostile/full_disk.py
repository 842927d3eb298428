"""Crawl on a disk that fills up, and continue when there is room again.

    unshare --user --map-root-user --mount python -m tests.worlds.hostile.full_disk FOLDER SEED < SETTINGS

SETTINGS is a JSON object of settings by key. Prints the exit code, the output and the archive of both calls.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from tests.worlds.hostile.command import Command

SMALL, LARGE = "4m", "64m"


def state_of(command: Command, seed: str) -> dict[str, Any]:
    """Return what a crawl stored."""
    ran = command.crawl(seed, "--pace", "own", "--gap", "0.01")
    bad, records = [], 0
    for path in sorted(command.collection.rglob("*.warc.gz")):
        checker = Checker(SimpleNamespace(inputs=[str(path)], verbose=False))
        checker.process_all()
        bad += [path.name] if checker.exit_value else []
        with path.open("rb") as file:
            records += sum(record.rec_type == "response" for record in ArchiveIterator(file))
    return {"code": ran.code, "err": ran.err, "bad_warcs": bad, "records": records}


def main(folder: Path, seed: str, settings: dict[str, str]) -> dict[str, Any]:
    disk = folder / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SMALL}", "tmpfs", str(disk)], check=True)
    command = Command(folder, settings)
    command.collection = disk / "c.evercrawl"
    first = state_of(command, seed)
    subprocess.run(["mount", "-o", f"remount,size={LARGE}", str(disk)], check=True)
    return {"first": first, "second": state_of(command, seed)}


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), sys.argv[2], json.load(sys.stdin))))
