"""What we know about a site: scheme, host and port, the unit that politeness protects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class RobotsRecord(NamedTuple):
    """The last word of a site's robots.txt, with its age. Times are microseconds since the epoch."""

    fetched_us: int
    expires_us: int
    status: int | None
    """HTTP status of the answer; None: unreachable."""
    body: bytes
    """At most the parse limit; empty unless the answer was a success."""
    etag: str | None
    last_modified: str | None
    policy: str
    """`obey` (the body's rules), `allow` (no rules apply), `forbid` (nothing may be asked) or `private` (the
    file lies at an address that may not be connected to, so nothing is asked either).
    """
    detail: str
    unreachable_since_us: int | None = None


class Site(NamedTuple):
    """A site as the store keeps it."""

    id: int
    name: str
    """Origin: `https://example.org` or `http://example.org:8080`."""
    domain: str
    """Registrable domain."""
    open_us: int = 0
    """Earliest moment at which the site may be asked again."""
    gap_ms: int = 0
    """The gap in force; 0: not learned yet."""
    strain: float = 1.0
    """How much slower than usual we go because the site was slow or refused; 1 is not at all."""
    failures: int = 0
    """Failed requests in a row that the site is to blame for."""
    closed_reason: str | None = None
    """Why `open_us` lies further away than the gap, in words; None: it does not."""
    pages: int = 0
    """Pages of this site ever entered."""
    pending: int = 0
    """Pages of this site in the queue."""
    band: int = 0
    """The most urgent band that has (or lately had) a page of this site."""
    requests: int = 0
    wire_bytes: int = 0
    robots: RobotsRecord | None = None


@dataclass(frozen=True, slots=True)
class RateOverride:
    """A site that the operator wants to be asked more slowly."""

    site: str
    delay_s: float
    """The least gap between two requests, in seconds."""


@dataclass(frozen=True, slots=True)
class TrapPattern:
    """A set of URLs of one site that is left out, or asked for last, with the evidence."""

    site: str
    pattern: str
    kind: str
    """One word for what is wrong: endless, duplicates, maze, unproductive; the form of the URL; or operator."""
    evidence: str
    requests: int
    """What it has cost so far."""
    state: str
    """throttled, blocked, refused (by the form of the URL), excluded or allowed (by the operator)."""


@dataclass(frozen=True, slots=True)
class RuleEffect:
    """What a rule about a pattern touches, as the collection stands now."""

    pattern: str
    sites: tuple[str, ...]
    """The sites that it is about; none: all."""
    known: int
    """Pages that match."""
    queued: int
    """Those of them that were not asked for yet."""
    refused: int
    """Refused URLs that match."""
    checked: int
    """Pages that were looked at: all, or of a large collection an even sample."""
    total: int
    """Pages that there are."""
    examples: tuple[str, ...] = ()
    done: bool = False
    """The rule is written."""
