"""Statistics of one URL pattern over its last requests, and the state that follows from them.
A pattern without new content is throttled. It is blocked only if it also shows no end: its pages keep linking to more
of its kind, and the site answers invented URLs. A finite set is always finished."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import NamedTuple

from evercrawl.core.traps.not_found import ProbeOutcome
from evercrawl.core.traps.url_pattern import Breadth
from evercrawl.model import wide

_PAGING = re.compile(r"\?(?:p|pg|page|paged|pagenum|page_?no|offset|start|from|skip|seite)=\d+\Z", re.IGNORECASE)

NARROW_PACE, BROAD_PACE = 1 / 12, 1 / 36
"""Weight of the newest request in the averages. Broad patterns need more evidence."""
NARROW_MIN_REQUESTS, BROAD_MIN_REQUESTS = 12, 30  # Requests before a pattern can be throttled.
PRIOR = 0.5
PRIOR_WEIGHT = 3  # The prior counts as much as this many requests.
SUSPECT_PRIOR = 0.12  # Prior of a pattern that extends an unproductive one.
THROTTLE_BELOW = 0.1
BLOCK_BELOW = 0.04
OPEN_ABOVE = 0.25
UNBLOCK_ABOVE = 0.5  # New text on one page of a blocked pattern that turns the block into a throttle.
DUPLICATES_ABOVE = 0.8
DISTINCT_ABOVE = 0.65  # Share of pages with paragraphs of their own that makes a set content, if it ends.
GROWTH_ABOVE = 0.3  # New URLs of the pattern per request; above this, the pattern may have no end.
STEADY_ABOVE = 0.75  # Share of requests that offered a new URL of the pattern. A finite set soon falls below it.
MIN_PARAMETER_REQUESTS = 30
"""Requests with parameters after which the absence of new words proves a trap. Paths may be copies for good reasons."""
MIN_PAGING_REQUESTS = 60  # The same for the pages of a list, which may hide new items behind many known ones.
MIN_RETURN_REQUESTS = 60  # Requests that redirect to known pages, such as a login page.
CYCLES_ABOVE, MIN_CYCLE_REQUESTS = 0.6, 60
"""Share of requests that repeat what a shorter path showed, and after how many growth is no longer required."""
EXPLODES_ABOVE, MIN_EXPLOSION_REQUESTS, MIN_EXPLOSION_REQUESTS_BELOW = 3.0, 100, 16
"""New URLs per request, and the requests after which that counts as an explosion; fewer below an exploding path."""
MIN_CHAIN_REQUESTS = 40  # Requests before a chain of pages that links only to itself is probed, however new its text.
UNPROBED_REQUESTS, UNPROBED_REQUESTS_BROAD = 120, 300  # Requests before an endless pattern is blocked without a probe.
MIN_PROVEN_REQUESTS, PROVEN_ABOVE = 3, 0.3
"""Requests and new text that make a pattern trusted, whatever wider ones say."""
MIN_TRIED_REQUESTS = 3  # Requests that a pattern gets before a wider one can block it.
LITTLE_NEW = 0.5  # Pages of an endless set with less new text than this are not worth a request.
INVENTS = "invented URLs are answered with new pages"
FEEDS_ITSELF = "invented URLs are answered, and each page links only to more of its kind"


class PatternState(IntEnum):
    """How the crawl treats a pattern."""

    OPEN = 0
    THROTTLED = 1
    BLOCKED = 2


@wide
class PatternStats(NamedTuple):
    """Running statistics of one pattern."""

    breadth: Breadth
    requests: int = 0
    value: float = PRIOR  # New text that a request yielded or led to, ignoring numbers.
    literal_value: float = PRIOR  # The same, counting new numbers.
    page_value: float = PRIOR  # New text on the pages themselves.
    duplicates: float = 0.0
    growth: float = 0.0  # New URLs of this pattern per request.
    steady_growth: float = 0.0  # Share of requests that offered at least one.
    cycles: float = 0.0  # Share of requests that repeated what a shorter path showed.
    state: PatternState = PatternState.OPEN
    probe_outcome: ProbeOutcome = ProbeOutcome.UNPROBED
    probes: int = 0  # Requests since the block.
    probed_at: int = 0  # Value of `probes` at the last probe.
    first_url: str = ""
    last_url: str = ""  # Two of its URLs: examples, and models for invented URLs.
    promise: float = PRIOR  # New text expected behind links to other kinds of pages.
    redirects_back: float = 0.0  # Share of requests that redirected to a known or refused page.
    useful: int = 0  # Requests that found new text or led to it.
    distinct: float = PRIOR  # Share of requests with paragraphs of their own, though the words may be known.

    @property
    def is_proven(self) -> bool:
        """True if it has yielded new text often enough to overrule wider patterns."""
        return self.state is PatternState.OPEN and self.requests >= MIN_PROVEN_REQUESTS and self.value > PROVEN_ABOVE

    @property
    def is_poor(self) -> bool:
        """True if it was tried and found so little that the verdict on a wider pattern holds for it too."""
        is_tried = self.requests >= MIN_TRIED_REQUESTS and self.distinct < DISTINCT_ABOVE
        return is_tried and (self.useful == 0 or self.value < BLOCK_BELOW)

    @property
    def is_path(self) -> bool:
        """True if the pattern is about folders, not parameters."""
        return self.breadth in (Breadth.FOLDER, Breadth.SKELETON) or "?" not in self.last_url

    @property
    def is_paging(self) -> bool:
        """True if its parameters only step through a list."""
        return self.breadth < Breadth.FOLDER and _PAGING.search(self.last_url) is not None


class VisitGain(NamedTuple):
    """What one request yielded, for each pattern of its URL."""

    value: float
    literal_value: float
    page_value: float
    is_duplicate: bool
    is_cycle: bool = False
    promise: float = 0.0
    redirects_back: bool = False
    is_distinct: bool = False


def suspect_stats(breadth: Breadth, url: str) -> PatternStats:
    """Return the statistics of a new pattern that extends an unproductive one."""
    prior = SUSPECT_PRIOR
    return PatternStats(breadth, value=prior, literal_value=prior, page_value=prior, first_url=url, last_url=url)


def after_request(
    stats: PatternStats, url: str, gain: VisitGain, *, growth: int, overspent: bool = False, lengthens: bool = False
) -> PatternStats:
    """Return the statistics and state after one more request. `lengthens`: the pattern only extends a blocked one."""
    slowest = NARROW_PACE if stats.breadth < Breadth.FOLDER else BROAD_PACE
    pace = max(slowest, 1 / (stats.requests + PRIOR_WEIGHT))
    if stats.state is PatternState.BLOCKED and _is_wrongly_blocked(stats, gain):
        stats = stats._replace(
            state=PatternState.THROTTLED,
            value=max(stats.value, THROTTLE_BELOW),
            promise=max(stats.promise, OPEN_ABOVE),
            probes=0,
        )
    return with_state(
        stats._replace(
            requests=stats.requests + 1,
            value=stats.value + pace * (gain.value - stats.value),
            literal_value=stats.literal_value + pace * (gain.literal_value - stats.literal_value),
            page_value=stats.page_value + pace * (gain.page_value - stats.page_value),
            duplicates=stats.duplicates + pace * (gain.is_duplicate - stats.duplicates),
            growth=stats.growth + pace * (growth - stats.growth),
            steady_growth=stats.steady_growth + pace * ((growth > 0) - stats.steady_growth),
            cycles=stats.cycles + pace * (gain.is_cycle - stats.cycles),
            promise=stats.promise + pace * (gain.promise - stats.promise),
            redirects_back=stats.redirects_back + pace * (gain.redirects_back - stats.redirects_back),
            probes=stats.probes + (stats.state is PatternState.BLOCKED),
            last_url=url,
            useful=stats.useful + (gain.value > 0.0),
            distinct=stats.distinct + pace * (gain.is_distinct - stats.distinct),
        ),
        overspent=overspent,
        lengthens=lengthens,
    )


def _is_wrongly_blocked(stats: PatternStats, gain: VisitGain) -> bool:
    """True if a page of a blocked pattern shows that the block is wrong. The text of a maze does not."""
    if stats.probe_outcome is ProbeOutcome.INVENTED:
        return False
    if stats.redirects_back >= DUPLICATES_ABOVE:
        return gain.value > 0.0
    return (gain.promise if stats.probe_outcome is ProbeOutcome.LEADS_ON else gain.page_value) >= UNBLOCK_ABOVE


def with_state(stats: PatternStats, *, overspent: bool = False, lengthens: bool = False) -> PatternStats:
    """Return the statistics in the state that they call for.
    `overspent`: most requests to the site were wasted. `lengthens`: see `after_request`."""
    if stats.probe_outcome is ProbeOutcome.INVENTED:
        return stats._replace(state=PatternState.BLOCKED)
    if feeds_itself(stats):
        return stats._replace(state=PatternState.BLOCKED, probes=stats.probes if stats.state else 0)
    if stats.value > OPEN_ABOVE or stats.breadth is Breadth.SKELETON:
        return stats._replace(state=PatternState.OPEN, probes=0)
    if stats.state is PatternState.OPEN and stats.value < THROTTLE_BELOW and _is_known_well(stats):
        stats = stats._replace(state=PatternState.THROTTLED)
    if (
        stats.state is PatternState.THROTTLED
        and stats.value < BLOCK_BELOW
        and blocking_proof(stats, overspent=overspent, lengthens=lengthens)
    ):
        stats = stats._replace(state=PatternState.BLOCKED, probes=0)
    return stats


def feeds_itself(stats: PatternStats) -> bool:
    """True if the pattern has no end, links only to itself, and says little that is new."""
    is_endless = stats.probe_outcome is ProbeOutcome.LEADS_ON and offers_only_itself(stats)
    return is_endless and stats.breadth <= Breadth.SHAPE and stats.page_value < LITTLE_NEW


def offers_only_itself(stats: PatternStats) -> bool:
    """True if its pages link to more of their kind and to nothing else of value."""
    return stats.requests >= MIN_CHAIN_REQUESTS and stats.growth >= GROWTH_ABOVE and stats.promise < THROTTLE_BELOW


def is_without_words(stats: PatternStats) -> bool:
    """True if its pages show neither new words nor paragraphs of their own. A fixed wording with other names does."""
    return stats.literal_value < BLOCK_BELOW and stats.distinct < DISTINCT_ABOVE


def shows_copies(stats: PatternStats) -> bool:
    """True if most of its pages repeat others."""
    return stats.cycles >= CYCLES_ABOVE or stats.duplicates >= DUPLICATES_ABOVE


def _is_known_well(stats: PatternStats) -> bool:
    least = NARROW_MIN_REQUESTS if stats.breadth < Breadth.FOLDER else BROAD_MIN_REQUESTS
    return stats.requests >= least or stats.value < SUSPECT_PRIOR / 2


def blocking_proof(stats: PatternStats, *, overspent: bool = True, lengthens: bool = False) -> str:
    """Return the proof that an unproductive pattern must be blocked; empty if there is none."""
    if not stats.is_path and stats.requests >= (MIN_PAGING_REQUESTS if stats.is_paging else MIN_PARAMETER_REQUESTS):
        if stats.duplicates >= DUPLICATES_ABOVE:
            return "nearly all are duplicates or soft 404s"
        if is_without_words(stats) and (stats.steady_growth >= STEADY_ABOVE or not stats.is_paging):
            return "many parameter values without a new word"
    if overspent and stats.redirects_back >= DUPLICATES_ABOVE and stats.requests >= MIN_RETURN_REQUESTS:
        return "nearly all redirect to known pages, and most requests to the site are wasted"
    goes_on = stats.growth >= GROWTH_ABOVE or stats.requests >= MIN_CYCLE_REQUESTS
    if overspent and stats.cycles >= CYCLES_ABOVE and goes_on:
        return "shorter paths showed the same, and longer ones go on"
    if overspent and lengthens and stats.requests >= MIN_EXPLOSION_REQUESTS_BELOW and is_without_words(stats):
        return "shorter paths are blocked, and these say as little"
    return _endless(stats, overspent=overspent) if stats.steady_growth >= STEADY_ABOVE else ""


def _endless(stats: PatternStats, *, overspent: bool) -> str:
    if stats.probe_outcome in (ProbeOutcome.ANSWERED, ProbeOutcome.LEADS_ON):
        return "invented URLs are answered with the same kind of page"
    if stats.probe_outcome is ProbeOutcome.SAME and (stats.duplicates >= DUPLICATES_ABOVE or is_without_words(stats)):
        return "invented URLs are answered with the same page"
    limit = UNPROBED_REQUESTS if stats.breadth < Breadth.FOLDER else UNPROBED_REQUESTS_BROAD
    if stats.probe_outcome is ProbeOutcome.UNPROBED and stats.requests >= limit:
        return "only numbers change, and each page links to more of the same"
    is_exploding = stats.growth >= EXPLODES_ABOVE and stats.requests >= MIN_EXPLOSION_REQUESTS
    if overspent and is_exploding and is_without_words(stats):
        return "each page links to many more without a new word, and most requests to the site are wasted"
    return ""


def evidence(stats: PatternStats) -> str:
    """Return the figures behind the verdict, as one line of text."""
    figures = (
        f"{stats.requests} requests, recently {stats.value:.0%} new text, "
        f"{stats.duplicates:.0%} duplicates, {stats.growth:.1f} new URLs of this kind per request"
    )
    proof = INVENTS if stats.probe_outcome is ProbeOutcome.INVENTED else blocking_proof(stats)
    if feeds_itself(stats):
        proof = FEEDS_ITSELF
    return f"{figures}; {proof}" if proof else figures


def trap_class(stats: PatternStats) -> str:
    """Return the class of trap that `trap list` shows."""
    if stats.probe_outcome is ProbeOutcome.INVENTED:
        return "maze"
    if stats.duplicates >= DUPLICATES_ABOVE:
        return "duplicates"
    return "endless" if stats.growth >= GROWTH_ABOVE else "unproductive"
