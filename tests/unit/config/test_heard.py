from __future__ import annotations

import os
from pathlib import Path

import pytest

from evercrawl.config import collection_file, create_collection, write_setting
from evercrawl.config.load import slower_sites_in, trap_rules_in
from evercrawl.model.settings import TrapSettings


@pytest.fixture
def reloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    create_collection(tmp_path / "c")
    return tmp_path / "c"


def _touch(reloaded: Path, seconds: int) -> None:
    """The clock of a file system may be coarse."""
    os.utime(collection_file(reloaded), (seconds, seconds))


def test_rules_are_heard_when_the_file_was_written(reloaded: Path) -> None:
    rules = trap_rules_in(reloaded, TrapSettings(min_pages=7))
    assert rules.changed() is None
    write_setting(collection_file(reloaded), "traps.exclude", ("/old/**",))
    _touch(reloaded, 1)
    assert rules.changed() == TrapSettings(min_pages=7, exclude=("/old/**",))
    assert rules.changed() is None


def test_a_file_that_cannot_be_used_changes_nothing(reloaded: Path, caplog: pytest.LogCaptureFixture) -> None:
    rules = trap_rules_in(reloaded, TrapSettings())
    collection_file(reloaded).write_text("[traps\n")
    _touch(reloaded, 2)
    assert rules.changed() is None
    assert "stay as they were" in caplog.text


def test_other_settings_are_not_heard(reloaded: Path) -> None:
    rules = trap_rules_in(reloaded, TrapSettings())
    write_setting(collection_file(reloaded), "traps.enabled", False)
    _touch(reloaded, 3)
    assert rules.changed() is None


def test_slower_sites_are_heard_and_taken_back(reloaded: Path) -> None:
    slower = slower_sites_in(reloaded, ())
    write_setting(collection_file(reloaded), "pace.overrides", ("https://a.test 30s",))
    _touch(reloaded, 4)
    assert slower.changed() == ("https://a.test 30s",)
    write_setting(collection_file(reloaded), "pace.overrides", ())
    _touch(reloaded, 5)
    assert slower.changed() == ()
