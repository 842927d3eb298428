"""What has one pattern of URLs yielded, and what do its figures call for?

Running averages over the last requests. A pattern that brings nothing is throttled, which loses nothing. It
is fenced only when it also shows no sign of an end: page after page offers new ones of the kind, and the site
answers addresses that were made up. A set that ends by itself is finished, be it of copies or of dead links:
manuals have many near-identical pages, translations that are copies, and folders that were never installed.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import NamedTuple

from evercrawl.core.traps.not_found import ProbeOutcome
from evercrawl.core.traps.url_pattern import Breadth

_PAGING = re.compile(r"\?(?:p|pg|page|paged|pagenum|page_?no|offset|start|from|skip|seite)=\d+\Z", re.IGNORECASE)

NARROW_PACE, BROAD_PACE = 1 / 12, 1 / 36
"""How much the newest request counts in the averages; broad patterns need more evidence."""
NARROW_LEAST, BROAD_LEAST = 12, 30
"""Requests before anything is said against a pattern."""
PRIOR = 0.5
PRIOR_WEIGHT = 3
"""As many requests outweigh what was assumed before the first of them."""
SUSPECT_PRIOR = 0.12
"""Where a pattern begins that only lengthens one that yields nothing."""
THROTTLE_BELOW = 0.1
BLOCK_BELOW = 0.04
OPEN_ABOVE = 0.25
UNBLOCK_ABOVE = 0.5
"""New text on one page from behind a fence that turns it into a throttle: what follows decides."""
COPIES_ABOVE = 0.8
GROWTH_ABOVE = 0.3
"""New URLs of the same pattern for each request: from here on it may not end by itself."""
STEADY_ABOVE = 0.75
"""Share of the requests that offered a new URL of the pattern: a set with an end falls below soon, since a
page that lists all of it counts once.
"""
MIN_PARAMETER_REQUESTS = 30
"""Requests with parameters until no new word is proof enough; paths may be copies for good reasons."""
MIN_PAGING_REQUESTS = 60
"""The same for the pages of a list: behind many that only show what is known there may be others."""
MIN_RETURN_REQUESTS = 60
"""Requests for paths that are redirected to what is known, such as a page to log in."""
CYCLES_ABOVE, CYCLES_LEAST = 0.6, 60
"""Share of requests for what a shorter path showed already: links of the file system that lead back; and from
how many on nothing has to go on, since what lies deeper may be fenced already.
"""
EXPLODES_ABOVE, EXPLODES_LEAST, EXPLODES_AGAIN = 3.0, 100, 16
"""New URLs for each request, still after so many: paths that combine choices, on a site that knows its
addresses. Fewer where shorter paths did so already.
"""
ENDLESS_LEAST = 40
"""Requests from which on a chain of pages that leads to nothing but itself is tried, however new its text."""
UNPROBED_REQUESTS, UNPROBED_REQUESTS_BROAD = 120, 300
"""Requests until an endless pattern is fenced although nobody could try it with made-up addresses."""
PROVEN_LEAST, PROVEN_ABOVE = 3, 0.3
"""Requests and new text from which on a shape is trusted, whatever wider patterns say."""
LITTLE_NEW = 0.5
"""New text below which pages of a set without end are not worth their requests."""
INVENTS = "made-up addresses are answered with ever new pages"
FEEDS_ITSELF = "made-up addresses are answered, each page offers another of the kind and nothing else"


class PatternState(IntEnum):
    """How a pattern is treated."""

    OPEN = 0
    THROTTLED = 1
    BLOCKED = 2


class PatternStats(NamedTuple):
    """What one pattern has yielded; averages forget slowly."""

    breadth: Breadth
    requests: int = 0
    value: float = PRIOR
    """New text that a request brought or led to; numbers do not make a text new."""
    literal_value: float = PRIOR
    """The same, where new numbers count as well."""
    page_value: float = PRIOR
    """New text on the pages themselves."""
    duplicates: float = 0.0
    growth: float = 0.0
    """New URLs of this pattern for each request."""
    steady_growth: float = 0.0
    """Share of the requests that offered at least one."""
    cycles: float = 0.0
    """Share of those that showed what a shorter path showed before."""
    state: PatternState = PatternState.OPEN
    probe_outcome: ProbeOutcome = ProbeOutcome.UNPROBED
    probes: int = 0
    """Requests since it was fenced."""
    probed_at: int = 0
    """How many these were when made-up addresses were tried last."""
    first_url: str = ""
    last_url: str = ""
    """Two of its URLs, as examples and to make up others."""
    promise: float = PRIOR
    """New text that links to other kinds of pages promised."""
    redirects_back: float = 0.0
    """Share of the requests that were redirected to what was known, or is left out."""

    @property
    def is_proven(self) -> bool:
        """It has brought new text often enough to be trusted whatever wider patterns say."""
        return self.state is PatternState.OPEN and self.requests >= PROVEN_LEAST and self.value > PROVEN_ABOVE

    @property
    def is_path(self) -> bool:
        """It is about places rather than about parameters."""
        return self.breadth in (Breadth.FOLDER, Breadth.SKELETON) or "?" not in self.last_url

    @property
    def is_paging(self) -> bool:
        """It steps through a list, and does nothing else."""
        return self.breadth < Breadth.FOLDER and _PAGING.search(self.last_url) is not None


class VisitGain(NamedTuple):
    """What one request brought to each pattern of its URL."""

    value: float
    literal_value: float
    page_value: float
    is_duplicate: bool
    is_cycle: bool = False
    promise: float = 0.0
    redirects_back: bool = False


def suspect_stats(breadth: Breadth, url: str) -> PatternStats:
    """The record of a pattern that lengthens one which yields nothing."""
    prior = SUSPECT_PRIOR
    return PatternStats(breadth, value=prior, literal_value=prior, page_value=prior, first_url=url, last_url=url)


def after_request(
    record: PatternStats, url: str, gains: VisitGain, *, growth: int, overspent: bool = False, lengthens: bool = False
) -> PatternStats:
    """The record with one more request in it, in the state that its figures call for.

    `lengthens`: the pattern only lengthens one behind a fence.
    """
    slowest = NARROW_PACE if record.breadth < Breadth.FOLDER else BROAD_PACE
    pace = max(slowest, 1 / (record.requests + PRIOR_WEIGHT))
    if record.state is PatternState.BLOCKED and _heals(record, gains):
        record = record._replace(
            state=PatternState.THROTTLED,
            value=max(record.value, THROTTLE_BELOW),
            promise=max(record.promise, OPEN_ABOVE),
            probes=0,
        )
    return with_state(
        record._replace(
            requests=record.requests + 1,
            value=record.value + pace * (gains.value - record.value),
            literal_value=record.literal_value + pace * (gains.literal_value - record.literal_value),
            page_value=record.page_value + pace * (gains.page_value - record.page_value),
            duplicates=record.duplicates + pace * (gains.is_duplicate - record.duplicates),
            growth=record.growth + pace * (growth - record.growth),
            steady_growth=record.steady_growth + pace * ((growth > 0) - record.steady_growth),
            cycles=record.cycles + pace * (gains.is_cycle - record.cycles),
            promise=record.promise + pace * (gains.promise - record.promise),
            redirects_back=record.redirects_back + pace * (gains.redirects_back - record.redirects_back),
            probes=record.probes + (record.state is PatternState.BLOCKED),
            last_url=url,
        ),
        overspent=overspent,
        lengthens=lengthens,
    )


def _heals(record: PatternStats, gains: VisitGain) -> bool:
    """What came from behind the fence shows that it is wrong; the text of an endless supply does not."""
    if record.probe_outcome is ProbeOutcome.INVENTED:
        return False
    if record.redirects_back >= COPIES_ABOVE:
        return gains.value > 0.0
    return (gains.promise if record.probe_outcome is ProbeOutcome.LEADS_ON else gains.page_value) >= UNBLOCK_ABOVE


def with_state(record: PatternStats, *, overspent: bool = False, lengthens: bool = False) -> PatternStats:
    """The record in the state that its figures call for.

    `overspent`: the site has cost more requests for nothing than others. `lengthens`: see `after_request`.
    """
    if record.probe_outcome is ProbeOutcome.INVENTED:
        return record._replace(state=PatternState.BLOCKED)
    if feeds_itself(record):
        return record._replace(state=PatternState.BLOCKED, probes=record.probes if record.state else 0)
    if record.value > OPEN_ABOVE or record.breadth is Breadth.SKELETON:
        return record._replace(state=PatternState.OPEN, probes=0)
    if record.state is PatternState.OPEN and record.value < THROTTLE_BELOW and _is_known_well(record):
        record = record._replace(state=PatternState.THROTTLED)
    if (
        record.state is PatternState.THROTTLED
        and record.value < BLOCK_BELOW
        and _may_fence(record)
        and blocking_proof(record, overspent=overspent, lengthens=lengthens)
    ):
        record = record._replace(state=PatternState.BLOCKED, probes=0)
    return record


def feeds_itself(record: PatternStats) -> bool:
    """It has no end, leads to nothing but itself, and says little that is new."""
    is_endless = record.probe_outcome is ProbeOutcome.LEADS_ON and offers_only_itself(record)
    return is_endless and record.breadth is Breadth.SHAPE and record.page_value < LITTLE_NEW


def offers_only_itself(record: PatternStats) -> bool:
    """The pages offer others of the kind, and nothing else that is worth a request."""
    return record.requests >= ENDLESS_LEAST and record.growth >= GROWTH_ABOVE and record.promise < THROTTLE_BELOW


def _is_known_well(record: PatternStats) -> bool:
    least = NARROW_LEAST if record.breadth < Breadth.FOLDER else BROAD_LEAST
    return record.requests >= least or record.value < SUSPECT_PRIOR / 2


def _may_fence(record: PatternStats) -> bool:
    """A parameter that says nothing on one kind of page may say something on another."""
    return record.breadth is not Breadth.SITE_PARAMETER


def blocking_proof(record: PatternStats, *, overspent: bool = True, lengthens: bool = False) -> str:
    """In words, what shows beside the low yield that a pattern does not deserve to be finished."""
    if not record.is_path and record.requests >= (MIN_PAGING_REQUESTS if record.is_paging else MIN_PARAMETER_REQUESTS):
        if record.duplicates >= COPIES_ABOVE:
            return "nearly all are copies or the answer to everything"
        if record.literal_value < BLOCK_BELOW and (record.steady_growth >= STEADY_ABOVE or not record.is_paging):
            return "many values of the parameters without a new word"
    if overspent and record.redirects_back >= COPIES_ABOVE and record.requests >= MIN_RETURN_REQUESTS:
        return "nearly all redirect to what is known, and they cost more than all the rest of the site"
    is_going_on = record.growth >= GROWTH_ABOVE or record.requests >= CYCLES_LEAST
    if overspent and record.cycles >= CYCLES_ABOVE and is_going_on:
        return "shorter paths have shown the same, and longer ones go on"
    if overspent and lengthens and record.requests >= EXPLODES_AGAIN and record.literal_value < BLOCK_BELOW:
        return "shorter paths were fenced, and these say as little"
    return _endless(record, overspent=overspent) if record.steady_growth >= STEADY_ABOVE else ""


def _endless(record: PatternStats, *, overspent: bool) -> str:
    if record.probe_outcome in (ProbeOutcome.ANSWERED, ProbeOutcome.LEADS_ON):
        return "made-up addresses are answered with the same kind of page"
    if record.probe_outcome is ProbeOutcome.SAME and (
        record.duplicates >= COPIES_ABOVE or record.literal_value < BLOCK_BELOW
    ):
        return "made-up addresses are answered with the very same page"
    patience = UNPROBED_REQUESTS if record.breadth < Breadth.FOLDER else UNPROBED_REQUESTS_BROAD
    if record.probe_outcome is ProbeOutcome.UNPROBED and record.requests >= patience:
        return "nothing but numbers changes, and each offers more of the same"
    is_exploding = record.growth >= EXPLODES_ABOVE and record.requests >= EXPLODES_LEAST
    if overspent and is_exploding and record.literal_value < BLOCK_BELOW:
        return "each offers many more without a new word, and they cost more than all the rest of the site"
    return ""


def evidence(record: PatternStats) -> str:
    """What the verdict on a pattern rests on, in words and figures."""
    figures = (
        f"{record.requests} requests, lately {record.value:.0%} new text, "
        f"{record.duplicates:.0%} copies, {record.growth:.1f} new URLs of the kind for each"
    )
    because = INVENTS if record.probe_outcome is ProbeOutcome.INVENTED else blocking_proof(record)
    if feeds_itself(record):
        because = FEEDS_ITSELF
    return f"{figures}; {because}" if because else figures


def trap_class(record: PatternStats) -> str:
    """One word for what seems to be wrong with a pattern."""
    if record.probe_outcome is ProbeOutcome.INVENTED:
        return "maze"
    if record.duplicates >= COPIES_ABOVE:
        return "copies"
    return "endless" if record.growth >= GROWTH_ABOVE else "barren"
