"""Hubs that tell us of news: subscriptions, and what was announced and waits for a crawl."""

from __future__ import annotations

import asyncio
from typing import Any

from evercrawl.cluster.visit_requests import VisitRequest, announcements
from evercrawl.collection.alerts.subscriptions import subscription_fields
from evercrawl.web.desk import Desk
from evercrawl.web.pages.steer import guarded_url
from evercrawl.web.parameter import BadRequest
from evercrawl.web.route import Asked, Done

ANNOUNCEMENTS_SHOWN = 50
URLS_SHOWN = 5


def hubs(desk: Desk, asked: Asked) -> dict[str, Any]:
    """Every subscription, and the newest announcements that no crawl has heeded yet."""
    waiting, shown = announcements(desk.path, most=ANNOUNCEMENTS_SHOWN)
    return {
        "can_be_reached": desk.can_be_reached,
        "subscriptions": [subscription_fields(one) for one in desk.websub.subscriptions()],
        "waiting": waiting,
        "announcements": [_announced(one) for one in shown],
    }


def subscribe(desk: Desk, asked: Asked) -> Done:
    """Ask the hub of a page or feed to tell us of its news."""
    if not desk.can_be_reached:
        raise BadRequest("hubs cannot reach this interface: start it with --public-url", 409)
    url = guarded_url(desk.settings, asked["url"])
    made = asyncio.run(desk.websub.subscribe(url))
    words = f"the hub {made.hub} was asked" + (f": {made.detail}" if made.detail else "")
    return Done(words, "/hubs", {"subscription": subscription_fields(made)})


def unsubscribe(desk: Desk, asked: Asked) -> Done:
    """Ask the hub to tell us no more."""
    if not asyncio.run(desk.websub.unsubscribe(asked["topic"])):
        raise BadRequest("there is no such subscription", 404)
    return Done("the hub was asked to end the subscription", "/hubs")


def _announced(one: VisitRequest) -> dict[str, Any]:
    return {"at": one.at, "by": one.by, "count": len(one.urls), "urls": one.urls[:URLS_SHOWN]}
