"""`pace`: sites are slowed down in the collection's file, listed, shown by `status`, and taken back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evercrawl.cli.main import run
from evercrawl.config import create_collection, read_settings


@pytest.fixture
def collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    create_collection(tmp_path / "c")
    return tmp_path / "c"


def test_a_site_is_slowed_listed_and_taken_back(collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def call(*arguments: str, code: int = 0) -> list[dict[str, object]]:
        assert run(["-C", str(collection), *arguments, "--json"]) == code
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    (done,) = call("pace", "slow", "Example.org", "2m")
    assert (done["site"], done["delay_s"]) == ("https://example.org", 120)
    call("pace", "slow", "https://example.org/deep/page", "30s")
    call("pace", "slow", "http://other.test:8080", "1h")
    assert read_settings(collection).settings.pace.overrides == (
        "https://example.org 30s",
        "http://other.test:8080 3600s",
    )
    assert [row["delay_s"] for row in call("pace", "list")] == [3600, 30]
    (status,) = call("status")
    assert {"site": "https://example.org", "delay_s": 30.0} in status["rate_overrides"]
    assert call("pace", "undo", "example.org")[0]["done"] is True
    assert call("pace", "undo", "example.org", code=1)[0]["done"] is False
    assert len(call("pace", "list")) == 1


@pytest.mark.parametrize(("site", "gap"), [("example.org", "fast"), ("example.org", "0"), ("example.org", "2d")])
def test_a_gap_that_cannot_be_is_refused(collection: Path, site: str, gap: str) -> None:
    assert run(["-C", str(collection), "pace", "slow", site, gap]) == 2
    assert read_settings(collection).settings.pace.overrides == ()
