"""What the synthetic web noticed of us, and where we were not polite.

The check knows nothing of the crawler's own rules: it looks at what arrived at each site, and when.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from evercrawl.model.fetch import Fault

ROBOTS_PATH = "/robots.txt"


class Asked(NamedTuple):
    """One request as the web saw it. Neither status nor fault: the crawler gave up waiting."""

    sent: datetime
    answered: datetime
    site: str
    path: str
    status: int | None
    fault: Fault | None
    retry_after: timedelta | None = None


class Offence(StrEnum):
    """What a request did wrong."""

    AT_ONCE = "asked while another request to the site was not answered"
    TOO_SOON = "asked within the gap"
    RETRY_AFTER = "asked before the time that Retry-After named"
    ROBOTS = "asked for what robots.txt forbids"
    ROBOTS_UNREAD = "asked before robots.txt could be read"


class Violation(NamedTuple):
    """An impolite request."""

    offence: Offence
    asked: Asked
    detail: str


GapRule = Callable[[Asked, timedelta | None], timedelta]
"""The request before and the site's Crawl-delay -> least time between its answer and the next request."""


def gentle_gap(before: Asked, delay: timedelta | None) -> timedelta:
    """The default promise: 1 s, the Crawl-delay, and ten times the last answer's time up to a minute."""
    took = min(10 * (before.answered - before.sent), timedelta(minutes=1))
    return max(timedelta(seconds=1), took, delay or timedelta(0))


class SiteRules(NamedTuple):
    """What a site demands of its visitors."""

    delay: timedelta | None
    allows: Callable[[str], bool]
    robots_site: str
    """Where its robots.txt lies: another origin if it only redirects."""


class WebRecord:
    """Every request, in the order of the answers."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []

    def add(self, asked: Asked) -> None:
        """One more request has ended."""
        self.asked.append(asked)

    def by_site(self) -> dict[str, list[Asked]]:
        """The requests that reached each site, in the order in which they were sent."""
        sites: dict[str, list[Asked]] = defaultdict(list)
        for asked in sorted(self.asked, key=lambda asked: asked.sent):
            if asked.fault is not Fault.DNS:
                sites[asked.site].append(asked)
        return dict(sites)

    def violations(self, gap_rule: GapRule, rules_of: Callable[[str], SiteRules]) -> list[Violation]:
        """Every impolite request, site by site."""
        sites = self.by_site()
        read_at = {site: _robots_read_at(asked) for site, asked in sites.items()}
        found: list[Violation] = []
        for site, requests in sites.items():
            rules = rules_of(site)
            found += _gap_offences(requests, gap_rule, rules.delay)
            found += _robots_offences(requests, rules, read_at.get(rules.robots_site))
        return found


def _gap_offences(requests: list[Asked], gap_rule: GapRule, delay: timedelta | None) -> Iterator[Violation]:
    closed_until = answered = datetime.min.replace(tzinfo=requests[0].sent.tzinfo)
    before: Asked | None = None
    for asked in requests:
        if before is not None:
            gap = gap_rule(before, delay)
            if asked.sent < answered:
                yield Violation(Offence.AT_ONCE, asked, f"{before.path} was answered only at {answered}")
            elif asked.sent < before.answered + gap:
                passed = asked.sent - before.answered
                yield Violation(Offence.TOO_SOON, asked, f"{passed} instead of {gap} after {before.path}")
        if asked.sent < closed_until:
            yield Violation(Offence.RETRY_AFTER, asked, f"closed until {closed_until}")
        if asked.retry_after is not None:
            closed_until = max(closed_until, asked.answered + asked.retry_after)
        before, answered = asked, max(answered, asked.answered)


def _robots_offences(requests: list[Asked], rules: SiteRules, read_at: datetime | None) -> Iterator[Violation]:
    for asked in requests:
        if asked.path == ROBOTS_PATH:
            continue
        if not rules.allows(asked.path):
            yield Violation(Offence.ROBOTS, asked, "")
        elif read_at is None or asked.sent < read_at:
            yield Violation(Offence.ROBOTS_UNREAD, asked, f"readable only from {read_at}")


def _robots_read_at(requests: list[Asked]) -> datetime | None:
    """The first moment at which the crawler could know the site's rules (RFC 9309 section 2.3.1)."""
    for asked in requests:
        if asked.path == ROBOTS_PATH and asked.status in (200, 404, 410):
            return asked.answered
    return None
