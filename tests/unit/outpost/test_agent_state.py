"""The outpost's file: bounded, and nothing leaves it before home has it."""

from __future__ import annotations

import os
from pathlib import Path

from evercrawl.model.site import RobotsRecord, Site
from evercrawl.outpost.agent_state import AgentState, QueuedResult
from evercrawl.outpost.answers import ChangeHistory, SharedExchange

MOST = 4 * 1024 * 1024


def _waiting(number: int, size: int = 10) -> QueuedResult:
    return QueuedResult(0, "run", number, f"https://example.org/{number}", 5, os.urandom(size))


def test_the_file_stays_within_its_limit_and_digests_stay(tmp_path: Path) -> None:
    book = AgentState(tmp_path, most_bytes=MOST)
    for number in range(300):
        held = SharedExchange(number.to_bytes(16, "big"), os.urandom(60_000))
        book.keep(_waiting(number, 1000), habit=ChangeHistory(held.digest, 0, 1), held=held, now_us=number)
        book.taken(book.bind(book.unsent(most=10, most_bytes=10**6)))
    size = (tmp_path / "outpost.db").stat().st_size
    assert size <= MOST
    assert book.held("https://example.org/0") is None
    assert book.held("https://example.org/299") is not None
    assert book.habit("https://example.org/0").digest == bytes(16)
    assert book.pages() == 300
    assert os.stat(tmp_path / "outpost.db").st_mode & 0o077 == 0
    book.close()


def test_a_batch_keeps_its_number_and_its_results_until_it_is_taken(tmp_path: Path) -> None:
    book = AgentState(tmp_path, most_bytes=MOST)
    for number in range(5):
        book.keep(_waiting(number), now_us=1)
    first = book.bind(book.unsent(most=3, most_bytes=10**6))
    book.close()
    book = AgentState(tmp_path, most_bytes=MOST)
    assert {batch: [one.number for one in rows] for batch, rows in book.batches().items()} == {first: [0, 1, 2]}
    second = book.bind(book.unsent(most=3, most_bytes=10**6))
    assert second == first + 1
    book.taken(first)
    assert list(book.batches()) == [second]
    assert not book.is_delivered()
    book.taken(second)
    assert book.is_delivered()
    book.keep(_waiting(9), now_us=1)
    assert book.bind(book.unsent(most=3, most_bytes=1)) == second + 1
    book.close()


def test_a_site_is_remembered_with_its_robots_file(tmp_path: Path) -> None:
    book = AgentState(tmp_path, most_bytes=MOST)
    robots = RobotsRecord(1, 2, 200, b"User-agent: *\nDisallow: /\xff\n", None, None, "obey", "read")
    site = Site(0, "https://example.org", "", open_us=77, gap_ms=1500, strain=2.0, robots=robots)
    book.note_site(site)
    assert book.site("https://example.org") == site
    assert book.site("https://example.com") is None
    book.close()


def test_a_list_that_fills_the_file_forgets_the_pages_not_visited_for_longest(tmp_path: Path) -> None:
    book = AgentState(tmp_path, most_bytes=MOST)
    filler = "x" * 2000
    with_filler = [(f"https://example.org/{number}/{filler}", number) for number in range(600)]
    book.db.execute("begin")
    book.db.executemany("insert into page (url, used_us) values (?, ?)", with_filler)
    book.db.execute("commit")
    for number in range(400):
        book.keep(_waiting(number, 2000), habit=ChangeHistory(bytes(16), 0, 1), now_us=5000 + number)
        if number % 50 == 49:
            book.taken(book.bind(book.unsent(most=100, most_bytes=10**7)))
    assert book.pages() < 600 + 400
    assert book.habit("https://example.org/399").digest is not None
    assert (tmp_path / "outpost.db").stat().st_size <= MOST
    book.close()
