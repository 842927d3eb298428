"""Files of a collection that somebody else wrote: each is read, ignored or refused with a message."""

from __future__ import annotations

import json
import resource
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evercrawl.adapters.focus_file import _row
from evercrawl.adapters.graph_files import current_graph, graph_folder
from evercrawl.collection.alerts.mail import _require_json
from evercrawl.collection.backup import MANIFEST, backups_folder, list_backups, read_manifest
from evercrawl.collection.exchange.chunk_export import _read_cursor
from evercrawl.collection.folder import summarise_collection
from evercrawl.collection.removal import Removal, finish_removals, removals
from evercrawl.collection.runs import LIVE_FILE, live_run, past_runs
from evercrawl.config import create_collection, read_settings
from evercrawl.config.fields_file import RULES_FILE, load_rules
from evercrawl.config.load import REMOVALS_FOLDER as REMOVALS
from evercrawl.core.change.held_changes import unpack_held
from evercrawl.core.focus.classifier import HEADER, TopicSketch
from evercrawl.core.focus.focus import Focus
from evercrawl.core.traps.trap_state import VERSION as TRAP_STATE_VERSION
from evercrawl.core.traps.trap_state import trap_state_of
from evercrawl.errors import EvercrawlError

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
DEEP = "[" * 100_000
LIVE = {"pid": 1, "began": "2026-11-01", "at": "2026-11-01", "forever": True, "progress": {}}
TEXTS = (
    "", "{}", "[]", "null", "1", '"a"', "[1]", '[{"a": 1}]', DEEP, '{"a":' * 50_000, "NaN", "9" * 5000, "\ud800", "\0",
    '[{"name": 1, "pages": 1, "select": [], "type": {}}]', '{"at": 1, "source": 1, "files": [], "bytes": "x"}',
    '{"at": "0001-01-01T00:00:00+23:59", "source": "", "files": 0, "bytes": 0, "copied_bytes": 0}', json.dumps(LIVE),
    '{"exported_until": "0001-01-01T00:00:00+23:59"}', '{"exported_until": []}', '{"damaged_files": 1}',
    '{"id": "../../x", "damaged_files": []}',
)  # fmt: skip


def in_file(name: str, read: Callable[[Path], object]) -> Callable[[Path, str], object]:
    def write_and_read(collection: Path, text: str) -> object:
        path = collection / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        return read(collection)

    return write_and_read


def read_graph(collection: Path, text: str) -> object:
    folder = graph_folder(collection)
    (folder / "g1").mkdir(parents=True, exist_ok=True)
    (folder / "current").write_text("g1")
    (folder / "g1" / "notes.json").write_text(text, encoding="utf-8", errors="surrogatepass")
    return current_graph(collection)


def read_backups(collection: Path, text: str) -> object:
    folder = backups_folder(collection) / "one"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MANIFEST).write_text(text, encoding="utf-8", errors="surrogatepass")
    return list_backups(collection)


def in_text(read: Callable[[str], Any]) -> Callable[[Path, str], object]:
    return lambda _, text: read(text)


READERS: dict[str, Callable[[Path, str], object]] = {
    "fields": in_file(RULES_FILE, load_rules),
    "running crawl": in_file(LIVE_FILE, lambda path: live_run(path, now=NOW)),
    "past runs": in_file("runs.jsonl", lambda path: list(past_runs(path, limit=5))),
    "removals": in_file(f"{REMOVALS}/a.json", removals),
    "backup": in_file(MANIFEST, read_manifest),
    "backups": read_backups,
    "graph": read_graph,
    "export cursor": in_file("cursor.json", lambda path: _read_cursor(path / "cursor.json")),
    "settings": in_file("collection.toml", lambda path: read_settings(path, env={}, untrusted=True)),
    "list in the settings": in_file(
        "collection.toml", lambda path: read_settings(path, env={"EVERCRAWL_SCOPE__SEEDS": DEEP}, untrusted=True)
    ),
    "summary": in_file(LIVE_FILE, lambda path: summarise_collection("a", path, env={}, now=NOW)),
    "examples": in_text(lambda text: _row(text, 1)),
    "template": in_text(_require_json),
}


@pytest.mark.parametrize("name", READERS)
def test_a_hostile_file_gives_a_result_or_a_message(name: str, tmp_path: Path) -> None:
    for number, text in enumerate(TEXTS):
        collection = tmp_path / f"{number}.evercrawl"
        create_collection(collection)
        with suppress(EvercrawlError if name != "examples" else ValueError):
            READERS[name](collection, text)


def removal(**fields: object) -> str:
    known = asdict(Removal("0" * 32, "page", "https://a.example/", None, "2026-11-01T12:00:00Z", "", "", "pending"))
    return json.dumps(known | fields)


@pytest.mark.parametrize(
    "fields",
    [{"id": "../../outside"}, {"id": "/tmp/outside"}, {"id": "1" * 32}, {"kind": "all"}, {"state": 1}, {"target": 1}],
)
def test_a_removal_of_somebody_else_writes_nothing_outside(tmp_path: Path, fields: dict[str, object]) -> None:
    collection = tmp_path / "a" / "c.evercrawl"
    create_collection(collection)
    (collection / REMOVALS).mkdir()
    (collection / REMOVALS / f"{'0' * 32}.json").write_text(removal(**fields))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(EvercrawlError, match="cannot be read"):
        finish_removals(collection, read_settings(collection).settings)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_removal_that_was_interrupted_is_read(tmp_path: Path) -> None:
    collection = tmp_path / "c.evercrawl"
    create_collection(collection)
    (collection / REMOVALS).mkdir()
    (collection / REMOVALS / f"{'0' * 32}.json").write_text(removal())
    assert [one.state for one in finish_removals(collection, read_settings(collection).settings)] == ["done"]


BOMB = zlib.compress(bytes(512 * 1024 * 1024), 9)  # In memory more than any state has.


@pytest.mark.parametrize(
    "read",
    [
        lambda stored: trap_state_of(bytes([TRAP_STATE_VERSION]) + stored),
        Focus.from_bytes,
        lambda stored: TopicSketch.from_bytes(HEADER + stored),
    ],
)
def test_state_that_expands_is_refused(read: Callable[[bytes], object]) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ValueError, match="too large"):
        read(BOMB)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300 * 1024


def test_a_held_change_that_expands_is_ignored() -> None:
    assert unpack_held(bytes(12) + BOMB) is None
