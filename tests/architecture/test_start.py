"""Commands that only read start fast: they load nothing of the crawler."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

from tests.architecture.source import trees

READING = ("evercrawl.collection.collection", "evercrawl.collection.status", "evercrawl.cli.main")
CRAWLING = frozenset(
    {
        "evercrawl.adapters.http.client",
        "evercrawl.cluster.crawl_builder",
        "evercrawl.engine.crawl",
        "evercrawl.collection.alerts.registry",
        "evercrawl.cluster.supervisor",
        "numpy",
        "selectolax",
        "tantivy",
    }
)


def test_reading_does_not_load_the_crawler() -> None:
    code = f"import sys, {', '.join(READING)}; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(ran.stdout.split())
    assert set(READING) <= loaded
    assert not CRAWLING & loaded


def test_the_modules_of_the_crawler_exist() -> None:
    assert [name for name in CRAWLING if find_spec(name) is None] == []


def test_processes_import_nothing_from_the_current_folder() -> None:
    """A folder of somebody else may contain modules with the names of ours."""
    starts = [line.strip() for path in trees() for line in path.read_text("utf-8").splitlines() if '"-m", ' in line]
    assert starts
    assert [line for line in starts if '"-P", "-m", ' not in line] == []
