"""The HTTP/1.1 client, see `docs/decisions/0002-own-http-client.md`."""

from __future__ import annotations

from evercrawl.adapters.http.client import HttpFetcher

__all__ = ["HttpFetcher"]
