"""The interface as an application: routes from the tables, behind the guard."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib.resources import files
from urllib.parse import urlencode

import orjson
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from evercrawl.web.access import Access, OneTimeLink
from evercrawl.web.answer import (
    Endpoint,
    action_endpoint,
    admitted,
    answered,
    failed,
    read_values,
    view_endpoint,
    wants_json,
)
from evercrawl.web.desk import Desk
from evercrawl.web.draw import draw
from evercrawl.web.guard import AllowedOrigins, AccessMiddleware
from evercrawl.web.auth import ANONYMOUS, AccessScope
from evercrawl.web.openapi import API_DESCRIPTION, description, scopes
from evercrawl.web.pages.alerts import alert_feed
from evercrawl.web.pages.past import replay_key
from evercrawl.web.pages.sites import load, load_charts
from evercrawl.web.parameter import BadRequest, Parameter
from evercrawl.web.plain import json_bytes
from evercrawl.web.route import Asked
from evercrawl.web.standard.archived_url import STAMP, behind
from evercrawl.web.standard.atom import atom, search_atom
from evercrawl.web.standard.cdx import cdx
from evercrawl.web.standard.crawl_log import PORTION as LOG_PORTION
from evercrawl.web.standard.crawl_log import crawl_log, log_file
from evercrawl.web.standard.events import Events, Pulse
from evercrawl.web.standard.indexnow import IndexNow
from evercrawl.web.standard.memento import Places, time_gate, time_map
from evercrawl.web.standard.metrics import healthz, metrics, readyz
from evercrawl.web.standard.table import STANDARDS, Standard
from evercrawl.web.standard.websub import HubCalls
from evercrawl.web.table import ACTIONS, VIEWS

STATIC = {"style.css": "text/css", "page.js": "text/javascript", "icon.svg": "image/svg+xml"}
_NAME = Parameter("name", "The site.", required=True)


@dataclass(frozen=True, slots=True)
class Openness:
    """What is open to whom."""

    token: str | None = None
    """A token that this process was given, with every scope."""
    public_archive: bool = False
    """Memento and CDX may be asked by anybody."""


def interface(desk: Desk, doors: AllowedOrigins, link: OneTimeLink, openness: Openness) -> ASGIApp:
    """The application of the interface's origin."""
    access = Access(desk, doors, link)
    pulse = Pulse(desk)
    routes = [
        Route("/login", access.login, methods=["GET", "POST"]),
        Route("/first", access.first),
        Route("/logout", access.logout, methods=["POST"]),
        Route("/static/{name}", static),
        Route("/favicon.ico", icon),
        Route("/owner/{signature}", owner_endpoint(desk, _owner)),
        Route("/owner/{signature}/crawl.log", owner_endpoint(desk, _owner_log)),
        Route("/live/stream", guarded(desk, pulse.__call__)),
        Route(API_DESCRIPTION, guarded(desk, _described)),
        Route("/api", guarded(desk, _api_page(desk))),
        *(Route(path, view_endpoint(desk, view)) for view in VIEWS for path in (view.path, view.twin, view.api_path)),
        *(
            Route(path, action_endpoint(desk, action), methods=["POST"])
            for action in ACTIONS
            for path in (action.path, action.api_path)
        ),
        *_standard_routes(desk, openness),
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _missing(desk)})
    return AccessMiddleware(app, doors=doors, keyring=desk.keyring, given_token=openness.token)


async def static(request: Request) -> Response:
    """Our own few files."""
    name = request.path_params["name"]
    if name not in STATIC:
        raise HTTPException(404)
    body = files("evercrawl.web").joinpath("static", name).read_bytes()
    return Response(body, media_type=STATIC[name], headers={"Cache-Control": "max-age=300"})


async def icon(request: Request) -> Response:
    """Browsers ask for it unasked."""
    return RedirectResponse("/static/icon.svg", 308)


def guarded(desk: Desk, call: Callable[[Request], Awaitable[Response]], scope: AccessScope = AccessScope.READ) -> Endpoint:
    """For whoever may read."""

    async def endpoint(request: Request) -> Response:
        return admitted(request, desk, scope) or await answered(request, desk, lambda: call(request))

    return endpoint


async def _described(request: Request) -> Response:
    return Response(orjson.dumps(description()), media_type="application/json")


def _api_page(desk: Desk) -> Callable[[Request], Awaitable[Response]]:
    async def page(request: Request) -> Response:
        data = {"paths": description()["paths"], "scopes": scopes(), "description": API_DESCRIPTION}
        return Response(draw("api", data, request=request, desk=desk), media_type="text/html")

    return page


def _missing(desk: Desk) -> Callable[[Request, Exception], Response]:
    def answer(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        words = {404: "there is no such page", 405: "this cannot be done here"}
        found = failed(request, status, words.get(status, "this did not work"), desk)
        if isinstance(error, HTTPException) and error.headers:
            found.headers.update(error.headers)
        return found

    return answer


def owner_endpoint(desk: Desk, show: Callable[[Request, Desk], Awaitable[Response]]) -> Endpoint:
    """For a site's owner: who has the signed link may see this one site and nothing else."""

    async def endpoint(request: Request) -> Response:
        return await answered(request, desk, lambda: show(request, desk))

    return endpoint


def _owned(request: Request, desk: Desk) -> tuple[str, str]:
    """The site that the link was signed for, and the signature."""
    name = _NAME.value(request.query_params.get("name"), now=desk.now())
    signature = request.path_params["signature"].removesuffix(".json")
    if not desk.keyring.is_signed(f"owner {name}", signature):
        raise BadRequest("this link is not valid", 403)
    return name, signature


async def _owner_log(request: Request, desk: Desk) -> Response:
    name, _ = _owned(request, desk)
    values = read_values((_NAME, *LOG_PORTION), request.query_params, now=desk.now()) | {"site": name}
    return await run_in_threadpool(log_file, desk, values, for_owner=True)


async def _owner(request: Request, desk: Desk) -> Response:
    name, signature = _owned(request, desk)
    asked = Asked({"name": name}, ANONYMOUS, request.headers.get("host", ""))
    data = await run_in_threadpool(load, desk, asked)
    if wants_json(request):
        return Response(json_bytes("load", data), media_type="application/json")
    shown = {
        **data,
        "charts": load_charts(data, desk.now().date()),
        "asked": asked.values,
        "for_owner": True,
        "log_path": f"/owner/{signature}/crawl.log?{urlencode({'name': name})}",
        "twin": f"/owner/{signature}.json?{request.url.query}",
    }
    return Response(draw("load", shown, request=request, desk=desk), media_type="text/html")


def _standard_routes(desk: Desk, openness: Openness) -> list[Route]:
    routes = []
    calls = _standard_calls(desk)
    for standard in STANDARDS:
        is_open = standard.scope is None or (standard.is_archive and openness.public_archive)
        endpoint = _standard_endpoint(desk, standard, calls[standard.name], is_open=is_open)
        routes.append(Route(standard.path, endpoint, methods=list(standard.methods)))
    return routes


Call = Callable[[Request], Awaitable[Response]]


def _standard_endpoint(desk: Desk, standard: Standard, call: Call, *, is_open: bool) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        refused = None if is_open else admitted(request, desk, standard.scope or AccessScope.READ)
        return refused or await answered(request, desk, lambda: call(request))

    return endpoint


def _standard_calls(desk: Desk) -> dict[str, Call]:
    events = Events(desk)
    by_name = {standard.name: standard for standard in STANDARDS}

    def collected(name: str, function: Callable[[Desk, Asked], Response]) -> Call:
        async def call(request: Request) -> Response:
            values = read_values(by_name[name].parameters, request.query_params, now=desk.now())
            visitor = request.state.visitor or ANONYMOUS
            return await run_in_threadpool(function, desk, Asked(values, visitor, request.headers.get("host", "")))

        return call

    async def streamed(request: Request) -> Response:
        return await events(request, read_values(by_name["events"].parameters, request.query_params, now=desk.now()))

    return {
        "events": streamed,
        "indexnow": IndexNow(desk),
        "websub": HubCalls(desk),
        **_memento_calls(desk),
        **{name: collected(name, function) for name, function in COLLECTED.items()},
    }


COLLECTED: dict[str, Callable[[Desk, Asked], Response]] = {
    "cdx": cdx,
    "crawl-log": crawl_log,
    "changes-atom": atom,
    "search-atom": search_atom,
    "alert-atom": alert_feed,
    "metrics": metrics,
    "healthz": healthz,
    "readyz": readyz,
}
"""Standards that are a function of what was asked."""


def _memento_calls(desk: Desk) -> dict[str, Call]:
    async def gate(request: Request) -> Response:
        rest = behind(request, "/web/")
        first = rest.partition("/")[0]
        places = _places(desk, request)
        key = f"/r/{replay_key(desk)}"
        if STAMP.fullmatch(first):
            return RedirectResponse(f"{places.replay}{key}/web/{rest}", 302)
        found = await time_gate(request, desk, places)
        if request.state.visitor is not None and request.state.visitor.csrf is not None:
            # A browser has no token to show at the origin of replay: it gets the key of the day.
            found.headers["Location"] = found.headers["Location"].replace("/web/", f"{key}/web/", 1)
        return found

    async def link_map(request: Request) -> Response:
        return await time_map(request, desk, _places(desk, request), "link")

    async def json_map(request: Request) -> Response:
        return await time_map(request, desk, _places(desk, request), "json")

    return {"timegate": gate, "timemap-link": link_map, "timemap-json": json_map}


def _places(desk: Desk, request: Request) -> Places:
    host = request.headers.get("host", "")
    return Places(desk.own_origin(host), desk.replay_origin(host))
