from __future__ import annotations

import base64
import hashlib
import hmac
import json
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from html import unescape
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
from evercrawl.core.alerts.html_message import MessageLinks, is_signed_link
from evercrawl.core.alerts.message_format import (
    MessageContent,
    atom_feed,
    format_secret,
    html_text,
    message_fields,
    plain_text,
    subject_line,
    webhook_body,
    webhook_headers,
)
from evercrawl.core.change.text_diff import make_edit
from evercrawl.model.alerts import (
    Alert,
    AlertFilter,
    Channel,
    Destination,
    Event,
    EventKind,
    Frequency,
    MessageTemplates,
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


PUBLIC = "https://crawl.example.org"


def content(
    alert: Alert = ALERT, changes: tuple[PendingEvent, ...] = NOTICES, public_url: str | None = None
) -> MessageContent:
    return MessageContent(alert, changes, MessageLinks("c", alert.name, public_url, b"key", 9), is_test=not changes)


def body(alert: Alert = ALERT, notices: tuple[PendingEvent, ...] = NOTICES) -> bytes:
    fields = message_fields(content(alert, notices), message_id="msg_1", at_us=1_790_000_003_000_000)
    return webhook_body(fields)


def test_the_webhook_body_is_complete_and_stable() -> None:
    assert body() == body()
    sent = json.loads(body())
    assert sent["type"] == "alert.changes"
    assert [change["number"] for change in sent["changes"]] == [1, 2]
    words = [["-", EVIL], ["+", "now"]]
    assert sent["changes"][0]["edits"] == [{"removed": " ".join(EVIL.split()), "added": "now", "words": words}]
    assert sent["summary"].startswith("<script>& Bcc: x@example.org changed 2 times; last: ")
    assert sent["changes"][0]["summary"].startswith("<script>& Bcc: x@example.org: '<script>&")
    assert (sent["changes"][0]["diff_url"], sent["unsubscribe_url"]) == (None, None)
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
    subject = subject_line(content(changes=NOTICES[:1]))
    assert subject.isprintable()
    text = plain_text(content())
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert not any(line.startswith("Bcc") for line in text.splitlines())


JOBS = Event(
    0, 1, 1, "https://example.org/jobs?a=1&b=2", EventKind.CONTENT, 0.002, 1_790_000_000_000_000, 4, "Jobs & more",
    (make_edit(1, "Wanted: Nurse, <b>full</b> time", "Wanted: Doctor, <b>full</b> time", is_template=False),
     make_edit(2, "", "Apply by mail.", is_template=False)),
    omitted=3,
)  # fmt: skip


def test_plain_text_shows_the_difference_and_says_what_to_do() -> None:
    told = plain_text(content(changes=(PendingEvent(7, 1, JOBS),)))
    assert told == (
        "Jobs & more: 'Nurse' became 'Doctor', and 4 more changes\n\n"
        "Jobs & more\nhttps://example.org/jobs?a=1&b=2\n"
        "− Wanted: *Nurse,* <b>full</b> time\n+ Wanted: *Doctor,* <b>full</b> time\n+ Apply by mail.\n"
        "… and 3 more\n"
        "Seen 2026-09-21 14:13 UTC, less than 1% of the text\n"
        "Full difference: evercrawl -C c diff 'https://example.org/jobs?a=1&b=2' v3 v4\n"
        "Mute this part: evercrawl -C c mute add 'Wanted: * <b>full</b> time' --page 'https://example.org/jobs?a=1&b=2'\n"
        "\n--\nSent by evercrawl: alert prices, collection c\n"
        "Unsubscribe: evercrawl -C c alert pause prices\n"
    )


def test_links_lead_to_the_interface_if_its_url_is_known() -> None:
    shown = content(changes=(PendingEvent(7, 1, JOBS),), public_url=PUBLIC)
    diff = f"{PUBLIC}/diff?url=https%3A%2F%2Fexample.org%2Fjobs%3Fa%3D1%26b%3D2&a=v3&b=v4"
    mute, stop = shown.links.mute(7), shown.links.unsubscribe()
    assert mute is not None
    assert mute.startswith(f"{PUBLIC}/mute/7/")
    assert stop is not None
    assert stop.startswith(f"{PUBLIC}/unsubscribe/9/")
    for link in (diff, mute, stop):
        assert link in plain_text(shown)
        assert link in unescape(html_text(shown))
    fields = message_fields(shown, message_id="msg_1", at_us=1)
    assert fields["unsubscribe_url"] == stop
    assert (fields["changes"][0]["diff_url"], fields["changes"][0]["mute_url"]) == (diff, mute)
    assert is_signed_link(b"key", "mute", 7, mute.rpartition("/")[2])
    assert not is_signed_link(b"key", "mute", 8, mute.rpartition("/")[2])
    assert not is_signed_link(b"key", "unsubscribe", 7, mute.rpartition("/")[2])
    assert not is_signed_link(b"other", "mute", 7, mute.rpartition("/")[2])


def test_html_marks_words_and_escapes_everything() -> None:
    shown = html_text(content(changes=(PendingEvent(7, 1, JOBS),)))
    assert ">Nurse,</del>" in shown
    assert ">Doctor,</ins>" in shown
    assert "&lt;b&gt;full&lt;/b&gt; time" in shown
    assert "[-" not in shown
    evil = html_text(content())
    assert "<script" not in evil
    assert "\x1b" not in evil
    assert "\u202e" not in evil
    assert 'href="https://example.org/?a=1&amp;b=2"' in evil


@pytest.mark.parametrize("kind", [EventKind.NEW, EventKind.GONE, EventKind.BACK])
def test_new_and_missing_pages_are_described(kind: EventKind) -> None:
    page = JOBS._replace(kind=kind, edits=(), omitted=0, excerpt="Come and work" if kind is EventKind.NEW else "")
    for shown in (plain_text, html_text):
        told = shown(content(changes=(PendingEvent(1, 1, page),)))
        assert {"new": "Come and work", "gone": "The page is gone", "back": "The page is back"}[kind.value] in told
        assert "Mute" not in told
        assert "evercrawl -C c history" in told


def test_the_same_change_is_shown_once_with_all_its_pages() -> None:
    pages = [JOBS._replace(url=f"https://example.org/{n}", title=f"Page {n}") for n in range(3)]
    other = JOBS._replace(url="https://example.org/other", edits=JOBS.edits[:1])
    shown = content(changes=tuple(PendingEvent(n, 1, event) for n, event in enumerate([*pages, other])))
    for told, mark in ((plain_text(shown), "+ Apply by mail."), (html_text(shown), ">Apply by mail.</ins>")):
        assert "The same change on 3 pages" in told
        assert told.count(mark) == 1
        assert all(f"https://example.org/{n}" in told and f"Page {n}" in told for n in range(3))
        assert "https://example.org/other" in told


def test_a_long_message_is_bounded_and_names_what_is_left_out() -> None:
    texts = [(f"word{n} " * 400).strip() for n in range(8)]
    changes = tuple(
        PendingEvent(n, 1, JOBS._replace(url=f"https://example.org/{n}", edits=tuple(
            make_edit(1, "", f"{n} {text}", is_template=False) for text in texts
        )))
        for n in range(50)
    )  # fmt: skip
    for shown in (plain_text, html_text):
        told = shown(content(changes=changes))
        assert len(told) < 100_000
        assert "and 11 more" in told
        assert all(f"https://example.org/{n}" in told for n in range(50))
    assert "word7" in plain_text(content(changes=changes[:1]))


def test_a_test_says_so() -> None:
    for shown in (subject_line, plain_text, html_text):
        assert "Test message of the alert prices" in shown(content(changes=()))


def test_feeds_are_well_formed_for_any_text() -> None:
    feed = atom_feed(content(), feed_id="urn:evercrawl:u:prices")
    assert feed == atom_feed(content(changes=NOTICES[::-1]), feed_id="urn:evercrawl:u:prices")
    atom = "{http://www.w3.org/2005/Atom}"
    entries = ElementTree.fromstring(feed).findall(f"{atom}entry")
    ids = [entry.findtext(f"{atom}id") for entry in entries]
    assert ids == ["urn:evercrawl:u:prices:2", "urn:evercrawl:u:prices:1"]
    link = entries[0].find(f"{atom}link")
    assert link is not None
    assert link.get("href") == EVENT.url
    shown = entries[0].find(f"{atom}content")
    assert shown is not None
    assert shown.get("type") == "html"
    assert ">now</ins>" in (shown.text or "")


def test_alerts_and_events_round_trip() -> None:
    alert = replace(
        ALERT,
        filter=AlertFilter(("https://a/",), ("*b*",), "q", frozenset(EventKind), 0.1, True),
        frequency=Frequency.DAILY,
        daily_at=time(6, 30),
        quiet_hours=("22:00-06:00",),
        max_changes=9,
        templates=MessageTemplates(subject="{{ summary }}"),
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
