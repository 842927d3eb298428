"""Check whether this machine can crawl, and what a site's robots.txt allows."""

from __future__ import annotations

import asyncio
import shutil
import socket
import sqlite3
import ssl
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.machinery import ExtensionFileLoader
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from evercrawl.adapters.browser.launch import HOW_TO_ALLOW_SANDBOX, BrowserUnavailable, start_browser
from evercrawl.adapters.http.client import HttpFetcher
from evercrawl.adapters.sqlite.state_file import MIN_SQLITE
from evercrawl.adapters.system import SystemClock
from evercrawl.cluster.crawl_builder import pace_for
from evercrawl.collection.alerts.mail import mail_problem, mail_sender
from evercrawl.collection.alerts.registry import AlertRegistry
from evercrawl.core.document.native_pass import is_native
from evercrawl.core.politeness import pace_at_site
from evercrawl.core.robots.robots_rules import redirect_loop_record, robots_record_of
from evercrawl.core.robots.robots_txt import parse_robots, robots_url, sitemap_urls, verdict_for
from evercrawl.core.url import site_of
from evercrawl.errors import ConfigError
from evercrawl.model import __version__
from evercrawl.model.alerts import Channel
from evercrawl.model.fetch import FetchResult, Moved, Request
from evercrawl.model.sanitize import safe_line
from evercrawl.model.settings import Settings
from evercrawl.model.site import RobotsRecord
from evercrawl.model.user_agent import user_agent

MIN_PYTHON = (3, 11)
MIN_FREE_BYTES = 1_000_000_000
EARLIEST_DATE = datetime(2026, 1, 1, tzinfo=UTC)  # A clock that shows an earlier date is wrong.
EXTRAS = {
    "apprise": ("apprise", "alerts through chat and push services"),
    "fields": ("lxml", "fields by XPath and JSONPath"),
    "focus": ("numpy", "crawls for a topic"),
    "graph": ("numpy", "the link graph, and search results ranked by links"),
    "mcp": ("mcp", "questions of language-model agents"),
    "outposts": ("cryptography", "outposts"),
    "parquet": ("duckdb", "Parquet exports"),
    "pdf": ("pypdf", "text of PDF files"),
    "postgres": ("asyncpg", "state in PostgreSQL"),
    "screenshots": ("PIL", "differences of screenshots"),
    "signatures": ("cryptography", "signed requests"),
    "s3": ("obstore", "archives on object storage"),
    "speed": ("uvloop", "a faster event loop"),
}  # Extra -> the module that it installs, and its purpose.

CheckStatus = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check; `remedy` is empty if there is nothing to do."""

    name: str
    verdict: CheckStatus
    detail: str
    remedy: str = ""


def check_machine(settings: Settings, folder: Path) -> Iterator[CheckResult]:
    """Run every check that needs no request."""
    yield _python()
    yield _compiled()
    yield _native()
    yield _sqlite()
    yield _dns(settings)
    yield _tls(settings)
    yield _clock()
    yield _disk(folder)
    yield from _extras()
    yield _identity(settings)
    yield _mail(settings, folder)
    yield asyncio.run(_browser(settings))


def _python() -> CheckResult:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < MIN_PYTHON:
        return CheckResult("python", "fail", version, "use Python 3.11 or newer")
    return CheckResult("python", "ok", version)


def _compiled() -> CheckResult:
    spec = find_spec("evercrawl.core.document.paragraphs")
    if spec is not None and isinstance(spec.loader, ExtensionFileLoader):
        return CheckResult("compiled", "ok", "yes")
    return CheckResult("compiled", "ok", "no (pure Python: same results, slower)")


def _native() -> CheckResult:
    if is_native():
        return CheckResult("native", "ok", "yes")
    return CheckResult("native", "ok", "no (evercrawl-native: same results, pages are read in half of the time)")


def _sqlite() -> CheckResult:
    if sqlite3.sqlite_version_info < MIN_SQLITE:
        needed = ".".join(map(str, MIN_SQLITE))
        return CheckResult("sqlite", "fail", sqlite3.sqlite_version, f"use a Python with SQLite {needed} or newer")
    return CheckResult("sqlite", "ok", sqlite3.sqlite_version)


def _dns(settings: Settings) -> CheckResult:
    """Check that c-ares starts, knows name servers and reads the hosts file, without a network packet."""
    try:
        servers = settings.dns.servers or asyncio.run(_name_servers())
    except Exception as error:
        return CheckResult("dns", "fail", f"the resolver failed: {error}", "check /etc/resolv.conf and /etc/hosts")
    if not servers:
        return CheckResult("dns", "warn", "no name server configured", "set dns.servers or fix /etc/resolv.conf")
    return CheckResult("dns", "ok", "name servers " + ", ".join(servers))


async def _name_servers() -> tuple[str, ...]:
    import aiodns

    resolver = aiodns.DNSResolver()
    try:
        await resolver.getaddrinfo("localhost", family=socket.AF_INET)
        return tuple(resolver.nameservers)
    finally:
        await resolver.close()


def _tls(settings: Settings) -> CheckResult:
    """Check that certificate authorities exist; OpenSSL reads a folder of them on demand."""
    paths = ssl.get_default_verify_paths()
    stores = [path for path in (settings.http.ca_file, paths.cafile, paths.capath) if path and Path(path).exists()]
    if not settings.http.verify_tls:
        return CheckResult("tls", "warn", "certificates are not verified", "set http.verify_tls to true")
    if not stores:
        return CheckResult("tls", "fail", "no certificate authorities", "install ca-certificates or set http.ca_file")
    return CheckResult("tls", "ok", f"{ssl.OPENSSL_VERSION}, authorities in {stores[0]}")


def _clock() -> CheckResult:
    now = datetime.now(UTC)
    if now < EARLIEST_DATE:
        return CheckResult(
            "clock", "fail", f"{now:%Y-%m-%d} is in the past", "set the clock, or records get wrong dates"
        )
    return CheckResult("clock", "ok", f"{now:%Y-%m-%dT%H:%M:%SZ}")


def _disk(folder: Path) -> CheckResult:
    place = next(path for path in (folder, *folder.resolve().parents) if path.exists())
    free = shutil.disk_usage(place).free
    detail = f"{free / 1e9:,.1f} GB free"
    if free < MIN_FREE_BYTES:
        return CheckResult("disk", "warn", detail, "free some space: a full disk stops the crawl")
    return CheckResult("disk", "ok", detail)


def _extras() -> Iterator[CheckResult]:
    for extra, (module, purpose) in EXTRAS.items():
        is_installed = find_spec(module) is not None
        remedy = "" if is_installed else f"for {purpose}: pip install 'evercrawl[{extra}]'"
        yield CheckResult(f"extra {extra}", "ok", "installed" if is_installed else "not installed", remedy)


def _identity(settings: Settings) -> CheckResult:
    try:
        agent = user_agent(settings.identity, __version__)
    except ConfigError as error:
        return CheckResult("identity", "fail", str(error), "evercrawl config contact you@example.org")
    if settings.identity.contact is None:
        return CheckResult("identity", "warn", f"{agent}, no contact", "evercrawl config contact you@example.org")
    return CheckResult("identity", "ok", agent)


def _mail(settings: Settings, folder: Path) -> CheckResult:
    """Check that mail can be sent, without connecting; it matters if an alert uses it."""
    alerts = settings.alerts
    problem = mail_problem(settings)
    if problem is None:
        return CheckResult("mail", "ok", f"{alerts.mail_host} port {alerts.mail_port}, from {mail_sender(settings)}")
    known = AlertRegistry(folder, settings).all()
    waiting = [one.alert.name for one in known if one.alert.destination.channel is Channel.MAIL]
    if waiting:
        names = safe_line(", ".join(waiting), longest=80)
        return CheckResult("mail", "warn", f"{problem.detail}, but alerts need it: {names}", problem.remedy)
    if alerts.mail_host is not None:
        return CheckResult("mail", "warn", problem.detail, problem.remedy)
    return CheckResult("mail", "ok", "not set up", f"for alerts by mail: {problem.remedy}")


async def _browser(settings: Settings) -> CheckResult:
    """Start the browser once, without network, to see whether pages can be rendered."""
    try:
        browser = await start_browser(settings.render.browser)
    except BrowserUnavailable as error:
        return CheckResult("browser", "warn", f"{error.detail}")
    try:
        version = safe_line((await browser.devtools.call("Browser.getVersion"))["product"])
    finally:
        await browser.end()
    if browser.has_sandbox:
        return CheckResult("browser", "ok", f"{version}, without network, in its own sandbox")
    detail = f"{version}, without network, but its own sandbox does not work here"
    return CheckResult("browser", "warn", detail, HOW_TO_ALLOW_SANDBOX)


def check_site(url: str, settings: Settings) -> list[CheckResult]:
    """Fetch robots.txt as a crawl does, and return what it means for the URL."""
    record = asyncio.run(_fetch_robots(url, settings))
    findings = [CheckResult("robots.txt", "ok" if record.policy == "obey" else "warn", safe_line(record.detail))]
    if record.policy == "allow":
        return [*findings, CheckResult("url", "ok", "every page may be fetched"), _delay(url, None, settings)]
    if record.policy != "obey":
        return [*findings, CheckResult("url", "fail", "no page may be fetched")]
    robots = parse_robots(record.body, agent=settings.identity.product)
    verdict = verdict_for(robots, url)
    line = f" by line {verdict.line}" if verdict.line else ""
    findings.append(
        CheckResult("url", "ok" if verdict.allowed else "fail", ("allowed" if verdict.allowed else "forbidden") + line)
    )
    findings.append(_delay(url, robots.min_delay, settings))
    sitemaps = sitemap_urls(robots, url)
    return [*findings, *(CheckResult("sitemap", "ok", safe_line(sitemap)) for sitemap in sitemaps)]


def _delay(url: str, crawl_delay: float | None, settings: Settings) -> CheckResult:
    """Return the least delay between two requests to the site, and what it depends on."""
    pace = pace_at_site(pace_for(settings), site_of(url) or url)
    seconds = pace.floor.total_seconds()
    asked = f"pace {settings.pace.mode}"
    if crawl_delay is not None:
        seconds = max(seconds, min(crawl_delay, pace.delay_cap.total_seconds()))
        asked += f"; the site asks for {crawl_delay:g} s"
    detail = f"at least {seconds:g} s between requests" if seconds else f"none, up to {pace.concurrency} at a time"
    return CheckResult("delay", "ok", f"{detail} ({asked})")


async def _fetch_robots(url: str, settings: Settings) -> RobotsRecord:
    clock = SystemClock()
    fetcher = HttpFetcher(settings, clock, user_agent(settings.identity, __version__))
    try:
        result = await _fetch_following(fetcher, robots_url(url) or url, settings)
    finally:
        await fetcher.close()
    if isinstance(result, Moved):
        return redirect_loop_record(now=clock.now(), settings=settings.robots)
    return robots_record_of(None, result, now=clock.now(), settings=settings.robots)


async def _fetch_following(fetcher: HttpFetcher, url: str, settings: Settings) -> FetchResult:
    result = await fetcher.fetch(Request(url, body_limit=settings.robots.max_bytes))
    for _ in range(settings.robots.max_redirects):
        if not isinstance(result, Moved):
            break
        result = await fetcher.fetch(Request(result.target, body_limit=settings.robots.max_bytes))
    return result
