"""The subscriber side of WebSub (W3C): discovery, requests to the hub, and its callbacks.
A notice only says that a page has changed; its content is not trusted, and the page is visited."""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser

from evercrawl.core.document.bounds import truncate_markup
from evercrawl.core.document.links import parse_link_header
from evercrawl.core.sitemap.sitemap_markup import as_utf8, is_html, markup_of, parse_tags
from evercrawl.core.sitemap.sitemap_reader import read_sitemap
from evercrawl.core.url import canonical, join
from evercrawl.model.fetch import Headers, header
from evercrawl.model.time import from_us, to_us

LEASE = timedelta(days=10)  # The lease we request; the hub decides.
MIN_LEASE, MAX_LEASE = timedelta(minutes=5), timedelta(days=365)
RENEWED_SHARE = 0.2  # A subscription is renewed when this share of its lease is left.
FIRST_WAIT, MAX_WAIT = timedelta(minutes=10), timedelta(days=1)
MAX_TRIES = 20
MAX_HUBS = 5
MAX_URLS = 1000  # Pages of one notice that are visited.
HEAD_BYTES = 256 * 1024  # Links of a feed or page about itself are at its start.
_SIGNATURE = re.compile(r"(sha1|sha256|sha384|sha512)=([0-9a-f]+)", re.IGNORECASE)
_SECONDS = re.compile(r"[0-9]{1,9}")


class HubDiscovery(NamedTuple):
    """The hubs of a page and its topic URL."""

    hubs: tuple[str, ...] = ()
    topic: str | None = None


class SubscriptionPhase(StrEnum):
    """The state of a subscription."""

    REQUESTED = "requested"  # The hub has not called back yet.
    ACTIVE = "active"
    DENIED = "denied"
    ENDING = "ending"  # We no longer want it; the hub may verify that once.


class Subscription(NamedTuple):
    """One topic at one hub."""

    token: str  # The last part of the callback URL; it cannot be guessed.
    topic: str
    hub: str
    secret: str | None
    phase: SubscriptionPhase = SubscriptionPhase.REQUESTED
    requested_us: int = 0
    tries: int = 0
    until_us: int | None = None  # The end of the lease.
    lease_s: int = 0
    detail: str = ""


class HubCallbackResult(NamedTuple):
    """What the callback answers, and the subscription afterwards."""

    status: int
    body: str
    subscription: Subscription


def discover_hubs(url: str, headers: Headers, body: bytes) -> HubDiscovery:
    """Return hubs and topic of an answer (section 4); headers precede the document."""
    fields = (value for name, value in headers if name.lower() == "link")
    from_headers = _hubs_and_topic(
        url, ((rel, link.reference) for value in fields for link in parse_link_header(value) for rel in link.rel)
    )
    if from_headers.hubs and from_headers.topic:
        return from_headers
    from_body = _hubs_and_topic(url, _links_in_body(body, header(headers, "content-type")))
    return HubDiscovery(from_headers.hubs or from_body.hubs, from_headers.topic or from_body.topic)


def _hubs_and_topic(url: str, links: Iterable[tuple[str, str]]) -> HubDiscovery:
    hubs: dict[str, None] = {}
    topic: str | None = None
    for rel, reference in links:
        absolute = join(url, reference.strip())
        name = canonical(absolute) if absolute is not None else None
        if name is not None and rel == "hub" and len(hubs) < MAX_HUBS:
            hubs[name] = None
        elif name is not None and rel == "self" and topic is None:
            topic = absolute
    return HubDiscovery(tuple(hubs), topic)


class _FeedLinks:
    """Collects the links of a feed about itself: those before its first entry."""

    def __init__(self) -> None:
        self.found: list[tuple[str, str]] = []
        self._is_inside = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(":")[2].lower()
        self._is_inside = self._is_inside or local in ("item", "entry")
        if local == "link" and not self._is_inside:
            for rel in attributes.get("rel", "").lower().split():
                self.found.append((rel, attributes.get("href", "")))

    def end(self, name: str) -> None:
        pass

    def text(self, data: str) -> None:
        pass


def _links_in_body(body: bytes, content_type: str | None) -> list[tuple[str, str]]:
    document = as_utf8(body[:HEAD_BYTES], content_type)
    if is_html(document):
        links = LexborHTMLParser(truncate_markup(document)).css("head link[rel][href]")
        return [
            (rel, link.attributes.get("href") or "")
            for link in links
            for rel in (link.attributes.get("rel") or "").lower().split()
        ]
    markup = markup_of(document)
    if markup is None:
        return []
    feed = _FeedLinks()
    parse_tags(markup.decode("utf-8", "replace"), feed)
    return feed.found


def request_form(subscription: Subscription, callback: str) -> tuple[tuple[str, str], ...]:
    """Return the form to send to the hub (section 5.1)."""
    is_ending = subscription.phase is SubscriptionPhase.ENDING
    fields = (
        ("hub.callback", callback),
        ("hub.mode", "unsubscribe" if is_ending else "subscribe"),
        ("hub.topic", subscription.topic),
    )
    if is_ending:
        return fields
    secret = () if subscription.secret is None else (("hub.secret", subscription.secret),)
    return (*fields, ("hub.lease_seconds", str(int(LEASE.total_seconds()))), *secret)


def start_subscription(token: str, found: HubDiscovery, secret: str) -> Subscription | None:
    """Return a new subscription; None without hub or topic. A secret is sent over TLS only."""
    if not found.hubs or found.topic is None:
        return None
    hub = next((hub for hub in found.hubs if hub.startswith("https:")), found.hubs[0])
    return Subscription(token, found.topic, hub, secret if hub.startswith("https:") else None)


def record_request(subscription: Subscription, *, now: datetime) -> Subscription:
    """Return the subscription to store before the request: the hub may call back before it answers."""
    return subscription._replace(requested_us=to_us(now), tries=subscription.tries + 1)


def next_request_time(subscription: Subscription) -> datetime | None:
    """Return when to send the next request, to renew or because the hub did not call back; None: never."""
    if subscription.phase is SubscriptionPhase.ACTIVE and subscription.until_us is not None:
        left = timedelta(seconds=RENEWED_SHARE * subscription.lease_s)
        renewal = from_us(subscription.until_us) - left
        return renewal if not subscription.tries else max(renewal, _retry_time(subscription))
    if subscription.phase is not SubscriptionPhase.REQUESTED or subscription.tries >= MAX_TRIES:
        return None
    return _retry_time(subscription)


def _retry_time(subscription: Subscription) -> datetime:
    if not subscription.tries:
        return from_us(0)
    wait = min(FIRST_WAIT * (1 << (subscription.tries - 1)), MAX_WAIT)
    return from_us(subscription.requested_us) + wait


def answer_callback(subscription: Subscription, query: Mapping[str, str], *, now: datetime) -> HubCallbackResult:
    """Answer a GET of the hub (section 5.3): its challenge if we want what it verifies, otherwise 404."""
    mode, challenge = query.get("hub.mode", ""), query.get("hub.challenge", "")
    if query.get("hub.topic") != subscription.topic:
        return HubCallbackResult(404, "", subscription)
    if mode == "denied":
        reason = query.get("hub.reason", "")[:200]
        return HubCallbackResult(
            200, "", subscription._replace(phase=SubscriptionPhase.DENIED, until_us=None, detail=reason)
        )
    is_wanted = subscription.phase in (SubscriptionPhase.REQUESTED, SubscriptionPhase.ACTIVE)
    if not challenge or mode not in ("subscribe", "unsubscribe") or (mode == "subscribe") != is_wanted:
        return HubCallbackResult(404, "", subscription)
    if mode == "unsubscribe":
        return HubCallbackResult(200, challenge, subscription._replace(until_us=None))
    lease = _lease(query.get("hub.lease_seconds", ""))
    active = subscription._replace(phase=SubscriptionPhase.ACTIVE, tries=0, detail="")
    active = active._replace(until_us=to_us(now + lease), lease_s=int(lease.total_seconds()))
    return HubCallbackResult(200, challenge, active)


def _lease(written: str) -> timedelta:
    if not _SECONDS.fullmatch(written):
        return LEASE
    return min(max(timedelta(seconds=int(written)), MIN_LEASE), MAX_LEASE)


def has_valid_signature(subscription: Subscription, signature: str | None, body: bytes) -> bool:
    """Return whether the body is signed with the secret (section 7.1); True if there is no secret."""
    if subscription.secret is None:
        return True
    found = _SIGNATURE.fullmatch((signature or "").strip())
    if found is None:
        return False
    expected = hmac.new(subscription.secret.encode(), body, found[1].lower()).hexdigest()
    return hmac.compare_digest(expected, found[2].lower())


def announced_pages(subscription: Subscription, body: bytes, content_type: str | None) -> list[str]:
    """Return the pages to visit: the topic and those that a feed lists, newest first.
    Without a secret anybody could have sent the body, so only the topic counts."""
    if subscription.secret is None:
        body = b""
    sitemap = read_sitemap(body, subscription.topic, content_type=content_type)
    names = (canonical(url) for url in (subscription.topic, *(entry.url for entry in sitemap.entries)))
    return list(dict.fromkeys(name for name in names if name is not None))[:MAX_URLS]


def write_subscription(subscription: Subscription) -> str:
    """Return the stored form."""
    return json.dumps(subscription)


def read_subscription(stored: str) -> Subscription:
    """Read the stored form."""
    subscription = Subscription._make(json.loads(stored))
    return subscription._replace(phase=SubscriptionPhase(subscription.phase))
