"""Progress, Ctrl-C and the summary of a run."""

from __future__ import annotations

import asyncio
import io
import os
import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from rich.console import Console

from evercrawl.cli.context import CliContext
from evercrawl.cli.progress import (
    SUMMARY_FIELDS,
    InterruptHandler,
    LiveProgress,
    PlainProgress,
    handle_signals,
    open_progress,
    progress_line,
    summary_box,
    summary_fields,
)
from evercrawl.model.run import Progress, Summary


def test_the_progress_line_escapes_crawled_text() -> None:
    progress = Progress(
        fetched=312, known=1204, queued=892, bytes=41_000_000, errors=2, skipped=57, requests_per_s=0.5,
        current_site="https://evil.example\x1b[2J",
    )  # fmt: skip
    assert progress_line(progress) == (
        "312/1,204 pages · ~30 min left · 0.5 req/s · 41 MB · 2 errors · 57 skipped · https://evil.example"
    )


def test_without_a_terminal_it_prints_a_line_every_half_minute(capsys: pytest.CaptureFixture[str]) -> None:
    view = PlainProgress(CliContext())
    for second in range(0, 100, 5):
        view.update(Progress(fetched=second, elapsed_s=second))
    shown = capsys.readouterr()
    assert shown.out == ""
    assert [line.split("/")[0] for line in shown.err.splitlines()] == ["30", "60", "90"]


def test_live_progress_is_only_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    cli = CliContext(env={})
    cli.__dict__["err"] = Console(file=io.StringIO(), force_terminal=True, width=100, markup=False)
    with open_progress(cli) as view:
        assert isinstance(view, LiveProgress)
        view.update(Progress(fetched=1, known=2, elapsed_s=1, current_site="https://long.example" * 5))
        view.dump()
    assert "1/2 pages" in cli.err.file.getvalue()  # type: ignore[attr-defined]
    assert "[Ctrl-C stops safely]" in cli.err.file.getvalue()  # type: ignore[attr-defined]
    cli.env["CI"] = "true"
    with open_progress(cli) as view:
        assert isinstance(view, PlainProgress)


def test_the_summary_shows_the_folder_and_the_next_commands(tmp_path: Path) -> None:
    summary = Summary(
        requests=313, fetched=313, new=311, errors=2, skipped=57, bytes=41_000_000, seconds=600,
        skipped_by={"robots": 12, "out_of_scope": 45}, median_response_ms=180, max_concurrent_per_site=1,
        stopped="interrupted", remaining=891, first_error="https://example.org/\x1b[31mx: timeout",
    )  # fmt: skip
    out = io.StringIO()
    Console(file=out, width=120, markup=False).print(summary_box(summary, tmp_path))
    text = out.getvalue()
    for part in (
        "fetched 313", "new 311", "out of scope 45, robots 12", "at most 1 per site at once",
        "891 pages left in the queue", f"evercrawl -C {tmp_path} crawl", f"evercrawl -C {tmp_path} status",
        f"evercrawl -C {tmp_path} skipped",
    ):  # fmt: skip
        assert part in text
    assert "\x1b[31mx" not in text


def test_the_summary_names_a_paused_site_and_its_end(tmp_path: Path) -> None:
    summary = Summary(
        requests=1, stopped="closed", remaining=1, nothing_reachable=True,
        first_error="https://b/robots.txt: b: Domain name not found",
        closed_note="https://b until 2026-11-15 10:47 UTC: b: Domain name not found, for the first time",
    )  # fmt: skip
    out = io.StringIO()
    Console(file=out, width=160, markup=False).print(summary_box(summary, tmp_path))
    for part in (
        "no site could be reached", "1 request,", "closed: https://b until", "b: Domain name not found",
    ):  # fmt: skip
        assert part in out.getvalue()
    assert "first error" not in out.getvalue()  # It would only repeat the reason of the pause.


def test_the_summary_says_that_a_private_address_was_not_requested(tmp_path: Path) -> None:
    out = io.StringIO()
    summary = Summary(skipped=1, skipped_by={"private_address": 1}, nothing_reachable=True)
    Console(file=out, width=120, markup=False).print(summary_box(summary, tmp_path))
    assert "the address is private; if the site is yours, add --allow-private" in out.getvalue()
    assert "doctor" not in out.getvalue()


def test_a_run_with_nothing_due_says_when_the_next_page_is(tmp_path: Path) -> None:
    due = datetime.now(UTC) + timedelta(hours=8, minutes=1)
    summary = Summary(not_needed=41, not_needed_by={"model": 40, "sitemap": 1}, next_visit=due)
    out = io.StringIO()
    Console(file=out, width=120, markup=False).print(summary_box(summary, tmp_path))
    assert "up to date: 41 pages, next visit in 8 hours" in out.getvalue()
    assert "not needed" not in out.getvalue()


def test_pages_that_wait_for_a_retry_are_not_up_to_date(tmp_path: Path) -> None:
    summary = Summary(not_needed=2, not_needed_by={"model": 1, "failed": 1})
    out = io.StringIO()
    Console(file=out, width=120, markup=False).print(summary_box(summary, tmp_path))
    assert "not needed 2 (up to date 1, retry later 1)" in out.getvalue()


def test_the_json_summary_has_the_fields_that_scripts_rely_on() -> None:
    assert tuple(summary_fields(Summary(seconds=1.23456))) == SUMMARY_FIELDS


class Recorder:
    """A stop signal that records its calls."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def finish(self) -> None:
        self.calls.append("finish")

    def cancel(self) -> None:
        self.calls.append("cancel")


def test_each_signal_goes_one_stage_further(monkeypatch: pytest.MonkeyPatch) -> None:
    stop, said, exits = Recorder(), [], []  # type: ignore[var-annotated]
    monkeypatch.setattr(os, "_exit", exits.append)
    handler = InterruptHandler(stop, say=said.append, in_flight=lambda: 3, timeout=timedelta(seconds=10))
    handler.handle(signal.SIGTERM)
    assert stop.calls == ["finish"]
    assert "3 requests may finish (10 s)" in said[0]
    handler.handle(signal.SIGINT)
    assert stop.calls == ["finish", "cancel"]
    assert exits == []
    handler.handle(signal.SIGINT)
    assert exits == [143]


def test_signals_reach_the_handler() -> None:
    stop = Recorder()

    async def interrupted() -> None:
        dumped, stopped = asyncio.Event(), asyncio.Event()
        handler = InterruptHandler(stop, say=lambda _: stopped.set(), in_flight=lambda: 0, timeout=timedelta(seconds=1))
        with handle_signals(handler, dumped.set):
            os.kill(os.getpid(), signal.SIGUSR1)
            os.kill(os.getpid(), signal.SIGINT)
            await dumped.wait()
            await stopped.wait()

    asyncio.run(interrupted())
    assert stop.calls == ["finish"]


def test_the_progress_line_leaves_out_whole_parts_that_do_not_fit() -> None:
    progress = Progress(
        fetched=12, known=99, queued=87, bytes=2600, requests_per_s=2.7, current_site="https://a.example"
    )
    assert progress_line(progress, longest=50) == "12/99 pages · ~32 s left · 2.7 req/s · 2.6 kB"
    assert progress_line(progress, longest=5) == "12/99 pages"
