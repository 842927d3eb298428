"""How many requests may be made, and how much value each must have.
With a budget, the threshold adjusts so that the budget is used up: it rises with every more valuable visit and falls
while tokens are unused. Without one, it is a setting. Times are days."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from math import inf, isfinite

import orjson

from evercrawl.core.revisit.rate_estimate import SiteEstimate, time_to_reach
from evercrawl.core.revisit.visit_schedule import BudgetLevel
from evercrawl.core.revisit.visit_value import adjust_threshold
from evercrawl.model.settings import RevisitSettings

DAY = timedelta(days=1)
WATCH_BURST_DAYS = 1.0 / 24.0  # Longest saving while watching, so a day's budget is not spent in a minute.
RUN_BURST_DAYS = 1.0  # A single run may spend what a day allows.
UNUSED_TOKEN_FACTOR = 0.97  # The threshold falls by this factor for each unused token.
MIN_THRESHOLD = 1e-4
MAX_CLOCK_STEP_DAYS = 1.0 / 24.0
_ROUNDING = 1e-6
BUDGET_KEY = (0, "budget")  # Where the budget's state is stored. No site has this number.


@dataclass(slots=True)
class RequestBudget:
    """The requests that all shards of a process may make together.
    Invariant: over any span of d days at most `per_day` x (d + `burst_days`) + 1 requests are allowed."""

    per_day: float | None
    threshold: float
    burst_days: float = WATCH_BURST_DAYS
    pages: int = 0  # Pages to keep fresh.
    tokens: float = inf  # Full at first.
    at: float | None = None
    spent: int = 0

    def may_spend(self, now: float) -> bool:
        """True if one more request may start."""
        self._fill(now)
        return self.per_day is None or self.tokens >= 1.0 - _ROUNDING

    def whole_tokens(self, now: float) -> int:
        """Return how many requests may start at once; 0 without a budget."""
        self._fill(now)
        return 0 if self.per_day is None else max(0, int(self.tokens + _ROUNDING))

    def spend(self, now: float) -> None:
        """Count a request. An unplanned one (robots.txt) may leave a debt."""
        self._fill(now)
        self.spent += 1
        if self.per_day is not None:
            self.tokens -= 1.0

    def next_token_at(self, now: float) -> float:
        """Return when one more request may start."""
        if self.may_spend(now) or self.per_day is None:
            return now
        return now + (1.0 - self.tokens) / self.per_day if self.per_day > 0 else inf

    def is_full(self, now: float) -> bool:
        """True if tokens are unused because nothing in the queue was worth them."""
        self._fill(now)
        return self.per_day is not None and self.tokens >= self._capacity - _ROUNDING

    def full_at(self, now: float) -> float:
        """Return when tokens will be full if none is spent."""
        self._fill(now)
        return now + max(self._capacity - self.tokens, 0.0) / self.per_day if self.per_day else inf

    @property
    def _capacity(self) -> float:
        return max(1.0, (self.per_day or 0.0) * self.burst_days)

    def _fill(self, now: float) -> None:
        if self.per_day is not None:
            passed = max(now - self.at, 0.0) if self.at is not None else 0.0
            self.tokens = min(self.tokens + passed * self.per_day, self._capacity)
        # A moment far in the future is that of a clock that was set back.
        self.at = now if self.at is None or self.at - now > MAX_CLOCK_STEP_DAYS else max(now, self.at)

    def record_value(self, value: float) -> None:
        """Adjust the threshold after choosing a visit worth `value`."""
        if self.per_day is not None and isfinite(value):
            self.threshold = max(adjust_threshold(self.threshold, value=value), MIN_THRESHOLD)

    def lower_threshold(self) -> None:
        """Lower the threshold for an unused token."""
        if self.per_day is not None:
            self.threshold = max(self.threshold * UNUSED_TOKEN_FACTOR, MIN_THRESHOLD)

    def level(self, *, shortest: float, longest: float) -> BudgetLevel:
        """Return the value that a visit must have, and the mean interval of a page."""
        span = max(self.pages, 1) / self.per_day if self.per_day else min(_usual_span(self.threshold), longest)
        return BudgetLevel(self.threshold, span, shortest, longest)

    def to_bytes(self) -> bytes:
        """Return the stored form."""
        return orjson.dumps([self.threshold, self.tokens if isfinite(self.tokens) else None, self.at])

    def restore(self, stored: bytes | None) -> None:
        """Continue from the stored state. With another budget only its tokens count."""
        try:
            threshold, tokens, at = orjson.loads(stored or b"")
        except (ValueError, TypeError):
            return
        if self.per_day is not None and tokens is not None:
            self.threshold, self.tokens, self.at = threshold, min(tokens, self._capacity), at


@lru_cache(maxsize=64)
def _usual_span(threshold: float) -> float:
    """Return the days after which an average page is worth the threshold."""
    prior = SiteEstimate()
    return time_to_reach(prior.a, prior.b, threshold)


def budget_level(budget: RequestBudget, settings: RevisitSettings) -> BudgetLevel:
    """Return what a budget allows at the moment."""
    return budget.level(shortest=settings.min_interval / DAY, longest=settings.max_interval / DAY)


def initial_threshold(*, per_day: float | None, pages: int, default: float) -> float:
    """Return the value of an average page after the interval that the budget allows."""
    if not per_day:
        return default
    span = max(pages, 1) / per_day
    prior = SiteEstimate()
    low, high = MIN_THRESHOLD, max(default, 1.0)
    while time_to_reach(prior.a, prior.b, high) < span and high < 1e3:
        high *= 2.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        if time_to_reach(prior.a, prior.b, middle) < span:
            low = middle
        else:
            high = middle
    return high
