"""Paper B, sections 4.3, 4.6 and 5 (B3, B6): the frequency change estimator and the comparator.

F = -1: never visited, crawl it. F = 0: changes at every visit, crawl it at every round. F = N: N days between
changes; crawl it when more than N days have passed.
"""

from __future__ import annotations

from evercrawl.core.revisit.rules.rule import EveryTurn, RuleMemory, recorded

NEVER_VISITED = -1.0
AT_EVERY_VISIT = 0.0
ROUND_DAYS = 1.0


def frequency_of_change(memory: RuleMemory, *, now: float) -> float:
    """F of a page: -1, 0 or the days since its last change."""
    if not memory.records:
        return NEVER_VISITED
    revisits = memory.records - 1
    if revisits and memory.history.bit_count() == revisits:
        return AT_EVERY_VISIT
    return max(now - memory.changed_at, ROUND_DAYS)


def is_due(frequency: float, *, last: float, now: float) -> bool:
    """Comparator at home: a page within its period is not asked for."""
    return frequency <= AT_EVERY_VISIT or now - last > frequency


def is_sent(old_digest: bytes | None, new_digest: bytes) -> bool:
    """Comparator at the remote side: the same digest is not sent; without an old one all is sent."""
    return old_digest is None or old_digest != new_digest


class PaperPdfc(EveryTurn):
    """Rule B; `interval` holds F."""

    def after_visit(self, memory: RuleMemory, *, now: float, changed: bool) -> RuleMemory:
        since = now - memory.changed_at
        memory = recorded(memory, now=now, changed=changed)
        frequency = frequency_of_change(memory, now=now)
        if changed and frequency > AT_EVERY_VISIT:
            frequency = max(since, ROUND_DAYS)
        return memory._replace(interval=frequency, due=now + max(frequency, ROUND_DAYS))
