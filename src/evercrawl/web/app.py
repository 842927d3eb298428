"""The ASGI application of the interface, with its routes from `views`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any
from urllib.parse import unquote, urlencode

import orjson
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from evercrawl.web.access_control import AccessMiddleware, AllowedOrigins, error_response, has_valid_csrf
from evercrawl.web.app_state import AppState
from evercrawl.web.auth import ANONYMOUS, AccessScope
from evercrawl.web.endpoints import (
    Endpoint,
    ResourceRoute,
    action_endpoint,
    check_access,
    error_page,
    handle_errors,
    read_known_values,
    read_values,
    resource_endpoint,
    view_endpoint,
    wants_json,
)
from evercrawl.web.format import json_bytes, link_to
from evercrawl.web.login import LoginPages, OneTimeLink, message_link_routes
from evercrawl.web.openapi import OPENAPI_PATH, openapi_document, scopes
from evercrawl.web.pages.alerts import alert_feed
from evercrawl.web.pages.backups import download_backup, upload_backup
from evercrawl.web.pages.data import job_file
from evercrawl.web.pages.history import DIFF_PARAMETERS, replay_key, shared_diff
from evercrawl.web.pages.reports import graph_picture
from evercrawl.web.pages.search import find_target
from evercrawl.web.pages.site_pages import load, load_charts
from evercrawl.web.protocols.announcements import HubCallbacks, IndexNow
from evercrawl.web.protocols.atom_feeds import changes_feed, search_feed
from evercrawl.web.protocols.cdx import cdx, wayback_cdx
from evercrawl.web.protocols.memento import STAMP, MementoUrls, time_gate, time_map, url_after
from evercrawl.web.protocols.streams import (
    LOG_RANGE,
    EventStream,
    LiveStream,
    crawl_log,
    healthz,
    log_file,
    metrics,
    readyz,
)
from evercrawl.web.route import API, Action, BadRequest, Inputs, Parameter, View, resource_path
from evercrawl.web.templates import render
from evercrawl.web.views import ACTIONS, PROTOCOLS, VIEWS, ProtocolRoute, operations

STATIC = {"style.css": "text/css", "page.js": "text/javascript", "icon.svg": "image/svg+xml"}
_URL = Parameter("url", "URL of a page, with a version after @.", required=True)
_WORDS = Parameter("q", "Words or a URL.", required=True)
_NAME = Parameter("name", "Origin of the site.", required=True)
_SEEN = Parameter("seen", "When the versions were first seen.", required=True)
RequestHandler = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class PublicAccess:
    """Access without a login."""

    token: str | None = None  # Token from the command line, with full access.
    public_archive: bool = False  # Open Memento and CDX to everyone.


def build_app(state: AppState, origins: AllowedOrigins, link: OneTimeLink, public: PublicAccess) -> AccessMiddleware:
    """Return the application of the interface's origin."""
    app = build_routes(state, [*login_routes(LoginPages(state, origins, link)), *collection_routes(state, public)])
    return AccessMiddleware(app, origins=origins, auth=state.auth, turns=state.turns, given_token=public.token)


def build_routes(state: AppState, routes: list[Route]) -> Starlette:
    """Return an application of these routes, without the checks of its origin."""
    return Starlette(routes=routes, exception_handlers={HTTPException: _http_error_handler(state)})


def login_routes(login: LoginPages) -> list[Route]:
    """Return the routes that need no login."""
    return [
        Route("/login", login.login, methods=["GET", "POST"]),
        Route("/first", login.first),
        Route("/logout", login.logout, methods=["POST"]),
        Route("/static/{name}", static),
        Route("/favicon.ico", icon),
    ]


def collection_routes(state: AppState, public: PublicAccess) -> list[Route]:
    """Return the routes of one collection."""
    live = LiveStream(state)
    return [
        Route("/owner/{signature}", owner_endpoint(state, _owner)),
        Route("/owner/{signature}/crawl.log", owner_endpoint(state, _owner_log)),
        Route("/shared/{signature}", owner_endpoint(state, _shared)),
        *message_link_routes(state),
        Route("/live/stream", require_scope(state, live.__call__)),
        Route(OPENAPI_PATH, require_scope(state, openapi_handler(openapi_document(base=state.base)))),
        Route("/screenshot", require_scope(state, _screenshot(state))),
        Route("/find", require_scope(state, find_handler(state))),
        Route("/api", require_scope(state, api_page(state, openapi_document(base=state.base)))),
        *(Route(path, view_endpoint(state, view)) for view in VIEWS for path in view.paths),
        *(Route(action.path, action_endpoint(state, action), methods=["POST"]) for action in ACTIONS),
        *_protocol_routes(state, public),
        *resource_routes(state, operations()),
    ]


async def static(request: Request) -> Response:
    """Return a static file."""
    name = request.path_params["name"]
    if name not in STATIC:
        raise HTTPException(404)
    body = files("evercrawl.web").joinpath("static", name).read_bytes()
    return Response(body, media_type=STATIC[name], headers={"Cache-Control": "max-age=300"})


async def icon(request: Request) -> Response:
    """Redirect to the icon."""
    return RedirectResponse("/static/icon.svg", 308)


def require_scope(state: AppState, call: RequestHandler, scope: AccessScope = AccessScope.READ) -> Endpoint:
    """Return an endpoint for users with this scope."""

    async def endpoint(request: Request) -> Response:
        return check_access(request, state, scope) or await handle_errors(request, state, lambda: call(request))

    return endpoint


def _screenshot(state: AppState) -> RequestHandler:
    async def screenshot(request: Request) -> Response:
        url = _URL.parse(request.query_params.get("url"), now=state.now())
        image = await run_in_threadpool(lambda: state.collection.screenshot(url))
        kind = "image/png" if image.startswith(b"\x89PNG") else "image/webp"
        return Response(image, media_type=kind)

    return screenshot


def find_handler(state: AppState, target: Callable[[AppState, str], str] = find_target) -> RequestHandler:
    """Return the handler of the box on every page."""

    async def find(request: Request) -> Response:
        text = _WORDS.parse(request.query_params.get("q"), now=state.now())
        return RedirectResponse(await run_in_threadpool(target, state, text), 303)

    return find


def openapi_handler(document: dict[str, Any]) -> RequestHandler:
    """Return the handler that sends an OpenAPI document."""

    async def handler(request: Request) -> Response:
        return Response(orjson.dumps(document), media_type="application/json")

    return handler


def api_page(state: AppState, document: dict[str, Any]) -> RequestHandler:
    """Return the handler of the page about an API."""

    async def page(request: Request) -> Response:
        data = {"paths": document["paths"], "scopes": scopes(), "description": OPENAPI_PATH}
        return Response(render("api", data, request=request, state=state), media_type="text/html")

    return page


def _http_error_handler(state: AppState) -> Callable[[Request, Exception], Response]:
    def handle(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        messages = {404: "there is no such page", 405: "this method is not allowed here"}
        response = error_page(request, status, messages.get(status, "the request failed"), state)
        if isinstance(error, HTTPException) and error.headers:
            response.headers.update(error.headers)
        return response

    return handle


def owner_endpoint(state: AppState, show: Callable[[Request, AppState], Awaitable[Response]]) -> Endpoint:
    """Return an endpoint that needs no login: the signed link opens one site or difference and nothing else."""

    async def endpoint(request: Request) -> Response:
        return await handle_errors(request, state, lambda: show(request, state))

    return endpoint


def _signed_site(request: Request, state: AppState) -> tuple[str, str]:
    """Return the site that the link was signed for, and the signature."""
    name = _NAME.parse(request.query_params.get("name"), now=state.now())
    signature = request.path_params["signature"].removesuffix(".json")
    if not state.auth.is_signed(f"owner {name}", signature):
        raise BadRequest("this link is not valid", 403)
    return name, signature


async def _owner_log(request: Request, state: AppState) -> Response:
    name, _ = _signed_site(request, state)
    values = read_values((_NAME, *LOG_RANGE), request.query_params, now=state.now()) | {"site": name}
    return await run_in_threadpool(log_file, state, values, for_owner=True)


async def _owner(request: Request, state: AppState) -> Response:
    name, signature = _signed_site(request, state)
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
        "json_url": f"/owner/{signature}.json?{request.url.query}",
    }
    return Response(render("load", shown, request=request, state=state), media_type="text/html")


async def _shared(request: Request, state: AppState) -> Response:
    """Show one difference; somebody who is logged in gets the whole page about it."""
    values = read_values((_URL, *DIFF_PARAMETERS, _SEEN), request.query_params, now=state.now())
    if request.state.user is not None:
        pair = {name: values[name] for name in ("url", "a", "b", "context")}
        return RedirectResponse(f"{state.base}{link_to('/diff', **pair)}", 303)
    data = await run_in_threadpool(shared_diff, state, values, request.path_params["signature"])
    signed = {name: values[name] for name in ("url", "a", "b", "seen")}
    here = link_to(f"/shared/{request.path_params['signature']}", **signed) + "&context="
    return Response(render("diff", {**data, "shared": here}, request=request, state=state), media_type="text/html")


def resource_routes(state: AppState, known: Mapping[str, Mapping[str, View | Action]]) -> list[ResourceRoute]:
    """Return a route for each resource, fixed paths before those with parameters."""
    by_path = sorted(known.items(), key=lambda pair: "{" in pair[0])
    return [ResourceRoute(API + path, resource_endpoint(state, found), methods=list(found)) for path, found in by_path]


def _protocol_routes(state: AppState, public: PublicAccess) -> list[Route]:
    return protocol_routes(state, public, PROTOCOLS, _protocol_handlers(state))


def protocol_routes(
    state: AppState, public: PublicAccess, protocols: Sequence[ProtocolRoute], handlers: Mapping[str, RequestHandler]
) -> list[Route]:
    """Return the routes of protocols."""
    routes = []
    for protocol in protocols:
        is_open = protocol.scope is None or (protocol.is_archive and public.public_archive)
        endpoint = _protocol_endpoint(state, protocol, handlers[protocol.name], is_open=is_open)
        routes.append(Route(protocol.path, endpoint, methods=list(protocol.methods)))
    return routes


def _protocol_endpoint(state: AppState, protocol: ProtocolRoute, handler: RequestHandler, *, is_open: bool) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        request.state.is_protocol = True
        refused = None if is_open else check_access(request, state, protocol.scope or AccessScope.READ)
        return refused or await handle_errors(request, state, lambda: handler(request))

    return endpoint


def _protocol_handlers(state: AppState) -> dict[str, RequestHandler]:
    events = EventStream(state)
    by_name = {protocol.name: protocol for protocol in PROTOCOLS}

    async def stream_events(request: Request) -> Response:
        return await events(request, read_values(by_name["events"].parameters, request.query_params, now=state.now()))

    async def upload(request: Request) -> Response:
        if not has_valid_csrf(request, None):
            raise BadRequest("this form has expired; reload the page and try again", 403)
        if state.read_only:
            raise BadRequest("the interface is read-only", 403)
        done = await upload_backup(state, request)
        headers = {"Location": resource_path("/backups/{name}", name=done["name"])}
        return Response(json_bytes("backup-upload", done), 201, headers, media_type="application/json")

    return {
        "events": stream_events,
        "backup-upload": upload,
        "indexnow": IndexNow(state),
        "websub": HubCallbacks(state),
        **_memento_handlers(state),
        **threaded_handlers(state, THREADED),
    }


def threaded_handlers(
    state: AppState, functions: Mapping[str, Callable[[AppState, Inputs], Response]]
) -> dict[str, RequestHandler]:
    """Return the handlers of protocols that are plain functions, run in a thread."""
    by_name = {protocol.name: protocol for protocol in PROTOCOLS}

    def in_thread(name: str, function: Callable[[AppState, Inputs], Response]) -> RequestHandler:
        async def handler(request: Request) -> Response:
            read = read_known_values if by_name[name].ignores_unknown else read_values
            values = read(by_name[name].parameters, request.query_params, now=state.now())
            values |= {key: unquote(value) for key, value in request.path_params.items()}
            user = request.state.user or ANONYMOUS
            return await run_in_threadpool(function, state, Inputs(values, user, request.headers.get("host", "")))

        async def handler_for_pywb(request: Request) -> Response:
            try:
                return await handler(request)
            except BadRequest as error:
                if error.status != 400:
                    raise
                return error_response(400, error.message, message=error.message)  # Clients of pywb read `message`.

        return handler_for_pywb if by_name[name].ignores_unknown else handler

    return {name: in_thread(name, function) for name, function in functions.items()}


THREADED: dict[str, Callable[[AppState, Inputs], Response]] = {
    "cdx": cdx,
    "cdx-wayback": wayback_cdx,
    "crawl-log": crawl_log,
    "changes-atom": changes_feed,
    "search-atom": search_feed,
    "alert-atom": alert_feed,
    "graph-picture": graph_picture,
    "job-file": job_file,
    "backup-file": download_backup,
    "metrics": metrics,
    "healthz": healthz,
    "readyz": readyz,
}
"""Protocols that are plain functions, run in a thread."""


def _memento_handlers(state: AppState) -> dict[str, RequestHandler]:
    async def gate(request: Request) -> Response:
        rest = url_after(request, "/web/")
        first = rest.partition("/")[0]
        urls = _memento_urls(state, request)
        key = f"/r/{replay_key(state)}"
        if STAMP.fullmatch(first):
            return RedirectResponse(f"{urls.replay}{key}/web/{rest}", 302)
        response = await time_gate(request, state, urls)
        if request.state.user is not None and request.state.user.csrf is not None:
            # A browser sends no token to the origin of archived pages: it gets the key of the day.
            response.headers["Location"] = response.headers["Location"].replace("/web/", f"{key}/web/", 1)
        return response

    async def link_map(request: Request) -> Response:
        return await time_map(request, state, _memento_urls(state, request), "link")

    async def json_map(request: Request) -> Response:
        return await time_map(request, state, _memento_urls(state, request), "json")

    return {"timegate": gate, "timemap-link": link_map, "timemap-json": json_map}


def _memento_urls(state: AppState, request: Request) -> MementoUrls:
    host = request.headers.get("host", "")
    return MementoUrls(state.own_origin(host), state.replay_origin(host))
