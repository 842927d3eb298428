"""The command `login`: what it leaves behind when it fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from evercrawl.cli.main import run
from evercrawl.cli.terminal import ExitCode


def test_a_login_that_fails_leaves_no_collection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["login", "https://example.org", "--cookies", "nowhere.txt"]) == ExitCode.USAGE
    assert "nowhere.txt cannot be read" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
