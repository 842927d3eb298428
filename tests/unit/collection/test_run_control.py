"""Pause, resume and stop a crawl from another process."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from evercrawl.cluster.run_requests import (
    CONTROL_FILE,
    end_control,
    pause_of,
    read_control,
    request_control,
    stop_on_request,
)


def test_a_pause_lasts_until_it_is_ended(tmp_path):
    assert pause_of(tmp_path) is None
    request_control(tmp_path, "pause", by="ann")
    pause = pause_of(tmp_path)
    assert pause is not None
    assert pause.by == "ann"
    assert end_control(tmp_path)
    assert pause_of(tmp_path) is None
    assert not end_control(tmp_path)


def test_what_is_not_readable_is_no_request(tmp_path):
    for text in ("", "[]", '{"action": "pause"}', '{"action": "pause", "at": 3, "by": "x"}'):
        (tmp_path / CONTROL_FILE).write_text(text)
        assert read_control(tmp_path) is None


def test_a_stop_ends_only_runs_that_began_before(tmp_path):
    now, stopped = datetime.now(UTC), []
    request_control(tmp_path, "stop", by="ann")
    assert pause_of(tmp_path) is None

    async def run(began: datetime) -> None:
        task = asyncio.create_task(stop_on_request(tmp_path, lambda: stopped.append(began), began=began))
        for _ in range(3):
            await asyncio.sleep(0)
        task.cancel()

    asyncio.run(run(now + timedelta(hours=1)))
    assert stopped == []
    asyncio.run(run(now - timedelta(hours=1)))
    assert len(stopped) == 1
