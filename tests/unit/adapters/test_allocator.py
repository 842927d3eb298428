"""Memory that pages gave back serves the next ones."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

MANY_PAGES = """
import resource
from evercrawl.adapters.system import keep_freed_memory

def pages() -> int:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(50):
        blocks = [bytearray(b"x") * 100_000 for _ in range(60)]
        del blocks
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

asked_again = pages()
assert keep_freed_memory()
pages()
print(asked_again, pages())
"""


RARELY = """
import gc
from evercrawl.adapters.system import OBJECTS_UNTIL_COLLECTED, collect_rarely

class Knot:
    def __init__(self) -> None:
        self.own = self

runs = []
gc.callbacks.append(lambda phase, info: runs.append(info) if phase == "stop" else None)

def knots() -> int:
    runs.clear()
    for _ in range(3 * OBJECTS_UNTIL_COLLECTED):
        Knot()
    return len(runs)

before = knots()
collect_rarely()
print(before, knots(), sum(run["collected"] for run in runs) > OBJECTS_UNTIL_COLLECTED)
"""


def test_dead_cycles_are_looked_for_rarely_and_found() -> None:
    ran = subprocess.run([sys.executable, "-c", RARELY], capture_output=True, text=True, check=True)
    before, rarely, found = ran.stdout.split()
    assert 0 < int(rarely) < int(before) / 10
    assert found == "True"


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be told")
def test_memory_that_was_given_back_is_not_asked_for_again() -> None:
    ran = subprocess.run([sys.executable, "-c", MANY_PAGES], capture_output=True, text=True, check=True)
    asked_again, kept = map(int, ran.stdout.split())
    assert kept < asked_again / 10
