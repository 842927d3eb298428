"""Decide whether a URL may be requested, from the statistics of its patterns and its domain.
Throttled URLs come after all others. A few requests for blocked patterns continue, so a wrong block heals. The hosts of
a domain that keeps naming new hosts are judged together, because each is too small to judge."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

import orjson
from xxhash import xxh32_intdigest

from evercrawl.core.traps.irrelevant_parts import known_variant, url_identity
from evercrawl.core.traps.pattern_stats import (
    CYCLES_ABOVE,
    DISTINCT_ABOVE,
    INVENTS,
    MIN_TRIED_REQUESTS,
    THROTTLE_BELOW,
    PatternState,
    PatternStats,
    evidence,
    feeds_itself,
    shows_copies,
    trap_class,
)
from evercrawl.core.traps.trap_state import TrapState
from evercrawl.core.traps.url_pattern import Breadth, UrlPattern, lengthens, parent_shape, shape_among

MIN_PROBES, PROBE_SHARE = 2, 0.01
"""Requests allowed in a blocked pattern: this number plus this share of the site's requests."""
PROBE_ONE_IN = 8  # One in this many links to a blocked pattern stays queued for probes.
IRRELEVANT = "(does not matter)"  # Suffix of a URL part that does not affect the content.


class TrapAction(Enum):
    """What to do with a URL."""

    ALLOW = "allow"
    THROTTLE = "throttle"  # Queue it after all others.
    BLOCK = "block"


class TrapVerdict(NamedTuple):
    """An action with the pattern that decided and the evidence."""

    action: TrapAction
    pattern: str = ""
    evidence: str = ""
    is_probe: bool = False  # True if the URL is blocked but let through to check the block.


ALLOWED = TrapVerdict(TrapAction.ALLOW)


def allows_all(site: TrapState) -> bool:
    """True if no URL of the site can be refused. Most sites set no traps."""
    is_open = all(stats.state is PatternState.OPEN for stats in site.patterns.values())
    return is_open and not site.mazes and not site.url_parts.irrelevant


def check_link(site: TrapState, url: str) -> TrapVerdict:
    """Decide about a new link: queue it, queue it last, or refuse it."""
    verdict = _strictest(site, url)
    if verdict.action is TrapAction.BLOCK and xxh32_intdigest(url.encode("utf-8", "replace")) % PROBE_ONE_IN == 0:
        return verdict._replace(action=TrapAction.THROTTLE, is_probe=True)
    return verdict


def check_queued(site: TrapState, url: str) -> TrapVerdict:
    """Decide about a queued page. A few blocked pages pass as probes."""
    verdict = _strictest(site, url)
    if verdict.action is not TrapAction.BLOCK:
        return verdict
    if _probes(site, verdict.pattern) < MIN_PROBES + PROBE_SHARE * site.requests:
        return verdict._replace(action=TrapAction.ALLOW, is_probe=True)
    return verdict


def _probes(site: TrapState, pattern: str) -> int:
    stats = site.patterns.get(pattern)
    return site.url_parts.rechecks if pattern.endswith(IRRELEVANT) or stats is None else stats.probes


def _strictest(site: TrapState, url: str) -> TrapVerdict:
    irrelevant = known_variant(site.url_parts, url)
    if irrelevant is not None:
        return TrapVerdict(TrapAction.BLOCK, f"{irrelevant} {IRRELEVANT}", _variant_evidence(site, url))
    patterns = site.patterns_of(url)
    lengthened = next((name for name in site.mazes if lengthens(patterns, name)), None)
    if lengthened is not None:
        return TrapVerdict(TrapAction.BLOCK, lengthened, INVENTS)
    state, name = max(_states(site, patterns), default=(PatternState.OPEN, ""))
    if state is not PatternState.BLOCKED and (cycle := _extended_copies(site, patterns)):
        return TrapVerdict(TrapAction.BLOCK, cycle, evidence(site.patterns[cycle]))
    if state is PatternState.OPEN:
        return ALLOWED
    action = TrapAction.BLOCK if state is PatternState.BLOCKED else TrapAction.THROTTLE
    if _state_of(site, patterns[0].name) is not state:
        action = _narrower_action(site, patterns, site.patterns[name], action)
    return ALLOWED if action is TrapAction.ALLOW else TrapVerdict(action, name, evidence(site.patterns[name]))


def _narrower_action(
    site: TrapState, patterns: tuple[UrlPattern, ...], wider: PatternStats, action: TrapAction
) -> TrapAction:
    """Decide about a kind of page of which only a wider pattern is throttled or blocked.
    The first links to a kind that was hardly tried are followed like others, the next ones last. A block holds only for
    a kind that was tried and found as poor, for longer paths, and if too much exploration found nothing."""
    own = patterns[0].name
    stats = site.patterns.get(own)
    if stats is not None and stats.useful and stats.requests < MIN_TRIED_REQUESTS:
        return TrapAction.ALLOW
    if stats is None or stats.requests < MIN_TRIED_REQUESTS:
        if not site.may_explore or _only_lengthens(site, shape_among(patterns)):
            return action
        return TrapAction.ALLOW if site.offered.get(own, 0) <= MIN_TRIED_REQUESTS else TrapAction.THROTTLE
    is_spent = not site.may_explore and stats.value < THROTTLE_BELOW and stats.distinct < DISTINCT_ABOVE
    is_held = is_spent or stats.is_poor or feeds_itself(wider) or shows_copies(wider)
    return action if is_held else TrapAction.THROTTLE


def _only_lengthens(site: TrapState, shape: UrlPattern) -> bool:
    """True if the shape adds segments to a path that is blocked: that is no other kind of page."""
    above = shape.name.rstrip("/")
    while "?" not in shape.name and (above := above.rpartition("/")[0]):
        if any(is_blocked(site, name) for name in (above, above + "/")):
            return True
    return False


def is_blocked(site: TrapState, name: str) -> bool:
    """True if the named pattern is blocked."""
    return _state_of(site, name) is PatternState.BLOCKED


def _state_of(site: TrapState, name: str) -> PatternState:
    stats = site.patterns.get(name)
    return PatternState.OPEN if stats is None else stats.state


def _variant_evidence(site: TrapState, url: str) -> str:
    """Return the evidence for a variant of a known page, with the URL without its irrelevant parameters."""
    plain = url_identity(site.url_parts, url)
    named = f"; without it: {plain}" if plain != url else ""
    return f"same as a known page except for a part of the URL that does not matter here{named}"


def _extended_copies(site: TrapState, patterns: tuple[UrlPattern, ...]) -> str:
    """Return the blocked path of copies that a longer one extends; empty if there is none, or if it yields more."""
    own, shape = site.patterns.get(patterns[0].name), shape_among(patterns)
    is_useful = own is not None and own.useful > 0
    while name := parent_shape(shape):
        stats = site.patterns.get(name)
        if stats is not None and stats.state is PatternState.BLOCKED and stats.is_path and shows_copies(stats):
            return "" if is_useful and stats.cycles < CYCLES_ABOVE else name
        shape = UrlPattern(name, Breadth.SHAPE)
    return ""


def _states(site: TrapState, patterns: tuple[UrlPattern, ...]) -> list[tuple[PatternState, str]]:
    own = site.patterns.get(patterns[0].name)
    is_proven = own is not None and own.is_proven
    return [
        (site.patterns[pattern.name].state, pattern.name)
        for pattern in patterns
        if pattern.name in site.patterns and not (is_proven and _is_wider(pattern))
    ]


def _is_wider(pattern: UrlPattern) -> bool:
    """True if the pattern says less about a URL than its shape. Folders below the first say more."""
    return pattern.breadth is not Breadth.FOLDER or pattern.name.count("/") <= 2


class TrapReport(NamedTuple):
    """A throttled or blocked pattern, as `trap list` shows it."""

    pattern: str
    kind: str
    evidence: str
    requests: int
    state: str


def trap_reports(site: TrapState) -> list[TrapReport]:
    """Return the throttled and blocked patterns of a site, the costliest first."""
    found = [
        TrapReport(name, trap_class(stats), evidence(stats), stats.requests, stats.state.name.lower())
        for name, stats in site.patterns.items()
        if stats.state is not PatternState.OPEN
    ]
    return sorted(found, key=lambda one: -one.requests)


MIN_HOSTS = 24  # Hosts seen before a domain is judged.
HOST_PACE = 1 / 24  # Weight of the newest host in the average.
HOST_PRIOR_WEIGHT = 4  # The prior counts as much as this many hosts.
BLOCK_HOSTS_ABOVE, UNBLOCK_HOSTS_BELOW = 0.85, 0.6
"""Share of new hosts among those that a host names: from here a domain is blocked, below here unblocked."""


class HostStats(NamedTuple):
    """Statistics of the hosts of one domain."""

    domain: str
    hosts: int = 0  # Hosts with at least one page seen.
    fresh: float = 0.5  # Share of never-named hosts among those that the first page of a host names.
    is_blocked: bool = False

    @property
    def evidence(self) -> str:
        """Return the figures behind the verdict, as one line of text."""
        return (
            f"{self.hosts} hosts of {self.domain} were seen; "
            f"recently {self.fresh:.0%} of the hosts that they name were new"
        )


def after_host(known: HostStats, *, others: int, fresh: int) -> HostStats:
    """Return the statistics after one more host that names `others` hosts, `fresh` of them new."""
    hosts = known.hosts + 1
    pace = max(HOST_PACE, 1 / (hosts + HOST_PRIOR_WEIGHT))
    average = known.fresh + pace * (fresh / max(others, 1) - known.fresh)
    is_endless = hosts >= MIN_HOSTS and average >= BLOCK_HOSTS_ABOVE
    is_blocked = is_endless or (known.is_blocked and average >= UNBLOCK_HOSTS_BELOW)
    return HostStats(known.domain, hosts, average, is_blocked)


def host_stats_bytes(known: HostStats) -> bytes:
    """Return the stored form."""
    return orjson.dumps(list(known))


def host_stats_of(stored: bytes) -> HostStats:
    """Read the stored form."""
    return HostStats(*orjson.loads(stored))
