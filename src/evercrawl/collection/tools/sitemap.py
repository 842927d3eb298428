"""`tool sitemap`: the entries of a sitemap or feed, by the code that a crawl uses."""

from __future__ import annotations

from base64 import b64decode
from datetime import datetime
from typing import Any

from evercrawl.core.sitemap.address import is_in_scope
from evercrawl.core.sitemap.read import read_sitemap
from evercrawl.model.sitemap import SitemapEntry, SitemapType


def sitemap(row: dict[str, Any]) -> dict[str, Any]:
    """Type, entries and error of `body` or `body_b64` as it came from `url`."""
    url = str(row.get("url") or "")
    content_type = row.get("content_type")
    found = read_sitemap(_body(row), url, content_type=None if content_type is None else str(content_type))
    return {
        "type": found.type.value,
        "entries": [_entry(entry, url, found.type) for entry in found.entries],
        "feed_lastmod": _utc(found.feed_lastmod),
        "error": found.error,
    }


def _body(row: dict[str, Any]) -> bytes:
    if row.get("body_b64") is not None:
        return b64decode(row["body_b64"])
    if row.get("body") is None:
        raise ValueError("body or body_b64 is missing")
    return str(row["body"]).encode("utf-8", "replace")


def _entry(entry: SitemapEntry, url: str, kind: SitemapType) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "url": entry.url,
        "lastmod": _utc(entry.lastmod),
        "changefreq": entry.changefreq,
        "priority": entry.priority,
        "in_scope": is_in_scope(url, entry.url),
    }
    if entry.text is not None:
        shown["anchor_text" if kind is SitemapType.EXTENDED else "title"] = entry.text
    if entry.alternates:
        shown["alternates"] = [{"url": it.url, "hreflang": it.hreflang, "type": it.type} for it in entry.alternates]
    if entry.images:
        shown["images"] = list(entry.images)
    if entry.videos:
        shown["video"] = entry.videos[0]
        shown["videos"] = list(entry.videos)
    if entry.news is not None:
        shown["news"] = entry.news
    return shown


def _utc(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")
