"""Sites: the list, one of them, and what its owner may see of our load."""

from __future__ import annotations

from dataclasses import asdict
from datetime import date, timedelta
from math import ceil
from typing import Any

from evercrawl.cluster.crawl_builder import pace_for
from evercrawl.collection.site_list import find_site, list_site_pages, list_sites, site_changes_by_day, site_load
from evercrawl.core.politeness import MAX_RULE_DELAY, parse_delay_rules
from evercrawl.core.robots.robots_txt import parse_robots
from evercrawl.model.listing import SiteLoad
from evercrawl.model.site import Site, TrapPattern
from evercrawl.web.app_state import AppState
from evercrawl.web.charts import calendar, histogram
from evercrawl.web.format import format_duration, link_to
from evercrawl.web.route import ActionResult, BadRequest, Inputs

GAP_EDGES = (0, 1, 2, 5, 10, 30, 60, 300)
TIME_EDGES = (0, 50, 100, 250, 500, 1000, 2000, 5000)
VISITS_SHOWN = 100
ROBOTS_SHOWN = 20_000
MOST_GAP_S = int(MAX_RULE_DELAY.total_seconds())
SLIDER_END_S = 120
"""The slider reaches so far, or to twice what is in force; the API and the command line go further."""


def sites(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """A portion of the sites."""
    portion = list_sites(state.path, after=inputs["after"], most=inputs["limit"])
    return {"sites": portion.rows, "next": portion.next}


def known_site(state: AppState, name: str) -> tuple[int, Site]:
    """Shard and record of a site; BadRequest where the collection does not know it."""
    found = find_site(state.path, state.settings, name)
    if found is None:
        raise BadRequest(f"the collection does not know the site {name}", 404)
    return found


def site(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """A site: pace, robots.txt, its pages, its changes day by day."""
    shard, record = known_site(state, inputs["name"])
    portion = list_site_pages(state.path, shard, record, after=inputs["after"], most=inputs["limit"])
    days = state.cached(
        f"calendar {record.name}", lambda: site_changes_by_day(state.path, shard, record.id, now=state.now()), min_age_s=5
    )
    return {
        "site": record._replace(robots=None),
        "robots": _robots(state, record),
        "pages": portion.rows,
        "next": portion.next,
        "changes_by_day": days or {},
        "slowing": _slowing(state, record),
    }


def _slowing(state: AppState, site: Site) -> dict[str, Any]:
    """What the operator said about the pace, and from where to where it can be slowed by hand."""
    said = parse_delay_rules(state.settings.pace.overrides).get(site.name)
    said_s = None if said is None else said.total_seconds()
    delay = (_robots(state, site) or {}).get("crawl_delay") or 0.0
    cap_s = state.settings.robots.max_crawl_delay.total_seconds()
    least_s = max(1, ceil(max(pace_for(state.settings).floor.total_seconds(), min(delay, cap_s))))
    most_s = min(MOST_GAP_S, max(SLIDER_END_S, 2 * least_s, ceil(2 * (said_s or 0))))
    return {"gap_s": said_s, "least_s": least_s, "most_s": most_s}


def slow_site(state: AppState, inputs: Inputs) -> ActionResult:
    """A site is inputs more slowly from now on, also by a crawl that runs."""
    _, record = known_site(state, inputs["name"])
    done = state.collection.set_rate_override(record.name, timedelta(seconds=inputs["gap"]))
    words = (
        f"at most one request in {format_duration(done.gap_s)} from now on; a crawl that runs hears it within seconds"
    )
    return ActionResult(words, link_to("/site", name=record.name), asdict(done))


def undo_slow_site(state: AppState, inputs: Inputs) -> ActionResult:
    """The site has the pace of all others again."""
    _, record = known_site(state, inputs["name"])
    was_there = state.collection.remove_rate_override(record.name)
    words = "the pace is as it was before" if was_there else "the site was not slowed down"
    return ActionResult(words, link_to("/site", name=record.name), {"was_there": was_there})


def _robots(state: AppState, site: Site) -> dict[str, Any] | None:
    record = site.robots
    if record is None:
        return None
    rules = parse_robots(record.body, agent=state.settings.identity.product)
    return {
        "status": record.status,
        "policy": record.policy,
        "detail": record.detail,
        "fetched_us": record.fetched_us,
        "expires_us": record.expires_us,
        "crawl_delay": rules.min_delay,
        "text": record.body[:ROBOTS_SHOWN].decode("utf-8", "replace"),
    }


def site_charts(data: dict[str, Any], today: date) -> dict[str, Any]:
    """When its pages changed."""
    return {"changes": calendar("Changes of its pages, day by day", data["changes_by_day"], last=today)}


def load(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """What a site had to bear from us."""
    shard, record = known_site(state, inputs["name"])
    found = state.cached(f"load {record.name}", lambda: site_load(state.path, shard, record), wait_s=5.0)
    if found is None:
        raise BadRequest("the load of this site is still being counted; this page shows it in a moment", 503, retry_after_s=1)
    return {
        "load": found,
        "contact": state.settings.identity.contact,
        "product": state.settings.identity.product,
        "owner_path": f"/owner/{state.auth.signature('owner ' + record.name)}?name={record.name}",
    }


def load_charts(data: dict[str, Any], today: date) -> dict[str, Any]:
    """How far apart our requests were, and how long the site took to answer."""
    found: SiteLoad = data["load"]
    return {
        "gaps": histogram("Seconds between two requests", found.gaps_s, GAP_EDGES, word="requests"),
        "times": histogram(
            "Milliseconds that the site took to answer",
            [visit.took_ms for visit in found.visits],
            TIME_EDGES,
            word="requests",
        ),
    }


PATTERNS_SHOWN = 500
TRAPS_WAIT_S = 1.5
"""How long the page waits for patterns to be gathered; they are gathered before anybody asks, too."""


def find_traps(state: AppState, *, wait_s: float) -> list[TrapPattern] | None:
    """The patterns; None: they are still being gathered."""
    return state.cached("traps", lambda: state.collection.traps(), wait_s=wait_s)


def traps(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """What is left out or inputs for last; with a pattern, what a rule about it would touch."""
    known = find_traps(state, wait_s=TRAPS_WAIT_S)
    found = known or []
    effect = None
    if inputs["pattern"]:
        effect = state.collection.trap_exclude(inputs["pattern"], inputs["site"])
    return {
        "traps": found[:PATTERNS_SHOWN],
        "traps_in_all": len(found),
        "is_counting": known is None,
        "pattern": inputs["pattern"],
        "site": inputs["site"],
        "effect": effect,
    }


def exclude_trap(state: AppState, inputs: Inputs) -> ActionResult:
    """Leave a pattern out from now on, also in a crawl that runs."""
    effect = state.collection.trap_exclude(inputs["pattern"], inputs["site"], apply=True)
    state.invalidate("traps")
    return ActionResult(
        f"{inputs['pattern']} is left out: {effect.waiting:,} waiting pages", "/traps", {"effect": effect}
    )


def allow_trap(state: AppState, inputs: Inputs) -> ActionResult:
    """Say nothing against a pattern from now on."""
    effect = state.collection.trap_allow(inputs["pattern"], inputs["site"], apply=True)
    state.invalidate("traps")
    return ActionResult(f"{inputs['pattern']} is allowed", "/traps", {"effect": effect})


def undo_trap(state: AppState, inputs: Inputs) -> ActionResult:
    """Take back every word about a pattern."""
    was_there = state.collection.trap_undo(inputs["pattern"], inputs["site"])
    state.invalidate("traps")
    return ActionResult("taken back" if was_there else "there was no word about it", "/traps", {"was_there": was_there})
