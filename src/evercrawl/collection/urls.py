"""URLs as people type them, and requests to visit them soon."""

from __future__ import annotations

import asyncio
import re
from difflib import get_close_matches
from pathlib import Path

from evercrawl.cluster.visit_requests import VisitRequest, list_requests, request_visits
from evercrawl.core.url import PAGE_SCHEMES, canonical, join, site_of, site_parts, surt
from evercrawl.errors import ConfigError
from evercrawl.model.sanitize import has_credentials, mask_passwords
from evercrawl.model.settings import Settings

__all__ = [
    "PrivateAddressError",
    "VisitRequest",
    "canonical",
    "fetch_text",
    "join",
    "list_requests",
    "parse_page_url",
    "request_visit",
    "request_visits",
    "require_public_url",
    "site_of",
    "surt",
    "with_scheme",
]

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?!\d+(?:[/?#]|$))")
"""The text before a colon, unless a port follows it: `localhost:8000` is a host."""
_WEB_SCHEMES = ("http", "https")


class PrivateAddressError(ConfigError):
    """The URL leads to a machine that only we can reach."""


def with_scheme(text: str) -> str:
    """Return the typed URL; a bare host name means https."""
    return text if "://" in text else f"https://{text}"


def parse_page_url(text: str) -> str:
    """Return the canonical URL of what the user typed; a bare host name means https."""
    typed = text.strip()
    scheme = _SCHEME.match(typed)
    schemes: tuple[str, ...] = PAGE_SCHEMES
    if scheme is not None and scheme[1].lower() not in _WEB_SCHEMES:
        schemes = _fetchable_schemes(scheme[1], typed)
    _refuse_credentials(typed)
    found = canonical(typed if scheme is not None else f"https://{typed}", schemes)
    if found is None:
        raise ConfigError(f"{text!r} is not a URL that can be crawled; write it like https://example.org/")
    return found


def _refuse_credentials(text: str) -> None:
    """Raise ConfigError for a URL with a user name or password: it would be stored and shown with every page."""
    if has_credentials(with_scheme(text)):
        raise ConfigError(
            f"{mask_passwords(with_scheme(text))!r} has a user name or password, which every page would store; "
            "give the URL without them"
        )


def _fetchable_schemes(scheme: str, text: str) -> tuple[str, ...]:
    """Return the schemes with a handler; raise ConfigError if `scheme` has none."""
    from evercrawl.adapters.plugins import installed_schemes

    installed = installed_schemes()
    if scheme.lower() not in installed:
        close = get_close_matches(scheme.lower(), (*_WEB_SCHEMES, *installed), n=1)
        better = f"did you mean {close[0] + text[len(scheme) :]!r}?" if close else "write it like https://example.org/"
        raise ConfigError(
            f"{mask_passwords(text)!r} is not a URL that can be crawled: no handler for {scheme!r}; {better}"
        )
    return tuple(f"{name}://" for name in installed)


def require_public_url(settings: Settings, text: str) -> str:
    """Return the canonical URL; raise PrivateAddressError if its host resolves to a private address."""
    from evercrawl.adapters.http.connections import FetchFailed
    from evercrawl.model.fetch import Fault

    _refuse_credentials(text.strip())
    url = canonical(with_scheme(text.strip()))
    if url is None:
        raise ConfigError(f"{text!r} is not a URL that can be crawled; write it like https://example.org/")
    site = site_parts(site_of(url))
    try:
        asyncio.run(_resolve(settings, site.host, site.port))
    except FetchFailed as failure:
        if failure.fault is Fault.PRIVATE_ADDRESS:
            raise PrivateAddressError(f"{url} is refused: {failure.detail}") from failure
    return url


async def _resolve(settings: Settings, host: str, port: int) -> None:
    from evercrawl.adapters.http.dns import Resolver

    resolver = Resolver(settings.dns, settings.http)
    try:
        await resolver.addresses(host, port)
    finally:
        await resolver.close()


def request_visit(collection: Path, settings: Settings, text: str, *, by: str) -> str:
    """Ask the running or next crawl to visit a page soon; return its URL, or raise ConfigError if out of scope."""
    from evercrawl.adapters.plugins import installed_schemes
    from evercrawl.cluster.crawl_builder import scope_of

    url = require_public_url(settings, text)
    scope = scope_of(settings, installed_schemes())
    refused = scope.verdict(url, depth=1)
    if refused is not None:
        raise ConfigError(f"{url} is not crawled: {refused[1]}")
    request_visits(collection, [url], by=by)
    return url


async def fetch_text(url: str, settings: Settings, *, max_bytes: int) -> str | None:
    """Fetch a small text file through the guarded fetcher; return None if that fails."""
    from evercrawl.adapters.http.client import HttpFetcher
    from evercrawl.adapters.system import SystemClock
    from evercrawl.model import __version__
    from evercrawl.model.fetch import Fetched, Request
    from evercrawl.model.user_agent import user_agent

    fetcher = HttpFetcher(settings, SystemClock(), user_agent(settings.identity, __version__))
    try:
        found = await fetcher.fetch(Request(url, body_limit=max_bytes))
    finally:
        await fetcher.close()
    return found.body.decode("utf-8", "replace") if isinstance(found, Fetched) else None
