"""Which pattern should be tried with made-up addresses, and what follows from the answers?

A pattern that explodes, or that grows and brings nothing but numbers, is tried once with two addresses that
nobody linked to. An honest site says that there is no such page, however large it is.
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
"""New URLs of the same pattern for each request."""
EXPLODING_LEAST, EXPLODING_AGAIN = 64, 16
"""Requests after which an exploding pattern is tried, however new its text is; fewer where one was a maze."""
MOST_SOFT_404 = 4
MOST_INVENTED = 16
MOST_APOLOGIES = 4
PROBES_UNTIL_RETRIED = 4
"""Requests behind the fence of a maze until made-up addresses are tried again."""
TRIED_AGAIN_FROM = 100
"""Requests from which on a chain without a new word is tried once more where it knew its addresses."""
FOLDERS_ALIKE = 3
"""Folders that invent pages until the whole site is taken to do so."""


class ProbeRequest(NamedTuple):
    """A pattern that should be tried, and the two addresses that nobody linked to."""

    pattern: str
    urls: tuple[str, str]


def next_probe(site: TrapState, *, seed: int) -> ProbeRequest | None:
    """The pattern that most deserves to be tried with made-up addresses; None: none."""
    found = _worth_a_probe(site, Breadth.SHAPE)
    if not found and not any(_stands_out(record) for record in site.patterns.values()):
        # Nothing stands out, so it may be a maze whose every first folder has another name.
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
    """What was made up may have been a name that must exist, where it is a number beside it that goes on."""
    is_endless = record.growth >= GROWTH_ABOVE and record.steady_growth >= STEADY_ABOVE
    return record.requests >= TRIED_AGAIN_FROM and is_endless and record.state is PatternState.THROTTLED


def _stands_out(record: PatternStats) -> bool:
    is_shape = record.breadth is Breadth.SHAPE
    return is_shape and record.requests >= EXPLODING_LEAST // 2 and record.growth > EXPLODING_ABOVE / 2


def after_probe(site: TrapState, pattern: str, answers: tuple[ProbeAnswer, ProbeAnswer]) -> TrapState:
    """The site's yield after made-up addresses of a pattern were tried."""
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
        # Wider patterns of the same URL need not be tried once more.
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
    """When many folders of a site invent pages, whatever has their skeleton does."""
    if len(invented) < FOLDERS_ALIKE:
        return invented
    return (*invented, *(name for name, breadth in patterns_of(example) if breadth is Breadth.SKELETON))
