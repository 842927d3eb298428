"""What is wrong with a sitemap, how bad each fault is, and the score that follows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

MOST_EXAMPLES = 5
FULL_AT = 0.25
"""The share of bad entries at which a fault costs all its points."""
BEST = 100


class Fault(StrEnum):
    """The faults that a check knows; scripts may rely on these names."""

    NO_SITEMAP = "no_sitemap"
    BROKEN = "broken"
    LIMITS = "limits"
    WRONG_HOST = "wrong_host"
    DUPLICATES = "duplicates"
    NO_DATES = "no_dates"
    UNREADABLE_DATES = "unreadable_dates"
    FUTURE_DATES = "future_dates"
    EQUAL_DATES = "equal_dates"
    FALSE_DATES = "false_dates"
    OLD_DATES = "old_dates"
    DEAD = "dead"
    REDIRECTS = "redirects"
    NOINDEX = "noindex"
    CANONICAL = "canonical"
    DISALLOWED = "disallowed"
    UNREACHABLE = "unreachable"
    MISSING = "missing"


class Weight(NamedTuple):
    """Points that a fault may cost, and what it means."""

    points: int
    words: str


WEIGHTS = {
    Fault.NO_SITEMAP: Weight(100, "no sitemap can be read"),
    Fault.BROKEN: Weight(30, "files that are not well-formed, cut off, or no sitemap at all"),
    Fault.LIMITS: Weight(20, "files beyond 50,000 URLs or 50 MiB, or URLs beyond 2,048 characters"),
    Fault.WRONG_HOST: Weight(20, "URLs for which this sitemap may not speak: another host, or above its folder"),
    Fault.DUPLICATES: Weight(5, "URLs that are listed more than once"),
    Fault.NO_DATES: Weight(10, "entries without lastmod"),
    Fault.UNREADABLE_DATES: Weight(15, "dates that are no W3C datetime"),
    Fault.FUTURE_DATES: Weight(15, "dates that lie ahead"),
    Fault.EQUAL_DATES: Weight(20, "all dates are the same: they say nothing about single pages"),
    Fault.FALSE_DATES: Weight(35, "dates of changes that were none"),
    Fault.OLD_DATES: Weight(20, "pages that changed after their date"),
    Fault.DEAD: Weight(30, "pages that are not there"),
    Fault.REDIRECTS: Weight(15, "URLs that only lead elsewhere"),
    Fault.NOINDEX: Weight(20, "pages that ask not to be indexed"),
    Fault.CANONICAL: Weight(15, "pages that name another URL as their canonical one"),
    Fault.DISALLOWED: Weight(20, "pages that robots.txt forbids"),
    Fault.UNREACHABLE: Weight(10, "pages that could not be had: a server error, or no answer"),
    Fault.MISSING: Weight(20, "pages that the site links and the sitemap does not list"),
}


class Example(NamedTuple):
    """One case of a fault."""

    url: str
    detail: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault that was found: in how many of how many, and what it costs."""

    fault: Fault
    count: int
    of: int
    examples: tuple[Example, ...]

    @property
    def cost(self) -> float:
        """Points off; a quarter of bad entries costs all that the fault may cost."""
        share = self.count / self.of if self.of else 1.0
        return WEIGHTS[self.fault].points * min(1.0, share / FULL_AT)


def finding(fault: Fault, cases: Iterable[Example], *, of: int) -> list[Finding]:
    """The finding for these cases, none where there are none."""
    found = list(cases)
    return [Finding(fault, len(found), max(of, len(found)), tuple(found[:MOST_EXAMPLES]))] if found else []


def score_of(findings: Iterable[Finding]) -> int:
    """From 0 to 100; 100: nothing was found."""
    return max(0, round(BEST - sum(one.cost for one in findings)))
