"""Sitemaps in front of a WSGI application: Django, Flask and others (PEP 3333).

application = SitemapMiddleware(application, "/var/www/sitemaps")
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from http import HTTPStatus
from pathlib import Path
from typing import Any

from evercrawl.sitemaps.answer import SitemapFolder

Environment = dict[str, Any]
StartResponse = Callable[..., Any]
Application = Callable[[Environment, StartResponse], Iterable[bytes]]

_CONDITIONS = {
    "if-none-match": "HTTP_IF_NONE_MATCH",
    "if-modified-since": "HTTP_IF_MODIFIED_SINCE",
    "accept-encoding": "HTTP_ACCEPT_ENCODING",
}


class SitemapMiddleware:
    """Answers `/sitemap*.xml` and the parameter XTND from a folder; the rest is the application's."""

    def __init__(self, application: Application, folder: str | Path, *, prefix: str = "") -> None:
        self._application = application
        self._sitemaps = SitemapFolder(Path(folder), prefix.rstrip("/"))

    def __call__(self, environ: Environment, start_response: StartResponse) -> Iterable[bytes]:
        """One request."""
        headers = {name: environ[key] for name, key in _CONDITIONS.items() if key in environ}
        found = self._sitemaps.answer(
            environ.get("REQUEST_METHOD", "GET"), environ.get("PATH_INFO", ""), environ.get("QUERY_STRING", ""), headers
        )
        if found is None:
            return self._application(environ, start_response)
        start_response(f"{found.status} {HTTPStatus(found.status).phrase}", list(found.headers))
        return [found.body]
