"""Pages behind the signed links of alert messages: unsubscribe, and mute a part. They need no login.
GET shows a page with a button and changes nothing. POST acts: from that page, or at once from a mail program that
offers "Unsubscribe" (RFC 8058)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evercrawl.collection.alerts.registry import AlertRegistry, AlertStatus, mute_patterns_of
from evercrawl.collection.change_inbox import ChangeInbox
from evercrawl.model.alerts import Event
from evercrawl.web.app_state import AppState
from evercrawl.web.endpoints import Endpoint, handle_errors, read_body
from evercrawl.web.route import BadRequest
from evercrawl.web.templates import render

INVALID = "this link is not valid, or too old"
WHO = "link in a message"  # The user in the audit log.
Show = Callable[[AppState, Request, dict[str, str] | None], Response]


def message_link_routes(state: AppState) -> list[Route]:
    """Return the routes of the signed links."""
    return [
        Route("/unsubscribe/{number:int}/{signature}", _endpoint(state, unsubscribe), methods=["GET", "POST"]),
        Route("/mute/{number:int}/{signature}", _endpoint(state, mute), methods=["GET", "POST"]),
    ]


def _endpoint(state: AppState, show: Show) -> Endpoint:
    async def answer(request: Request) -> Response:
        form = await _form(request) if request.method == "POST" else None
        if form is not None and state.read_only:
            raise BadRequest("the interface is read-only; start it without --read-only to make changes", 403)
        return await run_in_threadpool(show, state, request, form)

    async def endpoint(request: Request) -> Response:
        call: Callable[[], Awaitable[Response]] = lambda: answer(request)  # noqa: E731
        return await handle_errors(request, state, call)

    return endpoint


async def _form(request: Request) -> dict[str, str]:
    """Return the fields of the form; a mail program may send its constant one as multipart."""
    is_multipart = request.headers.get("content-type", "").startswith("multipart/form-data")
    return {} if is_multipart else await read_body(request)


def unsubscribe(state: AppState, request: Request, form: dict[str, str] | None) -> Response:
    """Show the alert of the link; stop its messages, or send them again."""
    registry, name = AlertRegistry(state.path, state.settings), _alert(state, request).alert.name
    if form is not None:
        action = "resume" if form.get("action") == "resume" else "pause"
        registry.resume(name) if action == "resume" else registry.pause(name)
        state.auth.log_change(WHO, f"{action}-alert", f"name: {name}")
    status = _alert(state, request)
    data = {"alert": status.fields(), "is_done": form is not None}
    return _page("unsubscribe", data, request, state)


def _alert(state: AppState, request: Request) -> AlertStatus:
    registry, link = AlertRegistry(state.path, state.settings), request.path_params
    found = registry.alert_of_link(link["number"], link["signature"])
    if found is None:
        raise BadRequest(INVALID, 404)
    return found


def mute(state: AppState, request: Request, form: dict[str, str] | None) -> Response:
    """Show the parts of the change; mute one of them on its page, or unmute it."""
    link = request.path_params
    event = AlertRegistry(state.path, state.settings).change_of_link(link["number"], link["signature"])
    if event is None:
        raise BadRequest(f"{INVALID}; open the changes of the web interface to mute a part", 404)
    patterns = mute_patterns_of(event.edits)
    if form is not None:
        pattern = form.get("pattern", "")
        if pattern not in patterns:
            raise BadRequest("this part is not in the message")
        _mute(state, event, pattern, is_wanted=form.get("action") != "unmute")
    muted = {one.pattern for one in ChangeInbox(state.path).mutes() if one.place == event.url}
    parts = [{"pattern": pattern, "is_muted": pattern in muted} for pattern in patterns]
    data = {"url": event.url, "title": event.title or event.url, "parts_edited": parts, "is_done": form is not None}
    return _page("mute", data, request, state)


def _mute(state: AppState, event: Event, pattern: str, *, is_wanted: bool) -> None:
    if is_wanted:
        state.collection.mute(pattern, page=event.url, who=WHO)
    else:
        for one in ChangeInbox(state.path).mutes():
            if (one.place, one.pattern) == (event.url, pattern):
                state.collection.unmute(one.id)
    state.auth.log_change(WHO, "mute-part" if is_wanted else "undo-mute", f"pattern: {pattern}, page: {event.url}")


def _page(name: str, data: dict[str, Any], request: Request, state: AppState) -> Response:
    page = render(name, {**data, "here": request.url.path}, request=request, state=state)
    return Response(page, media_type="text/html")
