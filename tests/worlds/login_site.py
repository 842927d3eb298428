"""A site behind a login form, with tokens against forged requests, sessions that expire, and links that end them.
Every request is logged with its credentials, so that tests can see where they went."""

from __future__ import annotations

import base64
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

USER, PASSWORD = "reader", "correct-horse-battery-staple"
PAGES = 12


@dataclass
class LoginSite:
    """One site. `session_requests`: a session ends after this many requests; None: it never does."""

    session_requests: int | None = None
    basic: str | None = None  # `user:password` of HTTP Basic instead of the form.
    links: str = ""  # More links on every page.
    port: int = 0
    logins: int = 0
    requests: list[tuple[str, str, str]] = field(default_factory=list)  # Method, path and query, user.
    headers: list[dict[str, str]] = field(default_factory=list)
    sessions: dict[str, int] = field(default_factory=dict)
    tokens: set[str] = field(default_factory=set)
    issued: list[str] = field(default_factory=list)  # Every session that was ever given out.

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def paths(self) -> list[str]:
        return [path for _, path, _ in self.requests]

    def app(self) -> Starlette:
        routes = [
            Route("/robots.txt", lambda _: PlainTextResponse("User-agent: *\nDisallow: /nothing\n")),
            Route("/login", self._login, methods=["GET", "POST"]),
            Route("/{rest:path}", self._page),
        ]
        return Starlette(routes=routes)

    def _note(self, request: Request) -> bool:
        """Log a request; return whether it has a session."""
        session = request.cookies.get("sid", "")
        is_open = session in self.sessions
        if is_open and self.session_requests is not None:
            self.sessions[session] += 1
            if self.sessions[session] > self.session_requests:
                del self.sessions[session]
                is_open = False
        path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        self.requests.append((request.method, path, USER if is_open else ""))
        self.headers.append(dict(request.headers))
        return is_open

    async def _login(self, request: Request) -> Response:
        if self._note(request):
            return RedirectResponse("/", 302)
        if request.method == "GET":
            return self._form("")
        form = dict(parse_qsl((await request.body()).decode()))
        token = form.get("csrf", "")
        if token not in self.tokens or request.cookies.get("pre") != token:
            return PlainTextResponse("forged", 403)
        if form.get("email") != USER or form.get("pw") != PASSWORD or form.get("go") != "in":
            return self._form("<p>Wrong name or password</p>")
        self.logins += 1
        session = secrets.token_hex(16)
        self.sessions[session] = 0
        self.issued.append(session)
        answer = RedirectResponse("/", 303)
        answer.set_cookie("sid", session, httponly=True)
        return answer

    def _form(self, note: str) -> Response:
        token = secrets.token_hex(16)
        self.tokens.add(token)
        answer = HTMLResponse(
            f"<title>Login</title>{note}<form method=post action='/login?next=/'><input type=hidden name=csrf"
            f" value={token}><input name=email><input type=password name=pw><button name=go value=in>Go</button></form>"
            "<a href='/help'>Help</a> <a href='/register'>Register</a>"
        )
        answer.set_cookie("pre", token)
        return answer

    async def _page(self, request: Request) -> Response:
        is_open = self._note(request)
        path = request.url.path
        if self.basic is not None:
            wanted = "Basic " + base64.b64encode(self.basic.encode()).decode()
            is_open = request.headers.get("authorization") == wanted
            if not is_open:
                return PlainTextResponse("who?", 401, {"WWW-Authenticate": 'Basic realm="x"'})
        if not is_open and path != "/help":
            return RedirectResponse(f"/login?next={path}", 302)
        if path == "/bye":  # It does not look like a logout link, and deletes the cookie.
            self.sessions.pop(request.cookies["sid"], None)
            answer = HTMLResponse("<p>See you")
            answer.delete_cookie("sid")
            return answer
        if path == "/x/7":  # Nor does this one, and the cookie stays.
            self.sessions.pop(request.cookies["sid"], None)
            return HTMLResponse("<p>Seven of nine things")
        if path == "/forbidden":
            return PlainTextResponse("not for you", 403)
        if path == "/password":
            return self._frame("<form method=post><input type=password name=a><input type=password name=b></form>")
        return self._frame(f"<h1>Page {path}</h1><p>private words of {path} {'and so on ' * 20}</p>")

    def _frame(self, content: str) -> Response:
        pages = "".join(f"<a href='/p/{number}'>{number}</a> " for number in range(PAGES))
        return HTMLResponse(
            "<title>Site</title><nav><a href='/account'>Account</a> "
            f"<a href='/logout?t={secrets.token_hex(4)}'>Leave</a>"
            f" <a href='/forbidden'>f</a> <a href='/password'>p</a>{self.links}</nav><main>{content}</main>{pages}"
        )


@contextmanager
def serve(site: LoginSite) -> Iterator[LoginSite]:
    """Serve a site on loopback until the block ends."""
    config = uvicorn.Config(site.app(), host="127.0.0.1", port=0, log_level="error", lifespan="off")
    server = uvicorn.Server(config)
    socket = config.bind_socket()
    site.port = socket.getsockname()[1]
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.should_exit = True
        thread.join()
        socket.close()
