"""Endpoints of pages, forms and resources: read parameters, run the function in a thread, render the result."""

from __future__ import annotations

import logging
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, quote, unquote

import orjson
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import QueryParams
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Match, Route
from starlette.types import Scope

from evercrawl.collection.urls import PrivateAddressError
from evercrawl.errors import CollectionBusy, ConfigError, StoreUnavailable
from evercrawl.web.access_control import error_response, has_valid_csrf, split_base
from evercrawl.web.app_state import AppState
from evercrawl.web.auth import AccessScope, User
from evercrawl.web.format import json_bytes
from evercrawl.web.route import Action, ActionResult, BadRequest, Inputs, Parameter, ParameterKind, View
from evercrawl.web.table_page import table_csv
from evercrawl.web.templates import render
from evercrawl.web.views import CHARTS

log = logging.getLogger("evercrawl")
Endpoint = Callable[[Request], Awaitable[Response]]


_COMMAND = re.compile(r"\bevercrawl [a-z]|(?<![\w-])--[a-z]|(?<![\w-])-C ")


def without_commands(message: str) -> str:
    """Return a message without the parts that advise a command: who reads it uses a browser."""
    parts = message.split("; ")
    return "; ".join(part for part in parts if not _COMMAND.search(part)) or parts[0]


def wants_json(request: Request) -> bool:
    """Return whether the path or the Accept header asks for JSON; on protocol routes everything but a browser does."""
    if request.url.path.endswith(".json") or split_base(request.url.path)[1].startswith("/api/"):
        return True
    accepted = request.headers.get("accept", "")
    is_for_programs = getattr(request.state, "is_protocol", False) or "application/json" in accepted
    return is_for_programs and "text/html" not in accepted


def error_page(request: Request, status: int, message: str, state: AppState | None = None, offer: str = "") -> Response:
    """Return an error as a page or as JSON; the page may offer to add a URL."""
    if wants_json(request) or state is None:
        return error_response(status, message)
    shown = {"message": without_commands(message), "status": status, "offer": offer}
    page = render("error", shown, request=request, state=state)
    return Response(page, status, media_type="text/html")


async def handle_errors(request: Request, state: AppState, call: Callable[[], Awaitable[Response]]) -> Response:
    """Call and return the response; turn expected errors into error pages, and log the others."""
    try:
        return await call()
    except BadRequest as error:
        if error.back and not wants_json(request):
            return RedirectResponse(error.back, 303)
        response = error_page(request, error.status, error.message, state, offer=error.offer)
        return _with_retry(response, request, error.retry_after_s)
    except CollectionBusy as error:
        return error_page(request, 409, str(error), state)
    except StoreUnavailable as error:
        return error_page(request, 503, str(error), state)
    except PrivateAddressError as error:
        return error_page(request, 403, str(error), state)
    except ConfigError as error:
        is_missing = "no version" in str(error) or "is not in this collection" in str(error)
        return error_page(request, 404 if is_missing else 400, str(error), state)
    except ClientDisconnect:
        return error_response(400, "the request is incomplete")
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
    target = state.base + request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return RedirectResponse(f"/login?next={quote(target, safe='')}", 303)


def read_values(parameters: Sequence[Parameter], given: Mapping[str, str], *, now: datetime) -> dict[str, Any]:
    """Return the typed values; raise BadRequest if one is not valid or not known."""
    known = {parameter.name for parameter in parameters}
    for name in given:
        if name not in known:
            raise BadRequest(f"unknown parameter {name[:100]!r}")
    return {one.name: one.parse(given.get(one.name), now=now) for one in parameters}


def read_known_values(parameters: Sequence[Parameter], given: QueryParams, *, now: datetime) -> dict[str, Any]:
    """Return the typed values, with every value of a parameter that may be repeated; ignore unknown parameters."""
    names = {one.name for one in parameters}
    values = read_values(parameters, {name: given[name] for name in names & given.keys()}, now=now)
    lists = {one.name: [one.parse(text, now=now) for text in given.getlist(one.name) if text] for one in parameters
             if one.kind == "texts"}  # fmt: skip
    return values | lists


def view_endpoint(state: AppState, view: View) -> Endpoint:
    """Return the endpoint of a page, its JSON or its resource."""

    async def endpoint(request: Request) -> Response:
        refused = check_access(request, state, view.scope)
        return refused or await handle_errors(request, state, lambda: _show_view(request, state, view))

    return endpoint


async def _show_view(request: Request, state: AppState, view: View) -> Response:
    lists = {one.name for one in view.parameters if one.kind == "list"}
    given = {name: value for name, value in request.query_params.items() if name not in ("done", "proof")}
    given |= {name: ",".join(request.query_params.getlist(name)) for name in lists if name in given}
    values = read_values(view.parameters, _with_path(request, given), now=state.now())
    is_page = not wants_json(request) and not request.url.path.endswith(".csv")
    inputs = Inputs(values, request.state.user, request.headers.get("host", ""), is_page)
    return await run_in_threadpool(_render_view, request, state, view, inputs)


def _with_path(request: Request, given: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters with those of the path; raise BadRequest if one is given twice."""
    for name in request.path_params:
        if name in given:
            raise BadRequest(f"{name} is part of the path; do not send it again")
    return {**given, **{name: unquote(value) for name, value in request.path_params.items()}}


def _render_view(request: Request, state: AppState, view: View, inputs: Inputs) -> Response:
    data = view.collect(state, inputs)
    if view.table and request.url.path.endswith(".csv"):
        headers = {"Content-Disposition": f'attachment; filename="{view.name}.csv"'}
        return Response(table_csv(data["table"]), media_type="text/csv", headers=headers)
    if wants_json(request):
        data.pop("table", None)
        return Response(json_bytes(view.name, data), media_type="application/json", headers={"Vary": "Accept"})
    charts = CHARTS[view.name](data, state.now().date()) if view.name in CHARTS else {}
    json_url = view.json_path + (f"?{request.url.query}" if request.url.query else "")
    shown = {**data, "charts": charts, "inputs": inputs.values, "json_url": json_url}
    page = render(view.name, shown, request=request, state=state)
    return Response(page, media_type="text/html", headers={"Vary": "Accept"})


async def read_body(request: Request, parameters: Sequence[Parameter] = ()) -> dict[str, str]:
    """Return the fields of a form or of a JSON object, as text; values in JSON must have the type of the parameter."""
    body = await request.body()
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        return _json_fields(body, {one.name: one.kind for one in parameters})
    if kind not in ("application/x-www-form-urlencoded", ""):
        raise BadRequest("send a form or a JSON object", 415)
    try:
        found = parse_qs(body.decode("utf-8"), keep_blank_values=True, max_num_fields=100)
    except ValueError as error:
        raise BadRequest("the form is not valid") from error
    return {name: values[-1] for name, values in found.items()}


def _json_fields(body: bytes, kinds: Mapping[str, ParameterKind]) -> dict[str, str]:
    try:
        found = orjson.loads(body or b"{}")
    except orjson.JSONDecodeError as error:
        raise BadRequest("the body is not JSON") from error
    if not isinstance(found, dict):
        raise BadRequest("the body must be a JSON object")
    return {name: _field_text(name, value, kinds.get(name, "text")) for name, value in found.items()}


def _field_text(name: str, value: object, kind: ParameterKind) -> str:
    match kind, value:
        case "bool", bool():
            return "true" if value else "false"
        case "integer", float() if value.is_integer():
            return str(int(value))
        case "integer", int() if not isinstance(value, bool):
            return str(value)
        case (("text" | "url" | "time" | "choice" | "texts" | "list"), str()):
            return value
    types = {"bool": "true or false", "integer": "a whole number"}
    raise BadRequest(f"{name[:100]} must be {types.get(kind, 'a string')}")


def action_endpoint(state: AppState, action: Action) -> Endpoint:
    """Return the endpoint that runs an action, logs it, and redirects a form to the page that shows it."""

    async def endpoint(request: Request) -> Response:
        refused = check_access(request, state, action.scope)
        return refused or await handle_errors(request, state, lambda: _run_action(request, state, action))

    return endpoint


def resource_endpoint(state: AppState, operations: Mapping[str, View | Action]) -> Endpoint:
    """Return the endpoint of a resource with its methods."""
    endpoints = {
        method: view_endpoint(state, one) if isinstance(one, View) else action_endpoint(state, one)
        for method, one in operations.items()
    }

    async def endpoint(request: Request) -> Response:
        return await endpoints["GET" if request.method == "HEAD" else request.method](request)

    return endpoint


class ResourceRoute(Route):
    """A route of the API; encoded slashes belong to a parameter of the path."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match the path as it was sent."""
        return super().matches({**scope, "path": scope.get("raw_path", b"").decode("latin-1") or scope["path"]})


async def _run_action(request: Request, state: AppState, action: Action) -> Response:
    fields = await read_body(request, action.parameters)
    if not has_valid_csrf(request, fields.pop("csrf", None)):
        raise BadRequest("this form has expired; go back, reload the page and try again", 403)
    if state.read_only:
        raise BadRequest("the interface is read-only; start it without --read-only to make changes", 403)
    if request.method == "DELETE":
        fields |= request.query_params
    fields = _with_path(request, fields)
    key = request.headers.get("idempotency-key")
    if key is None or request.method != "POST":
        return await _run_with(request, state, action, fields)
    with IDEMPOTENCY_KEYS.claim(_claim_key(request, state, action, key), fields) as claim:
        if claim.response is None:
            claim.response = await _run_with(request, state, action, fields)
        return claim.response


def _claim_key(request: Request, state: AppState, action: Action, key: str) -> str:
    if len(key) > MAX_KEY_CHARS or not KEY_PATTERN.fullmatch(key):
        raise BadRequest(f"an Idempotency-Key has 1 to {MAX_KEY_CHARS} visible ASCII characters")
    return f"{state.path} {request.state.user.name} {action.name} {key}"


async def _run_with(request: Request, state: AppState, action: Action, fields: Mapping[str, str]) -> Response:
    try:
        values = read_values(action.parameters, fields, now=state.now())
        inputs = Inputs(values, request.state.user, request.headers.get("host", ""))
        result = await run_in_threadpool(_run_and_log, state, action, inputs)
    except PrivateAddressError:
        raise
    except ConfigError as error:
        raise BadRequest(str(error), 422) from error
    except BadRequest as error:
        if error.status == 400:
            error.status = 422  # The request was understood, but its values are not valid.
        raise
    if wants_json(request):
        return _action_response(action, result)
    if result.has_secret:
        data = {"message": result.message, "location": result.location}
        return Response(render("done", data, request=request, state=state), media_type="text/html")
    return RedirectResponse(location_with_message(state, result), 303)


def _action_response(action: Action, result: ActionResult) -> Response:
    headers = {"Location": result.resource} if result.resource else {}
    if action.status == HTTPStatus.NO_CONTENT:
        return Response(status_code=action.status)
    body = json_bytes(action.name, {"message": result.message, **(result.data or {})})
    return Response(body, action.status, headers, media_type="application/json")


MAX_KEYS, MAX_KEY_CHARS = 1000, 200
KEY_PATTERN = re.compile("[!-~]+")
KEY_LIFETIME_S = 24 * 3600.0


@dataclass(slots=True)
class _Claim:
    fields: Mapping[str, str]
    at_s: float
    response: Response | None = None


class IdempotencyKeys:
    """Responses by Idempotency-Key, so that a repeated request starts nothing twice. Kept in memory."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._claims: OrderedDict[str, _Claim] = OrderedDict()

    @contextmanager
    def claim(self, key: str, fields: Mapping[str, str]) -> Iterator[_Claim]:
        """Yield the claim of a key, with its response if the request is repeated; a failed request frees the key."""
        while self._claims and (
            len(self._claims) >= MAX_KEYS or self._clock() - next(iter(self._claims.values())).at_s > KEY_LIFETIME_S
        ):
            self._claims.popitem(last=False)
        known = self._claims.get(key)
        if known is not None and known.fields != fields:
            raise BadRequest("this Idempotency-Key was used with other values; use a new one", 422)
        if known is not None and known.response is None:
            raise BadRequest("a request with this Idempotency-Key is still running", 409)
        claim = known or self._claims.setdefault(key, _Claim(dict(fields), self._clock()))
        try:
            yield claim
        finally:
            if claim.response is None:
                self._claims.pop(key, None)


IDEMPOTENCY_KEYS = IdempotencyKeys()


def _run_and_log(state: AppState, action: Action, inputs: Inputs) -> ActionResult:
    result = action.run(state, inputs)
    values = inputs.values if result.audit_values is None else result.audit_values
    logged = {name: value for name, value in values.items() if name not in action.secret}
    detail = ", ".join(f"{name}: {value}" for name, value in logged.items() if value not in (None, "", False))
    state.auth.log_change(inputs.user.name, action.name, detail)
    return result


def location_with_message(state: AppState, result: ActionResult) -> str:
    """Return the page that shows the result, with a signed message."""
    if not result.message:
        return result.location
    joint = "&" if "?" in result.location else "?"
    proof = state.auth.signature(f"done {result.message}")
    return f"{result.location}{joint}done={quote(result.message, safe='')}&proof={proof}"
