from __future__ import annotations

import os
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


def test_a_second_process_is_refused_and_told_by_whom(tmp_path: Path) -> None:
    with holding_process(tmp_path) as process:
        with pytest.raises(CollectionBusy) as busy:
            CollectionLock(tmp_path).acquire()
        assert f"process {process.pid} on " in str(busy.value)
        assert str(tmp_path) in str(busy.value)
        process.kill()
        process.wait()
        with CollectionLock(tmp_path):
            assert f"process {os.getpid()} " in (tmp_path / "lock").read_text()


def test_a_lock_that_was_let_go_can_be_taken_again(tmp_path: Path) -> None:
    lock = CollectionLock(tmp_path)
    for _ in range(2):
        with lock, pytest.raises(CollectionBusy):
            CollectionLock(tmp_path).acquire()
    assert (tmp_path / "lock").read_text() == ""
    lock.release()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="cannot be opened"):
        CollectionLock(tmp_path / "none").acquire()
