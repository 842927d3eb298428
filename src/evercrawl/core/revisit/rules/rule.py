"""One signature for rules that need no more than a page's own past."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class RuleMemory(NamedTuple):
    """What such a rule keeps about a page; times in days."""

    due: float = 0.0
    interval: float = 0.0
    visited: float = 0.0
    changed_at: float = 0.0
    """When the content was last seen to be new."""
    records: int = 0
    """Visits so far."""
    history: int = 0
    """The newest visits as bits, the last one lowest: 1 is changed."""
    threshold: float = 0.4
    """Share of changed neighbours at which an unchanged page is visited all the same (A10)."""


class Rule(Protocol):
    """When is the page visited next, and is it visited when its turn comes?"""

    def after_visit(self, memory: RuleMemory, *, now: float, changed: bool) -> RuleMemory:
        """The memory, with its new due time; the first visit (`records` is 0) counts as unchanged."""
        ...

    def at_turn(self, memory: RuleMemory, *, now: float, around: float) -> tuple[bool, RuleMemory]:
        """Is a due page visited? `around` is the share of its neighbours whose last visit found a change."""
        ...


class EveryTurn:
    """A rule that visits every page whose turn has come."""

    def at_turn(self, memory: RuleMemory, *, now: float, around: float) -> tuple[bool, RuleMemory]:
        return True, memory


def recorded(memory: RuleMemory, *, now: float, changed: bool) -> RuleMemory:
    """The visit, entered into the page's past; the due time is the rule's business."""
    first = memory.records == 0
    return memory._replace(
        visited=now,
        changed_at=now if changed or first else memory.changed_at,
        records=memory.records + 1,
        history=(memory.history << 1 | (changed and not first)) & HISTORY_MASK,
    )


HISTORY_MASK = (1 << 62) - 1
"""A history fits into a signed 64-bit column."""
