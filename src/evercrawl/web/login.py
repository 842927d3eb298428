"""Login with the one-time link or the password, and logout."""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from math import ceil
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from evercrawl.collection.alerts.registry import AlertRegistry, AlertStatus, mute_patterns_of
from evercrawl.collection.change_inbox import ChangeInbox
from evercrawl.model.alerts import Event
from evercrawl.model.settings import WebSettings
from evercrawl.web.access_control import AllowedOrigins, RateLimit, client_block, has_valid_csrf, session_secret
from evercrawl.web.app_state import AppState
from evercrawl.web.auth import SESSION_LIFETIME, AccessScope
from evercrawl.web.endpoints import Endpoint, error_page, handle_errors, read_body
from evercrawl.web.route import BadRequest
from evercrawl.web.templates import render

LINK_LIFETIME_S = 15 * 60
IPV4_BITS = 24  # Password attempts of neighbouring addresses count together.
DEVICE_LIFETIME = timedelta(days=365)


CONTINUE = (
    '<!doctype html><title>evercrawl</title><meta http-equiv="refresh" content="0; url=/"><a href="/">Continue</a>'
)


class OneTimeLink:
    """A secret that logs in once, within a few minutes."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.secret = secrets.token_urlsafe(24)
        self._clock = clock
        self._until = clock() + LINK_LIFETIME_S
        self._is_used = False

    def use(self, secret: str) -> bool:
        """Use the link; return False if the secret is wrong, used or expired."""
        is_same = hmac.compare_digest(secret.encode("utf-8", "replace"), self.secret.encode())
        if not is_same or self._is_used or self._clock() > self._until:
            return False
        self._is_used = True
        return True


class PasswordAttempts:
    """Limits how often the password can be tried, per address block and in all.
    Browsers that have logged in before have their own limit, so that strangers cannot lock out the owner."""

    def __init__(self, settings: WebSettings, *, clock: Callable[[], float] = time.monotonic) -> None:
        def per_hour(number: int) -> RateLimit:
            return RateLimit(burst=number, per_s=number / 3600, clock=clock)

        self._of_block = per_hour(settings.password_attempts_per_address)
        self._of_device = per_hour(settings.password_attempts_per_address)
        self._of_all = per_hour(settings.password_attempts)

    def wait_s(self, block: str, device: str | None) -> float:
        """Count an attempt and return 0, or return how long to wait."""
        if device is not None:
            return self._of_device.wait_s(device)
        return self._of_block.wait_s(block) or self._of_all.wait_s("")


class LoginPages:
    """The login and logout pages."""

    def __init__(self, state: AppState, origins: AllowedOrigins, link: OneTimeLink) -> None:
        self.state = state
        self.origins = origins
        self.link = link
        self.attempts = PasswordAttempts(state.settings.web)

    async def first(self, request: Request) -> Response:
        """Log in with the one-time link; its secret cannot be guessed, so nobody can use up attempts."""
        if not self.link.use(request.query_params.get("key", "")):
            message = "this link was already used or has expired; restart evercrawl serve for a new one"
            return error_page(request, 403, message, self.state)
        is_from_file = request.headers.get("sec-fetch-site", "none") == "cross-site"
        # A browser that comes from the file of `serve` sends the new cookie only with requests that our page makes.
        return self._start_session("operator", "/", HTMLResponse(CONTINUE) if is_from_file else None)

    async def login(self, request: Request) -> Response:
        """Show the login form, or log in with the password."""
        if request.method == "POST":
            return await handle_errors(request, self.state, lambda: self._log_in(request))
        return self._form(request, "")

    def _form(self, request: Request, problem: str, status: int = 200) -> Response:
        data = {
            "has_password": self.state.auth.has_password(),
            "problem": problem,
            "next": local_path(request.query_params.get("next", "/")),
        }
        return Response(render("login", data, request=request, state=self.state), status, media_type="text/html")

    async def _log_in(self, request: Request) -> Response:
        device = self._device(request)
        wait_s = self.attempts.wait_s(client_block(request.scope, ipv4_bits=IPV4_BITS), device)
        if wait_s:
            raise BadRequest(
                f"too many attempts; try again in {ceil(wait_s / 60)} min", 429, retry_after_s=ceil(wait_s)
            )
        fields = await read_body(request)
        is_right = await run_in_threadpool(self.state.auth.is_password, fields.get("password", ""))
        if not is_right:
            return self._form(request, "wrong password", 403)
        return self._start_session("operator", local_path(fields.get("next", "/")))

    def _device(self, request: Request) -> str | None:
        """Return the name of a browser that has logged in before."""
        name, _, signature = (session_secret(request.headers, self._device_cookie) or "").partition(".")
        return name if name and self.state.auth.is_signed(f"device {name}", signature) else None

    @property
    def _device_cookie(self) -> str:
        return f"{self.origins.cookie}_device"

    def _start_session(self, who: str, location: str, response: Response | None = None) -> Response:
        response = response or RedirectResponse(location, 303)
        response.set_cookie(
            self.origins.cookie,
            self.state.auth.begin_session(who, AccessScope.ADMIN),
            max_age=int(SESSION_LIFETIME.total_seconds()),
            httponly=True,
            samesite="strict",
            secure=self.origins.secure,
        )
        name = secrets.token_urlsafe(12)
        response.set_cookie(
            self._device_cookie,
            f"{name}.{self.state.auth.signature(f'device {name}')}",
            max_age=int(DEVICE_LIFETIME.total_seconds()),
            path="/login",
            httponly=True,
            samesite="strict",
            secure=self.origins.secure,
        )
        self.state.auth.log_change(who, "log in")
        return response

    async def logout(self, request: Request) -> Response:
        """End the session."""
        fields = await read_body(request)
        secret = session_secret(request.headers, self.origins.cookie)
        if secret is not None and has_valid_csrf(request, fields.get("csrf")):
            self.state.auth.end_session(secret)
        response = RedirectResponse("/login", 303)
        response.delete_cookie(self.origins.cookie)
        return response


def local_path(target: str) -> str:
    """Return a path within the interface; anything else becomes the overview."""
    is_local = target.startswith("/") and not target.startswith(("//", "/\\")) and "\\" not in target
    return target if is_local and target.isprintable() and ":" not in target.partition("?")[0] else "/"


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
