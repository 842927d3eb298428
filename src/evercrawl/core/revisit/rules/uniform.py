"""Everything in turn: the page that was visited longest ago comes next."""

from __future__ import annotations

from evercrawl.core.revisit.rules.rule import EveryTurn, RuleMemory, recorded


class Uniform(EveryTurn):
    """Always due; the order of due times is the order of last visits."""

    def after_visit(self, memory: RuleMemory, *, now: float, changed: bool) -> RuleMemory:
        return recorded(memory, now=now, changed=changed)._replace(due=now)
