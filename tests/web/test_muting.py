"""Parts of pages are muted in the inbox, the feed, alerts and on the command line, and heard again."""

from __future__ import annotations

import json
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from evercrawl.adapters.sql.database import noise_row
from evercrawl.cli.main import run
from evercrawl.collection.alerts.event_reader import CollectionLogs
from evercrawl.collection.alerts.registry import preview_alert
from evercrawl.collection.change_inbox import ChangeInbox
from evercrawl.core.change.text_diff import make_edit
from evercrawl.model.alerts import AlertFilter
from evercrawl.web.auth import AccessScope
from evercrawl.web.route import API
from evercrawl.web.serve import ServeOptions
from tests.web.conftest import Interface, closed, opened
from tests.web.hostile import TRICKS

SITE = "https://harbour.example"


@pytest.fixture
def own(story: Path, tmp_path: Path) -> Iterator[Interface]:
    """A copy of the collection, for tests that change something."""
    shutil.copytree(story, tmp_path / "own.evercrawl", ignore=shutil.ignore_patterns("web.sqlite*"))
    inbox = ChangeInbox(tmp_path / "own.evercrawl")
    assert all(inbox.unmute(one.id) for one in inbox.mutes())
    interface = opened(tmp_path / "own.evercrawl", ServeOptions(port=0))
    yield interface
    closed(interface)


def _groups(web: Interface, state: str = "unread", **asked: str) -> list[dict[str, Any]]:
    values = {"since": "30d", "limit": "200", "state": state, **asked}
    found: list[dict[str, Any]] = web.operator.get("/changes.json", params=values).json()["groups"]
    return found


def _of_one_page(web: Interface) -> dict[str, Any]:
    """A change of one page with a single part that can be muted."""
    return next(
        group
        for group in _groups(web, site=SITE)
        if group["count"] == 1 and len(group["parts"]) == 1 and group["example"].startswith("~")
    )


def test_a_part_is_muted_and_unmuted(own: Interface) -> None:
    before, group = _groups(own), _of_one_page(own)
    page = own.operator.get("/changes?since=30d&limit=200").text
    assert "Mute a part" in page
    form = {"pattern": group["parts"][0], "page": group["pages"][0], "csrf": own.csrf}
    answer = own.operator.post("/do/mute-part", data=form)
    assert answer.status_code == 303
    assert group["keys"] not in {one["keys"] for one in _groups(own)}
    assert [one["pages"] for one in _groups(own, "muted")] == [group["pages"]]
    assert len(_groups(own, "all")) >= len(before)
    listed = own.operator.get("/changes").text
    assert "1 muted part" in listed
    assert group["pages"][0].partition("://")[2] in listed
    (mute,) = own.operator.get("/changes.json").json()["mutes"]
    own.operator.post("/do/undo-mute", data={"id": mute["id"], "csrf": own.csrf})
    assert _groups(own) == before
    assert own.operator.post("/do/undo-mute", data={"id": 1, "csrf": own.csrf}).status_code == 404
    assert {"mute-part", "undo-mute"} <= {line.what for line in own.service.auth.audit_log()}


def test_a_diff_offers_its_parts_to_mute(own: Interface) -> None:
    url = _of_one_page(own)["pages"][0]
    data = own.operator.get("/diff.json", params={"url": url}).json()
    assert data["parts_edited"]
    page = own.operator.get("/diff", params={"url": url}).text
    assert f'value="{SITE}">Mute on the whole site' in page


def test_muted_changes_are_hidden_in_feed_command_and_alerts(
    own: Interface, capsys: pytest.CaptureFixture[str]
) -> None:
    path, group = own.service.state.path, _of_one_page(own)
    url = group["pages"][0]

    def counts() -> tuple[int, int, int]:
        feed = own.operator.get("/changes.atom", params={"site": SITE, "limit": 200}).text
        assert run(["-C", str(path), "changes", SITE, "--since", "30d", "--json"]) == 0
        rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        alert = preview_alert(
            AlertFilter(pages=(url,)), CollectionLogs(path), shard_count=own.service.state.settings.store.shards
        )
        return feed.count(url), sum(url in row["pages"] for row in rows), alert.matched

    before = counts()
    assert run(["-C", str(path), "mute", "add", group["parts"][0], "--page", url, "--json"]) == 0
    number = json.loads(capsys.readouterr().out)["id"]
    after = counts()
    assert all(now < then for now, then in zip(after, before, strict=True)), (before, after)
    assert run(["-C", str(path), "changes", SITE, "--since", "30d", "--muted", "--json"]) == 0
    assert url in capsys.readouterr().out
    assert run(["-C", str(path), "mute", "list"]) == 0
    assert url in capsys.readouterr().out
    assert run(["-C", str(path), "mute", "undo", str(number)]) == 0
    assert run(["-C", str(path), "mute", "undo", str(number)]) == 1
    capsys.readouterr()
    assert counts() == before


def test_programs_need_a_token_that_may_operate(own: Interface) -> None:
    wish = {"pattern": "Line * runs", "site": SITE}
    assert own.anybody.post(f"{API}/mutes", json=wish).status_code == 401
    assert own.with_token(AccessScope.READ).post(f"{API}/mutes", json=wish).status_code == 403
    assert own.operator.post("/do/mute-part", data=wish).status_code == 403, "it is no form of ours"
    assert ChangeInbox(own.service.state.path).mutes() == []
    client = own.with_token(AccessScope.OPERATE)
    first, again = (client.post(f"{API}/mutes", json=wish).json()["mute"] for _ in range(2))
    assert first == again
    assert first["place"] == SITE


@pytest.mark.parametrize(
    "wish",
    [
        {"pattern": "* 12 *", "site": SITE},
        {"pattern": "x" * 501, "site": SITE},
        {"pattern": "Line *"},
        {"pattern": "Line *", "site": SITE, "page": f"{SITE}/page/1"},
        {"pattern": "Line *", "page": "javascript:alert(1)"},
        {"pattern": "Line *", "site": "http://a b"},
    ],
)
def test_a_pattern_that_mutes_too_much_is_refused(own: Interface, wish: dict[str, str]) -> None:
    answer = own.operator.post("/do/mute-part", data=wish | {"csrf": own.csrf})
    assert answer.status_code == 422, answer.text
    assert ChangeInbox(own.service.state.path).mutes() == []


@pytest.mark.parametrize("trick", TRICKS)
def test_hostile_patterns_are_shown_as_text(own: Interface, trick: str) -> None:
    form = {"pattern": trick, "site": SITE, "csrf": own.csrf}
    answer = own.operator.post("/do/mute-part", data=form)
    page = own.operator.get(answer.headers["location"]).text
    for tag in ("<script>window", "<img src=x", "<svg onload"):
        assert tag not in page


def _add_noise(collection: Path) -> None:
    """Store that the last visit to each page called a counter noise."""
    edit = make_edit(1, "Seats left: 12", "Seats left: 11", is_template=True)
    for path in (collection / "state").glob("s*.sqlite"):
        with closing(sqlite3.connect(path)) as db, db:
            written = "insert or replace into noise (page_id, at_us, edits, shard) select id, ?, ?, shard from page"
            db.execute(written, (int(time.time() * 1e6), noise_row([edit])))


def test_a_part_that_looks_like_noise_is_reported_on_request(own: Interface) -> None:
    _add_noise(own.service.state.path)
    page = own.operator.get("/changes?since=30d&noise=true").text
    assert "What the last visit to each page called noise" in page
    assert "What the last visit to each page called noise" not in own.operator.get("/changes?since=30d").text
    data = own.operator.get("/changes.json?since=30d&noise=true&limit=200").json()
    noise = next(group for group in data["noise_groups"] if group["parts"])
    assert noise["parts"] == ["Seats left: *"]
    assert noise["count"] > 1
    form = {"pattern": noise["parts"][0], "site": noise["site"], "csrf": own.csrf}
    assert own.operator.post("/do/report-part", data=form).status_code == 303
    (rule,) = own.operator.get("/changes.json").json()["exceptions"]
    assert (rule["pattern"], rule["verdict"]) == (noise["parts"][0], "content")
    assert "1 part always reported" in own.operator.get("/changes").text
    own.operator.post("/do/mute-part", data=form)
    data = own.operator.get("/changes.json").json()
    assert ([one["pattern"] for one in data["mutes"]], data["exceptions"]) == ([form["pattern"]], [])
