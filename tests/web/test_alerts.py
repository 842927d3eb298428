"""Alerts in the interface: preview, add, test, log and remove."""

from __future__ import annotations

import json
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from evercrawl.collection.alerts.alert_outbox import AlertOutbox
from evercrawl.collection.alerts.registry import AlertRegistry
from evercrawl.config import create_collection
from evercrawl.core.alerts.message_format import MIN_SECRET_BYTES, format_secret
from evercrawl.model.alerts import Alert, AlertFilter, Channel, Destination
from evercrawl.model.settings import Settings
from evercrawl.web.auth import AccessScope
from evercrawl.web.route import API
from evercrawl.web.serve import ServeOptions
from tests.e2e.test_websub import wait_for
from tests.web.chromium import serving
from tests.web.conftest import Interface, closed, opened
from tests.webhooks import verify_signature

WISH = {"name": "prices", "patterns": "https://harbour.example/*", "channel": "mail", "address": "me@example.org"}


@contextmanager
def _receiver(status: int = 200) -> Iterator[tuple[str, list[tuple[dict[str, str], bytes]]]]:
    taken: list[tuple[dict[str, str], bytes]] = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            taken.append(({name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            """Nothing is said."""

    server = HTTPServer(("127.0.0.1", 0), Hook)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/hook", taken
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def private(tmp_path: Path) -> Iterator[Interface]:
    """A collection that may reach this machine."""
    create_collection(tmp_path / "own.evercrawl", {"scope.seeds": ("https://harbour.example/",)})
    interface = opened(tmp_path / "own.evercrawl", ServeOptions(port=0), {"http.allow_private": True})
    yield interface
    closed(interface)


def test_a_preview_shows_matches_and_adds_nothing(web: Interface):
    found = web.operator.get("/alerts.json", params=WISH).json()
    assert found["preview"]["matches"] >= 3
    assert found["preview"]["matches"] <= found["preview"]["checked"]
    assert all(one["url"].startswith("https://harbour.example/") for one in found["preview"]["examples"])
    assert "prices" not in [one["name"] for one in found["alerts"]]
    none = web.operator.get("/alerts.json", params=WISH | {"patterns": "https://nowhere.example/*"}).json()
    assert none["preview"]["matches"] == 0
    gone = web.operator.get("/alerts.json", params=WISH | {"query": "word-that-nobody-says"}).json()
    assert gone["preview"]["matches"] == 0
    assert "Add this alert" in web.operator.get("/alerts", params=WISH).text


def test_a_problem_is_shown_beside_the_form(web: Interface):
    for wrong in (
        {"address": "not a mail address"},
        {"name": "../../escape"},
        {"pages": "not-a-url"},
        {"quiet_hours": "whenever"},
        {"daily_at": "noon"},
        {"query": "changed:>7d"},
        {"channel": "webhook", "address": ""},
    ):
        found = web.operator.get("/alerts.json", params=WISH | wrong).json()
        assert found["problem"], wrong
        assert found["preview"] is None
        assert web.operator.get("/alerts", params=WISH | wrong).status_code == 200


def test_add_see_and_remove(fresh: Interface):
    answer = fresh.operator.post("/do/add-alert", data=WISH | {"csrf": fresh.csrf})
    assert answer.status_code == 303
    assert "prices" in fresh.operator.get("/alerts").text
    found = fresh.operator.get("/alert.json?name=prices").json()
    assert found["alert"]["address"] == "me@example.org"
    assert found["messages"] == []
    again = fresh.operator.post("/do/add-alert", data=WISH | {"csrf": fresh.csrf})
    assert again.status_code == 409
    changed = fresh.operator.post(
        f"{API}/alerts", json=WISH | {"min_size": 20, "replace": True}, headers={"X-CSRF-Token": fresh.csrf}
    )
    assert (changed.status_code, changed.headers["location"]) == (201, f"{API}/alerts/prices")
    assert fresh.operator.get("/alert.json?name=prices").json()["alert"]["min_size"] == 0.2
    fresh.operator.post("/do/remove-alert", data={"name": "prices", "csrf": fresh.csrf})
    assert fresh.operator.get("/alerts.json").json()["alerts"] == []
    assert fresh.operator.get("/alert?name=prices").status_code == 404
    assert [line.what for line in fresh.service.auth.audit_log()][:3] == ["remove-alert", "add-alert", "add-alert"]


def test_the_secret_of_a_webhook_is_shown_once_and_signs_the_test(private: Interface):
    with _receiver() as (address, taken):
        wish = {"name": "hook", "channel": "webhook", "address": address, "csrf": private.csrf}
        page = private.operator.post("/do/add-alert", data=wish)
        assert page.status_code == 200, "the secret is in no URL"
        secret = page.text.split("shown only once: ", 1)[1].split("<", 1)[0].strip()
        assert secret not in private.operator.get("/alerts").text
        assert secret not in private.operator.get("/alert.json?name=hook").text
        assert secret not in str(private.service.auth.audit_log())
        answer = private.operator.post(f"{API}/alerts/hook/tests", headers={"X-CSRF-Token": private.csrf})
        assert answer.json()["delivered"] is True
        ((headers, body),) = taken
        now = private.service.state.now()
        assert verify_signature(
            secret,
            message_id=headers["webhook-id"],
            timestamp=headers["webhook-timestamp"],
            signatures=headers["webhook-signature"],
            body=body,
            now=now,
        )
        tries = [
            private.operator.post("/do/test-alert", data={"name": "hook", "csrf": private.csrf}).status_code
            for _ in range(6)
        ]
        assert 429 in tries, "a button cannot be used to pester somebody"


def test_a_test_that_fails_says_so(private: Interface):
    with _receiver(500) as (address, _):
        wish = {"name": "hook", "channel": "webhook", "address": address, "csrf": private.csrf}
        private.operator.post("/do/add-alert", data=wish)
        answer = private.operator.post("/do/test-alert", data={"name": "hook", "csrf": private.csrf})
    text = private.operator.get(answer.headers["location"]).text
    assert "Test message failed: HTTP 500" in text


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/", "http://169.254.169.254/", "http://localhost/x"])
def test_a_webhook_cannot_reach_private_machines(fresh: Interface, address: str):
    wish = {"name": "hook", "channel": "webhook", "address": address, "csrf": fresh.csrf}
    assert fresh.operator.post("/do/add-alert", data=wish).status_code == 403
    assert fresh.operator.get("/alerts.json", params={"name": "hook", "address": address}).json()["problem"]
    assert fresh.service.state.collection.alerts.all() == []


def test_a_feed_is_written_only_inside_the_collection(fresh: Interface):
    wish = {"name": "news", "channel": "atom", "address": "/etc/passwd", "csrf": fresh.csrf}
    assert fresh.operator.post("/do/add-alert", data=wish).status_code == 422, "a feed needs no address"
    fresh.operator.post("/do/add-alert", data={**wish, "address": ""})
    ((status),) = fresh.service.state.collection.alerts.all()
    assert status.alert.destination.channel is Channel.ATOM
    assert Path(status.alert.destination.address) == fresh.service.state.path.absolute() / "feeds" / "news.xml"
    assert fresh.operator.get("/alert.atom?name=news").status_code == 404, "nothing was sent yet"
    fresh.operator.post("/do/test-alert", data={"name": "news", "csrf": fresh.csrf})
    feed = fresh.operator.get("/alert.atom?name=news")
    assert feed.headers["content-type"].startswith("application/atom+xml")
    assert "<feed" in feed.text
    assert str(fresh.service.state.path) not in fresh.operator.get("/alert.json?name=news").text
    wish = {"name": "../outside", "channel": "atom", "csrf": fresh.csrf}
    assert fresh.operator.post("/do/add-alert", data=wish).status_code == 422


def test_serve_sends_alerts_without_a_crawl(story: Path, tmp_path: Path):
    """The interface sends changes that happened while no alert process ran, once and in order."""
    collection = tmp_path / "sent.evercrawl"
    shutil.copytree(story, collection, ignore=shutil.ignore_patterns("web.sqlite*", "alerts*"))
    with _receiver() as (address, taken):
        subject = AlertFilter(patterns=("https://*",))
        secret = format_secret(b"0" * MIN_SECRET_BYTES)
        wish = Alert("all", subject, Destination(Channel.WEBHOOK, address, secret))
        with closing(AlertOutbox(collection)) as outbox:
            outbox.put(wish, now_us=0, ends={})
        with serving(collection, env={"EVERCRAWL_HTTP__ALLOW_PRIVATE": "true"}):
            wait_for(lambda: taken and AlertRegistry(collection, Settings()).get("all").counts.pending == 0)
    numbers = [json.loads(body)["changes"][0]["number"] for _, body in taken]
    assert len(numbers) >= 3
    assert numbers == sorted(set(numbers))


def test_alerts_need_a_csrf_token(fresh: Interface):
    for name in ("add-alert", "test-alert", "remove-alert", "retry-alert"):
        assert fresh.operator.post(f"/do/{name}", data=WISH).status_code == 403
        other = {"Origin": "https://evil.example"}
        answer = fresh.operator.post(f"/do/{name}", data=WISH | {"csrf": fresh.csrf}, headers=other)
        assert answer.status_code == 403
    assert fresh.service.state.collection.alerts.all() == []


BY_APPRISE = {"name": "chat", "patterns": "https://harbour.example/*", "channel": "apprise"}
SERVICE = "tgram://123456789:abcdefg_hijklmnop/12315544"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_apprise_is_offered_only_for_services_at_fixed_hosts(private: Interface):
    page = private.operator.get("/alerts").text
    assert '<option value="apprise">' in page
    for address in ("json://127.0.0.1:8080/", "syslog://", "", "fcm://x/?keyfile=/etc/passwd"):
        answer = private.operator.post(
            f"{API}/alerts", json=BY_APPRISE | {"address": address}, headers={"X-CSRF-Token": private.csrf}
        )
        assert answer.status_code == 422, address
    form = BY_APPRISE | {"address": SERVICE, "csrf": private.csrf}
    assert private.operator.post("/do/add-alert", data=form).status_code == 303
    kept = AlertRegistry(private.service.state.path, Settings()).get("chat").alert
    assert (kept.destination.channel, kept.destination.address) == (Channel.APPRISE, SERVICE)
    for path in ("/alerts", "/alert?name=chat", "/alerts.json", "/access"):
        shown = private.operator.get(path).text
        assert "abcdefg_hijklmnop" not in shown, path
    assert "tgram://…" in private.operator.get("/alerts").text


def test_without_apprise_the_page_says_how_to_install_it(private: Interface, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "apprise", None)
    page = private.operator.get("/alerts").text
    assert '<option value="apprise">' not in page
    assert "pip install &#39;evercrawl[apprise]&#39;" in page or "pip install 'evercrawl[apprise]'" in page
    form = BY_APPRISE | {"address": SERVICE, "csrf": private.csrf}
    answer = private.operator.post("/do/add-alert", data=form)
    assert answer.status_code == 422
    assert "evercrawl[apprise]" in answer.text


def test_the_secret_of_a_webhook_is_shown_once_and_stays_with_its_address(private: Interface):
    def added(address: str) -> str:
        values = WISH | {"channel": "webhook", "address": address, "replace": True}
        return private.with_token(AccessScope.OPERATE).post(f"{API}/alerts", json=values).text

    def stored() -> str:
        secret = AlertRegistry(private.service.state.path, Settings()).get("prices").alert.destination.secret
        assert secret is not None
        return secret

    assert (shown := stored_in(added("http://127.0.0.1:9/a"))) == stored()
    assert "whsec_" not in added("http://127.0.0.1:9/a")
    assert stored() == shown
    assert "whsec_" in (other := added("http://127.0.0.1:9/b"))
    assert shown not in other, "whoever gets the messages now must not be able to sign for the receiver before"
    for page in ("/alerts.json", "/alert.json?name=prices", "/alert?name=prices", "/access"):
        assert "whsec_" not in private.operator.get(page).text


def stored_in(text: str) -> str:
    return "whsec_" + text.partition("whsec_")[2].partition('"')[0]
