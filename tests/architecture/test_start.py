"""Looking is quick to start: nothing of the crawler is loaded for it."""

from __future__ import annotations

import subprocess
import sys

import pytest

OF_CRAWLING = frozenset(
    {
        "evercrawl.adapters.http.client",
        "evercrawl.cluster.build",
        "evercrawl.engine.crawl",
        "evercrawl.collection.alerts.registry",
        "evercrawl.cluster.workers.run",
        "numpy",
        "selectolax",
        "tantivy",
    }
)


@pytest.mark.parametrize(
    "module", ["evercrawl.collection.collection", "evercrawl.collection.status", "evercrawl.cli.main"]
)
def test_looking_does_not_load_the_crawler(module: str) -> None:
    names = f"import sys, {module}; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", names], capture_output=True, text=True, check=True)
    assert module in ran.stdout.split()
    assert not OF_CRAWLING & set(ran.stdout.split())
