"""Find the programs that tests need. A missing program fails the test: needed tests never vanish silently."""

from __future__ import annotations

import os
import shutil

import pytest

SYSTEM_PATH = "/usr/sbin:/usr/local/sbin"
"""Where Debian keeps servers, outside the path of ordinary users."""


def find_program(name: str, *, package: str) -> str:
    """Return the path of a program; fail the test and name its Debian package if it is missing."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:{SYSTEM_PATH}")
    if found is None:
        pytest.fail(f"{name} is missing: install it (on Debian: apt-get install {package})", pytrace=False)
    return found
