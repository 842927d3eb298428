"""Serve a folder of files and its sitemaps on the local machine, for preview."""

from __future__ import annotations

import mimetypes
import os
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import BinaryIO
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from evercrawl.core.faults import http_date
from evercrawl.errors import ConfigError
from evercrawl.sitemaps.folder_pages import INDEX_NAMES
from evercrawl.sitemaps.middleware import Environment, StartResponse, WsgiSitemapMiddleware

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
    if _is_current(environ, etag, modified):
        start_response("304 Not Modified", fields)
        return []
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    start_response("200 OK", [*fields, ("Content-Type", kind), ("Content-Length", str(stat.st_size))])
    return [] if environ["REQUEST_METHOD"] == "HEAD" else _blocks(path.open("rb"))


def _is_current(environ: Environment, etag: str, modified: datetime) -> bool:
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
