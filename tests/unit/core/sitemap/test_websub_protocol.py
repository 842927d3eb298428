from __future__ import annotations

import hashlib
import hmac
from datetime import UTC, datetime, timedelta

import pytest

from evercrawl.core.sitemap.websub_protocol import (
    HubDiscovery,
    Subscription,
    SubscriptionPhase,
    announced_pages,
    answer_callback,
    discover_hubs,
    has_valid_signature,
    next_request_time,
    read_subscription,
    record_request,
    request_form,
    start_subscription,
    write_subscription,
)

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
URL = "https://example.org/blog/feed"
HUB, TOPIC = "https://hub.example/", "https://example.org/blog/feed.xml"
SUBSCRIPTION = Subscription("token", TOPIC, HUB, "secret")
ATOM = (
    b'<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><link rel="hub" href="https://hub.example"/>'
    b'<link rel="self" href="feed.xml"/><entry><link rel="alternate" href="/blog/1"/>'
    b'<link rel="hub" href="https://evil.example/"/></entry></feed>'
)
RSS = (
    b'<rss xmlns:atom="http://www.w3.org/2005/Atom"><channel><atom:link rel="hub self-not" href="https://hub.example/"/>'
    b'<atom:link href="https://example.org/blog/feed.xml" rel="self"/><item><link>https://example.org/blog/2</link>'
    b"</item></channel></rss>"
)
HTML = (
    b'<!doctype html><head><link rel=hub href="https://hub.example/"><link rel=self href="feed.xml"></head>'
    b'<body><link rel=hub href="https://evil.example/">'
)


@pytest.mark.parametrize(
    ("body", "kind"), [(ATOM, "application/atom+xml"), (RSS, "application/rss+xml"), (HTML, "text/html"), (ATOM, None)]
)
def test_feeds_and_pages_name_their_hub(body: bytes, kind: str | None) -> None:
    headers = (("Content-Type", kind),) if kind else ()
    assert discover_hubs(URL, headers, body) == HubDiscovery((HUB,), TOPIC)


def test_headers_override_the_document() -> None:
    headers = (("Link", '<https://other.example/>; rel="hub", </topic>; rel=self'),)
    assert discover_hubs(URL, headers, ATOM) == HubDiscovery(("https://other.example/",), "https://example.org/topic")
    mixed = discover_hubs(URL, (("link", "<https://other.example/>; rel=hub"),), ATOM)
    assert mixed == HubDiscovery(("https://other.example/",), TOPIC)


def test_without_hub_or_topic_there_is_nothing_to_subscribe_to() -> None:
    assert start_subscription("t", HubDiscovery((), TOPIC), "s") is None
    assert start_subscription("t", HubDiscovery((HUB,), None), "s") is None
    assert discover_hubs(URL, (), b"plain words") == HubDiscovery()
    assert discover_hubs(URL, (), b'<feed><link rel="hub" href="javascript:alert(1)"/></feed>') == HubDiscovery()


def test_a_secret_is_sent_over_tls_only() -> None:
    safe, open_ = (
        start_subscription("t", HubDiscovery(("http://a/", HUB), TOPIC), "s"),
        start_subscription("t", HubDiscovery(("http://a/",), TOPIC), "s"),
    )
    assert safe is not None
    assert open_ is not None
    assert (safe.hub, safe.secret, open_.secret) == (HUB, "s", None)
    form = dict(request_form(safe, "https://me.example/t"))
    assert form["hub.mode"] == "subscribe"
    assert form["hub.topic"] == TOPIC
    assert form["hub.callback"] == "https://me.example/t"
    assert form["hub.secret"] == "s"
    assert int(form["hub.lease_seconds"]) > 0
    assert "hub.secret" not in dict(request_form(open_, "x"))
    assert dict(request_form(safe._replace(phase=SubscriptionPhase.ENDING), "x"))["hub.mode"] == "unsubscribe"


def call(subscription: Subscription, mode: str = "subscribe", **more: str) -> tuple[int, str, Subscription]:
    query = {"hub.mode": mode, "hub.topic": TOPIC, "hub.challenge": "c", "hub.lease_seconds": "86400"}
    return answer_callback(subscription, query | {f"hub.{name}": value for name, value in more.items()}, now=NOW)


def test_a_challenge_is_answered_only_for_what_we_want() -> None:
    status, body, active = call(record_request(SUBSCRIPTION, now=NOW))
    assert (status, body, active.phase, active.lease_s) == (200, "c", SubscriptionPhase.ACTIVE, 86400)
    assert call(SUBSCRIPTION, topic="https://evil.example/")[:2] == (404, "")
    assert call(SUBSCRIPTION, "unsubscribe")[0] == 404
    assert call(SUBSCRIPTION, challenge="")[0] == 404
    assert call(SUBSCRIPTION, "publish")[0] == 404
    ending = SUBSCRIPTION._replace(phase=SubscriptionPhase.ENDING)
    assert call(ending)[0] == 404
    assert call(ending, "unsubscribe")[:2] == (200, "c")


def test_a_denial_is_final() -> None:
    status, _, denied = call(SUBSCRIPTION, "denied", reason="no such topic")
    assert (status, denied.phase, denied.detail) == (200, SubscriptionPhase.DENIED, "no such topic")
    assert next_request_time(denied) is None
    assert call(denied)[0] == 404


def test_leases_are_renewed_and_silent_hubs_retried() -> None:
    active = call(record_request(SUBSCRIPTION, now=NOW))[2]
    renewal = next_request_time(active)
    assert renewal is not None
    assert NOW + timedelta(hours=12) < renewal < NOW + timedelta(days=1)
    later = record_request(active, now=renewal)
    again = next_request_time(later)
    assert again is not None
    assert again > renewal, "a hub that does not answer is not asked all the time"
    waiting, moments = SUBSCRIPTION, []
    while (moment := next_request_time(waiting)) is not None:
        moments.append(moment)
        waiting = record_request(waiting, now=max(moment, NOW))
    assert moments == sorted(moments)
    assert len(moments) < 30


@pytest.mark.parametrize("written", ["", "soon", "-5", "0", "99999999999", "999999999"])
def test_leases_are_limited(written: str) -> None:
    lease_s = call(SUBSCRIPTION, lease_seconds=written)[2].lease_s
    assert 300 <= lease_s <= 365 * 86400


@pytest.mark.parametrize("method", ["sha1", "sha256", "sha384", "sha512"])
def test_signatures(method: str) -> None:
    good = hmac.new(b"secret", b"body", getattr(hashlib, method)).hexdigest()
    assert has_valid_signature(SUBSCRIPTION, f"{method}={good}", b"body")
    assert has_valid_signature(SUBSCRIPTION, f"{method.upper()}={good.upper()}", b"body")
    assert not has_valid_signature(SUBSCRIPTION, f"{method}={good}", b"other")
    assert not has_valid_signature(SUBSCRIPTION, f"md5={good}", b"body")
    assert not has_valid_signature(SUBSCRIPTION, good, b"body")
    assert not has_valid_signature(SUBSCRIPTION, None, b"body")
    assert has_valid_signature(SUBSCRIPTION._replace(secret=None), None, b"body")


def test_notices_announce_the_topic_and_the_pages_of_the_feed() -> None:
    assert announced_pages(SUBSCRIPTION, ATOM, "application/atom+xml") == [TOPIC, "https://example.org/blog/1"]
    assert announced_pages(SUBSCRIPTION, HTML, "text/html") == [TOPIC]
    assert announced_pages(SUBSCRIPTION, b"", None) == [TOPIC]


def test_subscriptions_round_trip() -> None:
    active = call(record_request(SUBSCRIPTION, now=NOW))[2]
    assert read_subscription(write_subscription(active)) == active
