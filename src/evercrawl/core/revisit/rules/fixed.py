"""The same interval for every page."""

from __future__ import annotations

from evercrawl.core.revisit.rules.rule import EveryTurn, RuleMemory, recorded

INTERVAL_DAYS = 7.0


class Fixed(EveryTurn):
    """Due a fixed number of days after the last visit."""

    def __init__(self, interval_days: float = INTERVAL_DAYS) -> None:
        self.interval_days = interval_days

    def after_visit(self, memory: RuleMemory, *, now: float, changed: bool) -> RuleMemory:
        memory = recorded(memory, now=now, changed=changed)
        return memory._replace(interval=self.interval_days, due=now + self.interval_days)
