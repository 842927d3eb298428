"""The log of visits in the form of crawl.log, streamed: of all sites, or of one, also for its owner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from starlette.responses import Response, StreamingResponse

from evercrawl.collection.visit_log import heritrix_line, iterate_visits
from evercrawl.model.listing import VisitLogRow
from evercrawl.web.desk import Desk
from evercrawl.web.pages.sites import known_site
from evercrawl.web.parameter import Parameter
from evercrawl.web.route import Asked

LINES_AT_A_TIME = 200
"""Lines that go out together."""
PORTION = (
    Parameter("since", "From when on: 7d, 2026-11-01. To go on: the moment of the last line.", "moment"),
    Parameter("until", "Up to when.", "moment"),
    Parameter("limit", "End after so many lines.", "whole", default=1_000_000, least=1, most=10_000_000),
)
PARAMETERS = (Parameter("site", "Only of this site."), *PORTION)


def crawl_log(desk: Desk, asked: Asked) -> Response:
    """The lines that were asked for, as a file."""
    return log_file(desk, asked.values)


def log_file(desk: Desk, values: Mapping[str, Any], *, for_owner: bool = False) -> Response:
    """The log as a download; owners of a site do not learn which pages of others lead to theirs."""
    site = values["site"] and known_site(desk, values["site"])[1].name
    visits = iterate_visits(desk.path, desk.settings, site=site, since=values["since"], until=values["until"])
    lines = _lines(desk, islice(visits, values["limit"]), site if for_owner else None)
    headers = {"Content-Disposition": 'attachment; filename="crawl.log"', "X-Accel-Buffering": "no"}
    return StreamingResponse(lines, media_type="text/plain", headers=headers)


def _lines(desk: Desk, visits: Iterator[VisitLogRow], only_site: str | None) -> Iterator[bytes]:
    while not desk.is_stopping and (some := list(islice(visits, LINES_AT_A_TIME))):
        yield "".join(_line(visit, only_site) for visit in some).encode()


def _line(visit: VisitLogRow, only_site: str | None) -> str:
    is_told = only_site is None or (visit.parent or "").startswith(f"{only_site}/")
    return heritrix_line(visit, with_parent=is_told) + "\n"
