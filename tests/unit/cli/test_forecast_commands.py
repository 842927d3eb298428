"""`plan` and `simulate`: wrong use, and a replay from a file to a table, JSON and a picture."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evercrawl.cli.main import run
from tests.unit.lab.synthetic import synthetic_trace

DAY_S = 86_400


@pytest.fixture(autouse=True)
def _clean_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("EVERCRAWL_COLLECTION", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    made = synthetic_trace(pages=30, days=60.0)
    lines = [{"site": "harbour", "start": 0, "end": made.days * DAY_S}]
    for page in made.pages:
        steps = [b - a for a, b in zip((0.0, *page.changes), page.changes, strict=False)]
        death = None if page.death is None else page.death * DAY_S
        deltas = [step * DAY_S for step in steps]
        lines.append({"hub": str(page.hub), "birth": page.birth * DAY_S, "death": death, "changes_delta": deltas})
    file = tmp_path / "harbour.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["plan"], "no collection here"),
        (["plan", "--budget", "lots"], "'--budget': 'lots' cannot be used, it must be a number of requests"),
        (["simulate"], "nothing to replay"),
        (["simulate", "--trace", "nowhere.gz"], "there is no trace nowhere.gz"),
        (["simulate", "--policy", "best"], "there is no revisit policy 'best'"),
        (["simulate", "--trace", "harbour.jsonl", "--budget", "x"], "the budget 'x' must be"),
        (
            ["simulate", "--trace", "harbour.jsonl", "--budget", "0.1", "--plot", "no/x.svg"],
            "cannot be written to no/x.svg",
        ),
    ],
)
def test_wrong_use_is_one_clear_message(
    arguments: list[str], words: str, trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    shown = capsys.readouterr()
    assert words in shown.err
    assert "Traceback" not in shown.err


def test_a_replay_as_json_and_as_a_picture(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = ["simulate", "--trace", str(trace), "--policy", "optimal,fixed", "--budget", "0.1,0.3", "--json"]
    assert run([*call, "--plot", "out.svg"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["policy"], row["budget"]) for row in rows] == [
        ("optimal", 0.1),
        ("optimal", 0.3),
        ("fixed", 0.1),
        ("fixed", 0.3),
    ]
    fields = {"policy", "budget", "freshness", "requests_per_page_day", "useful_share"}
    assert all(fields <= set(row) for row in rows)
    assert all(0.0 < row["freshness"] < 1.0 for row in rows)
    assert Path("out.svg").read_text().startswith("<svg ")


def test_a_replay_as_a_table(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", "--trace", str(trace), "--budget", "3/day", "--signal", "true"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "harbour: 30 pages over 60 days"
    assert [line.split()[0] for line in shown[2:4]] == ["optimal", "uniform"]
