"""The changes page remembers what was read, and undoes it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evercrawl.adapters.sqlite.state_file import open_for_writing, shard_path
from evercrawl.collection.change_groups import read_window
from evercrawl.collection.change_inbox import ChangeInbox
from evercrawl.config import create_collection
from evercrawl.core.change.review import filter_read, read_marks
from evercrawl.core.url import key_of
from evercrawl.model.change import Change, ChangeClass, Edit, Words
from evercrawl.model.history import ReadMark
from evercrawl.model.listing import ChangeRecord
from evercrawl.model.time import from_us
from evercrawl.web.pages import changes_page
from evercrawl.web.route import API
from evercrawl.web.serve import ServeOptions
from tests.web.conftest import Interface, closed, opened


@pytest.fixture
def own(story: Path, tmp_path: Path) -> Iterator[Interface]:
    """A copy of the collection, for tests that change something."""
    shutil.copytree(story, tmp_path / "own.evercrawl", ignore=shutil.ignore_patterns("web.sqlite*"))
    interface = opened(tmp_path / "own.evercrawl", ServeOptions(port=0))
    yield interface
    closed(interface)


def _groups(web: Interface, **asked: str) -> dict[str, dict[str, object]]:
    found = web.operator.get("/changes.json", params={"since": "30d", "limit": "200", **asked}).json()
    return {group["keys"]: group for group in found["groups"]}


def _mark_read(web: Interface, group: dict[str, object]) -> int:
    answer = web.operator.post(
        f"{API}/read-marks",
        json={"keys": group["keys"], "until": int(str(group["until"])), "label": "the ferry"},
        headers={"X-CSRF-Token": web.csrf},
    )
    assert answer.status_code == 201, answer.text
    return int(answer.json()["id"])


def test_read_changes_disappear_and_undo_restores_them(own: Interface):
    before = _groups(own)
    first = next(iter(before.values()))
    number = _mark_read(own, first)
    after = _groups(own)
    assert first["keys"] not in after
    assert len(after) >= len(before) - 1
    read = _groups(own, state="read")
    assert set(first["keys"].split()) == {key for keys in read for key in keys.split()}
    page = own.operator.get("/changes?since=30d").text
    assert "the ferry" in page
    assert "Undo" in page
    other = opened(own.service.state.path, ServeOptions(port=0))
    assert first["keys"] not in _groups(other), "marks are stored on disk"
    closed(other)
    own.operator.post("/do/undo-mark-read", data={"id": number, "csrf": own.csrf})
    assert _groups(own) == before
    assert own.operator.post("/do/undo-mark-read", data={"id": number, "csrf": own.csrf}).status_code == 404


def test_all_changes_or_those_of_a_site_can_be_marked_as_read(own: Interface):
    found = own.operator.get("/changes.json?since=30d&site=https://harbour.example").json()
    form = {"until": found["until"], "site": "https://harbour.example", "csrf": own.csrf}
    assert own.operator.post("/do/mark-read", data=form).status_code == 303
    left = _groups(own)
    assert left
    assert not any("harbour.example" in page for group in left.values() for page in group["pages"])
    until = own.operator.get("/changes.json?since=30d").json()["until"]
    own.operator.post("/do/mark-read", data={"until": until, "csrf": own.csrf})
    assert _groups(own) == {}
    assert _groups(own, state="all")


@pytest.mark.parametrize("keys", ["no hex", "-1", "f" * 17])
def test_invalid_keys_are_refused(own: Interface, keys: str):
    form = {"until": "1", "keys": keys, "csrf": own.csrf}
    assert own.operator.post("/do/mark-read", data=form).status_code == 422
    assert ChangeInbox(own.service.state.path).marks() == []


def _seen(key: int, at_us: int, url: str = "https://a.example/") -> ChangeRecord:
    return ChangeRecord(
        1, url, at_us, Change(ChangeClass.CONTENT, 0.1, edits=(Edit(key, False, (Words("-", "x"), Words("+", "y"))),))
    )


def test_a_later_repeat_of_an_edit_is_unread():
    reviewed = read_marks([ReadMark(7, None, 100), ReadMark(7, None, 50), ReadMark(None, "https://b.example", 80)])
    views = [_seen(7, 100), _seen(7, 101), _seen(8, 90), _seen(9, 80, "https://b.example/x")]
    assert [view.at_us for view in filter_read(views, reviewed, read=False)] == [101, 90]
    assert [view.at_us for view in filter_read(views, reviewed, read=True)] == [100, 80]


def test_the_oldest_marks_are_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("evercrawl.collection.change_inbox.MAX_REVIEWS", 3)
    inbox = ChangeInbox(tmp_path)
    assert inbox.stamp() is None
    numbers = [inbox.review([ReadMark(n, None, n)], who="me", text="w", now_us=n) for n in range(1, 6)]
    assert [one.id for one in inbox.reviews(9)] == numbers[:1:-1]
    assert {mark.key for mark in inbox.marks()} == {3, 4, 5}
    before = inbox.stamp()
    assert inbox.undo(numbers[-1])
    assert not inbox.undo(numbers[-1])
    assert inbox.stamp() != before


def test_a_change_links_to_the_difference_that_shows_it(own: Interface):
    found = own.operator.get("/changes.json?since=30d&limit=200&state=all").json()["groups"]
    checked = [group for group in found if group["count"] == 1 and group["class"] == "content"][:25]
    assert checked
    for group in checked:
        page = own.operator.get(group["diff"])
        assert page.status_code == 200
        shown = " ".join(unescape(re.sub(r"<[^>]*>", "", page.text)).split())
        for edit in group["edits"]:
            for run in edit["words"]:
                assert run["sign"] == " " or run["text"].strip() in shown, (group["diff"], run)


def test_the_feed_marks_words_and_says_what_changed(own: Interface):
    feed = own.operator.get("/changes.atom?limit=50").text
    assert "[-" not in feed
    assert "{+" not in feed
    assert "&lt;ins style=" in feed
    assert "&lt;del style=" in feed
    assert "Full difference" in feed


def test_grouped_changes_are_kept_for_an_hour():
    def state_at(minute: int) -> Any:
        return SimpleNamespace(now=lambda: datetime(2026, 11, 18, 15, minute, 7, tzinfo=UTC))

    assert changes_page._week_ago(state_at(1)) == changes_page._week_ago(state_at(59))


def test_the_window_of_events_has_the_newest_visits(tmp_path: Path):
    collection, now_us = tmp_path / "c.evercrawl", 1_800_000_000_000_000
    create_collection(collection, {"scope.seeds": ("https://a.example/",), "store.shards": 1})
    db = open_for_writing(shard_path(collection, 0), durability="process")
    shard = "(select shard from shard)"
    with closing(db):
        db.execute(
            "insert into site (shard, id, name, domain, open_us, delay_ms, backoff, failures, requests, wire_bytes, "
            f"pages, pending) values ({shard}, 1, 'https://a.example', 'a.example', 0, 1000, 1.0, 0, 3, 3, 3, 0)"
        )
        for number in (1, 2, 3):
            url, at_us = f"https://a.example/{number}", now_us + number
            db.execute(
                "insert into page (shard, id, key, url, site_id, depth, hops, priority, found_us, visits, tries, "
                "version, interval_s, outcome, reason, detail, status, last_us, confirmed_us, due_us) values "
                f"({shard}, ?, ?, ?, 1, 2, 0, 2, ?, 1, 0, 1, 86400, 'fetched', 'new', '', 200, ?, ?, ?)",
                (number, key_of(url), url, at_us, at_us, at_us, at_us),
            )
            db.execute(
                "insert into visit (shard, page_id, at_us, outcome, reason, status, took_ms, wire_bytes, version) "
                f"values ({shard}, ?, ?, 'fetched', 'new', 200, 50, 9000, 1)",
                (number, at_us),
            )
            db.execute(
                "insert into version (shard, page_id, number, seen_us, status, digest, payload_sha1, content_type, "
                "title, body_bytes, words, file, offset, length, record_id) values "
                f"({shard}, ?, 1, ?, 200, ?, ?, 'text/html', 'T', 9, 5, 'a.warc.gz', 0, 100, ?)",
                (number, at_us, bytes([number]) * 16, bytes([number]) * 20, bytes([number]) * 16),
            )
    since = from_us(now_us - 10)
    assert len(read_window(collection, since, with_texts=False).events) == 3
    assert [event.url[-1] for event in read_window(collection, since, with_texts=False, most=2).events] == ["3", "2"]
