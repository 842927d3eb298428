"""Sitemaps in front of an ASGI application: Starlette, FastAPI, Django and others.

application = SitemapMiddleware(application, "/var/www/sitemaps")
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

from evercrawl.sitemaps.answer import SitemapFolder

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


class SitemapMiddleware:
    """Answers `/sitemap*.xml` and the parameter XTND from a folder; the rest is the application's."""

    def __init__(self, application: Application, folder: str | Path, *, prefix: str = "") -> None:
        self._application = application
        self._sitemaps = SitemapFolder(Path(folder), prefix.rstrip("/"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One connection: a request, or something that only the application knows."""
        if scope["type"] != "http" or not _may_be_ours(scope):
            await self._application(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        query = scope.get("query_string", b"").decode("latin-1")
        # A file that changed is read and packed: that is not for the event loop.
        found = await asyncio.to_thread(self._sitemaps.answer, scope["method"], scope["path"], query, headers)
        if found is None:
            await self._application(scope, receive, send)
            return
        fields = [(name.lower().encode(), value.encode("latin-1")) for name, value in found.headers]
        await send({"type": "http.response.start", "status": found.status, "headers": fields})
        await send({"type": "http.response.body", "body": found.body})


def _may_be_ours(scope: Scope) -> bool:
    """Cheap, since every request of the site comes this way."""
    return "sitemap" in scope["path"] or b"xtnd" in scope.get("query_string", b"").lower()
