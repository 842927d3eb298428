"""The pages `overview`, `live` and `runs`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

from evercrawl.collection.runs import live_run, past_run, past_runs
from evercrawl.collection.site_list import busiest_sites, changes_by_day, largest_sites, newest_visits, visits_by_day
from evercrawl.model.reason import Reason
from evercrawl.web.app_state import AppState
from evercrawl.web.charts import calendar, stacked_bars
from evercrawl.web.pages.site_pages import find_traps
from evercrawl.web.route import BadRequest, Inputs, parse_cursor

SITES_SHOWN = 12
LIVE_SITES_SHOWN = 10
WAIT_S = 0.25  # How long the page waits for counts that are not cached yet.
DAYS_SHOWN = 30
KINDS = (("new", "new or changed"), ("same", "unchanged"), ("304", "not modified (304)"), ("failed", "failed"))
_KIND_OF = {
    Reason.NEW: "new",
    Reason.CHANGED: "new",
    Reason.SAME_CONTENT: "same",
    Reason.NOISE: "same",
    Reason.DUPLICATE: "same",
    Reason.NOT_MODIFIED: "304",
    Reason.REDIRECT: "same",
}


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
    """Return counts, freshness, results per day, changes per day, and the largest sites."""
    found = state.cached_all(_counts(state), wait_s=WAIT_S)
    return {
        "status": found["status"],
        "run": live_run(state.path, now=state.now()),
        "last_run": next(iter(past_runs(state.path, limit=1)), None),
        "sites": found["largest sites"] or [],
        "visits_by_day": found["visits by day"] or {},
        "changes_by_day": found["changes by day"] or {},
        "seeds": state.settings.scope.seeds,
    }


def overview_charts(data: dict[str, Any], today: date) -> dict[str, Any]:
    """Return the charts of the overview."""
    days: dict[date, dict[str, int]] = data["visits_by_day"]
    shown = [today - timedelta(days=back) for back in range(DAYS_SHOWN - 1, -1, -1)]
    columns = [(f"{day:%d %b}", _kinds(days.get(day, {}))) for day in shown]
    return {
        "visits": stacked_bars("Visits per day, by result", columns, KINDS),
        "changes": calendar("Changed pages per day", data["changes_by_day"], last=today),
    }


def _kinds(reasons: dict[str, int]) -> dict[str, int]:
    kinds: dict[str, int] = {}
    for reason, count in reasons.items():
        kind = _KIND_OF.get(Reason(reason), "failed")
        kinds[kind] = kinds.get(kind, 0) + count
    return kinds


def live(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Return the running crawl, the newest visits, and the sites with queued pages."""
    return {
        "run": live_run(state.path, now=state.now()),
        "crawl_pid": state.crawl.pid,
        "last_exit": state.crawl.last_exit,
        "last_output": state.crawl.last_output(2000) if state.crawl.last_exit else "",
        "visits": newest_visits(state.path, 25),
        "sites": state.cached("live sites", lambda: busiest_sites(state.path, LIVE_SITES_SHOWN), min_age_s=1) or [],
        "seeds": state.settings.scope.seeds,
    }


def runs(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Return the finished runs, newest first, and the running one."""
    found = past_runs(state.path, before=parse_cursor(inputs["after"]), limit=inputs["limit"])
    return {
        "run": live_run(state.path, now=state.now()),
        "runs": found,
        "next": f"0.{found[-1].id}" if len(found) == inputs["limit"] and found[-1].id else None,
    }


def run(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Return the report of a run."""
    found = past_run(state.path, inputs["id"])
    if found is None:
        raise BadRequest("there is no such run", 404)
    return {"run": found}
