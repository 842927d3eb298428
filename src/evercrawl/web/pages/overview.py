"""The pages `overview`, `live` and `runs`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

from evercrawl.collection.runs import LiveRun, closed_text, live_run, next_visit, past_run, past_runs, run_pause
from evercrawl.collection.site_list import busiest_sites, changes_by_day, largest_sites, newest_visits, visits_by_day
from evercrawl.model.listing import SiteRow
from evercrawl.model.reason import Reason
from evercrawl.model.table import TableColumn
from evercrawl.web.app_state import AppState
from evercrawl.web.charts import calendar_of_changes, stacked_bars
from evercrawl.web.format import format_duration, link_to, relative_time, short_url
from evercrawl.web.pages.changes_page import changes_on, top_changes
from evercrawl.web.pages.site_pages import find_traps
from evercrawl.web.route import BadRequest, Inputs
from evercrawl.web.table_page import listed_table, table_data

SITES_SHOWN = 12
LIVE_SITES_SHOWN = 10
VISITS_SHOWN, TRIED_SHOWN = 25, 3
NEWS_WAIT_S = 0.5  # How long the page waits for the newest changes.
WAIT_S = 0.25  # How long the page waits for counts that are not cached yet.
DAYS_SHOWN, MIN_DAYS_SHOWN = 30, 7
KINDS = (("new", "new or changed"), ("same", "unchanged"), ("304", "not modified (304)"), ("failed", "failed"))
_SAME = (Reason.SAME_CONTENT, Reason.NOISE, Reason.DUPLICATE, Reason.REDIRECT)
_KIND_OF = {Reason.NEW: "new", Reason.CHANGED: "new", Reason.NOT_MODIFIED: "304"} | dict.fromkeys(_SAME, "same")


def _counts(state: AppState) -> dict[str, Callable[[], Any]]:
    return {
        "status": state.collection.status,
        "visits by day": lambda: visits_by_day(state.path),
        "changes by day": lambda: changes_by_day(state.path, now=state.now()),
        "largest sites": lambda: largest_sites(state.path, SITES_SHOWN),
    }


def warm_up(state: AppState) -> None:
    """Compute the slow counts before the first request."""
    state.cached_all(_counts(state), wait_s=0.0)
    find_traps(state, wait_s=0.0)


def overview(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Show the collection at a glance."""
    found = state.cached_all(_counts(state), wait_s=WAIT_S)
    is_empty = found["status"] is not None and not found["status"].versions
    return {
        "news": top_changes(state, wait_s=NEWS_WAIT_S),
        "status": found["status"],
        "run": _run_and_sites(state)[0],
        "last_run": next(iter(past_runs(state.path, limit=1)), None),
        "sites": found["largest sites"] or [],
        "visits_by_day": found["visits by day"] or {},
        "changes_by_day": found["changes by day"] or {},
        "tried": newest_visits(state.path, TRIED_SHOWN) if is_empty else [],
        "seeds": state.settings.scope.seeds,
    }


def overview_charts(data: dict[str, Any], today: date) -> dict[str, Any]:
    """Return the charts of the overview."""
    days: dict[date, dict[str, int]] = data["visits_by_day"]
    count = min(DAYS_SHOWN, max(MIN_DAYS_SHOWN, (today - min(days, default=today)).days + 1))
    shown = [today - timedelta(days=back) for back in range(count - 1, -1, -1)]
    columns = [(f"{day:%d %b}", _kinds(days.get(day, {}))) for day in shown]
    return {
        "visits": stacked_bars(
            "Visits per day, by result", columns, KINDS, lambda place, kind: _visits_link(shown[place], kind)
        )
        if days
        else None,
        "changes": calendar_of_changes(data["changes_by_day"], today, changes_on),
    }


def _visits_link(day: date, kind: str) -> str:
    """Return where a part of the chart leads: to the changes of that day, or to the pages last visited then."""
    return changes_on(day) if kind == "new" else link_to("/pages", last_visit=day.isoformat(), sort="-last_visit")


def _kinds(reasons: dict[str, int]) -> dict[str, int]:
    kinds: dict[str, int] = {}
    for reason, count in reasons.items():
        kind = _KIND_OF.get(Reason(reason), "failed")
        kinds[kind] = kinds.get(kind, 0) + count
    return kinds


def live(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Show the running crawl and the newest visits."""
    return {
        **crawl_state(state),
        "last_run": next(iter(past_runs(state.path, limit=1)), None),
        "last_exit": state.crawl.last_exit,
        "last_output": state.crawl.last_output(2000) if state.crawl.last_exit else "",
        "visits": newest_visits(state.path, VISITS_SHOWN),
        "seeds": state.settings.scope.seeds,
    }


def crawl_state(state: AppState) -> dict[str, Any]:
    """Return the running crawl: how far it is, the time left, and what it waits for."""
    (run, sites), pause = _run_and_sites(state), run_pause(state.path)
    found = {"run": run, "crawl_pid": state.crawl.pid, "sites": sites, "pause": pause and pause._asdict()}
    if run is None:
        return {**found, "state": "No crawl is running.", "share": 0.0, "left": "", "waiting": ""}
    done, queued = run.progress.fetched, run.progress.queued
    # Sites are crawled side by side, so the one that takes longest counts.
    left_s = max((site.pending * site.delay_ms / 1000 for site in sites if not site.closed_reason), default=0.0)
    is_idle = run.forever and not queued and not run.progress.in_flight
    return {
        **found,
        "state": _state_text(run) if is_idle else "A crawl is running.",
        "share": round(done / (done + queued), 4) if queued else 1.0,
        "left": f"about {format_duration(left_s)} left" if queued and left_s else "",
        "waiting": _waiting(state, run, sites),
    }


def _run_and_sites(state: AppState) -> tuple[LiveRun | None, Sequence[SiteRow]]:
    """Return the running crawl, and the sites with queued pages; a run does not count those that are due again."""
    run = live_run(state.path, now=state.now())
    sites = state.cached("live sites", lambda: busiest_sites(state.path, LIVE_SITES_SHOWN), min_age_s=1) or []
    if run is not None:
        queued = max(run.progress.queued, sum(site.pending for site in sites))
        run = replace(run, progress=replace(run.progress, queued=queued))
    return run, sites


def _state_text(run: LiveRun) -> str:
    has_failed = run.progress.errors and not run.progress.fetched
    return "Watching: nothing could be fetched yet." if has_failed else "Watching: everything is up to date."


def _waiting(state: AppState, run: LiveRun, sites: Sequence[SiteRow]) -> str:
    """Return what a crawl waits for and why, in words."""
    now, progress = state.now(), run.progress
    if run_pause(state.path) is not None:
        return "Paused: no requests are sent until you resume."
    if progress.closed_note and not progress.in_flight:
        return _closed_text(sites, now) or f"Paused: {progress.closed_note}"
    if not progress.queued and not progress.in_flight:
        due = state.cached("next due", lambda: next_visit(state.path), min_age_s=5)
        return f"Next visit {relative_time(due, now)}." if due and due > now else ""
    slowest = max((site for site in sites if site.pending), key=lambda site: site.delay_ms, default=None)
    if slowest is None or not slowest.delay_ms:
        return ""
    return f"To be polite, {short_url(slowest.name)} gets one request every {format_duration(slowest.delay_ms / 1000)}."


def _closed_text(sites: Sequence[SiteRow], now: datetime) -> str:
    """Return why the first of the paused sites is paused, and when it is tried again."""
    closed = min((site for site in sites if site.closed_reason), key=lambda site: site.open_us, default=None)
    if closed is None:
        return ""
    cause = closed_text(closed.closed_reason or "")
    return f"Paused: {short_url(closed.name)}: {cause}. Next try {relative_time(closed.open_us, now)}."


RUN_COLUMNS = (
    TableColumn("began", "Started", "time"),
    TableColumn("seconds", "Duration", "seconds"),
    TableColumn("requests", "Requests", "number"),
    TableColumn("new", "New", "number"),
    TableColumn("changed", "Changed", "number"),
    TableColumn("unchanged", "Unchanged", "number", is_shown=False),
    TableColumn("not_modified", "304", "number", is_shown=False),
    TableColumn("skipped", "Skipped", "number"),
    TableColumn("errors", "Errors", "number"),
    TableColumn("bytes", "Bytes", "bytes"),
    TableColumn("stopped", "Result", "choice"),
    TableColumn("ended", "Ended", "time", is_shown=False),
    TableColumn("id", "Report", "run", is_sortable=False, is_filterable=False),
)
RUNS_LISTED = 1000


def runs(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """List the runs, newest first."""
    rows = [
        {column.name: one.summary.get(column.name) for column in RUN_COLUMNS}
        | {"id": one.id, "began": one.began, "ended": one.ended, "seconds": round(one.summary.get("seconds") or 0)}
        for one in past_runs(state.path, limit=RUNS_LISTED)
    ]
    table = listed_table(state, inputs, rows, RUN_COLUMNS, "/runs")
    return {"run": live_run(state.path, now=state.now()), **table_data(table, "runs")}


def run(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Return the report of a run."""
    found = past_run(state.path, inputs["id"])
    if found is None:
        raise BadRequest("there is no such run", 404)
    return {"run": found}
