"""`tool robots`: what a robots.txt says about a URL, by the very code that a crawl uses."""

from __future__ import annotations

from base64 import b64decode
from functools import lru_cache
from typing import Any

from evercrawl.core.robots.robots_txt import RobotsTxt, parse_robots, sitemap_urls, verdict_for
from evercrawl.core.url import parse
from evercrawl.model.settings import IdentitySettings

FILES_REMEMBERED = 16


def robots(row: dict[str, Any]) -> dict[str, Any]:
    """Permission, deciding line, delay and sitemaps for `url`; without a `url` there is no permission."""
    compiled = _compiled(_body(row), str(row.get("user_agent", IdentitySettings().product)))
    url = row.get("url")
    verdict = None if url is None else verdict_for(compiled, str(url))
    return {
        "allowed": None if verdict is None else verdict.allowed,
        "line": None if verdict is None else verdict.line,
        "crawl_delay": compiled.crawl_delay,
        "sitemaps": _sitemaps(compiled, row.get("robots_url") or url),
    }


def _body(row: dict[str, Any]) -> bytes:
    if "robots_txt_b64" in row:
        return b64decode(row["robots_txt_b64"], validate=True)
    if "robots_txt" not in row:
        raise ValueError("robots_txt or robots_txt_b64 is missing")
    return str(row["robots_txt"]).encode("utf-8", "surrogatepass")


@lru_cache(maxsize=FILES_REMEMBERED)
def _compiled(body: bytes, agent: str) -> RobotsTxt:
    return parse_robots(body, agent=agent)


def _sitemaps(compiled: RobotsTxt, base: object) -> list[str]:
    """As the file has them; relative ones are completed when we know of which site the file is."""
    if not isinstance(base, str) or parse(base) is None:
        return list(compiled.sitemaps)
    return list(sitemap_urls(compiled, base))
