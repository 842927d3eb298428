"""Decide what the response to /robots.txt means for the site.
RFC 9309 section 2.3.1: 4xx means no rules; 5xx and timeouts mean that nothing may be requested. We are stricter: 401
and 403 forbid (a setting), 429 counts as unreachable. While unreachable, the last copy is obeyed up to a limit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple, assert_never

from evercrawl.core.faults import retry_after
from evercrawl.core.robots.robots_txt import RobotsTxt, parse_robots, path_and_query
from evercrawl.core.url import PAGE_SCHEMES, path_of
from evercrawl.core.usage_terms import rules_terms
from evercrawl.model.document import UsageTerms
from evercrawl.model.fetch import Failed, Fault, Fetched, FetchResult, Headers, Moved, NotModified, header
from evercrawl.model.reason import Reason
from evercrawl.model.settings import RobotsSettings
from evercrawl.model.site import RobotsRecord
from evercrawl.model.time import from_us, span_us, to_us

MIN_LIFETIME = timedelta(minutes=10)  # A copy is used at least this long. `max-age=0` is rarely intended.
QUICK_RETRY = timedelta(seconds=10)  # Wait before the first retry of a robots.txt that could not be read.
MAX_RETRY = timedelta(days=1)

_MAX_AGE = re.compile(r"(?:^|[\s,])max-age\s*=\s*\"?(\d{1,10})", re.IGNORECASE | re.ASCII)
_NO_CACHE = re.compile(r"(?:^|[\s,])no-(?:cache|store)\b", re.IGNORECASE)
_REFUSING = (401, 403)
_TOO_MANY_REQUESTS = 429
_NO_CONTENT = 204


class RobotsVerdict(NamedTuple):
    """Whether a URL may be requested; if not, the reason and the evidence."""

    allowed: bool
    line: int | None
    reason: Reason | None
    detail: str


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """A record compiled for our product token, for any URL of the site."""

    record: RobotsRecord
    robots: RobotsTxt

    @property
    def is_unreachable(self) -> bool:
        """True if everything is forbidden only because the file cannot be read now."""
        return self.record.policy == "forbid" and self.record.unreachable_since_us is not None

    @property
    def crawl_delay(self) -> float | None:
        """Seconds between requests that the file asks for."""
        return self.robots.min_delay

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """The Sitemap lines, as written."""
        return self.robots.sitemaps

    def usage_terms(self, url: str) -> UsageTerms:
        """Return what robots.txt says about the use of a page."""
        lines = self.robots.usage_of(path_and_query(url)) if self.robots.usage else ()
        return rules_terms([(line.value, line.source) for line in lines])

    def verdict(self, url: str) -> RobotsVerdict:
        """Return what robots.txt says about a URL of the site."""
        if self.record.policy == "obey":
            return self._by_rules(url)
        if self.record.policy == "private":
            return RobotsVerdict(False, None, Reason.PRIVATE_ADDRESS, self.record.detail)
        if self.record.policy == "allow" or path_and_query(url) == "/robots.txt":
            return RobotsVerdict(True, None, None, self.record.detail)
        reason = Reason.ROBOTS_UNREACHABLE if self.is_unreachable else Reason.ROBOTS
        return RobotsVerdict(False, None, reason, self.record.detail)

    def _by_rules(self, url: str) -> RobotsVerdict:
        target = path_of(url) if url.startswith(PAGE_SCHEMES) else path_and_query(url)
        allowed, line, rule = self.robots.verdict(target)
        if line is None:
            return RobotsVerdict(True, None, None, "no rule of robots.txt matches")
        place = f"line {line}: " if line else ""
        detail = f"{place}{rule} (fetched {_day(self.record.fetched_us)})"
        return RobotsVerdict(allowed, line, None if allowed else Reason.ROBOTS, detail)


def compile_robots(record: RobotsRecord, agent: str) -> RobotsRules:
    """Compile the rules of a site's record."""
    obeyed = record.policy == "obey"
    # The body was cut at the configured limit when the record was made.
    robots = parse_robots(record.body, agent=agent, limit=len(record.body) + 1) if obeyed else RobotsTxt()
    return RobotsRules(record, robots)


def robots_record_of(
    previous: RobotsRecord | None, result: FetchResult, *, now: datetime, settings: RobotsSettings
) -> RobotsRecord:
    """Return the site's record after a response, with the time of the next request."""
    match result:
        case Fetched():
            return _success_record(result, now=now, settings=settings)
        case NotModified():
            return _refresh_record(previous, result, now=now, settings=settings)
        case Moved():
            return redirect_loop_record(now=now, settings=settings)
        case Failed():
            return _failure_record(previous, result, now=now, settings=settings)
        case unknown:
            assert_never(unknown)


def redirect_loop_record(*, now: datetime, settings: RobotsSettings) -> RobotsRecord:
    """Return the record for an endless redirect chain: no rules (RFC 9309 section 2.3.1.2)."""
    detail = "robots.txt redirects without end, so no rules apply"
    return _record(None, policy="allow", detail=detail, now=now, lifetime=settings.max_age)


def _success_record(result: Fetched, *, now: datetime, settings: RobotsSettings) -> RobotsRecord:
    lifetime = _lifetime(result.headers, settings)
    if result.status == _NO_CONTENT:
        detail = "robots.txt is empty (204), so no rules apply"
        return _record(result.status, policy="allow", detail=detail, now=now, lifetime=lifetime)
    body = _whole_lines(result.body, settings.max_bytes, cut=result.truncated is not None)
    detail = f"obeyed ({len(body):,} bytes)"
    record = _record(result.status, policy="obey", detail=detail, now=now, lifetime=lifetime)
    etag, last_modified = header(result.headers, "etag"), header(result.headers, "last-modified")
    return record._replace(body=body, etag=etag, last_modified=last_modified)


def _whole_lines(body: bytes, limit: int, *, cut: bool) -> bytes:
    """Return the body up to the limit, without a line cut in two."""
    if not cut and len(body) <= limit:
        return body
    body = body[:limit]
    return body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1]


def _refresh_record(
    previous: RobotsRecord | None, result: NotModified, *, now: datetime, settings: RobotsSettings
) -> RobotsRecord:
    if previous is None:
        return _unreachable_record(None, "304 to an unconditional request", now=now, settings=settings)
    return previous._replace(
        fetched_us=to_us(now),
        expires_us=to_us(now + _lifetime(result.headers, settings)),
        etag=header(result.headers, "etag") or previous.etag,
        detail=f"obeyed ({len(previous.body):,} bytes)",
        unreachable_since_us=None,
    )


def _failure_record(
    previous: RobotsRecord | None, result: Failed, *, now: datetime, settings: RobotsSettings
) -> RobotsRecord:
    status = result.status
    if result.fault is Fault.BAD_REDIRECT:
        return redirect_loop_record(now=now, settings=settings)
    if result.fault is Fault.PRIVATE_ADDRESS:
        return _record(None, policy="private", detail=result.detail, now=now, lifetime=settings.retry_delay)
    if status is None or not 400 <= status < 500 or status == _TOO_MANY_REQUESTS:
        asked = retry_after(header(result.headers, "retry-after"), now=now)
        cause = f"{status}" if status is not None and status >= 400 else result.detail or str(result.fault)
        record = _unreachable_record(previous, cause, now=now, settings=settings, asked=asked)
        return record if record.policy == "obey" else record._replace(status=status)
    if status in _REFUSING and settings.forbid_on_403:
        policy, detail = "forbid", f"robots.txt is forbidden ({status}), so nothing here is requested"
    else:
        policy, detail = "allow", f"there is no robots.txt ({status}), so no rules apply"
    return _record(status, policy=policy, detail=detail, now=now, lifetime=settings.max_age)


def _unreachable_record(
    previous: RobotsRecord | None,
    cause: str,
    *,
    now: datetime,
    settings: RobotsSettings,
    asked: timedelta | None = None,
) -> RobotsRecord:
    """Forbid everything or keep the copy until the limit; after that, assume no rules."""
    since_us = previous.unreachable_since_us if previous is not None else None
    since = now if since_us is None else from_us(since_us)
    elapsed = now - since
    # Waiting as long again as it has lasted doubles the wait with every attempt.
    has_copy = previous is not None and previous.policy == "obey"
    wait = max(elapsed, settings.retry_delay)
    if elapsed < QUICK_RETRY and not has_copy:
        wait = min(QUICK_RETRY, settings.retry_delay)
    wait = min(wait if asked is None else asked, MAX_RETRY)
    if elapsed >= settings.unreachable_timeout:
        detail = f"robots.txt has been unreachable since {_day(to_us(since))}, so no rules apply"
        record = _record(None, policy="allow", detail=detail, now=now, lifetime=MAX_RETRY)
    elif previous is not None and has_copy:
        detail = f"robots.txt is unreachable ({cause}); the copy of {_day(previous.fetched_us)} still applies"
        record = previous._replace(expires_us=to_us(now) + span_us(wait), detail=detail)
    else:
        detail = f"robots.txt is unreachable ({cause}), so nothing of this site is requested yet"
        record = _record(None, policy="forbid", detail=detail, now=now, lifetime=wait)
    return record._replace(unreachable_since_us=to_us(since))


def _record(status: int | None, *, policy: str, detail: str, now: datetime, lifetime: timedelta) -> RobotsRecord:
    """Return a record without a file."""
    return RobotsRecord(to_us(now), to_us(now + lifetime), status, b"", None, None, policy, detail)


def _lifetime(headers: Headers, settings: RobotsSettings) -> timedelta:
    """Return how long a copy is used: as Cache-Control says, within bounds (RFC 9309 section 2.4: 24 hours)."""
    control = header(headers, "cache-control") or ""
    if _NO_CACHE.search(control):
        return min(MIN_LIFETIME, settings.max_age)
    match = _MAX_AGE.search(control)
    if match is None:
        return settings.max_age
    requested = timedelta(seconds=int(match[1]))
    return min(max(requested, MIN_LIFETIME), settings.max_age)


def _day(moment_us: int) -> str:
    return f"{from_us(moment_us):%Y-%m-%d %H:%M} UTC"
