"""Collections that earlier versions wrote open in this one: `tests/data/collections`, from 0.2 on."""

from __future__ import annotations

import tarfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

import evercrawl
from evercrawl.model import __version__

STORED = sorted((Path(__file__).resolve().parents[2] / "data" / "collections").glob("*.tar.gz"))


def test_this_minor_version_is_stored() -> None:
    minor = ".".join(__version__.split(".")[:2])
    assert f"{minor}.tar.gz" in {path.name for path in STORED}, "run: python -m tests.data.make_collection"


@pytest.mark.parametrize("packed", STORED, ids=lambda path: path.name)
def test_an_old_collection_opens(packed: Path, tmp_path: Path) -> None:
    with tarfile.open(packed) as stored:
        stored.extractall(tmp_path, filter="data")
    with evercrawl.open(tmp_path / "old.evercrawl") as collection:
        (seed,) = collection.settings.scope.seeds
        assert collection.status().pages > 15
        assert collection.verify().is_sound()
        history = collection.history(f"{seed}news/3")
        assert len(history.versions) == 2
        assert "Correction" in str(collection.diff(f"{seed}news/3"))
        assert collection.search("lighthouse keeper").hits[0].url == f"{seed}news/today"
        assert collection.why(f"{seed}private/ledger").reason == "robots"
        assert "Correction to news 4" in str(collection.change_groups(datetime(2026, 1, 1, tzinfo=UTC)))
