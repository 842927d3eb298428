"""WebSub subscriptions of a served collection.
The callback route of `evercrawl serve` calls `answer_challenge` for GET and `receive` for POST; `renew` runs regularly.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from evercrawl.adapters.http.client import HttpFetcher
from evercrawl.adapters.http.dialer import JsonPoster
from evercrawl.adapters.system import SystemClock
from evercrawl.collection.alerts.alert_outbox import AlertOutbox
from evercrawl.collection.urls import request_announced
from evercrawl.config.load import outbox_path
from evercrawl.config.trust import require_trust
from evercrawl.core.sitemap.websub_protocol import (
    HEAD_BYTES,
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
from evercrawl.core.sitemap.websub_protocol import Subscription as Subscription
from evercrawl.core.url import canonical
from evercrawl.errors import ConfigError
from evercrawl.model import __version__
from evercrawl.model.fetch import Fetched, Request
from evercrawl.model.settings import Settings
from evercrawl.model.time import from_us
from evercrawl.model.user_agent import user_agent

FORM = "application/x-www-form-urlencoded"
MAX_BODY_BYTES = 4 * 1024 * 1024
"""The callback route reads no more of a notification; a longer one only says that the topic changed."""
TOKEN_BYTES, SECRET_BYTES = 18, 24

RequestVisits = Callable[[Sequence[str], str], object]  # Requests visits of URLs, with the name of who announced them.
log = logging.getLogger(__name__)


class CallbackReply(NamedTuple):
    """The response of the callback route; the body is plain text."""

    status: int
    body: str = ""


def callback_url_at(public_url: str) -> Callable[[str], str]:
    """Return a function from a token to its callback URL at the public URL of the web interface."""
    parts = urlsplit(public_url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ConfigError(f"{public_url!r} is not a URL; write it like https://crawl.example.org")
    return lambda token: f"{public_url.rstrip('/')}/websub/{token}"


def subscription_fields(one: Subscription) -> dict[str, Any]:
    """Return the fields of a subscription for display, without token and secret."""
    return {
        "topic": one.topic,
        "hub": one.hub,
        "phase": one.phase.value,
        "signed": one.secret is not None,
        "until": None if one.until_us is None else from_us(one.until_us),
        "requested": from_us(one.requested_us) if one.requested_us else None,
        "attempts": one.tries,
        "next_request": next_request_time(one),
        "detail": one.detail,
    }


def no_callback(token: str) -> str:
    """Raise ConfigError, because subscribing needs a public URL."""
    raise ConfigError("hubs need a URL where they can reach evercrawl; set web.public_url, or use --public-url")


class WebsubClient:
    """The subscriptions of one collection."""

    def __init__(
        self,
        collection: Path,
        settings: Settings,
        *,
        callback: Callable[[str], str],
        request: RequestVisits | None = None,
    ) -> None:
        """`callback` returns the callback URL of a token; `request` handles announced URLs, default: queue them."""
        self._collection = collection
        self._settings = settings
        self._callback = callback
        self._request_visits = request or (lambda urls, by: request_announced(collection, settings, urls, source=by))

    # For the callback route

    def knows(self, token: str) -> bool:
        """Return whether a subscription has this token."""
        return self._find(token) is not None

    def answer_challenge(self, token: str, query: Mapping[str, str]) -> CallbackReply:
        """Answer the GET request by which a hub verifies a subscription."""
        subscription = self._find(token)
        if subscription is None:
            return CallbackReply(404)
        answer = answer_callback(subscription, query, now=datetime.now(UTC))
        if answer.subscription != subscription:
            self._store(answer.subscription)
        return CallbackReply(answer.status, answer.body)

    def receive(self, token: str, headers: Mapping[str, str], body: bytes) -> CallbackReply:
        """Answer the POST request of a hub and queue the announced pages; header names are in lower case.
        A wrong signature is acknowledged and ignored (section 7.1), so that nobody can guess the secret; 410 ends an
        unwanted subscription."""
        subscription = self._find(token)
        if subscription is None:
            return CallbackReply(404)
        if subscription.phase in (SubscriptionPhase.ENDING, SubscriptionPhase.DENIED):
            return CallbackReply(410)
        if subscription.phase is not SubscriptionPhase.ACTIVE:
            return CallbackReply(202)  # the hub is not verified yet
        if not has_valid_signature(subscription, headers.get("x-hub-signature"), body):
            log.warning("websub: a notification about %s has no valid signature", subscription.topic)
            return CallbackReply(202)
        self._request_visits(
            announced_pages(subscription, body, headers.get("content-type")), f"WebSub {subscription.hub}"
        )
        return CallbackReply(202)

    # Subscribe and renew

    def subscriptions(self) -> list[Subscription]:
        """Return every subscription, by topic."""
        if not outbox_path(self._collection).exists():
            return []
        with closing(AlertOutbox(self._collection)) as outbox:
            return [read_subscription(stored) for stored in outbox.subscriptions().values()]

    async def subscribe(self, url: str) -> Subscription:
        """Subscribe to a page or feed; raise ConfigError if it cannot be read or names no hub."""
        require_trust(self._settings)
        self._callback("")  # Before anything is stored: raise if hubs could not reach us.
        name = canonical(url)
        if name is None:
            raise ConfigError(f"{url!r} is not a URL; write it like https://example.org/feed")
        fetcher = HttpFetcher(self._settings, SystemClock(), self._agent())
        try:
            found = await fetcher.fetch(Request(name, body_limit=HEAD_BYTES))
        finally:
            await fetcher.close()
        if not isinstance(found, Fetched):
            raise ConfigError(f"{name} cannot be read, so its hub is unknown")
        token, secret = secrets.token_urlsafe(TOKEN_BYTES), secrets.token_urlsafe(SECRET_BYTES)
        subscription = start_subscription(token, discover_hubs(found.url, found.headers, found.body), secret)
        if subscription is None:
            raise ConfigError(f"{name} cannot be subscribed to: it names no rel=hub, or no rel=self")
        return await self._send_request(subscription)

    async def unsubscribe(self, topic: str) -> bool:
        """End a subscription; return False if there is none."""
        require_trust(self._settings)
        for subscription in self.subscriptions():
            if subscription.topic == topic:
                await self._send_request(subscription._replace(phase=SubscriptionPhase.ENDING))
                return True
        return False

    async def renew(self) -> int:
        """Renew leases that end soon and requests without a callback; return their number."""
        if not self._settings.is_trusted:
            return 0
        now = datetime.now(UTC)
        due = [
            one for one in await asyncio.to_thread(self.subscriptions)
            if (moment := next_request_time(one)) is not None and moment <= now
        ]  # fmt: skip
        for subscription in due:
            await self._send_request(subscription)
        return len(due)

    async def _send_request(self, subscription: Subscription) -> Subscription:
        subscription = record_request(subscription, now=datetime.now(UTC))
        await asyncio.to_thread(self._store, subscription)
        form = urlencode(request_form(subscription, self._callback(subscription.token))).encode()
        poster = JsonPoster(self._settings, self._agent())
        try:
            posted = await poster.post(subscription.hub, form, content_type=FORM)
        finally:
            await poster.close()
        if posted.status is None or not 200 <= posted.status < 300:
            detail = posted.detail if posted.status is None else f"the hub answered HTTP {posted.status}"
            return await asyncio.to_thread(self._store_detail, subscription.token, detail)
        return await asyncio.to_thread(self._store_detail, subscription.token, "")

    def _store_detail(self, token: str, detail: str) -> Subscription:
        """Store the detail in the newest state, because the hub may have called back meanwhile."""
        subscription = self._find(token)
        assert subscription is not None
        self._store(subscription._replace(detail=detail or subscription.detail))
        return subscription._replace(detail=detail or subscription.detail)

    def _find(self, token: str) -> Subscription | None:
        if not self._settings.is_trusted or not outbox_path(self._collection).exists():
            return None
        with closing(AlertOutbox(self._collection)) as outbox:
            stored = outbox.subscriptions().get(token)
        return None if stored is None else read_subscription(stored)

    def _store(self, subscription: Subscription) -> None:
        with closing(AlertOutbox(self._collection)) as outbox:
            outbox.put_subscription(subscription.token, subscription.topic, write_subscription(subscription))

    def _agent(self) -> str:
        return user_agent(self._settings.identity, __version__)
