"""The pages `link-problems`, `orphans`, `graph`, `plan` and `sitemap-check`: what could be better on the sites."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import date
from itertools import islice
from typing import Any, TypeVar

from starlette.responses import Response

from evercrawl.collection.sitemap import WEIGHTS, SitemapReport, SitemapSurvey, check_with_collection, survey_sitemap
from evercrawl.collection.urls import require_public_url
from evercrawl.errors import ConfigError
from evercrawl.model.sanitize import safe_line
from evercrawl.model.table import TableColumn
from evercrawl.web.app_state import AppState
from evercrawl.web.charts import Bar, linked_bars
from evercrawl.web.format import link_to, plural
from evercrawl.web.jobs import Job, TaskResult
from evercrawl.web.route import ActionResult, BadRequest, Inputs, Parameter, resource_path
from evercrawl.web.table_page import listed_table, table_data

T = TypeVar("T")
MAX_LISTED = 50_000  # Links or orphan pages that are kept for the tables.
WAIT_S = 3.0  # How long a page waits for a report that reads the whole collection.
TOP_SHOWN = 15
SCORES = {"ranks": "PageRank", "hubs": "Hubs", "authorities": "Authorities"}
SITEMAP_SAMPLE = 20  # Pages that a check of a sitemap fetches.
LINK_COLUMNS = (
    TableColumn("target", "Link to", "page"),
    TableColumn("problem", "Problem", "choice"),
    TableColumn("url", "On page", "page"),
    TableColumn("text", "Text of the link"),
    TableColumn("status", "Status", "number"),
    TableColumn("leads_to", "Leads to", "page"),
)
ORPHAN_COLUMNS = (TableColumn("url", "Page", "page"),)
PLAN_PARAMETERS = (Parameter("budget", "Requests: 1000/day, 50/hour. Default: that of the settings."),)
GRAPH_PARAMETERS = (
    Parameter("site", "Only this host or origin."),
    Parameter("scores", "Order of the top pages.", "choice", default="ranks", choices=tuple(SCORES)),
)


def _report(state: AppState, name: str, compute: Callable[[], T]) -> T:
    """Return a report that reads the whole collection, cached; raise BadRequest while it is being computed."""
    found = state.cached(name, compute, min_age_s=30, wait_s=WAIT_S)
    if found is None:
        raise BadRequest("reading the whole collection; the report will appear in a moment", 503, retry_after_s=2)
    return found


def link_problems(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """List dead links and redirects."""
    found = _report(state, "bad links", lambda: list(islice(state.collection.bad_links(), MAX_LISTED)))
    rows = [
        {
            "target": one.target,
            "problem": one.problem.value,
            "url": one.url,
            "text": one.text,
            "status": one.status,
            "leads_to": one.chain[-1] if one.chain else None,
        }
        for one in found
    ]
    counts: dict[str, int] = {}
    for one in found:
        counts[one.problem.value] = counts.get(one.problem.value, 0) + 1
    table = listed_table(state, inputs, rows, LINK_COLUMNS, "/link-problems")
    return {"counts": counts, "is_cut": len(found) == MAX_LISTED, **table_data(table, "links")}


def orphans(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """List pages that no page links to."""
    found = _report(state, "orphans", lambda: state.collection.orphans(MAX_LISTED))
    graph = _report(state, "graph", lambda: state.collection.graph()) if len(found) == MAX_LISTED else None
    table = listed_table(state, inputs, [{"url": url} for url in found], ORPHAN_COLUMNS, "/orphans")
    return {"total": graph.orphans if graph else len(found), "listed": len(found), **table_data(table, "pages")}


def graph(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Show the link graph and its top pages."""
    scores = inputs["scores"]
    return {
        "graph": _report(state, "graph", lambda: state.collection.graph()),
        "top": _report(state, f"top {scores}", lambda: state.collection.top_pages(scores, TOP_SHOWN)),
        "scores": scores,
        "orders": SCORES,
        "site": inputs["site"],
    }


def graph_charts(data: dict[str, Any], today: date) -> dict[str, Any]:
    """Return the pages by their distance from a start URL, each a link to these pages."""
    bars = [
        Bar(str(depth), count, link_to("/pages", depth=str(depth)))
        for depth, count in enumerate(data["graph"].by_depth)
    ]
    return {"depths": linked_bars("Pages by clicks from a start URL", bars, "pages") if bars else None}


def graph_picture(state: AppState, inputs: Inputs) -> Response:
    """Return the structure of the collection or of a site as SVG."""
    site = inputs["site"] or None
    try:
        svg = _report(state, f"graph picture {site}", lambda: state.collection.draw_graph(site))
    except ConfigError as error:
        raise BadRequest(str(error).partition(";")[0], 404) from error
    return Response(svg, media_type="image/svg+xml")


def plan(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Estimate the freshness that a budget of requests buys."""
    budget = (inputs["budget"] or "").strip() or None
    shown: dict[str, Any] = {"budget": budget, "plan": None, "problem": None}
    try:
        found = _report(state, f"plan {budget}", lambda: state.collection.plan(budget))
    except ConfigError as error:
        return shown | {"problem": str(error)}
    return shown | {"plan": found}


def sitemap_check(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """List checks of sitemaps."""
    found = [job.fields() for job in state.jobs.all(inputs.user.scope) if job.kind == "sitemap-check"]
    return {"jobs": found[:5], "site": inputs["site"]}


def start_sitemap_check(state: AppState, inputs: Inputs) -> ActionResult:
    """Check the sitemaps of a site against its pages and their history."""
    url = require_public_url(state.settings, state.collection.typed_url(inputs["url"]))
    if state.test_limit.wait_s("sitemap"):
        raise BadRequest("too many checks; wait a minute", 429)

    def run(job: Job) -> TaskResult:
        def show(url: str) -> None:
            job.progress = f"Reading {safe_line(url, longest=120)}"

        survey = asyncio.run(survey_sitemap(url, state.settings, sample=SITEMAP_SAMPLE, offline=False, on_request=show))
        if survey.unavailable is not None and not survey.entries:
            raise ConfigError(f"{survey.site}: {survey.unavailable.detail}")
        return _sitemap_result(survey, check_with_collection(survey, state.path, state.settings))

    job = state.jobs.start("sitemap-check", f"Check the sitemap of {url}", run, who=inputs.user.name)
    state.jobs.wait(job, 1.0)
    resource = resource_path("/jobs/{id}", id=job.id)
    return ActionResult("", "/sitemap-check", {"job": job.id, "state": job.state}, resource)


def _sitemap_result(survey: SitemapSurvey, report: SitemapReport) -> TaskResult:
    about = f"{plural(report.files, 'file')}, {report.entries:,} entries, {plural(report.sampled, 'page')} checked"
    findings = [
        {
            "text": WEIGHTS[one.issue].description,
            "count": one.count,
            "of": one.of,
            "cost": round(one.cost, 1),
            "examples": [{"url": example.url, "detail": example.detail} for example in one.examples],
        }
        for one in report.findings
    ]
    data = {"site": survey.site, "score": report.score, "findings": findings}
    return TaskResult(f"{survey.site}: score {report.score} of 100 ({about}).", data)
