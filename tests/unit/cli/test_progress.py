"""What a run shows while it goes on, and at its end."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from evercrawl.cli.context import CliContext
from evercrawl.cli.progress import (
    SUMMARY_FIELDS,
    LiveProgress,
    PlainProgress,
    open_progress,
    progress_line,
    summary_box,
    summary_fields,
)
from evercrawl.model.report import Progress, Summary


def test_the_line_says_what_matters_and_escapes_what_was_crawled() -> None:
    progress = Progress(
        fetched=312, known=1204, queued=892, bytes=41_000_000, errors=2, skipped=57, requests_per_s=0.5,
        current_site="https://evil.example\x1b[2J",
    )  # fmt: skip
    assert progress_line(progress) == (
        "312/1,204 pages · 0.5 req/s · 41 MB · 2 errors · 57 skipped · ~30 min left · https://evil.example"
    )


def test_without_a_terminal_there_is_a_line_every_half_minute(capsys: pytest.CaptureFixture[str]) -> None:
    view = PlainProgress(CliContext())
    for second in range(0, 100, 5):
        view.update(Progress(fetched=second, elapsed_s=second))
    shown = capsys.readouterr()
    assert shown.out == ""
    assert [line.split("/")[0] for line in shown.err.splitlines()] == ["30", "60", "90"]


def test_the_live_view_is_for_terminals_only(monkeypatch: pytest.MonkeyPatch) -> None:
    session = CliContext(env={})
    session.__dict__["err"] = Console(file=io.StringIO(), force_terminal=True, width=100, markup=False)
    with open_progress(session) as view:
        assert isinstance(view, LiveProgress)
        view.update(Progress(fetched=1, known=2, elapsed_s=1, current_site="https://long.example" * 5))
        view.dump()
    assert "1/2 pages" in session.err.file.getvalue()  # type: ignore[attr-defined]
    assert "[Ctrl-C stops safely]" in session.err.file.getvalue()  # type: ignore[attr-defined]
    session.env["CI"] = "true"
    with open_progress(session) as view:
        assert isinstance(view, PlainProgress)


def test_the_summary_says_where_the_data_is_and_what_next(tmp_path: Path) -> None:
    summary = Summary(
        requests=313, fetched=313, new=311, errors=2, skipped=57, bytes=41_000_000, seconds=600,
        skipped_by={"robots": 12, "out_of_scope": 45}, median_answer_ms=180, longest_parallel_per_site=1,
        stopped="interrupted", remaining=891, first_error="https://example.org/\x1b[31mx: timeout",
    )  # fmt: skip
    out = io.StringIO()
    Console(file=out, width=120, markup=False).print(summary_box(summary, tmp_path))
    text = out.getvalue()
    for part in (
        "fetched 313", "new 311", "out of scope 45, robots 12", "never more than 1 at a time",
        "891 pages left in the queue", f"evercrawl -C {tmp_path} crawl", f"evercrawl -C {tmp_path} status",
        f"evercrawl -C {tmp_path} skipped",
    ):  # fmt: skip
        assert part in text
    assert "\x1b[31mx" not in text


def test_the_summary_of_a_run_that_met_a_closed_door_says_which_and_until_when(tmp_path: Path) -> None:
    summary = Summary(
        requests=1, stopped="closed", remaining=1, nothing_reachable=True,
        first_error="https://b/robots.txt: b: Domain name not found",
        closed_note="https://b until 2026-11-15 10:47 UTC: b: Domain name not found, for the first time",
    )  # fmt: skip
    out = io.StringIO()
    Console(file=out, width=160, markup=False).print(summary_box(summary, tmp_path))
    for part in (
        "no site could be reached", "1 page left in the queue", "1 request,", "closed: https://b until",
        "first error: https://b/robots.txt: b: Domain name not found",
    ):  # fmt: skip
        assert part in out.getvalue()


def test_the_json_summary_has_the_fields_that_scripts_rely_on() -> None:
    assert tuple(summary_fields(Summary(seconds=1.23456))) == SUMMARY_FIELDS
