"""How often may one address ask?"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

MOST_ADDRESSES = 10_000


class RateLimit:
    """A bucket of tokens for each key: `burst` at once, `per_s` in the long run."""

    def __init__(self, *, burst: float, per_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._burst = burst
        self._per_s = per_s
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_s(self, key: str) -> float:
        """0: go ahead, and it is counted; otherwise how long to wait."""
        now = self._clock()
        left, at = self._left.pop(key, (self._burst, now))
        left = min(self._burst, left + (now - at) * self._per_s)
        is_allowed = left >= 1
        self._left[key] = (left - 1 if is_allowed else left, now)
        while len(self._left) > MOST_ADDRESSES:
            self._left.popitem(last=False)
        return 0.0 if is_allowed else (1 - left) / self._per_s
