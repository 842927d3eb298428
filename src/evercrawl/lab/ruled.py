"""Drive a rule that needs no more than each page's own past."""

from __future__ import annotations

import heapq
from collections import deque

from evercrawl.core.revisit.rules import Rule, RuleMemory
from evercrawl.lab.allowance import Allowance


class Ruled:
    """Pages by due time, new ones first. Invariant: a page that is out with the caller is in no queue."""

    def __init__(self, rule: Rule, budget_per_day: float | None) -> None:
        self.rule = rule
        self.allowance = Allowance(budget_per_day)
        self.pages: dict[int, RuleMemory] = {}
        self.lives: dict[int, int] = {}
        self.hub_of: dict[int, int] = {}
        self.sizes: dict[int, int] = {}
        self.changed: dict[int, set[int]] = {}
        self.new: deque[tuple[int, int]] = deque()
        self.calendar: list[tuple[float, int, int]] = []

    def add(self, page: int, hub: int, t: float, has_copy: bool) -> None:
        if page in self.pages:
            self.remove(page, t)
        self.hub_of[page] = hub
        self.sizes[hub] = self.sizes.get(hub, 0) + 1
        life = self.lives[page] = self.lives.get(page, 0) + 1
        self.pages[page] = RuleMemory()
        if has_copy:
            self._keep(page, self.rule.after_visit(RuleMemory(), now=t, changed=False))
        else:
            self.new.append((page, life))

    def remove(self, page: int, t: float) -> None:
        if self.pages.pop(page, None) is None:
            return
        hub = self.hub_of.pop(page)
        self.lives[page] += 1
        self.sizes[hub] -= 1
        self.changed.get(hub, set()).discard(page)

    def signal(self, page: int, announced_at: float, t: float) -> None:
        """These rules know no signals."""

    def poll_due(self, t: float) -> bool:
        return False

    def next(self, t: float) -> int | None:
        if not self.allowance.take(t):
            return None
        page = self._pick(t)
        if page is None:
            self.allowance.give_back()
            self.allowance.refuse()
        return page

    def _pick(self, t: float) -> int | None:
        while self.new:
            page, life = self.new.popleft()
            if self.lives.get(page) == life:
                return page
        while self.calendar and self.calendar[0][0] <= t:
            _, life, page = heapq.heappop(self.calendar)
            if self.lives.get(page) == life and self._is_wanted(page, t):
                return page
        return None

    def _is_wanted(self, page: int, t: float) -> bool:
        wanted, memory = self.rule.at_turn(self.pages[page], now=t, around=self._around(page))
        self.pages[page] = memory
        if not wanted:
            self._keep(page, memory._replace(due=max(memory.due, t + _LEAST_WAIT)))
        return wanted

    def _around(self, page: int) -> float:
        """Share of the other pages of its directory whose last visit found a change."""
        hub = self.hub_of[page]
        others = self.sizes[hub] - 1
        changed = self.changed.get(hub, set())
        return (len(changed) - (page in changed)) / others if others > 0 else 0.0

    def observe(self, page: int, t: float, changed: bool, first: bool) -> None:
        if page not in self.pages:
            return
        siblings = self.changed.setdefault(self.hub_of[page], set())
        (siblings.add if changed else siblings.discard)(page)
        memory = RuleMemory() if first else self.pages[page]
        self._keep(page, self.rule.after_visit(memory, now=t, changed=changed))

    def _keep(self, page: int, memory: RuleMemory) -> None:
        self.pages[page] = memory
        life = self.lives[page] = self.lives[page] + 1
        heapq.heappush(self.calendar, (memory.due, life, page))


_LEAST_WAIT = 1e-3
