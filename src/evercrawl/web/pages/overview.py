"""The collection at a glance."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from evercrawl.browse.activity import changes_by_day, last_visits, visits_by_day
from evercrawl.browse.sites import busiest_sites, largest_sites
from evercrawl.model.reason import Reason
from evercrawl.runs import live_run, past_runs
from evercrawl.web.chart import calendar, stacked_bars
from evercrawl.web.desk import Desk
from evercrawl.web.route import Asked

SITES_SHOWN = 12
LANES_SHOWN = 10
DAYS_SHOWN = 30
KINDS = (
    ("new", "new or changed"),
    ("same", "the same again"),
    ("304", "not modified (304)"),
    ("failed", "failed"),
)
_KIND_OF = {
    Reason.NEW: "new",
    Reason.CHANGED: "new",
    Reason.SAME_CONTENT: "same",
    Reason.ONLY_NOISE: "same",
    Reason.SAME_AS_OTHER: "same",
    Reason.NOT_MODIFIED: "304",
    Reason.MOVED: "same",
}


def warm_up(desk: Desk) -> None:
    """Begin to count before anybody asks."""
    desk.remembered("status", lambda: desk.collection.status(), least_s=3)
    desk.remembered("visits by day", lambda: visits_by_day(desk.path), least_s=5)
    desk.remembered("changes by day", lambda: changes_by_day(desk.path, now=desk.now()), least_s=5)


def overview(desk: Desk, asked: Asked) -> dict[str, Any]:
    """Counts, freshness, what visits brought day by day, when pages changed, the largest sites."""
    now = desk.now()
    days = desk.remembered("visits by day", lambda: visits_by_day(desk.path), least_s=5) or {}
    changes = (
        desk.remembered("changes by day", lambda: changes_by_day(desk.path, now=desk.now()), least_s=5) or {}
    )
    return {
        "status": desk.remembered("status", lambda: desk.collection.status(), least_s=3),
        "run": live_run(desk.path, now=now),
        "last_run": next(iter(past_runs(desk.path, most=1)), None),
        "sites": desk.remembered("largest sites", lambda: largest_sites(desk.path, SITES_SHOWN), least_s=3)
        or [],
        "visits_by_day": days,
        "changes_by_day": changes,
        "seeds": desk.settings.scope.seeds,
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


def live(desk: Desk, asked: Asked) -> dict[str, Any]:
    """The run under way, the newest visits, and whether it was started here."""
    return {
        "run": live_run(desk.path, now=desk.now()),
        "child": desk.crawl.pid,
        "last_exit": desk.crawl.last_exit,
        "last_words": desk.crawl.last_words(2000) if desk.crawl.last_exit else "",
        "visits": last_visits(desk.path, 25),
        "lanes": desk.remembered("lanes", lambda: busiest_sites(desk.path, LANES_SHOWN), least_s=1) or [],
        "seeds": desk.settings.scope.seeds,
    }
