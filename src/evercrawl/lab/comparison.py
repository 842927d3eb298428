"""Policies to compare with that cannot run in production: one that is told the true rates."""

from __future__ import annotations

from math import exp, inf

from evercrawl.lab.trace import Trace


class Oracle:
    """The greedy value rule with each page's true mean rate: what learning can hope for at most."""

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
        """An oracle needs no signals."""

    def poll_due(self, t: float) -> bool:
        return False

    def next(self, t: float) -> int | None:
        if t != self.batch_at:
            worth = sorted((self._value(page, t), page) for page in self.visited)
            self.batch, self.batch_at = [page for _, page in worth], t
        return self.batch.pop() if self.batch else None

    def _value(self, page: int, t: float) -> float:
        rate, tau = self.rates[page], t - self.visited[page]
        if tau == inf:
            return inf
        return 1.0 / rate - (tau + 1.0 / rate) * exp(-rate * tau)

    def observe(self, page: int, t: float, changed: bool, first: bool) -> None:
        self.visited[page] = t


def _mean_rate(birth: float, death: float | None, changes: tuple[float, ...], days: float) -> float:
    life = (days if death is None else death) - max(birth, 0.0)
    return (len(changes) + 0.01) / max(life, 1.0)
