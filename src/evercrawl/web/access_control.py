"""Middleware that checks host, origin, rate and user of every request.
The Host check stops DNS rebinding; Origin and CSRF checks stop requests that another site makes the browser send.
Accepted requests have their user in `request.state.user`."""

from __future__ import annotations

import hmac
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http import HTTPStatus

import orjson
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as AsgiScope

from evercrawl.collection.alerts.subscriptions import MAX_BODY_BYTES as HUB_BODY_BYTES
from evercrawl.model.connection_limits import address_block
from evercrawl.web.auth import AccessScope, AuthStore, User
from evercrawl.web.doors import CONNECTION, AnonymousTurns, GuardedProtocol

COOKIE = "evercrawl_session"
"""The port is appended, since cookies ignore ports and one host may serve several collections."""
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
MAX_BODY_BYTES = 1_000_000
UPLOAD_PATH = "/api/v1/backup-files"
MAX_UPLOAD_BYTES = 1 << 40  # Of a backup; the disk is the limit.
MAX_ADDRESSES = 10_000
HUB_PREFIX = "/websub/"
COLLECTION_PREFIX = "/c/"  # Before the name of a collection, where a folder is served.
BURST, PER_S = 400, 100.0
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


@dataclass(frozen=True, slots=True)
class AllowedOrigins:
    """The origins of the interface, and its cookie."""

    origins: frozenset[str]  # Such as `http://127.0.0.1:8787`.
    frames: str  # Origins of archived pages, for the content security policy.
    cookie: str = COOKIE
    secure: bool = False  # Send cookies only over https.
    hosts: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "hosts", frozenset(origin.partition("://")[2] for origin in self.origins))


def policy_sources(origins: Iterable[str]) -> str:
    """Return origins for a content security policy, whose grammar has no IPv6 addresses."""
    return " ".join(sorted(origin for origin in origins if "[" not in origin)) or "'none'"


def interface_policy(frames: str) -> str:
    """Return the content security policy: nothing inline, and only archived pages from another origin."""
    framed = frames or "'none'"
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        f"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; frame-src {framed}"
    )


class AccessMiddleware:
    """Check every request before the application sees it."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        origins: AllowedOrigins,
        auth: AuthStore,
        turns: AnonymousTurns,
        given_token: str | None = None,
    ) -> None:
        self.app = app
        self.turns = turns
        self.origins = origins
        self.auth = auth
        self.given_token = given_token
        self.rate = RateLimit(burst=BURST, per_s=PER_S)
        self._policy = interface_policy(origins.frames)

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        user = self._user(headers)
        prove_client(scope, is_known=user is not None)
        scope.setdefault("state", {})["user"] = user
        send = self._with_headers(scope, send)
        receive = _limit_body(receive, max_body_bytes(scope["path"], user))
        if user is not None:
            await self._run(scope, receive, send)
        elif not await self.turns.run(self._run, scope, receive, send):
            await busy_response()(scope, receive, send)

    async def _run(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        refused = self._refusal(scope, Headers(scope=scope), scope["state"]["user"])
        await (self.app if refused is None else refused)(scope, receive, send)

    def is_known(self, path: str, headers: Headers) -> bool:
        """Return whether a user sends the request."""
        return self._user(headers) is not None

    def _refusal(self, scope: AsgiScope, headers: Headers, user: User | None) -> Response | None:
        """Return the error for a refused request; None if it is accepted."""
        if headers.get("host", "").lower() not in self.origins.hosts:
            return error_response(421, "unknown host; open the address that evercrawl serve printed")
        wait_s = self.rate.wait_s(client_block(scope) if user is None else f"user {user.name}")
        if wait_s:
            response = error_response(429, "too many requests; wait a moment")
            response.headers["Retry-After"] = str(int(wait_s) + 1)
            response.headers["Connection"] = "close"
            return response
        if scope["method"] not in SAFE_METHODS and not self._is_same_origin(headers):
            return error_response(403, "this request comes from another site")
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > max_body_bytes(scope["path"], user):
            return error_response(413, "the request is too large")
        return None

    def _is_same_origin(self, headers: Headers) -> bool:
        """Return whether no other site caused the request; browsers send the origin with every POST."""
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return False
        origin = headers.get("origin")
        return origin is None or origin.lower() in self.origins.origins

    def _user(self, headers: Headers) -> User | None:
        kind, _, secret = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            if self.given_token is not None and is_same(secret, self.given_token):
                return User("command-line token", AccessScope.ADMIN, None)
            return self.auth.token(secret)
        session = session_secret(headers, self.origins.cookie)
        return self.auth.session(session) if session else None

    def _with_headers(self, scope: AsgiScope, send: Send) -> Send:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                headers["Content-Security-Policy"] = self._policy
                if not scope["path"].startswith("/static/"):
                    headers.setdefault("Cache-Control", "no-store")
            await send(message)

        return send_with_headers


def is_same(secret: str, known: str) -> bool:
    """Compare secrets in constant time."""
    return hmac.compare_digest(secret.encode("utf-8", "replace"), known.encode("utf-8", "replace"))


def session_secret(headers: Headers, name: str) -> str | None:
    """Return the secret of the session cookie, if there is one."""
    for pair in headers.get("cookie", "").split(";"):
        key, _, value = pair.partition("=")
        if key.strip() == name:
            return value.strip().strip('"')
    return None


def error_response(status: int, message: str, /, **more: str) -> Response:
    """Return an error as JSON, with further members if any (RFC 9457)."""
    problem = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": message}
    return Response(orjson.dumps(problem | more), status, media_type="application/problem+json")


def busy_response() -> Response:
    """Return the error for a client that is not logged in while too many others are served."""
    response = error_response(503, "too many requests of clients that are not logged in; try again in a moment")
    response.headers["Retry-After"] = "5"
    response.headers["Connection"] = "close"  # And what else it has sent is not read.
    return response


def client_block(scope: AsgiScope, *, ipv4_bits: int = 32) -> str:
    """Return the address block of the client."""
    return address_block(scope["client"][0] if scope.get("client") else "-", ipv4_bits=ipv4_bits)


def prove_client(scope: AsgiScope, *, is_known: bool) -> None:
    """Tell the connection of a request whether its client is logged in; such connections are closed last."""
    connection = scope.get("state", {}).get(CONNECTION)
    if isinstance(connection, GuardedProtocol):
        connection.prove(is_known=is_known)


def has_valid_csrf(request: Request, given: str | None) -> bool:
    """Return whether the request has a bearer token, or the CSRF token of its session."""
    user: User | None = request.state.user
    if user is None or user.csrf is None:
        return True
    sent = given or request.headers.get("x-csrf-token", "")
    return is_same(sent, user.csrf)


def split_base(path: str) -> tuple[str | None, str]:
    """Return the encoded name of the collection of a folder and the path within it; None: it is of no collection."""
    if not path.startswith(COLLECTION_PREFIX):
        return None, path
    name, slash, rest = path.removeprefix(COLLECTION_PREFIX).partition("/")
    return (name, slash + rest) if name else (None, path)


def max_body_bytes(path: str, user: User | None) -> int:
    """Return the maximum body size for a path and a user: only administrators upload files."""
    inner = split_base(path)[1]
    if inner == UPLOAD_PATH and user is not None and user.scope >= AccessScope.ADMIN:
        return MAX_UPLOAD_BYTES
    return HUB_BODY_BYTES if inner.startswith(HUB_PREFIX) else MAX_BODY_BYTES


def _limit_body(receive: Receive, max_bytes: int) -> Receive:
    """Disconnect a client whose body exceeds the limit without a Content-Length."""
    received = 0

    async def receive_limited() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > max_bytes:
            return {"type": "http.disconnect"}
        return message

    return receive_limited


def loopback_origins(ports: Iterable[int], scheme: str = "http") -> frozenset[str]:
    """Return the origins of this machine."""
    return frozenset(f"{scheme}://{host}:{port}" for host in ("127.0.0.1", "localhost", "[::1]") for port in ports)


class RateLimit:
    """A token bucket per key: `burst` at once, `per_s` on average."""

    def __init__(self, *, burst: float, per_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._burst = burst
        self._per_s = per_s
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_s(self, key: str) -> float:
        """Take a token and return 0, or return how long to wait for one."""
        now = self._clock()
        left, at = self._buckets.pop(key, (self._burst, now))
        left = min(self._burst, left + (now - at) * self._per_s)
        is_allowed = left >= 1
        self._buckets[key] = (left - 1 if is_allowed else left, now)
        while len(self._buckets) > MAX_ADDRESSES:
            self._buckets.popitem(last=False)
        return 0.0 if is_allowed else (1 - left) / self._per_s
