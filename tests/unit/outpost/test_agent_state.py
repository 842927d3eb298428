"""The agent's file stays within its limit and keeps results until the coordinator acknowledges them."""

from __future__ import annotations

import os
from pathlib import Path

from evercrawl.model.site import RobotsRecord, Site
from evercrawl.outpost.agent_state import AgentState, QueuedResult
from evercrawl.outpost.answers import ChangeHistory, SharedExchange

MAX_BYTES = 4 * 1024 * 1024


def _queued(number: int, size: int = 10) -> QueuedResult:
    return QueuedResult(0, "run", number, f"https://example.org/{number}", 5, os.urandom(size))


def test_the_file_stays_within_its_limit_and_keeps_digests(tmp_path: Path) -> None:
    state = AgentState(tmp_path, max_bytes=MAX_BYTES)
    for number in range(300):
        shared = SharedExchange(number.to_bytes(16, "big"), os.urandom(60_000))
        state.add_result(
            _queued(number, 1000), history=ChangeHistory(shared.digest, 0, 1), shared=shared, now_us=number
        )
        state.acknowledge(state.create_batch(state.unbatched(limit=10, max_bytes=10**6)))
    size = (tmp_path / "outpost.db").stat().st_size
    assert size <= MAX_BYTES
    assert state.exchange("https://example.org/0") is None
    assert state.exchange("https://example.org/299") is not None
    assert state.history("https://example.org/0").digest == bytes(16)
    assert state.pages() == 300
    assert os.stat(tmp_path / "outpost.db").st_mode & 0o077 == 0
    state.close()


def test_a_batch_keeps_its_number_and_results_until_acknowledged(tmp_path: Path) -> None:
    state = AgentState(tmp_path, max_bytes=MAX_BYTES)
    for number in range(5):
        state.add_result(_queued(number), now_us=1)
    first = state.create_batch(state.unbatched(limit=3, max_bytes=10**6))
    state.close()
    state = AgentState(tmp_path, max_bytes=MAX_BYTES)
    assert {batch: [one.number for one in rows] for batch, rows in state.batches().items()} == {first: [0, 1, 2]}
    second = state.create_batch(state.unbatched(limit=3, max_bytes=10**6))
    assert second == first + 1
    state.acknowledge(first)
    assert list(state.batches()) == [second]
    assert not state.is_delivered()
    state.acknowledge(second)
    assert state.is_delivered()
    state.add_result(_queued(9), now_us=1)
    assert state.create_batch(state.unbatched(limit=3, max_bytes=1)) == second + 1
    state.close()


def test_a_site_is_stored_with_its_robots_file(tmp_path: Path) -> None:
    state = AgentState(tmp_path, max_bytes=MAX_BYTES)
    robots = RobotsRecord(1, 2, 200, b"User-agent: *\nDisallow: /\xff\n", None, None, "obey", "read")
    site = Site(0, "https://example.org", "", open_us=77, delay_ms=1500, backoff=2.0, robots=robots)
    state.save_site(site)
    assert state.site("https://example.org") == site
    assert state.site("https://example.com") is None
    state.close()


def test_a_full_file_deletes_the_pages_visited_longest_ago(tmp_path: Path) -> None:
    state = AgentState(tmp_path, max_bytes=MAX_BYTES)
    filler = "x" * 2000
    with_filler = [(f"https://example.org/{number}/{filler}", number) for number in range(600)]
    state.db.execute("begin")
    state.db.executemany("insert into page (url, used_us) values (?, ?)", with_filler)
    state.db.execute("commit")
    for number in range(400):
        state.add_result(_queued(number, 2000), history=ChangeHistory(bytes(16), 0, 1), now_us=5000 + number)
        if number % 50 == 49:
            state.acknowledge(state.create_batch(state.unbatched(limit=100, max_bytes=10**7)))
    assert state.pages() < 600 + 400
    assert state.history("https://example.org/399").digest is not None
    assert (tmp_path / "outpost.db").stat().st_size <= MAX_BYTES
    state.close()
