"""What Apache Nutch ships: AdaptiveFetchSchedule with the values of nutch-default.xml."""

from __future__ import annotations

from evercrawl.core.revisit.rules.rule import EveryTurn, RuleMemory, recorded

FIRST_DAYS = 30.0
SHORTEST_DAYS = 60.0 / 86400.0
LONGEST_DAYS = 365.0
LONGEST_WAIT_DAYS = 90.0
"""db.fetch.interval.max: after that a page is fetched whatever its schedule says."""
GROWTH = 0.4
SHRINKAGE = 0.2
SYNC_RATE = 0.3


class Nutch(EveryTurn):
    """Longer by 40 % when unchanged, shorter by 20 % when changed, pulled towards the last change."""

    def after_visit(self, memory: RuleMemory, *, now: float, changed: bool) -> RuleMemory:
        first = memory.records == 0
        interval = memory.interval or FIRST_DAYS
        memory = recorded(memory, now=now, changed=changed)
        if not first:
            interval *= 1.0 - SHRINKAGE if changed else 1.0 + GROWTH
        age = now - memory.changed_at
        interval = min(max(interval, age, SHORTEST_DAYS), LONGEST_DAYS)
        due = now - SYNC_RATE * age + interval
        return memory._replace(interval=interval, due=min(max(due, now), now + LONGEST_WAIT_DAYS))
