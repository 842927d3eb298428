"""The pages `fields` and `pick`: values of pages over time, and pointing at a part of a page."""

from __future__ import annotations

from datetime import date
from itertools import islice
from typing import Any

from evercrawl.collection.field_values import pick_part
from evercrawl.collection.stored_pages import canonical_page_url
from evercrawl.errors import ConfigError
from evercrawl.model.fields import FieldReading, FieldRule, FieldType
from evercrawl.web.app_state import AppState
from evercrawl.web.charts import line_chart
from evercrawl.web.format import link_to
from evercrawl.web.pages.history import replay_key
from evercrawl.web.route import URL_PARAMETER, Action, ActionResult, BadRequest, Inputs, Parameter, View

ROWS_SHOWN = 200
POINTS_SHOWN = 500
NAME = Parameter("name", "Name of the field.", required=True, longest=64)
FIELD = Parameter("name", "Show this field over time.", longest=64)
PAGE = Parameter("url", "Of this page. Default: the first that has the field.", "url")
PATTERN = Parameter("pages", "Only pages whose URL matches, with * for anything.")
AT = Parameter("at", "Version: v3, -1, or a time. Default: the newest.")
PLACE = Parameter("place", "Number of the part that was clicked.", "integer")


def fields(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """List fields with their values, and those that were lost."""
    collection = state.collection
    rules = collection.fields()
    rows = list(islice(collection.field_values(pattern=inputs["pages"]), ROWS_SHOWN)) if rules else []
    lost = (
        [one.repair._asdict() | {"checked": one.checked} for one in collection.field_repairs(all_pages=False)]
        if rules
        else []
    )
    return {
        "fields": [
            {"name": rule.name, "type": rule.type, "select": rule.select, "pages": rule.pages} for rule in rules
        ],
        "rows": [
            {"url": row.url, "values": {rule.name: _shown(row.readings.get(rule.name)) for rule in rules}}
            for row in rows
        ],
        "lost": lost,
        "pattern": inputs["pages"],
        "history": _history(state, inputs["name"], inputs["url"]) if inputs["name"] else [],
    }


def _shown(reading: FieldReading | None) -> str | None:
    if reading is None or reading.value is None:
        return None
    if isinstance(reading.value, tuple):
        return ", ".join(reading.value)
    return f"{reading.value} {reading.unit or ''}".strip()


def _history(state: AppState, name: str, url: str | None) -> list[dict[str, Any]]:
    """Return the values of a field in all versions of a page."""
    found = []
    for row in state.collection.field_values([name], all_versions=True, pattern=url):
        url = url or row.url
        if row.url == url:
            reading = row.readings[name]
            found.append({"url": url, "seen_at": row.seen_at, "value": reading.value, "shown": _shown(reading)})
    return found[-POINTS_SHOWN:]


def field_charts(data: dict[str, Any], today: date) -> dict[str, Any]:
    """Return the chart of a number over time."""
    points = [
        (one["seen_at"], float(one["value"]), one["shown"])
        for one in data["history"]
        if isinstance(one["value"], int | float)
    ]
    return {"history": line_chart(f"Values of {data['history'][0]['url']}", points) if points else None}


def pick(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Point at a part of a page: selectors for it, checked on other versions."""
    found = state.collection.show(canonical_page_url(state.collection.typed_url(inputs["url"])), inputs["at"] or "v0")
    place = inputs["place"]
    at = f"v{found.version}"
    part = None
    if place is not None:
        try:
            part = pick_part(state.path, state.settings, found.url, at, place)
        except ConfigError as error:
            raise BadRequest(str(error)) from error
    replay = f"{state.replay_origin(inputs.host)}/p/{replay_key(state)}/web/{found.fetched_at:%Y%m%d%H%M%S}/{found.url}"
    return {
        "url": found.url,
        "at": at,
        "replay": replay,
        "place": place,
        "part": None if part is None else part._asdict() | {"selectors": [one._asdict() for one in part.selectors]},
        "types": [one.value for one in FieldType],
    }


def add_field(state: AppState, inputs: Inputs) -> ActionResult:
    """Add a field."""
    rule = FieldRule(
        inputs["name"], (inputs["pages"],), inputs["select"], FieldType(inputs["type"]), only=inputs["only"]
    )
    try:
        state.collection.add_field(rule)
    except ConfigError as error:
        raise BadRequest(str(error)) from error
    return ActionResult(f"Field {rule.name} added.", link_to("/fields", name=rule.name), {"name": rule.name})


def remove_field(state: AppState, inputs: Inputs) -> ActionResult:
    """Remove a field."""
    try:
        state.collection.remove_field(inputs["name"])
    except ConfigError as error:
        raise BadRequest(str(error), 404) from error
    return ActionResult("Field removed.", "/fields")


def repair_field(state: AppState, inputs: Inputs) -> ActionResult:
    """Use the proposed selector of a lost field, or reject it."""
    try:
        repair = state.collection.decide_field_repair(inputs["name"], accept=inputs["accept"])
    except ConfigError as error:
        raise BadRequest(str(error), 404) from error
    words = "is now read by" if inputs["accept"] else "is not read by"
    return ActionResult(f"{repair.name} {words} {repair.select}.", "/fields", {"select": repair.select})


FIELD_VIEWS = (
    View("/fields", "/fields", fields, (FIELD, PAGE, PATTERN), title="Fields", group="Advanced"),
    View("/pick", "/pages/{url}/parts", pick, (URL_PARAMETER, AT, PLACE)),
)
FIELD_ACTIONS = (
    Action(
        "POST /fields",
        add_field,
        (
            NAME,
            Parameter("select", "Selector, such as css:.price.", required=True),
            Parameter("pages", "URL or pattern with *.", required=True),
            Parameter(
                "type",
                "How the value is read.",
                "choice",
                default="text",
                choices=tuple(one.value for one in FieldType),
            ),
            Parameter("only", "Of its pages, report changes of such fields only.", "bool", default=False),
        ),
        status=201,
    ),
    Action("DELETE /fields/{name}", remove_field, (NAME,), status=204),
    Action(
        "POST /fields/{name}/repairs",
        repair_field,
        (NAME, Parameter("accept", "Use it; otherwise it is rejected.", "bool", default=True)),
    ),
)
