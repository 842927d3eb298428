"""WebSub for a served collection: subscribe, renew, and what the server's callback route calls.

`evercrawl serve` has that route: `answer_challenge` for GET, `receive` for POST, and `renew` now and then.
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
from evercrawl.adapters.http.poster import JsonPoster
from evercrawl.adapters.system import SystemClock
from evercrawl.cluster.visit_requests import request_visits
from evercrawl.collection.alerts.alert_outbox import AlertOutbox, outbox_path
from evercrawl.core.sitemap.websub_protocol import (
    HEAD_BYTES,
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
from evercrawl.core.url import canonical
from evercrawl.errors import ConfigError
from evercrawl.model import __version__
from evercrawl.model.fetch import Fetched, Request
from evercrawl.model.settings import Settings
from evercrawl.model.time import from_us
from evercrawl.model.user_agent import user_agent

FORM = "application/x-www-form-urlencoded"
MOST_BODY_BYTES = 4 * 1024 * 1024
"""A larger notice says no more than that the topic has changed; the route need not read on."""
TOKEN_BYTES, SECRET_BYTES = 18, 24

Queue = Callable[[Sequence[str], str], object]
"""URLs and who announced them -> they are visited soon."""
log = logging.getLogger(__name__)


class CallbackReply(NamedTuple):
    """What the callback route sends; the body is plain text."""

    status: int
    body: str = ""


def callback_url_at(public_url: str) -> Callable[[str], str]:
    """Token -> where hubs reach it at an interface of this address; ConfigError where it is none."""
    parts = urlsplit(public_url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ConfigError(f"{public_url!r} is not an address; write it like https://crawl.example.org")
    return lambda token: f"{public_url.rstrip('/')}/websub/{token}"


def subscription_fields(one: Subscription) -> dict[str, Any]:
    """A subscription for people and programs, without its token and its secret."""
    return {
        "topic": one.topic,
        "hub": one.hub,
        "phase": one.phase.value,
        "signed": one.secret is not None,
        "until": None if one.until_us is None else from_us(one.until_us),
        "asked": from_us(one.asked_us) if one.asked_us else None,
        "tries": one.tries,
        "next_ask": next_request_time(one),
        "detail": one.detail,
    }


def no_callback(token: str) -> str:
    """For those who look only: hubs cannot reach us."""
    raise ConfigError("hubs need an address at which they reach us: --public-url")


class WebsubClient:
    """The subscriptions of one collection."""

    def __init__(
        self, collection: Path, settings: Settings, *, callback: Callable[[str], str], queue: Queue | None = None
    ) -> None:
        """`callback`: token -> the address at which hubs reach us; `queue`: what to do with news, otherwise
        they are announced to the crawl.
        """
        self._collection = collection
        self._settings = settings
        self._callback = callback
        self._queue = queue or (lambda urls, by: request_visits(collection, urls, by=by))

    # For the callback route

    def knows(self, token: str) -> bool:
        """A subscription has this token."""
        return self._of(token) is not None

    def answer_challenge(self, token: str, query: Mapping[str, str]) -> CallbackReply:
        """The answer to a GET of a hub that checks what we asked for."""
        subscription = self._of(token)
        if subscription is None:
            return CallbackReply(404)
        answer = answer_callback(subscription, query, now=datetime.now(UTC))
        if answer.subscription != subscription:
            self._keep(answer.subscription)
        return CallbackReply(answer.status, answer.body)

    def receive(self, token: str, headers: Mapping[str, str], body: bytes) -> CallbackReply:
        """The answer to a POST of a hub; what it announces is queued. Names of headers in lower case.

        A wrong signature is acknowledged and ignored (section 7.1), so that nobody learns by trying; 410 ends
        a subscription that we do not want.
        """
        subscription = self._of(token)
        if subscription is None:
            return CallbackReply(404)
        if subscription.phase in (SubscriptionPhase.ENDING, SubscriptionPhase.DENIED):
            return CallbackReply(410)
        if subscription.phase is SubscriptionPhase.ASKED and subscription.secret is None:
            return CallbackReply(202)  # nobody has proved to be the hub
        if not has_valid_signature(subscription, headers.get("x-hub-signature"), body):
            log.warning("websub: a notice about %s is not signed by its hub", subscription.topic)
            return CallbackReply(202)
        self._queue(announced_pages(subscription, body, headers.get("content-type")), f"WebSub {subscription.hub}")
        return CallbackReply(202)

    # For the operator, and the clock

    def subscriptions(self) -> list[Subscription]:
        """Every subscription, by topic."""
        if not outbox_path(self._collection).exists():
            return []
        with closing(AlertOutbox(self._collection)) as outbox:
            return [read_subscription(stored) for stored in outbox.subscriptions().values()]

    async def subscribe(self, url: str) -> Subscription:
        """Subscribe to a page or feed; ConfigError where it cannot be read or names no hub."""
        name = canonical(url)
        if name is None:
            raise ConfigError(f"{url!r} is not a URL; write it like https://example.org/feed")
        fetcher = HttpFetcher(self._settings, SystemClock(), self._agent())
        try:
            found = await fetcher.fetch(Request(name, body_limit=HEAD_BYTES))
        finally:
            await fetcher.close()
        if not isinstance(found, Fetched):
            raise ConfigError(f"{name} cannot be read, so that its hub is not known")
        token, secret = secrets.token_urlsafe(TOKEN_BYTES), secrets.token_urlsafe(SECRET_BYTES)
        subscription = start_subscription(token, discover_hubs(found.url, found.headers, found.body), secret)
        if subscription is None:
            raise ConfigError(f"{name} cannot be subscribed to: it names no rel=hub, or no rel=self")
        return await self._ask(subscription)

    async def unsubscribe(self, topic: str) -> bool:
        """End a subscription; False: there is none."""
        for subscription in self.subscriptions():
            if subscription.topic == topic:
                await self._ask(subscription._replace(phase=SubscriptionPhase.ENDING))
                return True
        return False

    async def renew(self) -> int:
        """Ask the hubs of all leases that end soon, and those that did not call back; gives their number."""
        now = datetime.now(UTC)
        due = [
            one for one in await asyncio.to_thread(self.subscriptions)
            if (moment := next_request_time(one)) is not None and moment <= now
        ]  # fmt: skip
        for subscription in due:
            await self._ask(subscription)
        return len(due)

    async def _ask(self, subscription: Subscription) -> Subscription:
        subscription = record_request(subscription, now=datetime.now(UTC))
        await asyncio.to_thread(self._keep, subscription)
        form = urlencode(request_form(subscription, self._callback(subscription.token))).encode()
        poster = JsonPoster(self._settings, self._agent())
        try:
            posted = await poster.post(subscription.hub, form, content_type=FORM)
        finally:
            await poster.close()
        if posted.status is None or not 200 <= posted.status < 300:
            detail = posted.detail if posted.status is None else f"the hub answered HTTP {posted.status}"
            return await asyncio.to_thread(self._note, subscription.token, detail)
        return await asyncio.to_thread(self._note, subscription.token, "")

    def _note(self, token: str, detail: str) -> Subscription:
        """Add to the newest state: the hub may have called back while we waited for its answer."""
        subscription = self._of(token)
        assert subscription is not None
        self._keep(subscription._replace(detail=detail or subscription.detail))
        return subscription._replace(detail=detail or subscription.detail)

    def _of(self, token: str) -> Subscription | None:
        if not outbox_path(self._collection).exists():
            return None
        with closing(AlertOutbox(self._collection)) as outbox:
            stored = outbox.subscriptions().get(token)
        return None if stored is None else read_subscription(stored)

    def _keep(self, subscription: Subscription) -> None:
        with closing(AlertOutbox(self._collection)) as outbox:
            outbox.put_subscription(subscription.token, subscription.topic, write_subscription(subscription))

    def _agent(self) -> str:
        return user_agent(self._settings.identity, __version__)
