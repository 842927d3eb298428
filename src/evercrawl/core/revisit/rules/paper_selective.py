"""Paper A, section 3.3 (A10): an unchanged page is crawled all the same when enough of its links changed.

A page whose last visit found a change, or that was never looked into, is a black box and is crawled at its
turn. Only an unchanged page is looked into: it is crawled when the share of its internal links that changed
reaches a threshold, 40 % at first. At each turn the threshold moves half of the way to the share seen: the
paper says "in proportion" and gives no factor. When it has fallen below one percent the page is crawled, so
that none is lost.
"""

from __future__ import annotations

from evercrawl.core.revisit.rules.rule import RuleMemory, recorded

FIRST_THRESHOLD = 0.4
LEAST_THRESHOLD = 0.01
TURN_DAYS = 1.0
_STEP = 0.5


def next_threshold(threshold: float, *, share: float) -> float:
    """Up where more links changed than the threshold asks for, down where fewer did."""
    return threshold + _STEP * (share - threshold)


class PaperSelective:
    """Rule A10, a turn a day."""

    def after_visit(self, memory: RuleMemory, *, now: float, changed: bool) -> RuleMemory:
        memory = recorded(memory, now=now, changed=changed)
        threshold = max(memory.threshold, FIRST_THRESHOLD) if changed else memory.threshold
        return memory._replace(due=now + TURN_DAYS, threshold=threshold)

    def at_turn(self, memory: RuleMemory, *, now: float, around: float) -> tuple[bool, RuleMemory]:
        if memory.records <= 1 or memory.history & 1:
            return True, memory
        wanted = around >= memory.threshold or memory.threshold < LEAST_THRESHOLD
        threshold = next_threshold(memory.threshold, share=around)
        if memory.threshold < LEAST_THRESHOLD:
            threshold = FIRST_THRESHOLD
        return wanted, memory._replace(threshold=threshold, due=now + TURN_DAYS)
