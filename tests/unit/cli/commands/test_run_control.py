"""The commands `pause`, `resume` and `stop`, and `skipped --site`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evercrawl.cli.main import run
from evercrawl.collection.runs import run_pause
from evercrawl.config import create_collection


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    create_collection(tmp_path / "c.evercrawl", {"scope.seeds": ("https://example.org/",)})
    return tmp_path / "c.evercrawl"


def call(capsys: pytest.CaptureFixture[str], collection: Path, *arguments: str) -> tuple[int, dict]:
    code = run(["-C", str(collection), *arguments, "--json"])
    out = capsys.readouterr().out
    return code, json.loads(out) if out.strip() else {}


def test_pause_and_resume(collection: Path, capsys: pytest.CaptureFixture[str]):
    code, said = call(capsys, collection, "pause")
    assert (code, said["paused"], said["running"]) == (0, True, False)
    pause = run_pause(collection)
    assert pause is not None
    assert pause.by == "command line"
    code, said = call(capsys, collection, "resume")
    assert (code, said["paused"], said["was_paused"]) == (0, False, True)
    assert run_pause(collection) is None
    assert call(capsys, collection, "resume")[1]["was_paused"] is False


def test_without_a_crawl_there_is_nothing_to_stop(collection: Path, capsys: pytest.CaptureFixture[str]):
    code, said = call(capsys, collection, "stop")
    assert (code, said["stopping"]) == (1, False)


def test_skipped_takes_the_site_as_an_option_too(collection: Path, capsys: pytest.CaptureFixture[str]):
    assert call(capsys, collection, "skipped", "--site", "example.org")[0] == 0
