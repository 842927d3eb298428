"""Pause, removal, backup, export, reports and mail in the interface and the API."""

from __future__ import annotations

import shutil
import time
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from urllib.parse import quote

import pytest

from evercrawl.collection.backup import backups_folder, list_backups
from evercrawl.collection.exchange.export import EXPORT_FORMATS
from evercrawl.collection.runs import run_pause
from evercrawl.config import read_settings
from evercrawl.web.auth import AccessScope
from evercrawl.web.pages.data import EXPORT_WORDS
from evercrawl.web.serve import ServeOptions
from tests.web.client import TestClient
from tests.web.conftest import Interface, closed, opened
from tests.web.hostile import SITE

PAGE = f"{SITE}/page/1"


@pytest.fixture
def own(story: Path, tmp_path: Path) -> Iterator[Interface]:
    """A copy of the collection, to change."""
    copy = tmp_path / "own.evercrawl"
    shutil.copytree(story, copy, ignore=shutil.ignore_patterns("web.sqlite*"))
    interface = opened(copy, ServeOptions(port=0))
    yield interface
    closed(interface)


def _admin(web: Interface) -> TestClient:
    return web.with_token(AccessScope.ADMIN)


def _wait_for(client: TestClient, answer) -> dict:
    """Return a finished task."""
    job = answer.json()["job"]
    for _ in range(400):
        found = client.get(f"/api/v1/jobs/{job}").json()["job"]
        if found["state"] != "running":
            return found
        time.sleep(0.02)
    raise AssertionError("the task did not end")


def _url(url: str) -> str:
    return quote(url, safe="")


def test_a_pause_is_shown_and_ended(fresh: Interface):
    state = fresh.service.state
    answer = fresh.operator.post("/do/update-crawl", data={"paused": "true", "csrf": fresh.csrf})
    assert answer.status_code == 303
    assert run_pause(state.path) is not None
    page = fresh.operator.get("/live").text
    assert "Paused by" in page
    assert "Resume" in page
    assert fresh.operator.get("/live.json").json()["pause"]["by"]
    admin = _admin(fresh)
    assert admin.patch("/api/v1/runs/current", json={"paused": False}).json()["paused"] is False
    assert run_pause(state.path) is None


def test_what_is_not_running_cannot_be_stopped(fresh: Interface):
    assert _admin(fresh).delete("/api/v1/runs/current").status_code == 409


def test_a_page_is_removed_after_a_preview(own: Interface):
    page = own.operator.get(f"/remove?kind=page&name={_url(PAGE)}").text
    assert "for good and everywhere" in page
    assert 'type="checkbox" required' in page
    assert own.operator.get(f"/page?url={_url(PAGE)}").status_code == 200, "a preview removes nothing"
    fields = {"url": PAGE, "request": "ticket 4711", "csrf": own.csrf}
    answer = own.operator.post("/do/remove-page", data=fields)
    assert answer.headers["location"].startswith("/removals?done=Removed")
    assert own.operator.get(f"/show?url={_url(PAGE)}").status_code in (400, 404)
    (removed,) = own.operator.get("/removals.json").json()["removals"]
    assert (removed["target"], removed["request"], removed["blocked"]) == (PAGE, "ticket 4711", True)
    assert PAGE in read_settings(own.service.state.path).settings.scope.removed
    admin = _admin(own)
    assert admin.delete(f"/api/v1/pages/{_url(PAGE)}").status_code == 404
    assert admin.delete(f"/api/v1/removals/{removed['id']}").status_code == 200
    assert PAGE not in read_settings(own.service.state.path).settings.scope.removed


def test_a_version_and_a_site_are_removed_by_the_api(own: Interface):
    admin = _admin(own)
    url = f"{SITE}/page/2"
    before = admin.get(f"/api/v1/pages/{_url(url)}/versions").json()["versions"]
    assert len(before) > 1
    shown = admin.get("/api/v1/removal-preview", params={"kind": "version", "name": f"{url}@v1"}).json()["preview"]
    assert (shown["version"], shown["versions"]) == (1, 1)
    answer = admin.delete(f"/api/v1/pages/{_url(url)}/versions/v1", params={"request": "privacy"})
    assert answer.status_code == 200
    assert answer.json()["removal"]["state"] == "done"
    after = admin.get(f"/api/v1/pages/{_url(url)}/versions").json()["versions"]
    assert len(after) == len(before) - 1
    assert admin.delete(f"/api/v1/sites/{_url(SITE)}").json()["removal"]["pages"] > 5
    assert admin.get(f"/api/v1/sites/{_url(SITE)}").status_code == 404
    reader = own.with_token(AccessScope.READ)
    assert reader.delete(f"/api/v1/sites/{_url(SITE)}").status_code == 403


def test_a_backup_is_made_downloaded_uploaded_and_restored(own: Interface):
    admin, state = _admin(own), own.service.state
    made = _wait_for(admin, admin.post("/api/v1/backups"))
    name = made["data"]["backup"]
    assert [one["name"] for one in admin.get("/api/v1/backups").json()["backups"]] == [name]
    file = admin.get(f"/api/v1/backups/{name}/file")
    assert file.headers["content-type"] == "application/x-tar"
    assert int(file.headers["content-length"]) == len(file.content)
    assert own.with_token(AccessScope.OPERATE).get(f"/api/v1/backups/{name}/file").status_code == 403
    admin.delete(f"/api/v1/sites/{_url('https://council.example')}")
    uploaded = admin.post("/api/v1/backup-files", content=file.content)
    assert uploaded.status_code == 201
    assert own.anybody.post("/api/v1/backup-files", content=b"x" * 2_000_000).status_code == 413
    csrf = {"X-CSRF-Token": "wrong"}
    assert own.operator.post("/api/v1/backup-files", content=b"x", headers=csrf).status_code == 403
    assert "Restore" in own.operator.get("/backups").text
    done = _wait_for(admin, admin.post(f"/api/v1/backups/{uploaded.json()['name']}/restores"))
    assert done["state"] == "done", done
    assert (state.path.parent / done["data"]["old"]).is_dir(), "the old one is kept"
    assert own.operator.get("/").status_code == 200, "the session goes on"
    assert own.operator.get(f"/page?url={_url(PAGE)}").status_code == 200
    sites = [one["name"] for one in admin.get("/api/v1/sites").json()["sites"]]
    assert SITE in sites
    assert state.collection.why("https://council.example/").reason == "removed", "it stays removed"
    assert admin.delete(f"/api/v1/backups/{name}").status_code == 204
    assert admin.delete("/api/v1/backups/..").status_code in (404, 405)
    assert name not in [one.name for one in list_backups(state.path)]


def test_a_file_that_is_no_backup_changes_nothing(own: Interface):
    admin, state = _admin(own), own.service.state
    name = admin.post("/api/v1/backup-files", content=b"no tar file").json()["name"]
    answer = admin.post(f"/api/v1/backups/{name}/restores")
    assert answer.status_code == 409
    assert "not the file of a backup" in answer.json()["detail"]
    assert not list(state.path.parent.glob("*.before-*"))
    assert not (backups_folder(state.path) / "unpacked").exists()


def test_exports_can_be_downloaded(own: Interface):
    admin = _admin(own)
    job = _wait_for(admin, admin.post("/api/v1/exports", json={"form": "csv", "site": "harbour.example"}))
    assert job["file"] == "own.csv"
    rows = admin.get(f"/api/v1/jobs/{job['id']}/file").text
    assert "harbour.example" in rows
    assert "council.example" not in rows
    folder = _wait_for(admin, admin.post("/api/v1/exports", json={"form": "markdown"}))
    with zipfile.ZipFile(BytesIO(admin.get(f"/api/v1/jobs/{folder['id']}/file").content)) as packed:
        assert any(name.endswith(".md") for name in packed.namelist())
    assert "Download" in own.operator.get("/export").text
    assert admin.delete(f"/api/v1/jobs/{job['id']}").status_code == 204
    assert admin.get(f"/api/v1/jobs/{job['id']}/file").status_code == 404
    chunks = _wait_for(admin, admin.post("/api/v1/exports", json={"form": "chunks"}))
    assert chunks["file"] == "own.jsonl"
    assert admin.post("/api/v1/exports", json={"form": "nonsense"}).status_code == 422
    assert set(EXPORT_WORDS) == set(EXPORT_FORMATS)


def test_verification_says_what_is_sound(own: Interface):
    admin = _admin(own)
    job = _wait_for(admin, admin.post("/api/v1/verifications"))
    assert job["data"]["sound"] is True
    assert job["data"]["versions"] > 10
    assert "all readable" in own.operator.get("/storage").text


def test_reports_answer(web: Interface):
    problems = web.operator.get("/link-problems.json").json()
    assert {one["problem"] for one in problems["links"]} <= {"dead", "redirect", "chain", "loop"}
    assert web.operator.get("/link-problems.csv").status_code == 200
    graph = web.operator.get("/graph.json").json()
    assert graph["graph"]["pages"] > 10
    assert web.operator.get("/graph.svg").headers["content-type"].startswith("image/svg+xml")
    assert web.operator.get("/graph.svg?site=nowhere.example").status_code == 404
    assert web.operator.get("/plan.json?budget=100/day").json()["plan"]["budget_per_day"] == 100
    assert 'role="alert"' in web.operator.get("/plan?budget=much").text
    days = web.operator.get("/").text
    assert 'href="/change-list?at=' in days, "days of the calendar are links"


def test_local_files_are_not_read_as_sitemaps(fresh: Interface):
    admin = _admin(fresh)
    for url in ("file:///etc/passwd", "http://127.0.0.1:1/sitemap.xml"):
        assert admin.post("/api/v1/sitemap-checks", json={"url": url}).status_code in (403, 422), url


def test_settings_are_found_by_words_and_changed_ones_come_first(fresh: Interface):
    found = fresh.operator.get("/settings.json?q=mail+server").json()
    keys = [one["key"] for group in found["groups"] for section in group["sections"] for one in section["settings"]]
    assert "alerts.mail_host" in keys
    assert "revisit.budget" not in keys
    everything = fresh.operator.get("/settings.json").json()
    assert [one["key"] for one in everything["changed"]] == ["scope.seeds"]
    listed = [one for group in everything["groups"] for part in group["sections"] for one in part["settings"]]
    assert len(listed) == everything["count"] > 150
    assert all(one["help"] and one["default"] for one in listed)


def test_mail_is_set_up_and_the_password_is_not_sent_to_another_server(fresh: Interface):
    admin, state = _admin(fresh), fresh.service.state
    wish = {"host": "smtp.example.org", "user": "ann", "password": "secret word", "sender": "ann@example.org"}
    assert admin.put("/api/v1/mail", json=wish).json()["problem"] is None
    alerts = state.settings.alerts
    assert (alerts.mail_host, alerts.mail_user, alerts.mail_from) == ("smtp.example.org", "ann", "ann@example.org")
    secret = Path(alerts.mail_password_file or "")
    assert secret.read_text() == "secret word\n"
    assert secret.stat().st_mode & 0o077 == 0
    assert "secret word" not in fresh.operator.get("/mail").text
    assert "secret word" not in str(state.auth.audit_log())
    assert admin.put("/api/v1/mail", json={**wish, "host": "evil.example", "password": ""}).json()["problem"]
    assert state.settings.alerts.mail_password_file is None
    assert admin.post("/api/v1/mail/tests", json={"address": "nobody"}).status_code == 422
    assert fresh.with_token(AccessScope.OPERATE).get("/api/v1/mail").status_code == 403
