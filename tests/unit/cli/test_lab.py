"""`evercrawl lab` reruns the experiments of the papers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evercrawl.cli.main import run
from evercrawl.cli.terminal import ExitCode


@pytest.mark.slow
def test_d10_says_what_a_second_node_brings(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "d10", "--scale", "0.002", "--json"]) == ExitCode.OK
    found = json.loads(capsys.readouterr().out)
    assert [(one["nodes"], one["lines"]) for one in found["runs"]] == [(1, 1), (2, 1), (2, 2)]
    assert all(one["pages"] == 354 and one["too_soon"] == 0 for one in found["runs"])
    assert [one["paper_hours"] for one in found["runs"]] == [2.0, 3.25, None]
    assert all(one["hours"] <= (one["paper_hours"] or 1.0) for one in found["runs"])
    assert found["matches"]
    assert found["gain"] > 1.8


def test_a_picture_that_cannot_be_written_is_a_clear_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["lab", "sitemap", "--plot", str(tmp_path / "nowhere" / "sitemap.svg")])
    assert code == ExitCode.USAGE
    assert "cannot write the picture" in capsys.readouterr().err
