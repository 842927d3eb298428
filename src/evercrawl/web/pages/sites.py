"""Sites: the list, one of them, and what its owner may see of our load."""

from __future__ import annotations

from datetime import date
from typing import Any

from evercrawl.browse.activity import site_changes_by_day
from evercrawl.browse.load import load_of
from evercrawl.browse.sites import pages_of_site, site_record, sites_listed
from evercrawl.core.robots import parse_robots
from evercrawl.model.listing import SiteLoad
from evercrawl.model.site import Site
from evercrawl.web.chart import calendar, histogram
from evercrawl.web.desk import Desk
from evercrawl.web.parameter import BadRequest
from evercrawl.web.route import Asked

GAP_EDGES = (0, 1, 2, 5, 10, 30, 60, 300)
TIME_EDGES = (0, 50, 100, 250, 500, 1000, 2000, 5000)
VISITS_SHOWN = 100
ROBOTS_SHOWN = 20_000


def sites(desk: Desk, asked: Asked) -> dict[str, Any]:
    """A portion of the sites."""
    portion = sites_listed(desk.path, after=asked["after"], most=asked["limit"])
    return {"sites": portion.rows, "next": portion.next}


def known_site(desk: Desk, name: str) -> tuple[int, Site]:
    """Shard and record of a site; BadRequest where the collection does not know it."""
    found = site_record(desk.path, desk.settings, name)
    if found is None:
        raise BadRequest(f"the collection does not know the site {name}", 404)
    return found


def site(desk: Desk, asked: Asked) -> dict[str, Any]:
    """A site: pace, robots.txt, its pages, its changes day by day."""
    shard, record = known_site(desk, asked["name"])
    portion = pages_of_site(desk.path, shard, record, after=asked["after"], most=asked["limit"])
    days = desk.remembered(
        f"calendar {record.name}",
        lambda: site_changes_by_day(desk.path, shard, record.id, now=desk.now()),
        least_s=5,
    )
    return {
        "site": record._replace(robots=None),
        "robots": _robots(desk, record),
        "pages": portion.rows,
        "next": portion.next,
        "changes_by_day": days or {},
    }


def _robots(desk: Desk, site: Site) -> dict[str, Any] | None:
    record = site.robots
    if record is None:
        return None
    rules = parse_robots(record.body, agent=desk.settings.identity.product)
    return {
        "status": record.status,
        "stance": record.stance,
        "detail": record.detail,
        "fetched_us": record.fetched_us,
        "expires_us": record.expires_us,
        "crawl_delay": rules.gap,
        "text": record.body[:ROBOTS_SHOWN].decode("utf-8", "replace"),
    }


def site_charts(data: dict[str, Any], today: date) -> dict[str, Any]:
    """When its pages changed."""
    return {"changes": calendar("Changes of its pages, day by day", data["changes_by_day"], last=today)}


def load(desk: Desk, asked: Asked) -> dict[str, Any]:
    """What a site had to bear from us."""
    shard, record = known_site(desk, asked["name"])
    found = desk.remembered(f"load {record.name}", lambda: load_of(desk.path, shard, record), wait_s=5.0)
    if found is None:
        raise BadRequest(
            "the load of this site is still being counted; this page shows it in a moment", 503, again_s=1
        )
    return {
        "load": found,
        "contact": desk.settings.identity.contact,
        "product": desk.settings.identity.product,
        "owner_path": f"/owner/{desk.keyring.signature('owner ' + record.name)}?name={record.name}",
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
