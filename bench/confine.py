"""Memory for some processes, no more than a limit: their own and what the kernel keeps of their files."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path

ROOTS = (Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup"))
"""Version 1 of the kernel's control groups has the memory controller in a folder of its own."""
LIMITS = ("memory.limit_in_bytes", "memory.max")
PEAKS = ("memory.max_usage_in_bytes", "memory.peak")
TRIES = 20


class Confinement:
    """A control group of our own, which is removed with the last of its processes."""

    def __init__(self, name: str) -> None:
        root = next((root for root in ROOTS if (root / "cgroup.procs").exists()), None)
        if root is None or not os.access(root, os.W_OK):
            raise PermissionError("no control group can be made here: that needs root and a cgroup file system")
        self.folder = root / f"{name}-{os.getpid()}"
        self.folder.mkdir()
        self._limit = next((self.folder / file for file in LIMITS if (self.folder / file).exists()), None)
        if self._limit is None:
            self.folder.rmdir()
            raise PermissionError(f"{root} has no memory controller")

    def take(self, pids: Iterable[int]) -> None:
        """These processes, and those that they start from now on."""
        for pid in pids:
            (self.folder / "cgroup.procs").write_text(str(pid))

    def limit(self, size_bytes: int) -> None:
        """Most memory; the kernel first has to let go of what is beyond it."""
        assert self._limit is not None
        for _ in range(TRIES - 1):
            try:
                self._limit.write_text(str(size_bytes))
                return
            except OSError:
                time.sleep(0.5)
        self._limit.write_text(str(size_bytes))

    def peak_bytes(self) -> int:
        """Most memory that was in use."""
        for file in PEAKS:
            if (self.folder / file).exists():
                return int((self.folder / file).read_text())
        return 0

    def remove(self) -> None:
        """When the processes have ended."""
        for _ in range(TRIES):
            try:
                self.folder.rmdir()
                return
            except OSError:
                time.sleep(0.5)
