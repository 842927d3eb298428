"""The commands `simulate`, `plan` and `lab`: wrong usage, tables, JSON and charts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evercrawl.cli.main import run
from evercrawl.cli.terminal import ExitCode
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
        (["simulate"], "no history to replay"),
        (["simulate", "--trace", "nowhere.gz"], "no such file: nowhere.gz"),
        (["simulate", "--policy", "best"], "there is no revisit policy 'best'"),
        (["simulate", "--trace", "harbour.jsonl", "--budget", "x"], "the budget 'x' must be"),
        (
            ["simulate", "--trace", "harbour.jsonl", "--budget", "0.1", "--plot", "no/x.svg"],
            "cannot write the chart to no/x.svg",
        ),
    ],
)
def test_wrong_usage_gives_one_clear_message(
    arguments: list[str], words: str, trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    shown = capsys.readouterr()
    assert words in shown.err
    assert "Traceback" not in shown.err


def test_a_simulation_as_json_and_as_a_chart(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
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


def test_a_simulation_as_a_table(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", "--trace", str(trace), "--budget", "3/day", "--signal", "true"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "harbour: 30 pages over 60 days"
    assert [line.split()[0] for line in shown[2:4]] == ["optimal", "uniform"]


@pytest.mark.slow
def test_d10_reports_the_gain_of_a_second_node(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "d10", "--scale", "0.001", "--json"]) == ExitCode.OK
    found = json.loads(capsys.readouterr().out)
    assert [(one["nodes"], one["lines"]) for one in found["runs"]] == [(1, 1), (2, 1), (2, 2)]
    assert all(one["pages"] == 177 and one["too_soon"] == 0 for one in found["runs"])
    assert [one["paper_hours"] for one in found["runs"]] == [2.0, 3.25, None]
    assert all(one["hours"] <= (one["paper_hours"] or 1.0) for one in found["runs"])
    assert found["matches"]
    assert found["gain"] > 1.8


def test_a_plot_that_cannot_be_written_is_a_clear_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["lab", "sitemap", "--plot", str(tmp_path / "nowhere" / "sitemap.svg")])
    assert code == ExitCode.USAGE
    assert "cannot write the chart" in capsys.readouterr().err
