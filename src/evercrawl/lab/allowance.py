"""How many requests may be handed out? Never more than the budget accrued."""

from __future__ import annotations

from math import inf

SLACK_DAYS = 1.0
"""The first batch may be asked for before any time has passed."""
TRUSTED_AFTER = 8
"""Batches in a row that a caller ended by itself, after which its own pace is taken for the budget."""


class Allowance:
    """Requests accrue with time. Invariant: a caller that always asks until it is refused gets at most the
    budget's accrual plus one day of it; a caller that stops by itself has its own budget and is not limited.
    """

    def __init__(self, per_day: float | None) -> None:
        self.per_day = per_day
        self.start: float | None = None
        self.spent = 0
        self.at = -inf
        self.refused = False
        self.unrefused = 0

    def turn(self, t: float) -> None:
        """A new moment: did the caller end the last batch by itself?"""
        if t <= self.at:
            return
        if self.start is None:
            self.start = t
        elif self.at > -inf:
            self.unrefused = 0 if self.refused else self.unrefused + 1
        self.at, self.refused = t, False

    def take(self, t: float) -> bool:
        """May one more request be made? It is counted if so."""
        self.turn(t)
        if not self._is_open(t):
            self.refused = True
            return False
        self.spent += 1
        return True

    def refuse(self) -> None:
        """Nothing was there to hand out: the caller did not stop by itself."""
        self.refused = True

    def give_back(self) -> None:
        """A request that was counted is not made."""
        self.spent -= 1

    def _is_open(self, t: float) -> bool:
        if self.per_day is None or self.unrefused >= TRUSTED_AFTER:
            return True
        assert self.start is not None
        return self.spent + 1 <= self.per_day * (t - self.start + SLACK_DAYS) + 1.0
