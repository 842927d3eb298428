"""The pages `sites`, `site`, `load` and `traps`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from datetime import date, timedelta
from math import ceil
from typing import Any

from evercrawl.collection.crawl import min_delay
from evercrawl.collection.overrides import (
    MAX_RULE_DELAY,
    page_place,
    place_settings,
    rate_override_of,
    remove_schedule,
    robots_crawl_delay,
    schedule_of_url,
    schedules_of,
    set_place_setting,
    set_schedule,
    site_place,
)
from evercrawl.collection.overrides import PAGE_END as PAGE_END
from evercrawl.collection.runs import live_run
from evercrawl.collection.site_list import find_site, site_changes_by_day, site_load
from evercrawl.collection.stored_pages import canonical_page_url
from evercrawl.errors import ConfigError
from evercrawl.model.listing import SiteLoad
from evercrawl.model.site import Site, TrapPattern
from evercrawl.model.table import TableColumn
from evercrawl.web.app_state import AppState
from evercrawl.web.auth import AccessScope
from evercrawl.web.charts import calendar_of_changes, histogram
from evercrawl.web.format import format_duration, link_to, plural
from evercrawl.web.pages.administration import parse_list
from evercrawl.web.route import Action, ActionResult, BadRequest, Inputs, Parameter, View
from evercrawl.web.table_page import listed_table, stored_table, table_data

WHEN = Parameter("schedule", "Such as every 10 minutes, daily at 6:30, weekdays at 9. Empty: learned.", longest=200)
ZONE = Parameter("zone", "Time zone of the times of day, such as Europe/Berlin. Default: UTC.", default="", longest=60)
KEY = Parameter("key", "Name of the setting, such as priority.", required=True, longest=60)
VALUE = Parameter("value", "Value as in the settings file; empty: as for the collection.", default="")
EXAMPLES = ("every 10 minutes", "hourly", "daily at 6:30", "weekdays at 9", "weekdays at 9, 17:30", "mondays at 8")


def schedule_part(state: AppState, place: str, url: str | None = None) -> dict[str, Any]:
    """Return the schedule and the settings of a site, or of a page (`url`), for the part of its page."""
    now, settings = state.now(), state.settings
    own = next((one for one in schedules_of(settings, now=now) if one.place == place), None)
    deciding = own if url is None else schedule_of_url(settings, url, now=now)
    run = live_run(state.path, now=now)
    return {
        "place": place,
        "own": own,
        "deciding": deciding,
        "settings": place_settings(settings, place),
        "examples": EXAMPLES,
        "is_watched": run is not None and run.forever,
    }


def schedules(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """List the schedules of sites and pages."""
    return {"schedules": [asdict(one) for one in schedules_of(state.settings, now=state.now())]}


def _site(state: AppState, inputs: Inputs) -> tuple[str, str]:
    place = site_place(state.path, inputs["name"])
    return place, link_to("/site", name=place)


def _page(state: AppState, inputs: Inputs) -> tuple[str, str]:
    url = canonical_page_url(state.collection.typed_url(inputs["url"]))
    return page_place(url), link_to("/page", url=url)


Locate = Callable[[AppState, Inputs], tuple[str, str]]
Handler = Callable[[AppState, Inputs], ActionResult]


def _set(kind: str, locate: Locate) -> Handler:
    def run(state: AppState, inputs: Inputs) -> ActionResult:
        place, location = locate(state, inputs)
        text = (inputs["schedule"] or "").strip()
        if not text:
            remove_schedule(state.path, place)
            return ActionResult("Visits follow what was learned.", location, {"place": place, "schedule": None})
        try:
            done = set_schedule(state.path, place, text, zone=inputs["zone"], now=state.now())
        except ConfigError as error:
            raise BadRequest(str(error)) from error
        return ActionResult(f"Visited {done.meaning}.", location, asdict(done))

    return _named(run, f"schedule_{kind}", f"Say when to visit a {kind}.")


def _remove(kind: str, locate: Locate) -> Handler:
    def run(state: AppState, inputs: Inputs) -> ActionResult:
        place, location = locate(state, inputs)
        if not remove_schedule(state.path, place):
            raise BadRequest("it has no schedule", 404)
        return ActionResult("Visits follow what was learned.", location)

    return _named(run, f"undo_schedule_{kind}", f"Let visits to a {kind} follow what was learned.")


def _change(kind: str, locate: Locate) -> Handler:
    def run(state: AppState, inputs: Inputs) -> ActionResult:
        place, location = locate(state, inputs)
        key, text = inputs["key"], inputs["value"].strip()
        if key == "schedule":
            raise BadRequest("set a schedule with /schedule")
        shape = next((one.meaning for one in place_settings(state.settings, place) if one.name == key), "")
        value: object = parse_list(text) if shape.startswith("a list") and text else text.strip('"')
        set_place_setting(state.path, place, key, value if text else None)
        message = f"{key} set to {text}." if text else f"{key} is as for the collection."
        return ActionResult(f"{message} The next crawl uses it.", location, {"place": place})

    return _named(run, f"set_{kind}_setting", f"Change a setting of a {kind}.")


def _named(handler: Handler, name: str, text: str) -> Handler:
    handler.__name__, handler.__doc__ = name, text
    return handler


_SITE = Parameter("name", "Origin or host of the site, such as https://example.org.", required=True)
_URL = Parameter("url", "URL of the page.", "url", required=True)
SCHEDULE_VIEW = View("", "/schedules", schedules)
SCHEDULE_ACTIONS: tuple[Action, ...] = (
    Action("PUT /sites/{name}/schedule", _set("site", _site), (_SITE, WHEN, ZONE)),
    Action("DELETE /sites/{name}/schedule", _remove("site", _site), (_SITE,), status=204),
    Action("PUT /pages/{url}/schedule", _set("page", _page), (_URL, WHEN, ZONE)),
    Action("DELETE /pages/{url}/schedule", _remove("page", _page), (_URL,), status=204),
    Action("PATCH /sites/{name}/settings", _change("site", _site), (_SITE, KEY, VALUE), scope=AccessScope.ADMIN),
    Action("PATCH /pages/{url}/settings", _change("page", _page), (_URL, KEY, VALUE), scope=AccessScope.ADMIN),
)


DELAY_EDGES = (0, 1, 2, 5, 10, 30, 60, 300)
TIME_EDGES = (0, 50, 100, 250, 500, 1000, 2000, 5000)
ROBOTS_SHOWN = 20_000
MAX_DELAY_S = int(MAX_RULE_DELAY.total_seconds())
SLIDER_END_S = 120  # Usual end of the slider; the API and the command line go further.
TRAP_COLUMNS = (
    TableColumn("pattern", "Pattern", "pattern"),
    TableColumn("site", "Site", "site"),
    TableColumn("class", "Problem", "choice"),
    TableColumn("evidence", "Evidence"),
    TableColumn("requests", "Requests", "number"),
    TableColumn("state", "State", "choice"),
)
TRAPS_WAIT_S = 1.5  # How long the page waits for the patterns, which are also computed at the start.


def sites(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """List the sites."""
    return table_data(stored_table(state, inputs, "sites", "/sites"), "sites")


def pages(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """List the pages."""
    return table_data(stored_table(state, inputs, "pages", "/pages"), "pages")


def versions(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """List the versions of all pages."""
    return table_data(stored_table(state, inputs, "versions", "/versions"), "versions")


def known_site(state: AppState, name: str) -> tuple[int, Site]:
    """Return shard and record of a site; raise BadRequest if it is unknown."""
    found = find_site(state.path, state.settings, name)
    if found is None:
        raise BadRequest(f"the collection has no site {name}", 404)
    return found


def site(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Show a site: pace, robots.txt, pages, changes."""
    shard, record = known_site(state, inputs["name"])
    days = state.cached(
        f"calendar {record.name}",
        lambda: site_changes_by_day(state.path, shard, record.id, now=state.now()),
        min_age_s=5,
    )
    return {
        **table_data(stored_table(state, inputs, "pages", "/site", fixed={"site": f"={record.name}"}), "pages"),
        "site": record._replace(robots=None),
        "robots": _robots(state, record),
        "changes_by_day": days or {},
        "slowdown": _slowdown(state, record),
        "schedule": schedule_part(state, record.name),
    }


def _slowdown(state: AppState, site: Site) -> dict[str, Any]:
    """Return the delay that you set for the site, and the range of the slider."""
    override = rate_override_of(state.settings, site.name)
    gap_s = None if override is None else override.total_seconds()
    crawl_delay_s = robots_crawl_delay(state.settings, site) or 0.0
    cap_s = state.settings.robots.max_crawl_delay.total_seconds()
    min_s = max(1, ceil(max(min_delay(state.settings).total_seconds(), min(crawl_delay_s, cap_s))))
    max_s = min(MAX_DELAY_S, max(SLIDER_END_S, 2 * min_s, ceil(2 * (gap_s or 0))))
    return {"gap_s": gap_s, "min_s": min_s, "max_s": max_s}


def slow_site(state: AppState, inputs: Inputs) -> ActionResult:
    """Set a minimum delay between requests to a site."""
    _, record = known_site(state, inputs["name"])
    done = state.collection.set_rate_override(record.name, timedelta(seconds=inputs["gap"]))
    message = f"At most one request every {format_duration(done.delay_s)}. A running crawl applies it within seconds."
    return ActionResult(message, link_to("/site", name=record.name), asdict(done))


def undo_slow_site(state: AppState, inputs: Inputs) -> ActionResult:
    """Stop slowing a site down."""
    _, record = known_site(state, inputs["name"])
    is_removed = state.collection.remove_rate_override(record.name)
    message = "The site is no longer slowed down." if is_removed else "The site was not slowed down."
    return ActionResult(message, link_to("/site", name=record.name), {"removed": is_removed})


def _robots(state: AppState, site: Site) -> dict[str, Any] | None:
    record = site.robots
    if record is None:
        return None
    return {
        "status": record.status,
        "policy": record.policy,
        "detail": record.detail,
        "fetched_us": record.fetched_us,
        "expires_us": record.expires_us,
        "crawl_delay": robots_crawl_delay(state.settings, site),
        "text": record.body[:ROBOTS_SHOWN].decode("utf-8", "replace"),
    }


def site_charts(data: dict[str, Any], today: date) -> dict[str, Any]:
    """Return the calendar of changes."""
    name = data["site"].name
    days = data["changes_by_day"]
    return {
        "changes": calendar_of_changes(
            days, today, lambda day: link_to("/change-list", at=day.isoformat(), site=f"={name}")
        )
    }


def load(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Show our load on a site."""
    shard, record = known_site(state, inputs["name"])
    found = state.cached(f"load {record.name}", lambda: site_load(state.path, shard, record), wait_s=5.0)
    if found is None:
        raise BadRequest("counting the requests to this site; try again in a moment", 503, retry_after_s=1)
    path = f"{state.base}/owner/{state.auth.signature('owner ' + record.name)}?name={record.name}"
    return {
        "load": found,
        "contact": state.settings.identity.contact,
        "product": state.settings.identity.product,
        "owner_path": path,
        "share": state.own_origin(inputs.host) + path,
    }


def load_charts(data: dict[str, Any], today: date) -> dict[str, Any]:
    """Return histograms of the time between requests and of response times."""
    found: SiteLoad = data["load"]
    times_ms = [visit.took_ms for visit in found.visits]
    return {
        "gaps": histogram("Seconds between requests", found.delays_s, DELAY_EDGES, noun="requests"),
        "times": histogram("Response time in milliseconds", times_ms, TIME_EDGES, noun="requests"),
    }


def find_traps(state: AppState, *, wait_s: float) -> list[TrapPattern] | None:
    """Return the trap patterns; None while they are being computed."""
    return state.cached("traps", lambda: state.collection.traps(), wait_s=wait_s)


def traps(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """List crawler traps with evidence; or preview a rule."""
    known = find_traps(state, wait_s=TRAPS_WAIT_S)
    found = known or []
    effect = None
    if inputs["preview"]:
        effect = state.collection.trap_exclude(inputs["preview"], inputs["preview_site"])
    rows = [asdict(one) | {"class": one.kind} for one in found]
    return {
        **table_data(listed_table(state, inputs, rows, TRAP_COLUMNS, "/traps"), "traps"),
        "traps_total": len(found),
        "is_loading": known is None,
        "preview": inputs["preview"],
        "preview_site": inputs["preview_site"],
        "effect": effect,
    }


def set_trap_rule(state: AppState, inputs: Inputs) -> ActionResult:
    """Exclude or allow a URL pattern, even in a running crawl."""
    pattern, site = inputs["pattern"], inputs["site"]
    if inputs["action"] == "exclude":
        effect = state.collection.trap_exclude(pattern, site, apply=True)
        message = f"{pattern} excluded: {plural(effect.queued, 'queued page')}."
    else:
        effect = state.collection.trap_allow(pattern, site, apply=True)
        message = f"{pattern} allowed."
    state.invalidate("traps")
    return ActionResult(message, "/traps", {"effect": effect})


def undo_trap(state: AppState, inputs: Inputs) -> ActionResult:
    """Remove your rule for a URL pattern."""
    is_removed = state.collection.trap_undo(inputs["pattern"], inputs["site"])
    state.invalidate("traps")
    if not is_removed:
        raise BadRequest("there is no such rule", 404)
    return ActionResult("Rule removed.", "/traps")
