"""The collection at a glance."""

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
LANES_SHOWN = 10
PATIENCE_S = 0.25
"""How long the page waits for counts that nobody has made yet."""
DAYS_SHOWN = 30
KINDS = (("new", "new or changed"), ("same", "the same again"), ("304", "not modified (304)"), ("failed", "failed"))
_KIND_OF = {
    Reason.NEW: "new",
    Reason.CHANGED: "new",
    Reason.SAME_CONTENT: "same",
    Reason.NOISE: "same",
    Reason.DUPLICATE: "same",
    Reason.NOT_MODIFIED: "304",
    Reason.REDIRECT: "same",
}


def _wishes(state: AppState) -> dict[str, Callable[[], Any]]:
    return {
        "status": state.collection.status,
        "visits by day": lambda: visits_by_day(state.path),
        "changes by day": lambda: changes_by_day(state.path, now=state.now()),
        "largest sites": lambda: largest_sites(state.path, SITES_SHOWN),
    }


def warm_up(state: AppState) -> None:
    """Begin to count before anybody asks."""
    state.remembered_all(_wishes(state), wait_s=0.0)
    find_traps(state, wait_s=0.0)


def overview(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Counts, freshness, what visits brought day by day, when pages changed, the largest sites."""
    found = state.remembered_all(_wishes(state), wait_s=PATIENCE_S)
    return {
        "status": found["status"],
        "run": live_run(state.path, now=state.now()),
        "last_run": next(iter(past_runs(state.path, most=1)), None),
        "sites": found["largest sites"] or [],
        "visits_by_day": found["visits by day"] or {},
        "changes_by_day": found["changes by day"] or {},
        "seeds": state.settings.scope.seeds,
    }


def overview_charts(data: dict[str, Any], today: date) -> dict[str, Any]:
    """The pictures of the page."""
    days: dict[date, dict[str, int]] = data["visits_by_day"]
    shown = [today - timedelta(days=back) for back in range(DAYS_SHOWN - 1, -1, -1)]
    columns = [(f"{day:%d %b}", _kinds(days.get(day, {}))) for day in shown]
    return {
        "visits": stacked_bars("Visits a day, by what they brought", columns, KINDS),
        "changes": calendar("Changes of pages, day by day", data["changes_by_day"], last=today),
    }


def _kinds(reasons: dict[str, int]) -> dict[str, int]:
    kinds: dict[str, int] = {}
    for reason, count in reasons.items():
        kind = _KIND_OF.get(Reason(reason), "failed")
        kinds[kind] = kinds.get(kind, 0) + count
    return kinds


def live(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """The run under way, the newest visits, and whether it was started here."""
    return {
        "run": live_run(state.path, now=state.now()),
        "child": state.crawl.pid,
        "last_exit": state.crawl.last_exit,
        "last_words": state.crawl.last_words(2000) if state.crawl.last_exit else "",
        "visits": newest_visits(state.path, 25),
        "lanes": state.remembered("lanes", lambda: busiest_sites(state.path, LANES_SHOWN), least_s=1) or [],
        "seeds": state.settings.scope.seeds,
    }


def runs(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """The runs that ended, newest first, and the one under way."""
    found = past_runs(state.path, before=parse_cursor(inputs["after"]), most=inputs["limit"])
    return {
        "run": live_run(state.path, now=state.now()),
        "runs": found,
        "next": f"0.{found[-1].id}" if len(found) == inputs["limit"] and found[-1].id else None,
    }


def run(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """The report of one run."""
    found = past_run(state.path, inputs["id"])
    if found is None:
        raise BadRequest("there is no such run", 404)
    return {"run": found}
