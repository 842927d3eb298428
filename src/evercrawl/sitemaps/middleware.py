"""Serve sitemaps from a folder in front of a WSGI (PEP 3333) or ASGI application.
Requests with the parameter XTND (paper C, section 4.3) get the extended sitemap, all others the standard one.
Conditional requests, gzip and HEAD are supported. Other requests go to the application."""

from __future__ import annotations

import asyncio
import mimetypes
import os
import re
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from http import HTTPStatus
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import Any, BinaryIO, NamedTuple
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from evercrawl.core.digest import content_digest
from evercrawl.core.faults import http_date
from evercrawl.core.sitemap.sitemap_discovery import EXTENDED_PARAMETER
from evercrawl.core.sitemap.sitemap_writer import gzip_bytes
from evercrawl.errors import ConfigError
from evercrawl.sitemaps.folder_pages import INDEX_NAMES

STANDARD, EXTENDED = "sitemap.xml", "sitemap-extended.xml"
MIN_GZIP_BYTES = 512  # Smaller files are not compressed.
MAX_CACHE_BYTES = 128 * 1024 * 1024  # Limit of cached files; beyond it the oldest ones are dropped.
MAX_AGE_S = 300  # How long clients may reuse a copy without revalidation.

_NAME = re.compile(r"/(sitemap[A-Za-z0-9._-]*\.xml(?:\.gz)?)", re.ASCII)
_ETAG = re.compile(r'(?:W/)?("[^"]*")')
_TYPES = {".xml": "application/xml; charset=utf-8", ".gz": "application/gzip"}

Fields = tuple[tuple[str, str], ...]
Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApplication = Callable[[Scope, Receive, Send], Awaitable[None]]
Environment = dict[str, Any]
StartResponse = Callable[..., Any]
WsgiApplication = Callable[[Environment, StartResponse], Iterable[bytes]]
_CONDITIONS = {
    "if-none-match": "HTTP_IF_NONE_MATCH",
    "if-modified-since": "HTTP_IF_MODIFIED_SINCE",
    "accept-encoding": "HTTP_ACCEPT_ENCODING",
}


class SitemapResponse(NamedTuple):
    """Status, headers and body. The response to HEAD has the headers of GET and an empty body."""

    status: int
    headers: Fields
    body: bytes


class _CachedFile(NamedTuple):
    """A file with the fingerprint it had when it was read."""

    fingerprint: tuple[int, int, int]
    data: bytes
    gzip_data: bytes | None
    etag: str
    modified: datetime


@dataclass
class SitemapFolder:
    """The sitemaps in a folder. Files are cached in memory until they change."""

    folder: Path
    prefix: str = ""  # Path of the site, without a trailing slash.
    _cache: dict[str, _CachedFile] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def respond(self, method: str, path: str, query: str, headers: Mapping[str, str]) -> SitemapResponse | None:
        """Return the response to a request, or None if it is not for a sitemap. Names in `headers` are lower-case."""
        if method not in ("GET", "HEAD") or not path.startswith(self.prefix):
            return None
        cached = self._find_file(path[len(self.prefix) :], extended=wants_extended(query))
        if cached is None:
            return None
        name, file = cached
        use_gzip = file.gzip_data is not None and _accepts_gzip(headers.get("accept-encoding", ""))
        etag = f'"{file.etag}-gz"' if use_gzip else f'"{file.etag}"'
        fields: list[tuple[str, str]] = [
            ("ETag", etag),
            ("Last-Modified", format_datetime(file.modified, usegmt=True)),
            ("Cache-Control", f"max-age={MAX_AGE_S}"),
        ]
        if file.gzip_data is not None:
            fields.append(("Vary", "Accept-Encoding"))
        if _is_current(headers, etag, file.modified):
            return SitemapResponse(304, tuple(fields), b"")
        body = file.gzip_data if use_gzip and file.gzip_data is not None else file.data
        fields.append(("Content-Type", _TYPES[Path(name).suffix]))
        fields.append(("Content-Length", str(len(body))))
        if use_gzip:
            fields.append(("Content-Encoding", "gzip"))
        return SitemapResponse(200, tuple(fields), body if method == "GET" else b"")

    def _find_file(self, path: str, *, extended: bool) -> tuple[str, _CachedFile] | None:
        """Return the requested file. XTND works for the sitemap and the front page."""
        if extended and path in ("/", "", f"/{STANDARD}") and (file := self._load_file(EXTENDED)) is not None:
            return EXTENDED, file
        match = _NAME.fullmatch(path)
        if match is None or (file := self._load_file(match[1])) is None:
            return None
        return match[1], file

    def _load_file(self, name: str) -> _CachedFile | None:
        path = self.folder / name
        try:
            stat = path.stat()
            fingerprint = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
            with self._lock:
                cached = self._cache.get(name)
            if cached is not None and cached.fingerprint == fingerprint:
                return cached
            data = path.read_bytes()
        except OSError:
            return None
        use_gzip = len(data) >= MIN_GZIP_BYTES and not name.endswith(".gz")
        modified = datetime.fromtimestamp(stat.st_mtime_ns // 1_000_000_000, UTC)
        cached = _CachedFile(
            fingerprint, data, gzip_bytes(data) if use_gzip else None, content_digest(data).hex(), modified
        )
        with self._lock:
            self._cache_file(name, cached)
        return cached

    def _cache_file(self, name: str, cached: _CachedFile) -> None:
        self._cache.pop(name, None)
        self._cache[name] = cached
        while len(self._cache) > 1 and sum(len(one.data) for one in self._cache.values()) > MAX_CACHE_BYTES:
            self._cache.pop(next(iter(self._cache)))


def wants_extended(query: str) -> bool:
    """Check whether the query has the parameter XTND, with or without a value."""
    return any(part.partition("=")[0].upper() == EXTENDED_PARAMETER for part in re.split("[&;]", query))


def _accepts_gzip(accepted: str) -> bool:
    """Check whether Accept-Encoding allows gzip (RFC 9110 section 12.5.3)."""
    weights: dict[str, float] = {}
    for part in accepted.lower().split(","):
        coding, _, rest = part.partition(";")
        quality = re.fullmatch(r"\s*q\s*=\s*([0-9.]+)\s*", rest)
        try:
            weights[coding.strip()] = float(quality[1]) if quality else 1.0
        except ValueError:
            weights[coding.strip()] = 0.0
    return weights.get("gzip", weights.get("*", 0.0)) > 0


def _is_current(headers: Mapping[str, str], etag: str, modified: datetime) -> bool:
    """Check the client's copy; If-None-Match overrides If-Modified-Since (RFC 9110 section 13.2.2)."""
    if (tags := headers.get("if-none-match")) is not None:
        return tags.strip() == "*" or etag in _ETAG.findall(tags)
    since = http_date(headers["if-modified-since"]) if "if-modified-since" in headers else None
    return since is not None and modified <= since


class AsgiSitemapMiddleware:
    """Serve `/sitemap*.xml` and the parameter XTND in front of an ASGI application."""

    def __init__(self, application: AsgiApplication, folder: str | Path, *, prefix: str = "") -> None:
        self._application = application
        self._sitemaps = SitemapFolder(Path(folder), prefix.rstrip("/"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        # Only HTTP scopes have a path; this check is cheap, since every request of the site passes here.
        if scope["type"] != "http" or not (
            "sitemap" in scope["path"] or b"xtnd" in scope.get("query_string", b"").lower()
        ):
            await self._application(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        query = scope.get("query_string", b"").decode("latin-1")
        # Reading and compressing a changed file would block the event loop.
        response = await asyncio.to_thread(self._sitemaps.respond, scope["method"], scope["path"], query, headers)
        if response is None:
            await self._application(scope, receive, send)
            return
        fields = [(name.lower().encode(), value.encode("latin-1")) for name, value in response.headers]
        await send({"type": "http.response.start", "status": response.status, "headers": fields})
        await send({"type": "http.response.body", "body": response.body})


class WsgiSitemapMiddleware:
    """Serve `/sitemap*.xml` and the parameter XTND in front of a WSGI application."""

    def __init__(self, application: WsgiApplication, folder: str | Path, *, prefix: str = "") -> None:
        self._application = application
        self._sitemaps = SitemapFolder(Path(folder), prefix.rstrip("/"))

    def __call__(self, environ: Environment, start_response: StartResponse) -> Iterable[bytes]:
        """Handle one request."""
        headers = {name: environ[key] for name, key in _CONDITIONS.items() if key in environ}
        response = self._sitemaps.respond(
            environ.get("REQUEST_METHOD", "GET"), environ.get("PATH_INFO", ""), environ.get("QUERY_STRING", ""), headers
        )
        if response is None:
            return self._application(environ, start_response)
        start_response(f"{response.status} {HTTPStatus(response.status).phrase}", list(response.headers))
        return [response.body]


BLOCK = 64 * 1024


class StaticFileApp:
    """A WSGI application that serves the files of a folder, and never anything outside of it."""

    def __init__(self, folder: Path, *, clean_urls: bool = False) -> None:
        self._folder = folder.resolve()
        self._clean_urls = clean_urls

    def __call__(self, environ: Environment, start_response: StartResponse) -> Iterable[bytes]:
        """Handle one request."""
        method = environ["REQUEST_METHOD"]
        if method not in ("GET", "HEAD"):
            return _plain(start_response, "405 Method Not Allowed", (("Allow", "GET, HEAD"),))
        path = environ.get("PATH_INFO", "/").encode("latin-1").decode("utf-8", "surrogateescape")
        found = self._found(path)
        if found is None:
            return _plain(start_response, "404 Not Found")
        if found.is_dir():
            return _plain(start_response, "301 Moved Permanently", (("Location", _with_slash(environ)),))
        return _file(found, environ, start_response)

    def _found(self, path: str) -> Path | None:
        """Return the file of a path, or the folder if the path lacks its trailing slash."""
        if "\0" in path or any(part.startswith(".") for part in path.split("/")):
            return None
        wanted = Path(os.path.normpath(f"{self._folder}/{path}"))
        tried = [wanted]
        if path.endswith("/"):
            tried = [wanted / name for name in INDEX_NAMES]
        elif self._clean_urls:
            tried.append(wanted.with_name(wanted.name + ".html"))
        for one in tried:
            real = one.resolve()
            if (real == self._folder or self._folder in real.parents) and real.exists():
                return real
        return None


def _with_slash(environ: Environment) -> str:
    from urllib.parse import quote

    path = quote(environ.get("PATH_INFO", "").encode("latin-1"))
    return "/" + path.lstrip("/") + "/"


def _plain(start_response: StartResponse, status: str, fields: tuple[tuple[str, str], ...] = ()) -> list[bytes]:
    body = status.encode() + b"\n"
    about = [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))]
    start_response(status, [*fields, *about])
    return [body]


def _file(path: Path, environ: Environment, start_response: StartResponse) -> Iterable[bytes]:
    stat = path.stat()
    modified = datetime.fromtimestamp(int(stat.st_mtime), UTC)
    etag = f'"{stat.st_mtime_ns:x}-{stat.st_size:x}"'
    fields = [("ETag", etag), ("Last-Modified", format_datetime(modified, usegmt=True))]
    if _is_same_file(environ, etag, modified):
        start_response("304 Not Modified", fields)
        return []
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    start_response("200 OK", [*fields, ("Content-Type", kind), ("Content-Length", str(stat.st_size))])
    return [] if environ["REQUEST_METHOD"] == "HEAD" else _blocks(path.open("rb"))


def _is_same_file(environ: Environment, etag: str, modified: datetime) -> bool:
    if (tags := environ.get("HTTP_IF_NONE_MATCH")) is not None:
        return etag in tags
    since = http_date(environ["HTTP_IF_MODIFIED_SINCE"]) if "HTTP_IF_MODIFIED_SINCE" in environ else None
    return since is not None and modified <= since


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    with file:
        while block := file.read(BLOCK):
            yield block


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _SilentHandler(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


def create_server(folder: Path, *, host: str, port: int, clean_urls: bool = False) -> WSGIServer:
    """Return a server of the folder and its sitemaps."""
    application = WsgiSitemapMiddleware(StaticFileApp(folder, clean_urls=clean_urls), folder)
    try:
        return make_server(host, port, application, server_class=_Server, handler_class=_SilentHandler)
    except (OSError, OverflowError) as error:
        raise ConfigError(f"{host} port {port} cannot be used: {error}") from error
