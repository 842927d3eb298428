"""The signed links of messages: unsubscribe and mute without a login."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from html import unescape
from pathlib import Path

import pytest

from evercrawl.collection.alerts.alert_outbox import AlertOutbox, LogPosition, MatchedEvent
from evercrawl.collection.alerts.registry import AlertRegistry
from evercrawl.collection.change_inbox import ChangeInbox
from evercrawl.config import create_collection
from evercrawl.core.alerts.html_message import link_signature
from evercrawl.core.change.text_diff import make_edit
from evercrawl.model.alerts import Alert, AlertFilter, Channel, Destination, Event, EventKind
from evercrawl.model.settings import Settings
from evercrawl.web.serve import ServeOptions
from tests.web.conftest import Interface, closed, opened
from tests.web.hostile import SCRIPT

URL = "https://harbour.example/prices"
ONE_CLICK = {"List-Unsubscribe": "One-Click"}


class Links:
    """A collection with one alert and one reported change, and the links of its message."""

    def __init__(self, collection: Path) -> None:
        create_collection(collection, {"scope.seeds": ("https://harbour.example/",)})
        self.registry = AlertRegistry(collection, Settings())
        self.registry.add(Alert("prices", AlertFilter(pages=(URL,)), Destination(Channel.MAIL, "me@example.org")))
        edits = (
            make_edit(1, "Visitors today: 1,204", "Visitors today: 1,377", is_template=False),
            make_edit(2, f"About {SCRIPT} 1", f"About {SCRIPT} 2", is_template=False),
        )
        event = Event(0, 1, 1, URL, EventKind.CONTENT, 1.0, 1, 2, f"Prices {SCRIPT}", edits)
        with closing(AlertOutbox(collection)) as outbox:
            (self.known,) = outbox.alerts()
            outbox.add_events(
                0, before=LogPosition(), after=LogPosition(1), matched=[MatchedEvent(self.known.id, event)], now_us=1
            )
            self.key = outbox.link_key
        self.inbox = ChangeInbox(collection)

    def path(self, purpose: str, number: int = 1) -> str:
        return f"/{purpose}/{number}/{link_signature(self.key, purpose, number)}"


@pytest.fixture
def links(tmp_path: Path) -> Links:
    return Links(tmp_path / "own.evercrawl")


@pytest.fixture
def site(links: Links, tmp_path: Path) -> Iterator[Interface]:
    interface = opened(tmp_path / "own.evercrawl", ServeOptions(port=0))
    yield interface
    closed(interface)


def test_opening_a_link_changes_nothing(links: Links, site: Interface) -> None:
    page = site.anybody.get(links.path("unsubscribe"))
    assert page.status_code == 200
    assert "Unsubscribe?" in page.text
    assert '<form method="post"' in page.text
    assert page.headers["referrer-policy"] == "same-origin", "with no-referrer, browsers hide the origin of the form"
    assert not links.registry.get("prices").is_paused
    assert links.registry.get("prices").counts.pending == 1
    page = site.anybody.get(links.path("mute"))
    assert "Visitors today: *" in page.text
    assert SCRIPT not in page.text
    assert links.inbox.mutes() == []


def test_one_click_unsubscribes(links: Links, site: Interface) -> None:
    done = site.anybody.post(links.path("unsubscribe"), data=ONE_CLICK)
    assert done.status_code == 200
    assert "You are unsubscribed" in done.text
    status = links.registry.get("prices")
    assert status.is_paused
    assert status.counts.pending == 0
    assert "You are unsubscribed" in site.anybody.get(links.path("unsubscribe")).text
    again = site.anybody.post(links.path("unsubscribe"), data={"action": "resume"})
    assert "You are subscribed again" in again.text
    assert not links.registry.get("prices").is_paused
    assert [entry.what for entry in site.service.auth.audit_log()][:2] == ["resume-alert", "pause-alert"]


def test_one_click_may_be_multipart(links: Links, site: Interface) -> None:
    done = site.anybody.post(links.path("unsubscribe"), files={"List-Unsubscribe": (None, "One-Click")})
    assert done.status_code == 200
    assert links.registry.get("prices").is_paused


def test_a_part_is_muted_and_unmuted(links: Links, site: Interface) -> None:
    page = site.anybody.post(links.path("mute"), data={"pattern": "Visitors today: *"})
    assert "is muted." in page.text
    (mute,) = links.inbox.mutes()
    assert (mute.place, mute.pattern) == (URL, "Visitors today: *")
    site.anybody.post(links.path("mute"), data={"pattern": "Visitors today: *", "action": "unmute"})
    assert links.inbox.mutes() == []
    foreign = site.anybody.post(links.path("mute"), data={"pattern": "anything else *"})
    assert foreign.status_code == 400
    assert links.inbox.mutes() == []


def test_only_signed_links_work_and_only_for_their_purpose(links: Links, site: Interface) -> None:
    good = links.path("unsubscribe")
    signature = good.rpartition("/")[2]
    for path in (
        good[:-1],
        f"/mute/1/{signature}",
        f"/unsubscribe/2/{signature}",
        "/unsubscribe/1/é",
        links.path("mute", 5),
    ):
        assert site.anybody.get(path).status_code == 404, path
        assert site.anybody.post(path, data=ONE_CLICK).status_code == 404, path
    foreign = site.anybody.post(good, data=ONE_CLICK, headers={"Origin": "https://evil.example"})
    assert foreign.status_code == 403
    assert not links.registry.get("prices").is_paused


def test_a_link_of_a_removed_alert_says_so(links: Links, site: Interface) -> None:
    links.registry.remove("prices")
    assert "not valid, or too old" in unescape(site.anybody.get(links.path("unsubscribe")).text)
    assert site.anybody.get(links.path("mute")).status_code == 404


def test_a_read_only_interface_shows_but_changes_nothing(links: Links, tmp_path: Path) -> None:
    interface = opened(tmp_path / "own.evercrawl", ServeOptions(port=0, read_only=True))
    try:
        assert interface.anybody.get(links.path("unsubscribe")).status_code == 200
        assert interface.anybody.post(links.path("unsubscribe"), data=ONE_CLICK).status_code == 403
    finally:
        closed(interface)
    assert not links.registry.get("prices").is_paused


def test_pages_show_that_mail_is_not_set_up(links: Links, site: Interface) -> None:
    assert "Mail is not set up yet" in site.operator.get("/alerts").text
    assert "Cannot send:" in site.operator.get("/alert?name=prices").text
    wish = {"name": "more", "channel": "mail", "address": "me@example.org", "csrf": site.csrf}
    answer = site.operator.post("/do/add-alert", data=wish)
    assert "it cannot send yet" in unescape(site.operator.get(answer.headers["location"]).text)


def test_alerts_can_be_paused_and_have_templates(links: Links, site: Interface) -> None:
    for paused in ("true", "false"):
        answer = site.operator.post("/do/update-alert", data={"name": "prices", "paused": paused, "csrf": site.csrf})
        assert answer.status_code == 303
        assert links.registry.get("prices").is_paused is (paused == "true")
    wish = {"name": "own", "channel": "mail", "address": "me@example.org", "subject_template": "{{ summary }}!"}
    assert site.operator.get("/alerts.json", params=wish).json()["problem"] is None
    site.operator.post("/do/add-alert", data=wish | {"csrf": site.csrf})
    assert links.registry.get("own").alert.templates.subject == "{{ summary }}!"
    wrong = site.operator.get("/alerts.json", params=wish | {"subject_template": "{{ sumary }}"}).json()
    assert "'sumary' is undefined" in wrong["problem"]


def test_the_public_url_can_be_a_setting(tmp_path: Path) -> None:
    public = "https://crawl.example.org"
    create_collection(tmp_path / "own.evercrawl", {"web.public_url": public})
    for options, expected in (
        (ServeOptions(port=0), public),
        (ServeOptions(port=0, public_url="https://b.example"), "https://b.example"),
    ):
        interface = opened(tmp_path / "own.evercrawl", options)
        try:
            assert interface.service.address == expected
            assert interface.service.state.settings.web.public_url == expected
        finally:
            closed(interface)
