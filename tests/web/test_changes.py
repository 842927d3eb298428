"""The changes page remembers what was read, and undoes it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

from evercrawl.collection.change_inbox import ChangeInbox
from evercrawl.core.change.review import filter_read, read_marks
from evercrawl.model.change import Change, ChangeClass, Edit, Words
from evercrawl.model.history import ReadMark
from evercrawl.model.listing import ChangeRecord
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
