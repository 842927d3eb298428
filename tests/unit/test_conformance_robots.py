"""Shared robots.txt vectors: every normative row holds, and no row raises."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from evercrawl.collection.tools import robots
from evercrawl.core.robots.robots_txt import (
    RobotsTxt,
    is_product_token,
    normalise_escapes,
    parse_robots,
    path_and_query,
    robots_url,
)
from tests.shared import conformance_rows

Row = dict[str, Any]


def body_of(row: Row) -> bytes:
    return base64.b64decode(row["robots_txt_b64"]) if "robots_txt_b64" in row else row["robots_txt"].encode()


def compiled(row: Row) -> RobotsTxt:
    return parse_robots(body_of(row), agent=row.get("user_agent", "*"))


def sitemaps_hold(row: Row) -> bool:
    found = robots(row)["sitemaps"]
    if "sitemap_count" in row:
        return len(found) == row["sitemap_count"]
    return found == row["sitemaps"] if "sitemaps" in row else set(row["sitemaps_contain"]) <= set(found)


def as_row(value: tuple[Any, ...] | None) -> list[Any] | None:
    return None if value is None else [each if isinstance(each, int | None) else str(each) for each in value]


def values(expected: Row | None) -> list[Any] | None:
    return None if expected is None else list(expected.values())


HOLDS: dict[str, Callable[[Row], bool]] = {
    "allow": lambda row: robots(row)["allowed"] is row["allowed"],
    "crawl_delay": lambda row: robots(row)["crawl_delay"] == row["crawl_delay"],
    "sitemaps": sitemaps_hold,
    "request_rate": lambda row: as_row(compiled(row).request_rate) == values(row["request_rate"]),
    "visit_time": lambda row: as_row(compiled(row).visit_time) == values(row["visit_time"]),
    "robots_url": lambda row: robots_url(row["url"]) == row["robots_url"],
    "match_path": lambda row: path_and_query(row["url"]) == row["path"],
    "escape_pattern": lambda row: normalise_escapes(row["pattern"]) == row["escaped"],
    "valid_product_token": lambda row: is_product_token(row["token"]) is row["valid"],
}


def test_rules():
    rows = conformance_rows("robots/rules.jsonl")
    wrong = [row for row in rows if not HOLDS[row["kind"]](row)]
    assert [row["id"] for row in wrong if row["normative"]] == []
    # Sources disagree about the rest. More than these few would mean that something broke.
    assert len(wrong) <= 8


def test_real_files():
    for row in conformance_rows("robots/real_files.jsonl"):
        robots_of_site = parse_robots(body_of(row), agent="TestBot")
        reference = row["reference"]
        assert robots_of_site.verdict("/").allowed is reference["root_allowed_TestBot"], row["host"]
        assert robots_of_site.crawl_delay == reference["crawl_delay_TestBot"], row["host"]
        assert list(robots_of_site.sitemaps) == list(dict.fromkeys(reference["sitemaps"])), row["host"]
