"""Answers that take long are computed beside the request and shown with their age."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

T = TypeVar("T")
WAIT_S = 0.15
"""How long a page waits for an answer that nobody has computed yet."""
FAST_S = 0.05
"""An answer that took no longer is waited for rather than shown as it was."""
TIMES_COST = 50.0
"""An answer is computed anew when it is so many times older than it took."""
MAX_ENTRIES = 256


class CachedAnswer(Generic[T]):
    """One answer; computed by at most one thread at a time."""

    def __init__(self, compute: Callable[[], T], *, least_s: float) -> None:
        self._compute = compute
        self._least_s = least_s
        self._turn = threading.Lock()
        self._ready = threading.Event()
        self._value: T | None = None
        self._error: Exception | None = None
        self._at = -1e9
        self._cost_s = 0.0
        self._busy = False
        self._began = 0.0

    def get(self, wait_s: float = WAIT_S) -> T | None:
        """The answer as it last was; None: it is still being computed for the first time. Nobody waits longer
        than `wait_s` from when that began: what was not quick for the first who inputs will not be for others.
        """
        with self._turn:
            age = time.monotonic() - self._at
            if not self._busy and age > max(self._least_s, TIMES_COST * self._cost_s):
                self._busy = True
                self._began = time.monotonic()
                if self._cost_s < FAST_S:
                    self._ready.clear()  # it comes soon: better a moment later than an old answer
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
        with self._turn:
            self._value, self._error = value, error
            self._at = time.monotonic()
            self._cost_s = self._at - self._began
            self._busy = False
        self._ready.set()


class AnswerCache:
    """Remembered answers by key; the ones that were inputs for longest ago make room."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._kept: OrderedDict[Hashable, CachedAnswer[Any]] = OrderedDict()

    def forget(self, key: Hashable) -> None:
        """The answer is not true any more."""
        with self._turn:
            self._kept.pop(key, None)

    def get(self, key: Hashable, compute: Callable[[], T], *, least_s: float = 2.0, wait_s: float = WAIT_S) -> T | None:
        """The answer of that key; None: it is still being computed."""
        with self._turn:
            found = self._kept.get(key)
            if found is None:
                found = self._kept[key] = CachedAnswer(compute, least_s=least_s)
            self._kept.move_to_end(key)
            while len(self._kept) > MAX_ENTRIES:
                self._kept.popitem(last=False)
        return found.get(wait_s)
