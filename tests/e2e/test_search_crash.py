"""Kill crawls that update the search index: it never contains more than the collection or less than its cursor says."""

from __future__ import annotations

import random
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from evercrawl.adapters.sql.log_reader import log_reader
from evercrawl.adapters.sql.state_reader import shards_of
from evercrawl.adapters.tantivy import TextIndex
from evercrawl.adapters.tantivy.text_index import index_folder
from evercrawl.collection.search_index import catch_up
from evercrawl.model.settings import SearchSettings
from tests.command_server import start_command
from tests.e2e import crash
from tests.index_checks import has_version, missing_versions

SEED = 20261116
PAGES_PER_KILL = 30
LONGEST_WAIT_S = 20
OFTEN = {"EVERCRAWL_SEARCH__INDEX_INTERVAL": "0.05", "EVERCRAWL_SEARCH__BACKGROUND_INDEX": "always"}
"""Write the index nearly all the time, so that kills hit it."""


def disagreements(collection: Path, index: TextIndex) -> list[str]:
    """Return shards whose indexed versions are not exactly those of the log up to the cursor."""
    wrong = []
    searcher = index.searcher()
    for shard in shards_of(collection):
        at = int(index.cursor(shard, searcher).get("visit", 0))
        with log_reader(collection, shard) as reader:
            visits = [visit for visit in reader.next_visits(0, 1_000_000) if visit.id <= at]
        told = {(visit.page_id, visit.new_version) for visit in visits if visit.new_version is not None}
        held = index.versions_of(shard, searcher)
        missing = [place for place in told if not has_version(index, shard, *place, searcher)]
        if missing or held != len(told):
            wrong.append(f"shard {shard}: {held} indexed, {len(told)} logged, {len(missing)} missing")
    return wrong


def run(kills: int) -> tuple[int, int, list[str]]:
    """Crawl despite kills; return their number, how many hit the index, and what was wrong."""
    chance = random.Random(SEED)
    wrong: list[str] = []
    done = begun = 0
    with tempfile.TemporaryDirectory() as folder:
        collection, log = Path(folder) / "c.evercrawl", Path(folder) / "requests.log"
        with crash.web(log, pages=25 + kills * PAGES_PER_KILL) as origins:
            command = crash.crawl_command(collection, origins)
            while done < kills and _killed(command, collection, after_s=chance.uniform(0.0, 0.8)):
                done += 1
                if shards_of(collection):
                    index = TextIndex(collection)
                    begun += index.searcher().num_docs > 0
                    wrong += disagreements(collection, index)
        index = TextIndex(collection)
        catch_up(collection, index, SearchSettings())
        wrong += disagreements(collection, index)
        wrong += [f"{place} is missing" for place in missing_versions(collection, index)]
    return done, begun, wrong


def _killed(command: list[str], collection: Path, *, after_s: float) -> bool:
    """Kill a crawl some time after it first wrote the index; return False if it had ended by itself."""
    process = start_command(
        *command, env=crash.environment() | OFTEN, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    before, ends = _written(collection), time.monotonic() + LONGEST_WAIT_S
    while process.poll() is None and _written(collection) == before and time.monotonic() < ends:
        time.sleep(0.01)
    time.sleep(after_s)
    if process.poll() is not None:
        return False
    process.kill()
    process.wait()
    return True


def _written(collection: Path) -> int:
    """Return when the index was last committed."""
    path = index_folder(collection) / "meta.json"
    return path.stat().st_mtime_ns if path.exists() else 0


@pytest.mark.parametrize("kills", [8, pytest.param(25, marks=pytest.mark.long)])
def test_the_index_agrees_with_the_collection_after_kills(kills: int) -> None:
    done, begun, wrong = run(kills)
    assert wrong == []
    assert done == kills
    assert begun > kills // 2
