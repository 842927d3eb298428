"""The origin of archived pages, where nothing may run scripts or load from elsewhere.
It uses no cookies. A page is opened with a key in its path, valid for a day, or with a token."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from html import escape
from typing import Any, Protocol
from urllib.parse import quote

from selectolax.lexbor import LexborHTMLParser, LexborNode
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as AsgiScope

from evercrawl.collection.captures import base_url, nearest_capture, rewrite_css, rewrite_srcset
from evercrawl.collection.field_values import marked_page
from evercrawl.collection.stored_pages import decode_css, decode_html, parse_response, read_resource
from evercrawl.collection.urls import canonical, join
from evercrawl.errors import ConfigError, StoreUnavailable
from evercrawl.model.listing import Capture
from evercrawl.model.report import PageContent
from evercrawl.model.time import from_us
from evercrawl.web.access_control import (
    RateLimit,
    busy_response,
    client_block,
    error_response,
    is_same,
    policy_sources,
    prove_client,
)
from evercrawl.web.app_state import AppState
from evercrawl.web.auth import AuthStore
from evercrawl.web.doors import AnonymousTurns
from evercrawl.web.pages.history import is_replay_key
from evercrawl.web.protocols.memento import (
    STAMP,
    MementoUrls,
    header_url,
    http_date,
    known_captures,
    memento_links,
    repair_url,
    stamp_of,
    time_gate,
    time_map,
    url_after,
)
from evercrawl.web.route import BadRequest

SVG = "image/svg+xml"
SHOWN_IMAGES = frozenset(
    {"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp", "image/x-icon",
     "image/vnd.microsoft.icon", SVG}
)  # fmt: skip
SHOWN_MEDIA = ("font/", "audio/", "video/", "application/font", "application/vnd.ms-fontobject")
SHOWN_TEXTS = frozenset({"text/plain", "text/css", "application/json", "text/xml", "application/xml"})
PAGES = frozenset({"text/html", "application/xhtml+xml"})
DOCUMENTS = frozenset({"document", "iframe", "frame", "embed", "object"})  # Requests that show a document.
PICKED = "picked"  # The same, and a click in the page says which part was meant.
NONCE = "evercrawl.nonce"  # In the scope of a request: a list with what our own script in the answer is allowed by.
PICKER = """<style>[data-evercrawl-place]:hover:not(:has([data-evercrawl-place]:hover))
{{outline:3px solid #c2410c!important;cursor:crosshair!important}}</style>
<script nonce="{}">addEventListener("click", (event) => {{
const part = event.target.closest("[data-evercrawl-place]");
event.preventDefault(); event.stopPropagation();
if (part) parent.postMessage({{ place: Number(part.dataset.evercrawlPlace) }}, "*");
}}, true);</script>"""
SHOWN = "shown"  # Instead of a modifier: a browser shows the answer as a document.
BURST, PER_S = 400, 100.0


def replay_policy(parents: Sequence[str]) -> str:
    """Return the content security policy: no scripts, no requests elsewhere, frames only in the interface."""
    return (
        "sandbox; default-src 'none'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; "
        "font-src 'self' data:; media-src 'self'; form-action 'none'; base-uri 'none'; "
        f"frame-ancestors {policy_sources(parents)}"
    )


def picking_policy(policy: str, nonce: str) -> str:
    """Return the policy for a page in which a user points at a part: our script runs, alone and without an origin."""
    return policy.replace("sandbox;", "sandbox allow-scripts;", 1) + f"; script-src 'nonce-{nonce}'"


def has_token(headers: Headers, auth: AuthStore, given: str | None) -> bool:
    """Return whether a request has a valid token, stored or given on the command line."""
    kind, _, secret = headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer":
        return False
    return (given is not None and is_same(secret, given)) or auth.token(secret) is not None


async def health(request: Request) -> Response:
    """Return that the process responds."""
    return Response("ok\n", media_type="text/plain")


async def forbid_crawlers(request: Request) -> Response:
    """Return a robots.txt that forbids everything."""
    return Response("User-agent: *\nDisallow: /\n", media_type="text/plain")


class ReplayPages:
    """The routes of archived pages."""

    def __init__(
        self, state: AppState, *, origins: frozenset[str], parents: Sequence[str], public: bool, token: str | None
    ) -> None:
        self.state = state
        self.origins = origins
        self.hosts = frozenset(origin.partition("://")[2] for origin in origins)
        self.public = public
        self.token = token
        self.policy = replay_policy(parents)
        self.turns = state.turns
        self.rate = RateLimit(burst=BURST, per_s=PER_S)

    def app(self) -> ReplayMiddleware:
        """Return the application."""
        return ReplayMiddleware(self.routes(), self)

    def routes(self) -> Starlette:
        """Return the application without its checks."""
        routes = [
            Route("/healthz", health),
            Route("/robots.txt", forbid_crawlers),
            Route("/r/{key}/web/{rest:path}", self.open_with_key),
            Route("/p/{key}/web/{rest:path}", self.open_to_pick),
            Route("/web/{rest:path}", self.open),
        ]
        return Starlette(routes=routes)

    async def open_with_key(self, request: Request) -> Response:
        """Return an archived page for a key of the interface."""
        key = request.path_params["key"]
        if not is_replay_key(self.state.auth, key, now=self.state.now()):
            return error_response(403, "this link has expired; open the page from the interface again")
        return await self._respond(request, f"{self.state.base}/r/{key}")

    async def open_to_pick(self, request: Request) -> Response:
        """Return an archived page in which a click says which part was meant."""
        request.scope[NONCE].append(secrets.token_urlsafe(16))  # The scope itself may be a copy.
        return await self.open_with_key(request)

    async def open(self, request: Request) -> Response:
        """Return an archived page for a token, or for everyone if the archive is public."""
        is_known = self._has_token(request.headers)
        if not self.public and not is_known:
            return error_response(401, "not logged in; send a token, or open the page from the interface")
        return await self._respond(request, self.state.base, is_public=not is_known)

    def is_known(self, path: str, headers: Headers) -> bool:
        """Return whether a user sends the request, by a token or by a key of the interface."""
        first, _, rest = path.removeprefix("/").partition("/")
        is_open = first in ("r", "p") and is_replay_key(self.state.auth, rest.partition("/")[0], now=self.state.now())
        return is_open or self._has_token(headers)

    def _has_token(self, headers: Headers) -> bool:
        return has_token(headers, self.state.auth, self.token)

    async def _respond(self, request: Request, prefix: str, *, is_public: bool = False) -> Response:
        try:
            return await self._archived(request, prefix, is_public)
        except BadRequest as error:
            return error_response(error.status, error.message)
        except StoreUnavailable as error:
            return error_response(503, str(error))
        except ConfigError as error:
            return error_response(404, str(error))

    async def _archived(self, request: Request, prefix: str, is_public: bool) -> Response:
        host = request.headers.get("host", "")
        origin = next((one for one in self.origins if one.partition("://")[2] == host), f"http://{host}")
        urls = MementoUrls(origin + self.state.base, origin + self.state.base)
        rest = url_after(request, "/web/")
        for form in ("link", "json"):
            if rest.startswith(f"timemap/{form}/"):
                return await time_map(request, self.state, urls, form)
        first, slash, target = rest.partition("/")
        found = STAMP.fullmatch(first)
        if not slash or found is None:
            return await time_gate(request, self.state, urls, prefix)
        modifier = found[2] or ""
        if request.headers.get("sec-fetch-dest") in DOCUMENTS:
            # Pages as they were sent are for programs: a browser would connect to hosts that they name.
            modifier = SHOWN
        if nonces := request.scope.get(NONCE):
            modifier = f"{PICKED}{nonces[0]}"
        return await self._memento(request, repair_url(target), found[1], modifier, urls, prefix, is_public)

    async def _memento(
        self, request: Request, url: str, stamp: str, modifier: str, urls: MementoUrls, prefix: str, is_public: bool
    ) -> Response:
        captures = await known_captures(self.state, url)
        chosen = nearest_capture(captures, parse_stamp(stamp))
        if chosen.moved_to is not None:
            moved = RedirectResponse(f"{prefix}/web/{stamp}{_written(modifier)}/{header_url(chosen.moved_to)}", 302)
            _describe(moved, captures, chosen, urls)
            return moved
        if not chosen.version:
            response = await run_in_threadpool(self._asset, chosen, stamp, modifier, prefix)
            _describe(response, captures, chosen, urls)
            return response
        if stamp_of(chosen) != stamp:
            return RedirectResponse(
                f"{prefix}/web/{stamp_of(chosen)}{_written(modifier)}/{header_url(chosen.url)}", 302
            )
        view = await run_in_threadpool(self.state.collection.show, chosen.url, f"v{chosen.version}")
        if is_public and await run_in_threadpool(self._is_noarchive, view):
            return error_response(403, "this page forbids archived copies (noarchive)")
        body, kind = view.html, view.content_type
        response = await run_in_threadpool(self._render, view.url, body, kind, stamp, modifier, prefix)
        _describe(response, captures, chosen, urls)
        return response

    def _is_noarchive(self, view: PageContent) -> bool:
        return parse_response(view.url, view.headers, view.html, self.state.settings).robots.noarchive

    def _asset(self, chosen: Capture, stamp: str, modifier: str, prefix: str) -> Response:
        stored = read_resource(self.state.path, self.state.settings, chosen)
        response = self._render(chosen.url, stored.body, chosen.content_type, stamp, modifier, prefix)
        response.status_code = chosen.status or 200
        # Fonts need it, since archived pages have an origin of their own.
        response.headers["Access-Control-Allow-Origin"] = "*"
        return response

    def _render(
        self, url: str, body: bytes, content_type: str | None, stamp: str, modifier: str, prefix: str
    ) -> Response:
        kind = (content_type or "application/octet-stream").partition(";")[0].strip().lower()

        def place(target: str) -> str:
            return f"{prefix}/web/{stamp}/{header_url(target)}"

        if kind in PAGES and modifier != "id_":
            markup = decode_html(body, content_type)
            is_picked = modifier.startswith(PICKED)
            page = sanitize_page(marked_page(markup) if is_picked else markup, url, place)
            if is_picked:
                page += PICKER.format(modifier.removeprefix(PICKED))
            return Response(page.encode("utf-8", "replace"), media_type="text/html; charset=utf-8")
        if kind == SVG and modifier == SHOWN:
            # In an image nothing runs and nothing is loaded.
            image = escape(f"{prefix}/web/{stamp}mp_/{header_url(url)}")
            return Response(f'<!doctype html><img src="{image}" alt="">', media_type="text/html; charset=utf-8")
        if kind == "text/css" and modifier != "id_":
            style = rewrite_css(decode_css(body, content_type), lambda text: _archived_style_url(text, url, place))
            return Response(style.encode("utf-8", "replace"), media_type="text/css; charset=utf-8")
        if kind in PAGES or kind in SHOWN_TEXTS:
            return Response(body, media_type=kind if kind in PAGES else _text_kind(kind, content_type))
        if kind in SHOWN_IMAGES or kind.startswith(SHOWN_MEDIA):
            return Response(body, media_type=kind)
        response = Response(body, media_type="application/octet-stream")
        response.headers["Content-Disposition"] = "attachment"
        return response


def _written(modifier: str) -> str:
    return "" if modifier == SHOWN or modifier.startswith(PICKED) else modifier


def _text_kind(kind: str, content_type: str | None) -> str:
    shown = kind if kind == "text/css" else "text/plain"
    _, _, charset = (content_type or "").lower().partition("charset=")
    name = "".join(c for c in charset.strip("\"' ") if c.isalnum() or c in "-_")[:40]
    return f"{shown}; charset={name or 'utf-8'}"


def _describe(response: Response, captures: Sequence[Capture], chosen: Capture, urls: MementoUrls) -> None:
    response.headers["Memento-Datetime"] = http_date(from_us(chosen.seen_us))
    response.headers["Link"] = memento_links(captures, chosen, urls)


def parse_stamp(stamp: str) -> datetime:
    """Return the time of 4 to 14 digits; raise BadRequest if it is not valid."""
    padded = stamp + "00000101000000"[len(stamp) :]
    try:
        return datetime.strptime(padded, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError as error:
        raise BadRequest("the time must be 14 digits, such as 20261101120000") from error


class ReplayDoor(Protocol):
    """What decides which requests for archived pages are answered."""

    hosts: frozenset[str]
    policy: str
    rate: RateLimit
    turns: AnonymousTurns

    def is_known(self, path: str, headers: Headers) -> bool:
        """Return whether a user sends the request."""


class ReplayMiddleware:
    """Check host, method and rate, and add the headers that make archived pages inert."""

    def __init__(self, app: ASGIApp, replay: ReplayDoor) -> None:
        self.app = app
        self.replay = replay
        self.is_known = replay.is_known

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        send_with_headers = self._with_headers(send, scope)
        is_known = self.is_known(scope["path"], Headers(scope=scope))
        prove_client(scope, is_known=is_known)
        if Headers(scope=scope).get("host", "").lower() not in self.replay.hosts:
            await error_response(421, "unknown host")(scope, receive, send_with_headers)
        elif scope["method"] not in ("GET", "HEAD"):
            await error_response(405, "archived pages are read-only")(scope, receive, send_with_headers)
        elif self.replay.rate.wait_s("users" if is_known else client_block(scope)):
            await error_response(429, "too many requests; wait a moment")(scope, receive, send_with_headers)
        elif is_known:
            await self.app(scope, receive, send_with_headers)
        elif not await self.replay.turns.run(self.app, scope, receive, send_with_headers):
            await busy_response()(scope, receive, send_with_headers)

    def _with_headers(self, send: Send, scope: AsgiScope) -> Send:
        nonces: list[str] = scope.setdefault(NONCE, [])
        fixed: dict[str, Any] = {
            "Content-Security-Policy": self.replay.policy,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "cross-origin",
            "X-DNS-Prefetch-Control": "off",
            "X-Robots-Tag": "noindex, nofollow",
            "Cache-Control": "no-store",
            "Permissions-Policy": "camera=(), geolocation=(), microphone=(), fullscreen=()",
        }

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in fixed.items():
                    headers[name] = value
                if nonces:
                    headers["Content-Security-Policy"] = picking_policy(self.replay.policy, nonces[0])
            await send(message)

        return send_with_headers


REMOVED = "script, object, embed, applet, portal, fencedframe, template"  # Elements that run or load something.
FRAMES = "iframe, frame"
KEPT_LINKS = frozenset({"stylesheet", "icon", "shortcut"})
URL_ATTRIBUTES = frozenset(
    {"href", "src", "action", "formaction", "poster", "background", "data", "cite", "longdesc", "xlink:href",
     "manifest", "codebase", "classid", "profile", "usemap", "lowsrc", "dynsrc", "icon"}
)  # fmt: skip
DROPPED_ATTRIBUTES = frozenset(
    {"ping", "target", "nonce", "integrity", "crossorigin", "autofocus", "srcdoc",
     "archive", "attributionsrc", "http-equiv"}
)  # fmt: skip
MAX_PAGE_BYTES = 20_000_000


def sanitize_page(html: str, base: str, place: Callable[[str], str]) -> str:
    """Return the page without active content; `place` maps a URL to its archived copy.
    This is the second defence; the first is the content security policy."""
    tree = LexborHTMLParser(html[:MAX_PAGE_BYTES])
    base = _base(tree, base)
    for node in tree.css(f"{REMOVED}, {FRAMES}, base, meta[http-equiv]"):
        node.decompose()
    for node in tree.css("link"):
        relations = set((node.attributes.get("rel") or "").lower().split())
        if not relations & KEPT_LINKS or relations & {"preload", "prefetch", "dns-prefetch", "preconnect"}:
            node.decompose()
    for node in tree.css("style"):
        node.inner_html = _archived_style(node.text() or "", base, place)
    for node in tree.css("*"):
        _clean_attributes(node, base, place)
    return tree.html or ""


def _base(tree: LexborHTMLParser, base: str) -> str:
    node = tree.css_first("base[href]")
    return base_url(base, (node.attributes.get("href") or None) if node is not None else None)


def _clean_attributes(node: LexborNode, base: str, place: Callable[[str], str]) -> None:
    for name, value in list(node.attributes.items()):
        low = name.lower()
        if low.startswith("on") or low in DROPPED_ATTRIBUTES:
            del node.attrs[name]
        elif low == "style":
            node.attrs[name] = _archived_style(value or "", base, place)
        elif low in ("srcset", "imagesrcset"):
            node.attrs[name] = rewrite_srcset(value or "", lambda text: _archived_link(text, base, place))
        elif low in URL_ATTRIBUTES or low.endswith(":href"):
            node.attrs[name] = _archived_link(value or "", base, place)


def _archived_style(css: str, base: str, place: Callable[[str], str]) -> str:
    """Return a style sheet inside a page that loads everything from the archive."""
    return rewrite_css(css, lambda text: _archived_style_url(text, base, place)).replace("<", "")


def _archived_style_url(written: str, base: str, place: Callable[[str], str]) -> str:
    """Return the URL inside the archive; data stays, since the content security policy decides what it may be."""
    if written.strip()[:5].lower() == "data:":
        return written.replace("<", "%3C").replace(">", "%3E")
    return _archived_link(written, base, place)


def _archived_link(written: str, base: str, place: Callable[[str], str]) -> str:
    """Return the link inside the archive, or `#` if it is not a page."""
    stripped = written.strip()
    if stripped.startswith("#"):
        return stripped
    if stripped[:5].lower() == "data:" and stripped[5:11].lower() == "image/" and "svg" not in stripped[:30].lower():
        return stripped
    absolute = join(base, stripped)
    name = canonical(absolute) if absolute else None
    if name is None:
        return "#"
    _, mark, fragment = (absolute or "").partition("#")
    return place(name) + (mark + quote(fragment, safe="%!$&'()*+,;=:@/?-._~") if fragment else "")
