"""Running and past crawls."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from evercrawl.collection.runs import LIVE_FILE, RUNS_FILE, live_run, past_run, past_runs, publish_progress, record_run
from evercrawl.model.run import Progress, Summary


def _now() -> datetime:
    return datetime.now(UTC)


def test_other_processes_see_a_running_crawl(tmp_path: Path):
    heard: list[Progress] = []
    with publish_progress(tmp_path, heard.append, forever=True) as tell:
        tell(Progress(fetched=3))
        tell(Progress(fetched=4))
        run = live_run(tmp_path, now=_now())
        assert run is not None
        assert run.forever
        assert run.progress.fetched == 3, "written once a second"
        assert live_run(tmp_path, now=_now() + timedelta(minutes=1)) is None, "its process is gone"
    assert live_run(tmp_path, now=_now()) is None
    assert [one.fetched for one in heard] == [3, 4]


def test_a_live_file_that_cannot_be_read_is_none(tmp_path: Path):
    (tmp_path / LIVE_FILE).write_text('{"pid": 1}')
    assert live_run(tmp_path, now=_now()) is None


def test_runs_are_paged_newest_first(tmp_path: Path):
    assert past_runs(tmp_path) == []
    for number in range(5):
        record_run(tmp_path, Summary(requests=number), began=_now(), forever=False)
    whole = past_runs(tmp_path)
    assert [run.summary["requests"] for run in whole] == [4, 3, 2, 1, 0]
    first = past_runs(tmp_path, limit=2)
    rest = past_runs(tmp_path, limit=10, before=first[-1].id)
    assert first + rest == whole
    assert past_run(tmp_path, whole[2].id) == whole[2]
    assert past_run(tmp_path, whole[2].id + 1) is None
    assert past_run(tmp_path, 10**15) is None


def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path):
    record_run(tmp_path, Summary(requests=1), began=_now(), forever=False)
    with (tmp_path / RUNS_FILE).open("a") as file:
        file.write('{"began": "2026-')
    assert [run.summary["requests"] for run in past_runs(tmp_path)] == [1]
