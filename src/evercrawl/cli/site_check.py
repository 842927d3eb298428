"""What does a site's robots.txt say to us, read exactly as a crawl reads it?"""

from __future__ import annotations

import asyncio

from evercrawl.adapters.http.client import HttpFetcher
from evercrawl.adapters.system import SystemClock
from evercrawl.cli.checks import MachineCheck
from evercrawl.core.robots.robots_rules import redirect_loop_record, robots_record_of
from evercrawl.core.robots.robots_txt import parse_robots, robots_url, sitemap_urls, verdict_for
from evercrawl.model import __version__
from evercrawl.model.fetch import FetchResult, Moved, Request
from evercrawl.model.sanitize import safe_line
from evercrawl.model.settings import Settings
from evercrawl.model.site import RobotsRecord
from evercrawl.model.user_agent import user_agent


def site_findings(url: str, settings: Settings) -> list[MachineCheck]:
    """Ask the URL's site for robots.txt (one request, and its redirects) and say what follows for the URL."""
    record = asyncio.run(_ask(url, settings))
    findings = [MachineCheck("robots.txt", "ok" if record.stance == "obey" else "warn", safe_line(record.detail))]
    if record.stance != "obey":
        word = "everything may be asked" if record.stance == "allow" else "nothing may be asked"
        return [*findings, MachineCheck("url", "ok" if record.stance == "allow" else "fail", word)]
    robots = parse_robots(record.body, agent=settings.identity.product)
    verdict = verdict_for(robots, url)
    line = f" by line {verdict.line}" if verdict.line else ""
    findings.append(
        MachineCheck("url", "ok" if verdict.allowed else "fail", ("allowed" if verdict.allowed else "forbidden") + line)
    )
    if robots.gap is not None:
        findings.append(MachineCheck("gap", "ok", f"the site asks for {robots.gap:g} s between requests"))
    sitemaps = sitemap_urls(robots, url)
    return [*findings, *(MachineCheck("sitemap", "ok", safe_line(sitemap)) for sitemap in sitemaps)]


async def _ask(url: str, settings: Settings) -> RobotsRecord:
    clock = SystemClock()
    fetcher = HttpFetcher(settings, clock, user_agent(settings.identity, __version__))
    try:
        result = await _follow(fetcher, robots_url(url) or url, settings)
    finally:
        await fetcher.close()
    if isinstance(result, Moved):
        return redirect_loop_record(now=clock.now(), settings=settings.robots)
    return robots_record_of(None, result, now=clock.now(), settings=settings.robots)


async def _follow(fetcher: HttpFetcher, url: str, settings: Settings) -> FetchResult:
    result = await fetcher.fetch(Request(url, body_limit=settings.robots.body_bytes))
    for _ in range(settings.robots.redirects):
        if not isinstance(result, Moved):
            break
        result = await fetcher.fetch(Request(result.target, body_limit=settings.robots.body_bytes))
    return result
