"""From a row of the table to an answer: read the values, call the collector in a thread, draw the page."""

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

from evercrawl.errors import CollectionBusy, ConfigError, StoreUnavailable
from evercrawl.web.app_state import AppState
from evercrawl.web.auth import AccessScope, User
from evercrawl.web.format import json_bytes
from evercrawl.web.middleware import error_response, has_valid_csrf
from evercrawl.web.route import Action, ActionResult, BadRequest, Inputs, Parameter, View
from evercrawl.web.templates import render
from evercrawl.web.views import CHARTS

log = logging.getLogger("evercrawl")
Endpoint = Callable[[Request], Awaitable[Response]]


def wants_json(request: Request) -> bool:
    """The twin was inputs for: by its path, or by what the client accepts."""
    if request.url.path.endswith(".json") or request.url.path.startswith("/api/"):
        return True
    accepted = request.headers.get("accept", "")
    return "application/json" in accepted and "text/html" not in accepted


def error_page(request: Request, status: int, message: str, state: AppState | None = None) -> Response:
    """An error as the client reads it."""
    if wants_json(request) or state is None:
        return error_response(status, message)
    page = render("error", {"message": message, "status": status}, request=request, state=state)
    return Response(page, status, media_type="text/html")


async def handle_errors(request: Request, state: AppState, call: Callable[[], Awaitable[Response]]) -> Response:
    """What the call gives; expected errors become answers, others are logged and told without details."""
    try:
        return await call()
    except BadRequest as error:
        return _again(error_page(request, error.status, error.message, state), request, error.retry_after_s)
    except CollectionBusy as error:
        return error_page(request, 409, str(error), state)
    except StoreUnavailable as error:
        return error_page(request, 503, str(error), state)
    except ConfigError as error:
        is_missing = "no version" in str(error)
        return error_page(request, 404 if is_missing else 400, str(error), state)
    except Exception:
        log.exception("defect while answering %s", request.url.path)
        return error_page(request, 500, "this is a defect in evercrawl; the details are in evercrawl.log", state)


def _again(answer: Response, request: Request, wait_s: int | None) -> Response:
    """Programs are told when to ask again; a browser does so by itself, also without scripts."""
    if wait_s is not None:
        answer.headers["Retry-After"] = str(wait_s)
        if not wants_json(request):
            answer.headers["Refresh"] = str(wait_s)
    return answer


def check_access(request: Request, state: AppState, scope: AccessScope) -> Response | None:
    """The answer to whoever may not; None: they may."""
    user: User | None = request.state.user
    if user is not None and user.scope >= scope:
        return None
    if user is not None:
        return error_page(request, 403, f"this needs the scope {scope.word}", state)
    if wants_json(request):
        answer = error_response(401, "who are you? send a token: Authorization: Bearer ...")
        answer.headers["WWW-Authenticate"] = 'Bearer realm="evercrawl"'
        return answer
    target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return RedirectResponse(f"/login?next={quote(target, safe='')}", 303)


def read_values(parameters: Sequence[Parameter], written: Mapping[str, str], *, now: datetime) -> dict[str, Any]:
    """The typed values; BadRequest where one is wrong or unknown."""
    known = {parameter.name for parameter in parameters}
    for name in written:
        if name not in known:
            raise BadRequest(f"there is no parameter {name[:100]!r} here")
    return {one.name: one.value(written.get(one.name), now=now) for one in parameters}


def view_endpoint(state: AppState, view: View) -> Endpoint:
    """Answers with the page or its twin."""

    async def endpoint(request: Request) -> Response:
        refused = check_access(request, state, view.scope)
        return refused or await handle_errors(request, state, lambda: _shown(request, state, view))

    return endpoint


async def _shown(request: Request, state: AppState, view: View) -> Response:
    written = {name: value for name, value in request.query_params.items() if name not in ("done", "proof")}
    values = read_values(view.parameters, written, now=state.now())
    inputs = Inputs(values, request.state.user, request.headers.get("host", ""))
    return await run_in_threadpool(_drawn, request, state, view, inputs)


def _drawn(request: Request, state: AppState, view: View, inputs: Inputs) -> Response:
    data = view.collect(state, inputs)
    if wants_json(request):
        return Response(json_bytes(view.name, data), media_type="application/json", headers={"Vary": "Accept"})
    charts = CHARTS[view.name](data, state.now().date()) if view.name in CHARTS else {}
    shown = {**data, "charts": charts, "inputs": inputs.values, "twin": _twin(request, view)}
    page = render(view.name, shown, request=request, state=state)
    return Response(page, media_type="text/html", headers={"Vary": "Accept"})


def _twin(request: Request, view: View) -> str:
    return view.json_path + (f"?{request.url.query}" if request.url.query else "")


async def read_body(request: Request) -> dict[str, str]:
    """The fields of a form or of a JSON object, as text."""
    body = await request.body()
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        return _json_fields(body)
    if kind not in ("application/x-www-form-urlencoded", ""):
        raise BadRequest("send a form or a JSON object", 415)
    try:
        found = parse_qs(body.decode("utf-8"), keep_blank_values=True, max_num_fields=100)
    except ValueError as error:
        raise BadRequest("the form cannot be read") from error
    return {name: values[-1] for name, values in found.items()}


def _json_fields(body: bytes) -> dict[str, str]:
    try:
        found = orjson.loads(body or b"{}")
    except orjson.JSONDecodeError as error:
        raise BadRequest("the body is not JSON") from error
    if not isinstance(found, dict):
        raise BadRequest("the body must be a JSON object")
    return {str(name): _as_text(name, value) for name, value in found.items() if value is not None}


def _as_text(name: str, value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case int():
            return str(value)
        case _:
            raise BadRequest(f"{name[:100]} must be a text, a number, true or false")


def action_endpoint(state: AppState, action: Action) -> Endpoint:
    """Does it, writes it into the book, and leads a form to the page that shows it."""

    async def endpoint(request: Request) -> Response:
        refused = check_access(request, state, action.scope)
        return refused or await handle_errors(request, state, lambda: _done(request, state, action))

    return endpoint


async def _done(request: Request, state: AppState, action: Action) -> Response:
    fields = await read_body(request)
    if not has_valid_csrf(request, fields.pop("csrf", None)):
        raise BadRequest("this form is too old; go back, reload the page and try again", 403)
    if state.read_only:
        raise BadRequest("this interface only shows; start it without --read-only to change something", 403)
    values = read_values(action.parameters, fields, now=state.now())
    inputs = Inputs(values, request.state.user, request.headers.get("host", ""))
    done = await run_in_threadpool(_carried_out, state, action, inputs)
    if wants_json(request):
        return Response(
            json_bytes(action.name, {"message": done.message, **(done.data or {})}), media_type="application/json"
        )
    if done.once:
        page = render("done", {"message": done.message, "show": done.show}, request=request, state=state)
        return Response(page, media_type="text/html")
    return RedirectResponse(_with_word(state, done), 303)


def _carried_out(state: AppState, action: Action, inputs: Inputs) -> ActionResult:
    done = action.do(state, inputs)
    values = inputs.values if done.told is None else done.told
    told = {name: value for name, value in values.items() if name not in action.secret}
    state.auth.note(inputs.user.name, action.name, ", ".join(f"{name}: {value}" for name, value in told.items()))
    return done


def _with_word(state: AppState, done: ActionResult) -> str:
    """The page that shows it, with a word that nobody else could put into its address."""
    joint = "&" if "?" in done.show else "?"
    proof = state.auth.signature(f"done {done.message}")
    return f"{done.show}{joint}done={quote(done.message, safe='')}&proof={proof}"
