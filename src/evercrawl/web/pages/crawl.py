"""Starting and stopping a crawl, and asking for a page."""

from __future__ import annotations

import asyncio
from datetime import date, timedelta
from typing import Any

from evercrawl.adapters.http.connections import FetchFailed
from evercrawl.adapters.http.dns import Resolver
from evercrawl.adapters.plugins import installed_schemes
from evercrawl.cluster.visit_requests import request_visits
from evercrawl.collection.listings import due_by_hour, list_due_pages, list_skipped, queued_by_priority
from evercrawl.collection.runs import live_run
from evercrawl.core.scope.scope import Scope
from evercrawl.core.url import canonical, site_of, site_parts
from evercrawl.model.fetch import Fault
from evercrawl.model.reason import REASON_TEXT, Outcome, Reason
from evercrawl.model.settings import Settings
from evercrawl.web.app_state import AppState
from evercrawl.web.charts import bars
from evercrawl.web.pages.history import page_url
from evercrawl.web.route import ActionResult, BadRequest, Inputs

MOST_URLS = 100


def start_crawl(state: AppState, inputs: Inputs) -> ActionResult:
    """Start a crawl of the collection, with new seeds if URLs are given."""
    if live_run(state.path, now=state.now()) is not None:
        raise BadRequest("a crawl of this collection is running already", 409)
    urls = [guarded_url(state.settings, text) for text in inputs["urls"].split()[:MOST_URLS]]
    if not urls and not state.settings.scope.seeds:
        raise BadRequest("nothing to crawl: the collection has no seeds yet; name a URL")
    pid = state.crawl.start(urls, forever=inputs["forever"], refresh=inputs["refresh"])
    return ActionResult("the crawl is starting", "/live", {"pid": pid})


def stop_crawl(state: AppState, inputs: Inputs) -> ActionResult:
    """Stop the crawl that was started here; requests in flight may end, and the state is saved."""
    if not state.crawl.stop():
        raise BadRequest("no crawl was started here; stop it where it was started", 409)
    return ActionResult("the crawl is stopping; requests in flight may end", "/live")


def visit_page(state: AppState, inputs: Inputs) -> ActionResult:
    """Ask for a visit of a page as soon as its site allows: by the running crawl, or by the next."""
    url = guarded_url(state.settings, inputs["url"])
    refused = Scope(
        state.settings.scope, allow_ports=state.settings.http.allow_ports, schemes=installed_schemes()
    ).verdict(url, depth=1)
    if refused is not None:
        raise BadRequest(f"{url} is not crawled: {refused[1]}")
    request_visits(state.path, [url], by=inputs.user.name)
    return ActionResult("the page will be visited as soon as its site allows", f"/why?url={url}")


def guarded_url(settings: Settings, text: str) -> str:
    """The canonical URL of what was typed; BadRequest where it leads to a machine that only we can reach."""
    url = canonical(page_url(text.strip()))
    if url is None:
        raise BadRequest(f"{text!r} is not a URL that can be crawled; write it like https://example.org/")
    site = site_parts(site_of(url))
    try:
        asyncio.run(_resolved(settings, site.host, site.port))
    except FetchFailed as failure:
        if failure.fault is Fault.PRIVATE_ADDRESS:
            raise BadRequest(f"{url} is refused: {failure.detail}", 403) from failure
    return url


async def _resolved(settings: Settings, host: str, port: int) -> None:
    resolver = Resolver(settings.dns, settings.http)
    try:
        await resolver.addresses(host, port)
    finally:
        await resolver.close()


BAND_WORDS = {0: "seeds and what comes first", 1: "urgent", 2: "ordinary"}


def frontier(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """The queue by urgency, what is due in the next hours, and the pages that come next."""
    portion = list_due_pages(state.path, after=inputs["after"], most=inputs["limit"])
    return {
        "now": state.now(),
        "queue": state.cached("queue", lambda: queued_by_priority(state.path), min_age_s=3) or [],
        "due_by_hour": state.cached("due", lambda: due_by_hour(state.path, now=state.now()), min_age_s=5) or [],
        "pages": portion.rows,
        "next": portion.next,
    }


def frontier_charts(data: dict[str, Any], today: date) -> dict[str, Any]:
    """Pages that come due, hour by hour."""
    begin = data["now"]
    columns = [(f"{begin + timedelta(hours=hour):%H}h", count) for hour, count in enumerate(data["due_by_hour"])]
    return {"due": bars("Pages that come due in the next 24 hours", columns, "pages")}


def skipped(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """A portion of the URLs that were not inputs for, and how many there are for which reason."""
    status = state.cached("status", lambda: state.collection.status(), min_age_s=3)
    portion = list_skipped(state.path, reason=inputs["reason"], after=inputs["after"], most=inputs["limit"])
    by_reason = dict(status.by_reason) if status else {}
    return {
        "reason": inputs["reason"],
        "by_reason": {name: count for name, count in by_reason.items() if Reason(name) in REFUSING},
        "skipped": portion.rows,
        "next": portion.next,
    }


def why(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """What was decided about a URL, by which rule, and when it is due."""
    if not inputs["url"]:
        return {"url": None, "explanation": None}
    url = inputs["url"] if "://" in inputs["url"] else f"https://{inputs['url']}"
    return {"url": url, "explanation": state.collection.why(url)}


REFUSING = frozenset(
    (
        Reason.INVALID_URL, Reason.UNSUPPORTED_SCHEME, Reason.URL_TOO_LONG, Reason.BLOCKED_PORT,
        Reason.OUT_OF_SCOPE, Reason.TOO_DEEP, Reason.EXCLUDED, Reason.NOT_INCLUDED, Reason.FILTERED,
        Reason.FILE_TYPE, Reason.NOFOLLOW, Reason.ROBOTS, Reason.PRIVATE_ADDRESS, Reason.REDIRECT_LOOP,
        Reason.TOO_MANY_REDIRECTS, Reason.SITE_PAGE_LIMIT,
    )
)  # fmt: skip
"""Why a URL is not inputs for; reasons that are added elsewhere are listed under `any`."""
REASON_WORDS = {reason.value: text for reason, text in REASON_TEXT.items()}
OUTCOMES = tuple(outcome.value for outcome in Outcome)
