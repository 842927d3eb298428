"""A small site whose pages change at known rates, some of them together."""

from __future__ import annotations

import random

from evercrawl.lab.trace_replay import Trace, TracePage


def synthetic_trace(*, pages: int = 60, days: float = 240.0, seed: int = 3, bulk: bool = False) -> Trace:
    """Return pages of very different rates in five directories; with `bulk`, whole directories change too."""
    draw = random.Random(seed)
    edits = [(draw.uniform(0.0, days), draw.randrange(5)) for _ in range(8)] if bulk else []
    made = []
    for number in range(pages):
        hub = number % 5
        rate = draw.choice((0.002, 0.02, 0.1, 1.0))
        changes = {at for at, edited in edits if edited == hub}
        at = 0.0
        while (at := at + draw.expovariate(rate)) < days:
            changes.add(at)
        birth = -1.0 if number % 6 else draw.uniform(0.0, days / 2.0)
        death = days * 0.8 if number % 11 == 10 else None
        kept = sorted(c for c in changes if c > birth and (death is None or c < death))
        made.append(TracePage(hub, birth, death, tuple(kept)))
    return Trace("synthetic", days, tuple(made))
