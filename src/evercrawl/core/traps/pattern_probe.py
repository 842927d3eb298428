"""Choose the pattern to probe with invented URLs, and learn from the answers.

A pattern that explodes, or grows without new words, is probed once with two URLs that nobody linked to. An honest site
answers that there is no such page, however large it is.
"""

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

EXPLODING_ABOVE = 2.0
"""New URLs of the same pattern per request."""
EXPLODING_LEAST, EXPLODING_AGAIN = 64, 16
"""Requests before an exploding pattern is probed, however new its text; fewer on a site with a maze."""
MOST_SOFT_404 = 4
MOST_INVENTED = 16
MOST_APOLOGIES = 4
PROBES_UNTIL_RETRIED = 4
"""Requests to a blocked maze before it is probed again."""
TRIED_AGAIN_FROM = 100
"""Requests before a chain without new words is probed a second time."""
FOLDERS_ALIKE = 3
"""Folders with invented pages that mark the whole site as a maze."""


class ProbeRequest(NamedTuple):
    """A pattern to probe, with two invented URLs."""

    pattern: str
    urls: tuple[str, str]


def next_probe(site: TrapState, *, seed: int) -> ProbeRequest | None:
    """Return the pattern that most needs a probe, if any."""
    found = _worth_a_probe(site, Breadth.SHAPE)
    if not found and not any(_stands_out(record) for record in site.patterns.values()):
        # Nothing stands out, so this may be a maze with a new name for every first folder.
        found = _worth_a_probe(site, Breadth.SKELETON)
    if not found:
        return None
    _, name = max(found)
    record = site.patterns[name]
    one, other = (probe_url(record.first_url, record.last_url, seed=seed + turn) for turn in (0, 1))
    return ProbeRequest(name, (one, other))


def _worth_a_probe(site: TrapState, breadth: Breadth) -> list[tuple[int, str]]:
    least = EXPLODING_AGAIN if site.mazes else EXPLODING_LEAST
    return [
        (record.requests, name)
        for name, record in site.patterns.items()
        if record.breadth is breadth
        and _deserves_probe(record, least)
        and not any(_is_below(record.last_url, name, invented) for invented in site.mazes)
    ]


def _is_below(example: str, name: str, invented: str) -> bool:
    return name != invented and lengthens(patterns_of(example), invented)


def _deserves_probe(record: PatternStats, least: int) -> bool:
    if record.first_url == record.last_url:
        return False
    if record.probe_outcome is ProbeOutcome.INVENTED:
        return record.probes >= PROBES_UNTIL_RETRIED + 2 * record.probed_at
    if record.probe_outcome is ProbeOutcome.NOT_FOUND:
        return _goes_on_all_the_same(record)
    if record.probe_outcome is not ProbeOutcome.UNPROBED:
        return False
    if record.state is PatternState.THROTTLED:
        return record.growth >= GROWTH_ABOVE
    if record.breadth is Breadth.SHAPE and offers_only_itself(record):
        return True
    return record.state is PatternState.OPEN and record.requests >= least and record.growth >= EXPLODING_ABOVE


def _goes_on_all_the_same(record: PatternStats) -> bool:
    """The first probe may have changed a name that must exist, while a number beside it goes on."""
    is_endless = record.growth >= GROWTH_ABOVE and record.steady_growth >= STEADY_ABOVE
    return record.requests >= TRIED_AGAIN_FROM and is_endless and record.state is PatternState.THROTTLED


def _stands_out(record: PatternStats) -> bool:
    is_shape = record.breadth is Breadth.SHAPE
    return is_shape and record.requests >= EXPLODING_LEAST // 2 and record.growth > EXPLODING_ABOVE / 2


def after_probe(site: TrapState, pattern: str, answers: tuple[ProbeAnswer, ProbeAnswer]) -> TrapState:
    """Return the state after a probe."""
    record = site.patterns.get(pattern)
    if record is None:
        return site
    outcome, same = judge_probe(*answers)
    is_repeated = outcome is ProbeOutcome.NOT_FOUND and record.probe_outcome is outcome
    own_outcome = ProbeOutcome.NOT_FOUND_AGAIN if is_repeated else outcome
    of_pattern = record._replace(probe_outcome=own_outcome, probed_at=record.probes)
    records = {**site.patterns, pattern: with_state(of_pattern, overspent=site.is_overspent)}
    own = {name for name, _ in patterns_of(record.last_url)}
    if outcome is not ProbeOutcome.INVENTED:
        # Wider patterns of the same URL need no probe of their own.
        records |= {
            name: with_state(records[name]._replace(probe_outcome=outcome), overspent=site.is_overspent)
            for name in own & records.keys()
            if records[name].probe_outcome is ProbeOutcome.UNPROBED and records[name].breadth >= record.breadth
        }
    invented, soft = tuple(name for name in site.mazes if name not in own), site.soft_404
    if outcome is ProbeOutcome.INVENTED:
        invented = _generalised((*invented, pattern), record.last_url)[-MOST_INVENTED:]
    if same is not None:
        soft = (*soft, same)[-MOST_SOFT_404:]
    apologies = site.not_found_phrases
    if outcome is ProbeOutcome.NOT_FOUND and all(200 <= answer.status < 300 for answer in answers):
        apologies = (*apologies, *common_not_found_phrases(answers))[-MOST_APOLOGIES:]
    return replace(site, patterns=records, mazes=invented, soft_404=soft, not_found_phrases=apologies)


def _generalised(invented: tuple[str, ...], example: str) -> tuple[str, ...]:
    """If several folders invent pages, add the skeleton that they share."""
    if len(invented) < FOLDERS_ALIKE:
        return invented
    return (*invented, *(name for name, breadth in patterns_of(example) if breadth is Breadth.SKELETON))
