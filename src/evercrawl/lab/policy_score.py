"""Score a policy by G1 to G4: gap closed, and requests for a given freshness."""

from __future__ import annotations

from math import exp, inf

from evercrawl.lab import policy
from evercrawl.lab.trace_replay import (
    PolicyDriver,
    ReplayScore,
    Trace,
    TraceAnnouncement,
    poor_signal,
    replay,
    true_lastmod,
)

SIGNALS = ("none", "true", "poor")
UNLIMITED = 1e6  # Requests per page and day that no rule can use up.


def announcements_of(trace: Trace, signal: str) -> list[TraceAnnouncement] | None:
    """Return the announcements of a kind of signal; None if there is no source to poll."""
    if signal == "true":
        return true_lastmod(trace)
    return poor_signal(trace) if signal == "poor" else None


def make_policy(name: str, trace: Trace) -> PolicyDriver:
    """Return the named policy or the oracle. The replay limits the requests."""
    return OraclePolicy(trace) if name == "oracle" else policy(name)


def score(trace: Trace, name: str, *, per_page_day: float, signal: str = "none") -> ReplayScore:
    """Replay a named policy and return its score."""
    return replay(trace, make_policy(name, trace), per_page_day=per_page_day, notices=announcements_of(trace, signal))


class OraclePolicy:
    """The greedy rule with each page's true mean rate: the best that learning can reach."""

    def __init__(self, trace: Trace) -> None:
        self.rates = [_mean_rate(page.birth, page.death, page.changes, trace.days) for page in trace.pages]
        self.visited: dict[int, float] = {}
        self.batch: list[int] = []
        self.batch_at = -inf

    def add(self, page: int, hub: int, t: float, has_copy: bool) -> None:
        self.visited[page] = t if has_copy else -inf

    def remove(self, page: int, t: float) -> None:
        self.visited.pop(page, None)

    def signal(self, page: int, announced_at: float, t: float) -> None:
        """An oracle needs no announcements."""

    def poll_due(self, t: float) -> bool:
        return False

    def next(self, t: float) -> int | None:
        if t != self.batch_at:
            by_value = sorted((self._value(page, t), page) for page in self.visited)
            self.batch, self.batch_at = [page for _, page in by_value], t
        return self.batch.pop() if self.batch else None

    def _value(self, page: int, t: float) -> float:
        rate, tau = self.rates[page], t - self.visited[page]
        return inf if tau == inf else 1.0 / rate - (tau + 1.0 / rate) * exp(-rate * tau)

    def observe(self, page: int, t: float, changed: bool, first: bool) -> None:
        self.visited[page] = t


def _mean_rate(birth: float, death: float | None, changes: tuple[float, ...], days: float) -> float:
    life = (days if death is None else death) - max(birth, 0.0)
    return (len(changes) + 0.01) / max(life, 1.0)
