"""Shared vectors for sitemaps and feeds: every normative row holds, and no row raises."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from evercrawl.collection.tools import sitemap
from evercrawl.core import url as urls
from evercrawl.core.robots.robots_txt import parse_robots, sitemap_urls
from evercrawl.core.sitemap.sitemap_discovery import SitemapWalk
from evercrawl.core.sitemap.sitemap_reader import read_sitemap
from evercrawl.core.sitemap.sitemap_values import is_in_scope, parse_date
from evercrawl.model.sitemap import SitemapType
from tests.shared import conformance_rows

Row = dict[str, Any]
MOST_REDIRECTS = 5


def urls_of(found: Row) -> list[str]:
    return [entry["url"] for entry in found["entries"]]


def is_same(name: str, expected: Any, got: Any) -> bool:
    return parse_date(expected) == parse_date(got) if name == "lastmod" else expected == got


def entries_hold(expected: list[Row], found: Row) -> bool:
    got = found["entries"]
    return len(got) == len(expected) and all(
        _part_holds(name, value, entry.get(name))
        for wanted, entry in zip(expected, got, strict=True)
        for name, value in wanted.items()
    )


def _part_holds(name: str, expected: Any, got: Any) -> bool:
    if name == "video":
        return got is not None and expected.items() <= got.items()
    return is_same(name, expected, got)


CHECKS: dict[str, Callable[[Any, Row], bool]] = {
    "type": lambda value, found: found["type"] == value,
    "count": lambda value, found: len(found["entries"]) == value,
    "urls": lambda value, found: urls_of(found) == value,
    "urls_lenient": lambda value, found: urls_of(found) == value,
    "urls_strict": lambda value, found: [entry["url"] for entry in found["entries"] if entry["in_scope"]] == value,
    "urls_any_of": lambda value, found: urls_of(found) in value,
    "unique_urls": lambda value, found: sorted(set(urls_of(found))) == sorted(value),
    "urls_subset_of": lambda value, found: set(urls_of(found)) <= set(value),
    "urls_prefix_of": lambda value, found: urls_of(found) == value[: len(urls_of(found))],
    "contains": lambda value, found: set(value) <= set(urls_of(found)),
    "contains_lenient": lambda value, found: set(value) <= set(urls_of(found)),
    "must_not_contain": lambda value, found: not set(value) & set(urls_of(found)),
    "entries": entries_hold,
    "entries_any_of": lambda value, found: any(entries_hold(each, found) for each in value),
    "images": lambda value, found: [image for entry in found["entries"] for image in entry.get("images", ())] == value,
    "feed_lastmod": lambda value, found: is_same("lastmod", value, found["feed_lastmod"]),
    "error_ok": lambda value, found: value or found["error"] is None,
}
ELSEWHERE = {"max_seconds", "max_memory_mb", "no_external_read", "no_crash"}
"""Covered by the tests of the limits. Nothing in `core/` can open anything."""


def parse_holds(row: Row) -> bool:
    found = sitemap(row)
    checks = [(CHECKS[name], value) for name, value in row["expect"].items() if name not in ELSEWHERE]
    is_silent = "error_ok" in row["expect"] or not row["normative"] or found["error"] is None
    return is_silent and all(check(value, found) for check, value in checks)


def robots_hold(row: Row) -> bool:
    found = sitemap_urls(parse_robots(row["robots_txt"].encode(), agent="TestBot"), row["base"])
    return [urls.parse(url) for url in found] == row["sitemaps"]


HOLDS: dict[str, Callable[[Row], bool]] = {
    "parse": parse_holds,
    "scope": lambda row: is_in_scope(row["sitemap_url"], row["url"]) is row["in_scope_strict"],
    "sitemaps_in_robots": robots_hold,
}


def test_parse():
    rows = conformance_rows("sitemaps/parse.jsonl")
    assert [row["name"] for row in rows if not HOLDS[row["kind"]](row)] == []


def test_dates():
    rows = conformance_rows("sitemaps/dates.jsonl")
    wrong = [row["input"] for row in rows if parse_date(row["input"]) != parse_date(row["utc"])]
    assert wrong == []


def answer(resources: dict[str, Row], url: str) -> Row | None:
    for _ in range(MOST_REDIRECTS):
        found = resources.get(url)
        if found is None or found["status"] != 301:
            return found
        url = found["headers"]["Location"]
    return None


def body_of(resource: Row) -> bytes:
    return base64.b64decode(resource["b64"]) if "b64" in resource else resource["text"].encode()


def pages_of_site(row: Row) -> list[str]:
    """Return the pages that the sitemaps of a whole site name, read as a crawl reads them."""
    resources = {each["url"]: each for each in row["resources"]}
    robots = parse_robots(body_of(resources[row["homepage"] + "robots.txt"]), agent="TestBot")
    walk = SitemapWalk(sitemap_urls(robots, row["homepage"]))
    pages: list[str] = []
    while (url := walk.next()) is not None:
        resource = answer(resources, url)
        if resource is None or resource["status"] != 200:
            continue
        found = read_sitemap(body_of(resource), url, content_type=resource["headers"]["Content-Type"])
        walk.add_result(url, found)
        if found.type is not SitemapType.INDEX:
            pages += [entry.url for entry in found.entries]
    return pages


def test_site_trees():
    for row in conformance_rows("sitemaps/site_trees.jsonl"):
        found = {"entries": [{"url": url} for url in pages_of_site(row)]}
        assert all(CHECKS[name](value, found) for name, value in row["expect"].items()), row["name"]
