"""Sites (scheme, host and port), their robots.txt, delays of single sites, and crawler traps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from evercrawl.model import wide


class RobotsRecord(NamedTuple):
    """The last robots.txt of a site. Times are microseconds since 1970."""

    fetched_us: int
    expires_us: int
    status: int | None  # HTTP status; None: unreachable.
    body: bytes  # The file up to the size limit; empty unless the status is a success.
    etag: str | None
    last_modified: str | None
    policy: str
    """`obey` the rules, `allow` (there are none), `forbid` (request nothing) or `private` (its address is private)."""
    detail: str
    unreachable_since_us: int | None = None


@wide
class Site(NamedTuple):
    """A site as stored."""

    id: int
    name: str  # Origin: `https://example.org` or `http://example.org:8080`.
    domain: str  # Registrable domain.
    open_us: int = 0  # The earliest time of the next request.
    delay_ms: int = 0  # The current delay; 0: unknown.
    backoff: float = 1.0  # Factor by which the delay is increased after slow or failed responses; 1: not increased.
    failures: int = 0  # Number of failed requests in a row.
    closed_reason: str | None = None  # Why the site is closed longer than the delay; None: it is not.
    pages: int = 0  # Number of known pages.
    pending: int = 0  # Number of queued pages.
    priority: int = 0  # The most urgent priority of its queued pages; it may be outdated.
    requests: int = 0
    wire_bytes: int = 0
    robots: RobotsRecord | None = None


@dataclass(frozen=True, slots=True)
class RateOverride:
    """A site with a minimum delay of its own."""

    site: str
    delay_s: float  # Minimum delay between two requests in seconds.


@dataclass(frozen=True, slots=True)
class TrapPattern:
    """A URL pattern of one site that is excluded, throttled or allowed, with the evidence."""

    site: str
    pattern: str
    kind: str  # The class: endless, duplicates, maze, unproductive; a class of URL forms; or user.
    evidence: str
    requests: int  # Requests so far.
    state: str  # throttled, blocked, refused (by the form of the URL), excluded or allowed (by your rules).


@dataclass(frozen=True, slots=True)
class RuleEffect:
    """The pages and URLs that a rule about a pattern affects."""

    pattern: str
    sites: tuple[str, ...]  # The sites of the rule; empty: all sites.
    known: int  # Known pages that match.
    queued: int  # Matching pages that were not visited yet.
    refused: int  # Rejected URLs that match.
    checked: int  # Number of pages checked: all, or a sample of a large collection.
    total: int  # Number of pages in the collection.
    examples: tuple[str, ...] = ()
    done: bool = False  # The rule was applied.
