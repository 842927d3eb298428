"""Start and stop a crawl, request a visit, and show what is queued, due or skipped."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import pairwise
from typing import Any

from evercrawl.collection.runs import live_run, pause_run, resume_run, stop_run
from evercrawl.collection.site_list import due_by_hour, queued_by_priority
from evercrawl.collection.table_view import read_skipped
from evercrawl.collection.urls import read_url_list, request_visit, require_public_url
from evercrawl.config import collection_file, write_setting
from evercrawl.model.reason import Reason
from evercrawl.web.app_state import AppState
from evercrawl.web.charts import Bar, linked_bars
from evercrawl.web.format import link_to
from evercrawl.web.route import ActionResult, BadRequest, Inputs, resource_path
from evercrawl.web.table_page import stored_table, table_data

MAX_URLS = 100
SKIP_REASONS = frozenset(
    (
        Reason.INVALID_URL, Reason.UNSUPPORTED_SCHEME, Reason.URL_TOO_LONG, Reason.BLOCKED_PORT,
        Reason.OUT_OF_SCOPE, Reason.TOO_DEEP, Reason.EXCLUDED, Reason.NOT_INCLUDED, Reason.FILTERED,
        Reason.FILE_TYPE, Reason.NOFOLLOW, Reason.ROBOTS, Reason.PRIVATE_ADDRESS, Reason.REDIRECT_LOOP,
        Reason.TOO_MANY_REDIRECTS, Reason.SITE_PAGE_LIMIT, Reason.TRAP,
    )
)  # fmt: skip
"""Reasons that the page of skipped URLs offers as filters."""


def start_crawl(state: AppState, inputs: Inputs) -> ActionResult:
    """Start a crawl, with new start URLs if given."""
    if live_run(state.path, now=state.now()) is not None:
        raise BadRequest("a crawl is already running", 409)
    listed = read_url_list(inputs["urls"]) if inputs["urls"].strip() else []
    urls = [require_public_url(state.settings, url) for url in listed[:MAX_URLS]]
    if not urls and not state.settings.scope.seeds:
        raise BadRequest("nothing to crawl yet; enter a URL")
    _save_watching(state, is_on=inputs["forever"])
    pid = state.crawl.start(urls, forever=inputs["forever"], refresh=inputs["refresh"])
    return ActionResult("Crawl started.", "/live", {"pid": pid}, resource_path("/runs/current"))


def stop_crawl(state: AppState, inputs: Inputs) -> ActionResult:
    """Stop the running crawl, wherever it was started."""
    is_ours = state.crawl.stop()
    if not is_ours and live_run(state.path, now=state.now()) is None:
        raise BadRequest("no crawl is running", 409)
    if not is_ours:
        stop_run(state.path, by=inputs.user.name)
    _save_watching(state, is_on=False)
    return ActionResult("Stopping the crawl. Requests in flight may finish.", "/live")


def update_crawl(state: AppState, inputs: Inputs) -> ActionResult:
    """Pause or resume crawling, or visit every known page now."""
    if inputs["refresh"]:
        run = live_run(state.path, now=state.now())
        if not state.crawl.is_running or run is None:
            raise BadRequest("this crawl was started elsewhere; stop it, then check all pages", 409)
        state.crawl.close()
        state.crawl.start([], forever=run.forever, refresh=True)
        return ActionResult("All known pages are visited now.", "/live", {"refresh": True})
    if inputs["paused"] is None:
        raise BadRequest("say what to change: paused or refresh")
    if inputs["paused"]:
        pause_run(state.path, by=inputs.user.name)
        message = "Paused. Requests in flight may finish; nothing new is requested until you resume."
        return ActionResult(message, "/live", {"paused": True})
    resume_run(state.path)
    is_running = live_run(state.path, now=state.now()) is not None or state.crawl.pid is not None
    if state.settings.web.keep_watching and not is_running:
        state.crawl.start([], forever=True)
    return ActionResult("Resumed.", "/live", {"paused": False})


def _save_watching(state: AppState, *, is_on: bool) -> None:
    """Remember whether to keep watching when the interface starts again."""
    if state.settings.web.keep_watching != is_on:
        write_setting(collection_file(state.path), "web.keep_watching", is_on)


def visit_page(state: AppState, inputs: Inputs) -> ActionResult:
    """Request a visit to a page by the running crawl, or by a crawl of this page alone."""
    now = state.now()
    url = request_visit(state.path, state.settings, inputs["url"], by=inputs.user.name)
    if live_run(state.path, now=now) is None and not state.crawl.is_running:
        state.crawl.start([], max_pages=1)
    resource = resource_path("/pages/{url}", url=url)
    message, checked = "Requested a visit, as soon as the site allows.", f"{now:%Y-%m-%dT%H:%M:%SZ}"
    return ActionResult(message, link_to("/page", url=url, checked=checked), {"url": url}, resource)


def frontier(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """List queued and due pages."""
    return {
        **table_data(stored_table(state, inputs, "queue", "/frontier"), "pages"),
        "now": state.now(),
        "queue": state.cached("queue", lambda: queued_by_priority(state.path), min_age_s=3) or [],
        "due_by_hour": state.cached("due", lambda: due_by_hour(state.path, now=state.now()), min_age_s=5) or [],
    }


def frontier_charts(data: dict[str, Any], today: date) -> dict[str, Any]:
    """Return the chart of pages due per hour."""
    hours = [data["now"] + timedelta(hours=hour) for hour in range(len(data["due_by_hour"]) + 1)]
    columns = [
        Bar(f"+{hour} h", count, link_to("/frontier", due=f"{begin:%Y-%m-%dT%H:%M:%SZ}..{end:%Y-%m-%dT%H:%M:%SZ}"))
        for hour, ((begin, end), count) in enumerate(zip(pairwise(hours), data["due_by_hour"], strict=True))
    ]
    return {"due": linked_bars("Pages due in the next 24 hours", columns, "pages")}


def skipped(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """List URLs that were not fetched, with reasons."""
    status = state.cached("status", lambda: state.collection.status(), min_age_s=3)
    table = stored_table(
        state, inputs, "skipped", "/skipped",
        lambda query, columns, on_part: read_skipped(state.path, state.settings, query, columns, on_part=on_part),
    )  # fmt: skip
    by_reason = dict(status.by_reason) if status else {}
    return {
        **table_data(table, "skipped"),
        "reason": inputs["reason"],
        "by_reason": {name: count for name, count in by_reason.items() if Reason(name) in SKIP_REASONS},
    }


def why(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Explain why a URL was or was not fetched."""
    if not inputs["url"]:
        return {"url": None, "explanation": None}
    url = state.collection.typed_url(inputs["url"])
    return {"url": url, "explanation": state.collection.why(url)}
