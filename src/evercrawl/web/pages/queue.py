"""What comes next, and what will not be asked for."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from evercrawl.collection.listings import due_by_hour, list_due_pages, list_skipped, queued_by_priority
from evercrawl.model.reason import REASON_TEXT, Outcome, Reason
from evercrawl.web.chart import bars
from evercrawl.web.desk import Desk
from evercrawl.web.route import Asked

BAND_WORDS = {0: "seeds and what comes first", 1: "urgent", 2: "ordinary"}


def frontier(desk: Desk, asked: Asked) -> dict[str, Any]:
    """The queue by urgency, what is due in the next hours, and the pages that come next."""
    portion = list_due_pages(desk.path, after=asked["after"], most=asked["limit"])
    return {
        "now": desk.now(),
        "queue": desk.remembered("queue", lambda: queued_by_priority(desk.path), least_s=3) or [],
        "due_by_hour": desk.remembered("due", lambda: due_by_hour(desk.path, now=desk.now()), least_s=5) or [],
        "pages": portion.rows,
        "next": portion.next,
    }


def frontier_charts(data: dict[str, Any], today: date) -> dict[str, Any]:
    """Pages that come due, hour by hour."""
    begin = data["now"]
    columns = [(f"{begin + timedelta(hours=hour):%H}h", count) for hour, count in enumerate(data["due_by_hour"])]
    return {"due": bars("Pages that come due in the next 24 hours", columns, "pages")}


def skipped(desk: Desk, asked: Asked) -> dict[str, Any]:
    """A portion of the URLs that were not asked for, and how many there are for which reason."""
    status = desk.remembered("status", lambda: desk.collection.status(), least_s=3)
    portion = list_skipped(desk.path, reason=asked["reason"], after=asked["after"], most=asked["limit"])
    by_reason = dict(status.by_reason) if status else {}
    return {
        "reason": asked["reason"],
        "by_reason": {name: count for name, count in by_reason.items() if Reason(name) in REFUSING},
        "skipped": portion.rows,
        "next": portion.next,
    }


def why(desk: Desk, asked: Asked) -> dict[str, Any]:
    """What was decided about a URL, by which rule, and when it is due."""
    if not asked["url"]:
        return {"url": None, "explanation": None}
    url = asked["url"] if "://" in asked["url"] else f"https://{asked['url']}"
    return {"url": url, "explanation": desk.collection.why(url)}


REFUSING = frozenset(
    (
        Reason.INVALID_URL, Reason.UNSUPPORTED_SCHEME, Reason.URL_TOO_LONG, Reason.BLOCKED_PORT,
        Reason.OUT_OF_SCOPE, Reason.TOO_DEEP, Reason.EXCLUDED, Reason.NOT_INCLUDED, Reason.FILTERED,
        Reason.FILE_TYPE, Reason.NOFOLLOW, Reason.ROBOTS, Reason.PRIVATE_ADDRESS, Reason.REDIRECT_LOOP,
        Reason.TOO_MANY_REDIRECTS, Reason.SITE_PAGE_LIMIT,
    )
)  # fmt: skip
"""Why a URL is not asked for; reasons that are added elsewhere are listed under `any`."""
REASON_WORDS = {reason.value: text for reason, text in REASON_TEXT.items()}
OUTCOMES = tuple(outcome.value for outcome in Outcome)
