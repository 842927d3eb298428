"""Schedules and settings of a site or a page, as parts of their pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from evercrawl.collection.overrides import PAGE_END as PAGE_END
from evercrawl.collection.overrides import (
    page_place,
    place_settings,
    remove_schedule,
    schedule_of_url,
    schedules_of,
    set_place_setting,
    set_schedule,
    site_place,
)
from evercrawl.collection.runs import live_run
from evercrawl.collection.stored_pages import canonical_page_url
from evercrawl.errors import ConfigError
from evercrawl.web.app_state import AppState
from evercrawl.web.auth import AccessScope
from evercrawl.web.format import link_to
from evercrawl.web.pages.administration import parse_list
from evercrawl.web.route import Action, ActionResult, BadRequest, Inputs, Parameter, View

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
    """Return all schedules."""
    return {"schedules": [asdict(one) for one in schedules_of(state.settings, now=state.now())]}


def _site(state: AppState, inputs: Inputs) -> tuple[str, str]:
    place = site_place(state.path, inputs["name"])
    return place, link_to("/site", name=place)


def _page(state: AppState, inputs: Inputs) -> tuple[str, str]:
    url = canonical_page_url(state.collection.typed_url(inputs["url"]))
    return page_place(url), link_to("/page", url=url)


Locate = Callable[[AppState, Inputs], tuple[str, str]]


def _set(locate: Locate) -> Callable[[AppState, Inputs], ActionResult]:
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

    return run


def _remove(locate: Locate) -> Callable[[AppState, Inputs], ActionResult]:
    def run(state: AppState, inputs: Inputs) -> ActionResult:
        place, location = locate(state, inputs)
        if not remove_schedule(state.path, place):
            raise BadRequest("it has no schedule", 404)
        return ActionResult("Visits follow what was learned.", location)

    return run


def _change(locate: Locate) -> Callable[[AppState, Inputs], ActionResult]:
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

    return run


_SITE = Parameter("name", "Origin or host of the site, such as https://example.org.", required=True)
_URL = Parameter("url", "URL of the page.", "url", required=True)
SCHEDULE_VIEW = View("schedules", "", "/schedules", "List the schedules of sites and pages.", schedules)
SCHEDULE_ACTIONS: tuple[Action, ...] = (
    Action(
        "schedule-site", "PUT /sites/{name}/schedule", "Say when to visit a site.", _set(_site), (_SITE, WHEN, ZONE)
    ),
    Action(
        "undo-schedule-site", "DELETE /sites/{name}/schedule", "Let visits to a site follow what was learned.",
        _remove(_site), (_SITE,), status=204,
    ),
    Action("schedule-page", "PUT /pages/{url}/schedule", "Say when to visit a page.", _set(_page), (_URL, WHEN, ZONE)),
    Action(
        "undo-schedule-page", "DELETE /pages/{url}/schedule", "Let visits to a page follow what was learned.",
        _remove(_page), (_URL,), status=204,
    ),
    Action(
        "set-site-setting", "PATCH /sites/{name}/settings", "Change a setting of a site.", _change(_site),
        (_SITE, KEY, VALUE), scope=AccessScope.ADMIN,
    ),
    Action(
        "set-page-setting", "PATCH /pages/{url}/settings", "Change a setting of a page.", _change(_page),
        (_URL, KEY, VALUE), scope=AccessScope.ADMIN,
    ),
)  # fmt: skip
