"""Endpoints of views and actions: read parameters, run the function in a thread, render the result."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs, quote

import orjson
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from evercrawl.collection.urls import PrivateAddressError
from evercrawl.errors import CollectionBusy, ConfigError, StoreUnavailable
from evercrawl.web.access_control import error_response, has_valid_csrf
from evercrawl.web.app_state import AppState
from evercrawl.web.auth import AccessScope, User
from evercrawl.web.format import json_bytes
from evercrawl.web.route import Action, ActionResult, BadRequest, Inputs, Parameter, View
from evercrawl.web.templates import render
from evercrawl.web.views import CHARTS

log = logging.getLogger("evercrawl")
Endpoint = Callable[[Request], Awaitable[Response]]


def wants_json(request: Request) -> bool:
    """Return whether the path or the Accept header asks for JSON."""
    if request.url.path.endswith(".json") or request.url.path.startswith("/api/"):
        return True
    accepted = request.headers.get("accept", "")
    return "application/json" in accepted and "text/html" not in accepted


def error_page(request: Request, status: int, message: str, state: AppState | None = None) -> Response:
    """Return an error as a page or as JSON."""
    if wants_json(request) or state is None:
        return error_response(status, message)
    page = render("error", {"message": message, "status": status}, request=request, state=state)
    return Response(page, status, media_type="text/html")


async def handle_errors(request: Request, state: AppState, call: Callable[[], Awaitable[Response]]) -> Response:
    """Call and return the response; turn expected errors into error pages, and log the others."""
    try:
        return await call()
    except BadRequest as error:
        response = error_page(request, error.status, error.message, state)
        return _with_retry(response, request, error.retry_after_s)
    except CollectionBusy as error:
        return error_page(request, 409, str(error), state)
    except StoreUnavailable as error:
        return error_page(request, 503, str(error), state)
    except PrivateAddressError as error:
        return error_page(request, 403, str(error), state)
    except ConfigError as error:
        is_missing = "no version" in str(error)
        return error_page(request, 404 if is_missing else 400, str(error), state)
    except Exception:
        log.exception("bug while answering %s", request.url.path)
        return error_page(request, 500, "this is a bug in evercrawl; see evercrawl.log for details", state)


def _with_retry(response: Response, request: Request, wait_s: int | None) -> Response:
    """Say when to retry; browsers reload by themselves, even without scripts."""
    if wait_s is not None:
        response.headers["Retry-After"] = str(wait_s)
        if not wants_json(request):
            response.headers["Refresh"] = str(wait_s)
    return response


def check_access(request: Request, state: AppState, scope: AccessScope) -> Response | None:
    """Return the error for a user without this scope; None if the user has it."""
    user: User | None = request.state.user
    if user is not None and user.scope >= scope:
        return None
    if user is not None:
        return error_page(request, 403, f"this needs the scope {scope.label}", state)
    if wants_json(request):
        response = error_response(401, "not logged in; send a token: Authorization: Bearer ...")
        response.headers["WWW-Authenticate"] = 'Bearer realm="evercrawl"'
        return response
    target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return RedirectResponse(f"/login?next={quote(target, safe='')}", 303)


def read_values(parameters: Sequence[Parameter], given: Mapping[str, str], *, now: datetime) -> dict[str, Any]:
    """Return the typed values; raise BadRequest if one is not valid or not known."""
    known = {parameter.name for parameter in parameters}
    for name in given:
        if name not in known:
            raise BadRequest(f"unknown parameter {name[:100]!r}")
    return {one.name: one.parse(given.get(one.name), now=now) for one in parameters}


def view_endpoint(state: AppState, view: View) -> Endpoint:
    """Return the endpoint of a page and its JSON."""

    async def endpoint(request: Request) -> Response:
        refused = check_access(request, state, view.scope)
        return refused or await handle_errors(request, state, lambda: _show_view(request, state, view))

    return endpoint


async def _show_view(request: Request, state: AppState, view: View) -> Response:
    given = {name: value for name, value in request.query_params.items() if name not in ("done", "proof")}
    values = read_values(view.parameters, given, now=state.now())
    inputs = Inputs(values, request.state.user, request.headers.get("host", ""))
    return await run_in_threadpool(_render_view, request, state, view, inputs)


def _render_view(request: Request, state: AppState, view: View, inputs: Inputs) -> Response:
    data = view.collect(state, inputs)
    if wants_json(request):
        return Response(json_bytes(view.name, data), media_type="application/json", headers={"Vary": "Accept"})
    charts = CHARTS[view.name](data, state.now().date()) if view.name in CHARTS else {}
    json_url = view.json_path + (f"?{request.url.query}" if request.url.query else "")
    shown = {**data, "charts": charts, "inputs": inputs.values, "json_url": json_url}
    page = render(view.name, shown, request=request, state=state)
    return Response(page, media_type="text/html", headers={"Vary": "Accept"})


async def read_body(request: Request) -> dict[str, str]:
    """Return the fields of a form or of a JSON object, as text."""
    body = await request.body()
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        return _json_fields(body)
    if kind not in ("application/x-www-form-urlencoded", ""):
        raise BadRequest("send a form or a JSON object", 415)
    try:
        found = parse_qs(body.decode("utf-8"), keep_blank_values=True, max_num_fields=100)
    except ValueError as error:
        raise BadRequest("the form is not valid") from error
    return {name: values[-1] for name, values in found.items()}


def _json_fields(body: bytes) -> dict[str, str]:
    try:
        found = orjson.loads(body or b"{}")
    except orjson.JSONDecodeError as error:
        raise BadRequest("the body is not JSON") from error
    if not isinstance(found, dict):
        raise BadRequest("the body must be a JSON object")
    return {str(name): _field_text(name, value) for name, value in found.items() if value is not None}


def _field_text(name: str, value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case int():
            return str(value)
        case _:
            raise BadRequest(f"{name[:100]} must be a string, an integer, true or false")


def action_endpoint(state: AppState, action: Action) -> Endpoint:
    """Return the endpoint that runs an action, logs it, and redirects a form to the page that shows it."""

    async def endpoint(request: Request) -> Response:
        refused = check_access(request, state, action.scope)
        return refused or await handle_errors(request, state, lambda: _run_action(request, state, action))

    return endpoint


async def _run_action(request: Request, state: AppState, action: Action) -> Response:
    fields = await read_body(request)
    if not has_valid_csrf(request, fields.pop("csrf", None)):
        raise BadRequest("this form has expired; go back, reload the page and try again", 403)
    if state.read_only:
        raise BadRequest("the interface is read-only; start it without --read-only to make changes", 403)
    values = read_values(action.parameters, fields, now=state.now())
    inputs = Inputs(values, request.state.user, request.headers.get("host", ""))
    result = await run_in_threadpool(_run_and_log, state, action, inputs)
    if wants_json(request):
        data = {"message": result.message, **(result.data or {})}
        return Response(json_bytes(action.name, data), media_type="application/json")
    if result.has_secret:
        data = {"message": result.message, "location": result.location}
        return Response(render("done", data, request=request, state=state), media_type="text/html")
    return RedirectResponse(_location_with_message(state, result), 303)


def _run_and_log(state: AppState, action: Action, inputs: Inputs) -> ActionResult:
    result = action.run(state, inputs)
    values = inputs.values if result.audit_values is None else result.audit_values
    logged = {name: value for name, value in values.items() if name not in action.secret}
    detail = ", ".join(f"{name}: {value}" for name, value in logged.items())
    state.auth.log_change(inputs.user.name, action.name, detail)
    return result


def _location_with_message(state: AppState, result: ActionResult) -> str:
    """Return the page that shows the result, with a signed message."""
    joint = "&" if "?" in result.location else "?"
    proof = state.auth.signature(f"done {result.message}")
    return f"{result.location}{joint}done={quote(result.message, safe='')}&proof={proof}"
