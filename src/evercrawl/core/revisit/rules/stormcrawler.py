"""What Apache StormCrawler ships: AdaptiveScheduler with its defaults."""

from __future__ import annotations

from evercrawl.core.revisit.rules.rule import EveryTurn, RuleMemory, recorded

FIRST_DAYS = 1.0
SHORTEST_DAYS = 1.0 / 24.0
LONGEST_DAYS = 14.0
GROWTH = 0.5
SHRINKAGE = 0.5


class StormCrawler(EveryTurn):
    """Longer by half when unchanged; half of the way to the shortest interval when changed."""

    def after_visit(self, memory: RuleMemory, *, now: float, changed: bool) -> RuleMemory:
        first = memory.records == 0
        interval = memory.interval or FIRST_DAYS
        memory = recorded(memory, now=now, changed=changed)
        if changed and not first:
            interval = (1.0 - SHRINKAGE) * interval + SHRINKAGE * SHORTEST_DAYS
        elif not first:
            interval = min(interval * (1.0 + GROWTH), LONGEST_DAYS)
        return memory._replace(interval=interval, due=now + interval)
