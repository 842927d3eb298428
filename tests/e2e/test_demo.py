"""`make demo` runs to its end, quickly and without the internet."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

MOST_SECONDS = 20


@pytest.mark.timeout(90)
def test_the_demo_runs() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.worlds.demo"],
        env=os.environ | {"EVERCRAWL_PACE__DELAY": "1h", "COLUMNS": "120"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    story = done.stdout
    assert done.returncode == 0, story
    assert "defect" not in story
    assert "Traceback" not in story
    for part in (
        "robots.txt forbids it", "the page does not exist (404)", "redirects to", "was cut off at the limit",
        "already stored under another URL", "changed 3", "new 1 ", "the page is gone", ".warc.gz",
    ):  # fmt: skip
        assert part in story, f"{part!r} is missing in:\n{story}"
    took = re.search(r"The demo took ([\d.]+) s", story)
    assert took is not None
    assert float(took[1]) < MOST_SECONDS
