"""Which files of an archive's folder are stored elsewhere, and where that is.

What is not in the journal is still to be uploaded, so a file that a crash left behind cannot be forgotten.
"""

from __future__ import annotations

import os
from pathlib import Path

from evercrawl.adapters.warc.writer import sync_folder

PLACE = "objects"
"""File with the address, so that everything that reads the archive finds the rest of it."""
JOURNAL = "uploaded"
"""File with a line `name size` for each file whose upload was confirmed."""


def place_of_archive(folder: Path) -> str | None:
    """The address where files are that are not in this folder; None: all of them are here."""
    try:
        return (folder / PLACE).read_text(encoding="utf-8").strip() or None
    except (FileNotFoundError, NotADirectoryError):
        return None


def say_place(folder: Path, address: str) -> None:
    """From now on the archive's files may be there."""
    if place_of_archive(folder) == address:
        return
    folder.mkdir(parents=True, exist_ok=True)
    fresh = folder / f"{PLACE}.new"
    fresh.write_text(address + "\n", encoding="utf-8")
    fresh.replace(folder / PLACE)
    sync_folder(folder)


def uploaded(folder: Path) -> dict[str, int]:
    """Files whose upload was confirmed, with their sizes; half a line, of a crash, counts for nothing."""
    try:
        text = (folder / JOURNAL).read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    lines = (line.split() for line in text.splitlines())
    return {parts[0]: int(parts[1]) for parts in lines if len(parts) == 2 and parts[1].isdigit()}


def note_uploaded(path: Path, size: int) -> None:
    """Remember for good that a file is stored elsewhere."""
    descriptor = os.open(path.parent / JOURNAL, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    try:
        # The newline before it ends a line that a crash may have cut.
        os.write(descriptor, f"\n{path.name} {size}\n".encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def waiting(folder: Path, names: str = "*.warc.gz") -> list[Path]:
    """Files of the archive that are not stored elsewhere yet, whoever may be writing to them.

    An empty one was just begun, or its writer died before the first record.
    """
    done = uploaded(folder)
    sizes = {path: _size(path) for path in sorted(folder.glob(names))}
    return [path for path, size in sizes.items() if size not in (0, done.get(path.name))]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # another process has brought it away
        return 0
