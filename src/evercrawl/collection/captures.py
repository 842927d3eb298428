"""Captures, as web archives list versions: of one URL, a prefix, a host or a domain."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import takewhile
from operator import attrgetter
from pathlib import Path
from typing import Literal

from evercrawl.adapters.sql.listing_reader import ListingReader, open_listing, site_key_prefix
from evercrawl.adapters.sql.state_reader import shards_of
from evercrawl.core.document.html import base_url, rewrite_css, rewrite_srcset
from evercrawl.core.scope.url_filter import compile_expression
from evercrawl.core.url import (
    canonical,
    key_of,
    registrable_domain,
    shard_of_domain,
    shard_of_site,
    site_of,
    site_parts,
)
from evercrawl.model.listing import Capture, VersionRecord
from evercrawl.model.page import Resource
from evercrawl.model.settings import Settings
from evercrawl.model.time import to_us

__all__ = [
    "Match",
    "base_url",
    "captures_matching",
    "captures_of",
    "field_test",
    "nearest_capture",
    "rewrite_css",
    "rewrite_srcset",
]

Match = Literal["exact", "prefix", "host", "domain"]
PAGES_AT_A_TIME = 200


def captures_of(collection: Path, settings: Settings, url: str) -> list[Capture]:
    """Return the captures of one URL, oldest first; http and https are both tried."""
    for name in _spellings(url):
        shard = shard_of_site(site_of(name), settings.store.shards)
        if shard not in shards_of(collection):
            continue
        with open_listing(collection, shard) as reader:
            page = reader.page(key_of(name))
            versions = [_capture(page.url, kept) for kept in reader.versions(page.id)] if page is not None else []
            found = [*versions, *map(_resource_capture, reader.resources_of(key_of(name)))]
            if found:
                return sorted(found, key=attrgetter("seen_us"))
    return []


def nearest_capture(captures: list[Capture], at: datetime) -> Capture:
    """Return the capture nearest in time (RFC 7089 leaves the choice to the server); of several, the latest."""
    wanted = to_us(at)

    def distance(capture: Capture) -> tuple[int, int]:
        last_us = max(capture.seen_us, capture.last_us or 0)
        return max(capture.seen_us - wanted, wanted - last_us, 0), -capture.seen_us

    return min(captures, key=distance)


def captures_matching(collection: Path, settings: Settings, url: str, match: Match) -> Iterator[Capture]:
    """Yield the captures of every matching page; the pages of a site are ordered by folder."""
    if match == "exact":
        yield from captures_of(collection, settings, url)
        return
    name = _spellings(url)[0]
    domain = registrable_domain(site_parts(site_of(name)).host)
    shard = shard_of_domain(domain, settings.store.shards)
    if shard not in shards_of(collection):
        return
    with open_listing(collection, shard) as reader:
        for site in reader.sites_of_domain(domain):
            if _matches_site(site, name, match):
                yield from _site_captures(reader, site, _path(name) if match == "prefix" else "")


def _site_captures(reader: ListingReader, site: str, path: str) -> Iterator[Capture]:
    record = reader.site_named(site)
    after = b""
    while record is not None and (pages := reader.site_pages(site, record.id, after=after, most=PAGES_AT_A_TIME)):
        for page in pages:
            if page.version and page.url.startswith(site + path):
                known = reader.page(page.key)
                versions = reader.versions(known.id) if known is not None else []
                yield from (_capture(page.url, kept) for kept in versions)
        after = pages[-1].key
    prefix = site_key_prefix(site)
    for resource in takewhile(lambda one: one.key.startswith(prefix), reader.resources(prefix)):
        if resource.url.startswith(site + path):
            yield _resource_capture(resource)


def _path(name: str) -> str:
    return name[len(site_of(name)) :].removesuffix("*")


def _matches_site(site: str, name: str, match: Match) -> bool:
    return match == "domain" or site_parts(site).host == site_parts(site_of(name)).host


def _spellings(url: str) -> list[str]:
    """Return the canonical forms that a URL may mean."""
    schemes = [url] if "://" in url else [f"https://{url}", f"http://{url}"]
    if url.startswith("http://"):
        schemes.append("https://" + url.removeprefix("http://"))
    elif url.startswith("https://"):
        schemes.append("http://" + url.removeprefix("https://"))
    return [name for text in schemes if (name := canonical(text)) is not None] or ["http://invalid./"]


def _capture(url: str, kept: VersionRecord) -> Capture:
    version = kept.version
    return Capture(
        url=url,
        seen_us=kept.seen_us,
        version=version.number,
        status=kept.status,
        content_type=version.content_type,
        payload_sha1=version.payload_sha1,
        length=version.length,
        offset=version.offset,
        file=version.file,
        title=version.title,
        digest=version.digest,
    )


def _resource_capture(resource: Resource) -> Capture:
    return Capture(
        url=resource.url,
        seen_us=resource.seen_us,
        version=0,
        status=resource.status,
        content_type=resource.content_type,
        payload_sha1=resource.payload_sha1,
        length=resource.length,
        offset=resource.offset,
        file=resource.file,
        title=None,
        digest=resource.digest,
        last_us=resource.last_us,
        moved_to=resource.moved_to,
    )


def field_test(value: str, *, is_expression: bool) -> Callable[[str], bool]:
    """Return a test for a field of captures: it contains the value, or a regular expression matches all of it.
    Raise ValueError if the expression is not valid."""
    if not is_expression:
        return lambda text: value in text
    compiled = compile_expression(value)
    return lambda text: compiled.fullmatch(text) is not None
