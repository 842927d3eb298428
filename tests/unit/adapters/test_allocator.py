"""Freed memory is reused, and garbage collection runs less often."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

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


FEWER_COLLECTIONS = """
import gc
from evercrawl.adapters.system import GC_THRESHOLD, reduce_gc_frequency

class Cycle:
    def __init__(self) -> None:
        self.own = self

runs = []
gc.callbacks.append(lambda phase, info: runs.append(info) if phase == "stop" else None)

def cycles() -> int:
    runs.clear()
    for _ in range(3 * GC_THRESHOLD):
        Cycle()
    return len(runs)

before = cycles()
reduce_gc_frequency()
print(before, cycles(), sum(run["collected"] for run in runs) > GC_THRESHOLD)
"""


def test_cycles_are_collected_less_often() -> None:
    ran = subprocess.run([sys.executable, "-c", FEWER_COLLECTIONS], capture_output=True, text=True, check=True)
    before, rarely, found = ran.stdout.split()
    assert 0 < int(rarely) < int(before) / 10
    assert found == "True"


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="needs glibc")
def test_freed_memory_is_reused() -> None:
    ran = subprocess.run([sys.executable, "-c", MANY_PAGES], capture_output=True, text=True, check=True)
    faults_before, kept = map(int, ran.stdout.split())
    assert kept < faults_before / 10
