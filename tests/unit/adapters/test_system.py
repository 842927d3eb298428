"""The collection lock, memory settings and garbage collection."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from evercrawl.adapters.system import CollectionLock
from evercrawl.errors import CollectionBusy, StoreUnavailable

HOLDER = """
import sys
from pathlib import Path
from evercrawl.adapters.system import CollectionLock
lock = CollectionLock(Path(sys.argv[1]))
lock.acquire()
print("held", flush=True)
sys.stdin.read()
"""


def holding_process(collection: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", HOLDER, str(collection)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_process_is_rejected_with_the_owner(tmp_path: Path) -> None:
    with holding_process(tmp_path) as process:
        with pytest.raises(CollectionBusy) as busy:
            CollectionLock(tmp_path).acquire()
        assert f"process {process.pid} on " in str(busy.value)
        assert str(tmp_path) in str(busy.value)
        process.kill()
        process.wait()
        with CollectionLock(tmp_path):
            assert f"process {os.getpid()} " in (tmp_path / "lock").read_text()


def test_a_released_lock_can_be_acquired_again(tmp_path: Path) -> None:
    lock = CollectionLock(tmp_path)
    for _ in range(2):
        with lock, pytest.raises(CollectionBusy):
            CollectionLock(tmp_path).acquire()
    assert (tmp_path / "lock").read_text() == ""
    lock.release()


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="cannot be opened"):
        CollectionLock(tmp_path / "none").acquire()


MANY_PAGES = """
import resource
from evercrawl.adapters.system import retain_freed_memory

def pages() -> int:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(50):
        blocks = [bytearray(b"x") * 100_000 for _ in range(60)]
        del blocks
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

faults_before = pages()
assert retain_freed_memory()
pages()
print(faults_before, pages())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="needs glibc")
def test_freed_memory_is_reused() -> None:
    ran = subprocess.run([sys.executable, "-c", MANY_PAGES], capture_output=True, text=True, check=True)
    faults_before, kept = map(int, ran.stdout.split())
    assert kept < faults_before / 10
