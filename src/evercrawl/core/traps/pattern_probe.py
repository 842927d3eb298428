"""Choose the pattern to probe with invented URLs, and learn from the answers.
A pattern that explodes, or grows without new words, is probed once with two URLs. An honest site has no such page."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from evercrawl.core.traps.not_found import ProbeAnswer, ProbeOutcome, common_not_found_phrases, judge_probe, probe_url
from evercrawl.core.traps.pattern_stats import (
    GROWTH_ABOVE,
    STEADY_ABOVE,
    PatternState,
    PatternStats,
    offers_only_itself,
    with_state,
)
from evercrawl.core.traps.trap_state import TrapState
from evercrawl.core.traps.url_pattern import Breadth, lengthens, patterns_of

EXPLODING_ABOVE = 2.0  # New URLs of the same pattern per request.
MIN_EXPLODING, MIN_EXPLODING_AGAIN = 64, 16
"""Requests before an exploding pattern is probed, however new its text; fewer on a site with a maze."""
MAX_SOFT_404 = 4
MAX_MAZES = 16
MAX_PHRASES = 4
REQUESTS_BEFORE_RETRY = 4  # Requests to a blocked maze before it is probed again.
MIN_SECOND_PROBE = 100  # Requests before a chain without new words is probed a second time.
MIN_MAZE_FOLDERS = 3  # Folders with invented pages that mark the whole site as a maze.


class ProbeRequest(NamedTuple):
    """A pattern to probe, with two invented URLs."""

    pattern: str
    urls: tuple[str, str]


def next_probe(site: TrapState, *, seed: int) -> ProbeRequest | None:
    """Return the pattern that most needs a probe, if any."""
    found = _probe_candidates(site, Breadth.VARIANT) or _probe_candidates(site, Breadth.SHAPE)
    if not found and not any(_stands_out(stats) for stats in site.patterns.values()):
        # Nothing stands out, so this may be a maze with a new name for every first folder.
        found = _probe_candidates(site, Breadth.SKELETON)
    if not found:
        return None
    _, name = max(found)
    stats = site.patterns[name]
    one, other = (probe_url(stats.first_url, stats.last_url, seed=seed + turn) for turn in (0, 1))
    return ProbeRequest(name, (one, other))


def _probe_candidates(site: TrapState, breadth: Breadth) -> list[tuple[int, str]]:
    least = MIN_EXPLODING_AGAIN if site.mazes else MIN_EXPLODING
    return [
        (stats.requests, name)
        for name, stats in site.patterns.items()
        if stats.breadth is breadth
        and _needs_probe(stats, least)
        and not any(name != maze and lengthens(patterns_of(stats.last_url), maze) for maze in site.mazes)
    ]


def _needs_probe(stats: PatternStats, least: int) -> bool:
    if stats.first_url == stats.last_url:
        return False
    if stats.probe_outcome is ProbeOutcome.INVENTED:
        return stats.probes >= REQUESTS_BEFORE_RETRY + 2 * stats.probed_at
    if stats.probe_outcome is ProbeOutcome.NOT_FOUND:
        return _still_grows(stats)
    if stats.probe_outcome is not ProbeOutcome.UNPROBED:
        return False
    if stats.state is PatternState.THROTTLED:
        return stats.growth >= GROWTH_ABOVE
    if stats.breadth <= Breadth.SHAPE and offers_only_itself(stats):
        return True
    return stats.state is PatternState.OPEN and stats.requests >= least and stats.growth >= EXPLODING_ABOVE


def _still_grows(stats: PatternStats) -> bool:
    """The first probe may have changed a name that must exist, while a number beside it goes on."""
    is_endless = stats.growth >= GROWTH_ABOVE and stats.steady_growth >= STEADY_ABOVE
    return stats.requests >= MIN_SECOND_PROBE and is_endless and stats.state is PatternState.THROTTLED


def _stands_out(stats: PatternStats) -> bool:
    is_shape = stats.breadth is Breadth.SHAPE
    return is_shape and stats.requests >= MIN_EXPLODING // 2 and stats.growth > EXPLODING_ABOVE / 2


def after_probe(site: TrapState, pattern: str, answers: tuple[ProbeAnswer, ProbeAnswer]) -> TrapState:
    """Return the state after a probe."""
    stats = site.patterns.get(pattern)
    if stats is None:
        return site
    outcome, same = judge_probe(*answers)
    is_repeated = outcome is ProbeOutcome.NOT_FOUND and stats.probe_outcome is outcome
    own_outcome = ProbeOutcome.NOT_FOUND_AGAIN if is_repeated else outcome
    of_pattern = stats._replace(probe_outcome=own_outcome, probed_at=stats.probes)
    patterns = {**site.patterns, pattern: with_state(of_pattern, overspent=site.is_overspent)}
    own = {name for name, _ in site.patterns_of(stats.last_url)}
    if outcome is not ProbeOutcome.INVENTED:
        # Wider patterns of the same URL need no probe of their own.
        patterns |= {
            name: with_state(patterns[name]._replace(probe_outcome=outcome), overspent=site.is_overspent)
            for name in own & patterns.keys()
            if patterns[name].probe_outcome is ProbeOutcome.UNPROBED and patterns[name].breadth >= stats.breadth
        }
    mazes, soft = tuple(name for name in site.mazes if name not in own), site.soft_404
    if outcome is ProbeOutcome.INVENTED:
        mazes = _with_skeleton((*mazes, pattern), stats.last_url)[-MAX_MAZES:]
    if same is not None:
        soft = (*soft, same)[-MAX_SOFT_404:]
    phrases = site.not_found_phrases
    if outcome is ProbeOutcome.NOT_FOUND and all(200 <= answer.status < 300 for answer in answers):
        phrases = (*phrases, *common_not_found_phrases(answers))[-MAX_PHRASES:]
    return replace(site, patterns=patterns, mazes=mazes, soft_404=soft, not_found_phrases=phrases)


def _with_skeleton(mazes: tuple[str, ...], example: str) -> tuple[str, ...]:
    """If several folders invent pages, add the skeleton that they share."""
    if len(mazes) < MIN_MAZE_FOLDERS:
        return mazes
    return (*mazes, *(name for name, breadth in patterns_of(example) if breadth is Breadth.SKELETON))
