"""A cache that computes slow answers in the background and returns the last one meanwhile."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

T = TypeVar("T")
WAIT_S = 0.15  # How long a page waits for a first answer.
FAST_S = 0.05  # An answer computed this fast is waited for instead of showing the old one.
COST_FACTOR = 50.0  # An answer is recomputed when its age exceeds its cost by this factor.
MAX_ENTRIES = 256


class CachedAnswer(Generic[T]):
    """One answer, computed by at most one thread at a time."""

    def __init__(self, compute: Callable[[], T], *, min_age_s: float) -> None:
        self._compute = compute
        self._min_age_s = min_age_s
        self._lock = threading.Lock()
        self._ready = threading.Event()
        self._value: T | None = None
        self._error: Exception | None = None
        self._at = -1e9
        self._cost_s = 0.0
        self._busy = False
        self._began = 0.0

    def get(self, wait_s: float = WAIT_S) -> T | None:
        """Return the last answer; None while the first one is being computed.
        No caller waits longer than `wait_s` after the computation began."""
        with self._lock:
            age = time.monotonic() - self._at
            if not self._busy and age > max(self._min_age_s, COST_FACTOR * self._cost_s):
                self._busy = True
                self._began = time.monotonic()
                if self._cost_s < FAST_S:
                    self._ready.clear()  # it will be quick: wait for the new answer
                threading.Thread(target=self._refresh, daemon=True).start()
        self._ready.wait(max(0.0, self._began + wait_s - time.monotonic()))
        if self._error is not None:
            raise self._error
        return self._value

    def _refresh(self) -> None:
        try:
            value, error = self._compute(), None
        except Exception as caught:
            value, error = self._value, caught  # type: ignore[assignment]
        with self._lock:
            self._value, self._error = value, error
            self._at = time.monotonic()
            self._cost_s = self._at - self._began
            self._busy = False
        self._ready.set()


class AnswerCache:
    """Cached answers by key; the least recently used are evicted."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, CachedAnswer[Any]] = OrderedDict()

    def invalidate(self, key: Hashable) -> None:
        """Drop an answer that is no longer true."""
        with self._lock:
            self._entries.pop(key, None)

    def get(
        self, key: Hashable, compute: Callable[[], T], *, min_age_s: float = 2.0, wait_s: float = WAIT_S
    ) -> T | None:
        """Return the answer for a key; None while the first one is being computed."""
        with self._lock:
            found = self._entries.get(key)
            if found is None:
                found = self._entries[key] = CachedAnswer(compute, min_age_s=min_age_s)
            self._entries.move_to_end(key)
            while len(self._entries) > MAX_ENTRIES:
                self._entries.popitem(last=False)
        return found.get(wait_s)
