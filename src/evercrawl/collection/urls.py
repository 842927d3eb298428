"""URLs as people type them, and requests to visit them soon."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from difflib import get_close_matches
from html import unescape
from pathlib import Path

from evercrawl.cluster.run_requests import VisitRequest, list_requests, request_visits, take_new_urls
from evercrawl.core.url import (
    MAX_URL_CHARS,
    PAGE_SCHEMES,
    canonical,
    join,
    key_of,
    shard_of_site,
    site_of,
    site_parts,
    surt,
)
from evercrawl.errors import ConfigError
from evercrawl.model.sanitize import has_credentials, mask_passwords
from evercrawl.model.settings import Settings

__all__ = [
    "PrivateAddressError", "VisitRequest", "canonical", "fetch_text", "join", "list_requests", "parse_page_url",
    "read_url_list", "request_announced", "request_visit", "request_visits", "require_public_url", "site_of",
    "surt",
]  # fmt: skip

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?!\d+(?:[/?#]|$))")
"""The text before a colon, unless a port follows it: `localhost:8000` is a host."""
_WEB_SCHEMES = ("http", "https")
_FEED = re.compile(r"""\bxmlurl\s*=\s*["'](https?://[^"']+)""", re.IGNORECASE)  # Of an OPML file.
_LINK = re.compile(r"""\b(?:htmlurl|href)\s*=\s*["'](https?://[^"']+)""", re.IGNORECASE)  # And of bookmarks.
MAX_LISTED_URLS = 5_000  # URLs that can be entered at once.


class PrivateAddressError(ConfigError):
    """The URL leads to a machine that only we can reach."""


def with_scheme(text: str) -> str:
    """Return the typed URL; a bare host name means https."""
    return text if "://" in text else f"https://{text}"


def parse_page_url(text: str) -> str:
    """Return the canonical URL of what the user typed; a bare host name means https."""
    typed = text.strip()
    if len(typed) > MAX_URL_CHARS:
        raise ConfigError(f"{typed[:40]!r}… has {len(typed):,} characters; a URL has at most {MAX_URL_CHARS:,}")
    scheme = _SCHEME.match(typed)
    schemes: tuple[str, ...] = PAGE_SCHEMES
    if scheme is not None and scheme[1].lower() not in _WEB_SCHEMES:
        schemes = _fetchable_schemes(scheme[1], typed)
    _refuse_credentials(typed)
    found = canonical(typed if scheme is not None else f"https://{typed}", schemes)
    if found is None or (scheme is None and not _may_be_host(typed)):
        raise ConfigError(f"{text!r} is not a URL that can be crawled; write it like https://example.org/")
    return found


def _may_be_host(typed: str) -> bool:
    """Return whether text without a scheme starts with a host: a lone word is more likely a slip."""
    host = re.split(r"[/?#]", typed, maxsplit=1)[0].rpartition("@")[2]
    is_number = host.replace(".", "").isdigit() and host.count(".") != 3
    return host.lower() == "localhost" or (not is_number and bool(re.search(r"\w\.\w|:", host)))


def read_url_list(text: str, *, most: int = MAX_LISTED_URLS) -> list[str]:
    """Return the canonical URLs of what the user entered: URLs, or the content of a list, a sitemap, an OPML file or
    bookmarks. Raise ConfigError that names the first thing that is no URL; nothing is guessed."""
    typed = text.strip()
    if typed.startswith("<"):
        listed = _urls_in_markup(typed)
    else:
        lines = (line for line in typed.splitlines() if not line.lstrip().startswith("#"))
        listed = [word for line in lines for part in line.split() if (word := part.strip("<>\"',;"))]
    if not listed:
        raise ConfigError("there is no URL in it; write it like https://example.org/")
    if len(listed) > most:
        raise ConfigError(f"{len(listed):,} URLs are too many; enter at most {most:,} at once")
    return list(dict.fromkeys(parse_page_url(one) for one in listed))


def _urls_in_markup(text: str) -> list[str]:
    from evercrawl.core.sitemap.sitemap_reader import read_sitemap
    from evercrawl.model.sitemap import SitemapType

    sitemap = read_sitemap(text.encode(), "https://sitemap.invalid/")
    if sitemap.type is not SitemapType.UNKNOWN:
        return [entry.url for entry in sitemap.entries]
    return [unescape(url) for url in _FEED.findall(text) or _LINK.findall(text)]


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

    url = parse_page_url(text)
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


def request_announced(collection: Path, settings: Settings, urls: Sequence[str], *, source: str) -> int:
    """Request visits of announced pages; return their number.
    Pages of the collection always count; of others, each source may announce only a few a day: what nothing links to
    could be anything."""
    known = known_urls(collection, settings, urls)
    seeds = {canonical(seed) for seed in settings.scope.seeds}
    new = [url for url in urls if url not in known and url not in seeds]
    per_day = settings.web.announced_urls_per_day
    refused = set(new[take_new_urls(collection, source, len(new), per_day=per_day, now=datetime.now(UTC)) :])
    taken = [url for url in urls if url not in refused]
    if taken:
        request_visits(collection, taken, by=source)
    return len(taken)


def known_urls(collection: Path, settings: Settings, urls: Sequence[str]) -> set[str]:
    """Return those of the URLs that are pages of the collection."""
    from evercrawl.adapters.sql.state_reader import StateReader

    reader = StateReader(collection)
    found: set[str] = set()
    by_shard: dict[int, list[str]] = {}
    for url in urls:
        by_shard.setdefault(shard_of_site(site_of(url), settings.store.shards), []).append(url)
    for shard in by_shard.keys() & set(reader.shards()):
        with reader.shard(shard) as pages:
            found.update(url for url in by_shard[shard] if pages.page(key_of(url)) is not None)
    return found


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
