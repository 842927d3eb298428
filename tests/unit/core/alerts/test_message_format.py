from __future__ import annotations

import base64
import hashlib
import hmac
import json
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from xml.etree import ElementTree

import pytest

from evercrawl.core.alerts.definition import (
    alert_fields,
    alert_from_json,
    alert_problem,
    alert_to_json,
    event_from_json,
    event_to_json,
)
from evercrawl.core.alerts.message_format import (
    atom_feed,
    format_secret,
    plain_text,
    subject_line,
    webhook_body,
    webhook_headers,
)
from evercrawl.model.alerts import (
    Alert,
    AlertFilter,
    Channel,
    Destination,
    Event,
    EventKind,
    Frequency,
    PendingEvent,
    SentimentShift,
)
from evercrawl.model.change import Edit, Words
from tests.webhooks import verify_signature

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
SECRET = format_secret(bytes(range(24)))
ALERT = Alert("prices", AlertFilter(), Destination(Channel.WEBHOOK, "https://example.org/hook", SECRET))
EVIL = "\u202e<script>&\x1b[31m\r\nBcc: x@example.org\x00\ud800"
EVENT = Event(
    3, 7, 1, "https://example.org/?a=1&b=2", EventKind.CONTENT, 0.25, 1_790_000_000_000_000, 4, EVIL,
    (Edit(5, False, (Words("-", EVIL), Words("+", "now"))),), SentimentShift(0.5, -0.25),
)  # fmt: skip
NOTICES = (PendingEvent(1, 1_790_000_001_000_000, EVENT), PendingEvent(2, 1_790_000_002_000_000, EVENT))


def body(alert: Alert = ALERT, notices: tuple[PendingEvent, ...] = NOTICES) -> bytes:
    return webhook_body(alert, notices, message_id="msg_1", collection="c", at_us=1_790_000_003_000_000)


def test_the_webhook_body_is_complete_and_stable() -> None:
    assert body() == body()
    sent = json.loads(body())
    assert sent["type"] == "alert.changes"
    assert [change["number"] for change in sent["changes"]] == [1, 2]
    assert sent["changes"][0]["edits"] == [{"removed": EVIL, "added": "now"}]
    assert sent["changes"][0]["sentiment"] == {"before": 0.5, "after": -0.25}
    assert json.loads(body(replace(ALERT, frequency=Frequency.DAILY)))["type"] == "alert.digest"
    assert json.loads(body(notices=()))["type"] == "alert.test"


def test_signatures_follow_standard_webhooks() -> None:
    headers = dict(webhook_headers(SECRET, "msg_1", body(), now=NOW))
    assert headers["Idempotency-Key"] == headers["webhook-id"] == "msg_1"
    signed = f"msg_1.{int(NOW.timestamp())}.".encode() + body()
    expected = base64.b64encode(hmac.new(bytes(range(24)), signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"


@pytest.mark.parametrize(
    ("change", "genuine"),
    [
        ({}, True),
        ({"signatures": "v1,AAAA v2,x"}, False),
        ({"timestamp": "1"}, False),
        ({"timestamp": "soon"}, False),
        ({"body": b"other"}, False),
        ({"message_id": "msg_2"}, False),
        ({"now": NOW + timedelta(minutes=6)}, False),
    ],
)
def test_receivers_can_verify_signatures(change: dict[str, object], genuine: bool) -> None:
    headers = dict(webhook_headers(SECRET, "msg_1", b"body", now=NOW))
    given = {
        "message_id": "msg_1",
        "timestamp": headers["webhook-timestamp"],
        "signatures": "v1,old " + headers["webhook-signature"],
        "body": b"body",
        "now": NOW,
    }
    assert verify_signature(SECRET, **{**given, **change}) is genuine  # type: ignore[arg-type]


def test_crawled_text_stays_on_its_line() -> None:
    subject = subject_line(ALERT, NOTICES[:1])
    assert "\n" not in subject
    assert "\r" not in subject
    assert "\x1b" not in subject
    text = plain_text(ALERT, NOTICES, collection="c")
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert not any(line.startswith("Bcc") for line in text.splitlines())
    assert "2 pages" in subject_line(ALERT, NOTICES)


def test_feeds_are_well_formed_for_any_text() -> None:
    feed = atom_feed(ALERT, NOTICES, feed_id="urn:evercrawl:u:prices", collection="<c>")
    assert feed == atom_feed(ALERT, NOTICES[::-1], feed_id="urn:evercrawl:u:prices", collection="<c>")
    atom = "{http://www.w3.org/2005/Atom}"
    entries = ElementTree.fromstring(feed).findall(f"{atom}entry")
    ids = [entry.findtext(f"{atom}id") for entry in entries]
    assert ids == ["urn:evercrawl:u:prices:2", "urn:evercrawl:u:prices:1"]
    link = entries[0].find(f"{atom}link")
    assert link is not None
    assert link.get("href") == EVENT.url


def test_alerts_and_events_round_trip() -> None:
    alert = replace(
        ALERT,
        filter=AlertFilter(("https://a/",), ("*b*",), "q", frozenset(EventKind), 0.1, True),
        frequency=Frequency.DAILY,
        daily_at=time(6, 30),
        quiet_hours=("22:00-06:00",),
        max_changes=9,
    )
    assert alert_from_json(alert_to_json(alert)) == alert
    assert event_from_json(event_to_json(EVENT)) == EVENT
    assert event_from_json(event_to_json(EVENT._replace(shift=None, edits=()))).shift is None
    assert "secret" not in alert_fields(alert, with_secret=False)


@pytest.mark.parametrize(
    ("alert", "words"),
    [
        (replace(ALERT, name="a b"), "name"),
        (replace(ALERT, filter=AlertFilter(min_size=1.5)), "0 to 1"),
        (replace(ALERT, filter=AlertFilter(kinds=frozenset())), "an alert needs"),
        (replace(ALERT, filter=AlertFilter(kinds=frozenset({EventKind.NEW}), sentiment_shift=True)), "content"),
        (replace(ALERT, filter=AlertFilter(query="-no")), "query"),
        (replace(ALERT, quiet_hours=("night",)), "22:00"),
        (replace(ALERT, max_changes=0), "1 to"),
        (replace(ALERT, destination=Destination(Channel.MAIL, "a@b\r\nBcc: c@d")), "mail address"),
        (replace(ALERT, destination=Destination(Channel.WEBHOOK, "https://a/", "whsec_short")), "secret"),
    ],
)
def test_invalid_alerts_are_explained(alert: Alert, words: str) -> None:
    assert words in (alert_problem(alert) or "")


def test_valid_alerts_are_accepted() -> None:
    assert alert_problem(ALERT) is None
