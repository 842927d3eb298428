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

from evercrawl.web.app_state import AppState
from evercrawl.web.auth import ANONYMOUS, AccessScope
from evercrawl.web.endpoints import (
    Endpoint,
    action_endpoint,
    check_access,
    error_page,
    handle_errors,
    read_values,
    view_endpoint,
    wants_json,
)
from evercrawl.web.format import json_bytes
from evercrawl.web.login import LoginPages, OneTimeLink
from evercrawl.web.middleware import AccessMiddleware, AllowedOrigins
from evercrawl.web.openapi import API_DESCRIPTION, description, scopes
from evercrawl.web.pages.alerts import alert_feed
from evercrawl.web.pages.history import replay_key
from evercrawl.web.pages.site_pages import load, load_charts
from evercrawl.web.protocols.announcements import HubCallbacks, IndexNow
from evercrawl.web.protocols.atom_feeds import changes_feed, search_feed
from evercrawl.web.protocols.cdx import cdx
from evercrawl.web.protocols.memento import STAMP, MementoUrls, time_gate, time_map, url_after
from evercrawl.web.protocols.metrics import healthz, metrics, readyz
from evercrawl.web.protocols.streams import LOG_RANGE as LOG_PORTION
from evercrawl.web.protocols.streams import EventStream, LiveStream, crawl_log, log_file
from evercrawl.web.route import BadRequest, Inputs, Parameter
from evercrawl.web.templates import render
from evercrawl.web.views import ACTIONS, PROTOCOLS, VIEWS, ProtocolRoute

STATIC = {"style.css": "text/css", "page.js": "text/javascript", "icon.svg": "image/svg+xml"}
_NAME = Parameter("name", "The site.", required=True)


@dataclass(frozen=True, slots=True)
class PublicAccess:
    """What is open to whom."""

    token: str | None = None
    """A token that this process was given, with every scope."""
    public_archive: bool = False
    """Memento and CDX may be inputs by anybody."""


def build_app(state: AppState, origins: AllowedOrigins, link: OneTimeLink, public: PublicAccess) -> ASGIApp:
    """The application of the interface's origin."""
    access = LoginPages(state, origins, link)
    pulse = LiveStream(state)
    routes = [
        Route("/login", access.login, methods=["GET", "POST"]),
        Route("/first", access.first),
        Route("/logout", access.logout, methods=["POST"]),
        Route("/static/{name}", static),
        Route("/favicon.ico", icon),
        Route("/owner/{signature}", owner_endpoint(state, _owner)),
        Route("/owner/{signature}/crawl.log", owner_endpoint(state, _owner_log)),
        Route("/live/stream", require_scope(state, pulse.__call__)),
        Route(API_DESCRIPTION, require_scope(state, _described)),
        Route("/api", require_scope(state, _api_page(state))),
        *(Route(path, view_endpoint(state, view)) for view in VIEWS for path in (view.path, view.json_path, view.api_path)),
        *(
            Route(path, action_endpoint(state, action), methods=["POST"])
            for action in ACTIONS
            for path in (action.path, action.api_path)
        ),
        *_standard_routes(state, public),
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _missing(state)})
    return AccessMiddleware(app, origins=origins, auth=state.auth, given_token=public.token)


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


def require_scope(
    state: AppState, call: Callable[[Request], Awaitable[Response]], scope: AccessScope = AccessScope.READ
) -> Endpoint:
    """For whoever may read."""

    async def endpoint(request: Request) -> Response:
        return check_access(request, state, scope) or await handle_errors(request, state, lambda: call(request))

    return endpoint


async def _described(request: Request) -> Response:
    return Response(orjson.dumps(description()), media_type="application/json")


def _api_page(state: AppState) -> Callable[[Request], Awaitable[Response]]:
    async def page(request: Request) -> Response:
        data = {"paths": description()["paths"], "scopes": scopes(), "description": API_DESCRIPTION}
        return Response(render("api", data, request=request, state=state), media_type="text/html")

    return page


def _missing(state: AppState) -> Callable[[Request, Exception], Response]:
    def answer(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        words = {404: "there is no such page", 405: "this cannot be done here"}
        found = error_page(request, status, words.get(status, "this did not work"), state)
        if isinstance(error, HTTPException) and error.headers:
            found.headers.update(error.headers)
        return found

    return answer


def owner_endpoint(state: AppState, show: Callable[[Request, AppState], Awaitable[Response]]) -> Endpoint:
    """For a site's owner: who has the signed link may see this one site and nothing else."""

    async def endpoint(request: Request) -> Response:
        return await handle_errors(request, state, lambda: show(request, state))

    return endpoint


def _owned(request: Request, state: AppState) -> tuple[str, str]:
    """The site that the link was signed for, and the signature."""
    name = _NAME.value(request.query_params.get("name"), now=state.now())
    signature = request.path_params["signature"].removesuffix(".json")
    if not state.auth.is_signed(f"owner {name}", signature):
        raise BadRequest("this link is not valid", 403)
    return name, signature


async def _owner_log(request: Request, state: AppState) -> Response:
    name, _ = _owned(request, state)
    values = read_values((_NAME, *LOG_PORTION), request.query_params, now=state.now()) | {"site": name}
    return await run_in_threadpool(log_file, state, values, for_owner=True)


async def _owner(request: Request, state: AppState) -> Response:
    name, signature = _owned(request, state)
    inputs = Inputs({"name": name}, ANONYMOUS, request.headers.get("host", ""))
    data = await run_in_threadpool(load, state, inputs)
    if wants_json(request):
        return Response(json_bytes("load", data), media_type="application/json")
    shown = {
        **data,
        "charts": load_charts(data, state.now().date()),
        "inputs": inputs.values,
        "for_owner": True,
        "log_path": f"/owner/{signature}/crawl.log?{urlencode({'name': name})}",
        "twin": f"/owner/{signature}.json?{request.url.query}",
    }
    return Response(render("load", shown, request=request, state=state), media_type="text/html")


def _standard_routes(state: AppState, public: PublicAccess) -> list[Route]:
    routes = []
    calls = _standard_calls(state)
    for standard in PROTOCOLS:
        is_open = standard.scope is None or (standard.is_archive and public.public_archive)
        endpoint = _standard_endpoint(state, standard, calls[standard.name], is_open=is_open)
        routes.append(Route(standard.path, endpoint, methods=list(standard.methods)))
    return routes


Call = Callable[[Request], Awaitable[Response]]


def _standard_endpoint(state: AppState, standard: ProtocolRoute, call: Call, *, is_open: bool) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        refused = None if is_open else check_access(request, state, standard.scope or AccessScope.READ)
        return refused or await handle_errors(request, state, lambda: call(request))

    return endpoint


def _standard_calls(state: AppState) -> dict[str, Call]:
    events = EventStream(state)
    by_name = {standard.name: standard for standard in PROTOCOLS}

    def collected(name: str, function: Callable[[AppState, Inputs], Response]) -> Call:
        async def call(request: Request) -> Response:
            values = read_values(by_name[name].parameters, request.query_params, now=state.now())
            user = request.state.user or ANONYMOUS
            return await run_in_threadpool(function, state, Inputs(values, user, request.headers.get("host", "")))

        return call

    async def streamed(request: Request) -> Response:
        return await events(request, read_values(by_name["events"].parameters, request.query_params, now=state.now()))

    return {
        "events": streamed,
        "indexnow": IndexNow(state),
        "websub": HubCallbacks(state),
        **_memento_calls(state),
        **{name: collected(name, function) for name, function in COLLECTED.items()},
    }


COLLECTED: dict[str, Callable[[AppState, Inputs], Response]] = {
    "cdx": cdx,
    "crawl-log": crawl_log,
    "changes-atom": changes_feed,
    "search-atom": search_feed,
    "alert-atom": alert_feed,
    "metrics": metrics,
    "healthz": healthz,
    "readyz": readyz,
}
"""Standards that are a function of what was inputs."""


def _memento_calls(state: AppState) -> dict[str, Call]:
    async def gate(request: Request) -> Response:
        rest = url_after(request, "/web/")
        first = rest.partition("/")[0]
        places = _places(state, request)
        key = f"/r/{replay_key(state)}"
        if STAMP.fullmatch(first):
            return RedirectResponse(f"{places.replay}{key}/web/{rest}", 302)
        found = await time_gate(request, state, places)
        if request.state.user is not None and request.state.user.csrf is not None:
            # A browser has no token to show at the origin of replay: it gets the key of the day.
            found.headers["Location"] = found.headers["Location"].replace("/web/", f"{key}/web/", 1)
        return found

    async def link_map(request: Request) -> Response:
        return await time_map(request, state, _places(state, request), "link")

    async def json_map(request: Request) -> Response:
        return await time_map(request, state, _places(state, request), "json")

    return {"timegate": gate, "timemap-link": link_map, "timemap-json": json_map}


def _places(state: AppState, request: Request) -> MementoUrls:
    host = request.headers.get("host", "")
    return MementoUrls(state.own_origin(host), state.replay_origin(host))
