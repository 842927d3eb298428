"""Processes start fast: commands that only read load nothing of the crawler, a crawl nothing that few crawls need."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest

from tests.architecture.source import trees

READING = ("evercrawl.collection.collection", "evercrawl.collection.runs", "evercrawl.cli.main")
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
RARELY_NEEDED = frozenset(
    {
        "evercrawl.adapters.analysers",
        "evercrawl.adapters.objectstore.uploader",
        "evercrawl.cluster.supervisor",
        "evercrawl.collection.alerts.notifier",
        "evercrawl.collection.removal",
        "evercrawl.core.focus.focus",
        "numpy",
    }
)
"""Only crawls with analysers, a bucket, workers, alerts, removals or a focus need them."""
NOT_FOR_PARSING = frozenset({"asyncio", "evercrawl.adapters.plugins", "evercrawl.core.change.noise", "numpy"})


@pytest.mark.parametrize(
    ("started", "avoided"),
    [
        (READING, CRAWLING),
        (("evercrawl.collection.crawl",), RARELY_NEEDED),
        (("evercrawl.adapters.parse_worker",), NOT_FOR_PARSING),
    ],
    ids=["reading", "crawling", "parsing"],
)
def test_a_process_loads_only_what_it_needs(started: tuple[str, ...], avoided: frozenset[str]) -> None:
    code = f"import sys, {', '.join(started)}; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(ran.stdout.split())
    assert set(started) <= loaded
    assert not avoided & loaded


def test_the_modules_to_avoid_exist() -> None:
    assert [name for name in CRAWLING | RARELY_NEEDED | NOT_FOR_PARSING if find_spec(name) is None] == []


def test_processes_import_nothing_from_the_current_folder() -> None:
    """A folder of somebody else may contain modules with the names of ours."""
    starts = [line.strip() for path in trees() for line in path.read_text("utf-8").splitlines() if '"-m", ' in line]
    assert starts
    assert [line for line in starts if '"-P", "-m", ' not in line] == []
