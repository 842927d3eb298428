"""Paper A, section 3.2 (A9): the visiting frequency follows the share of changed records.

`fr` counts crawls (one a day) down to 0; then the page is crawled and `fr` starts again from `fr_max`.
"""

from __future__ import annotations

from math import floor

from evercrawl.core.revisit.rules.rule import EveryTurn, RuleMemory, recorded

LIMIT = 20
"""Records that are looked at for changes."""
ROUND_DAYS = 1.0
"""One crawl a day."""
FIRST_FR_MAX = 1


def new_fr_max(fr_max: int, *, records: int, counter: int, limit: int = LIMIT) -> int:
    """The new `fr_max`, given how many of the last `limit` records differ from the one before (`counter`)."""
    examined = min(records, limit)
    between = examined / counter if counter else float(examined)
    return max(floor((fr_max + between) / 2.0), 1)


class PaperAdaptive(EveryTurn):
    """Rule A; `interval` holds `fr_max`."""

    def __init__(self, limit: int = LIMIT) -> None:
        self.limit = limit

    def after_visit(self, memory: RuleMemory, *, now: float, changed: bool) -> RuleMemory:
        fr_max = int(memory.interval) or FIRST_FR_MAX
        memory = recorded(memory, now=now, changed=changed)
        counter = (memory.history & ((1 << self.limit) - 1)).bit_count()
        fr_max = new_fr_max(fr_max, records=memory.records, counter=counter, limit=self.limit)
        return memory._replace(interval=float(fr_max), due=now + fr_max * ROUND_DAYS)
