"""Memory that pages gave back serves the next ones."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

MANY_PAGES = """
import resource
from evercrawl.adapters.allocator import keep_freed_memory

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


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be told")
def test_memory_that_was_given_back_is_not_asked_for_again() -> None:
    ran = subprocess.run([sys.executable, "-c", MANY_PAGES], capture_output=True, text=True, check=True)
    asked_again, kept = map(int, ran.stdout.split())
    assert kept < asked_again / 10
