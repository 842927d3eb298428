"""The cost of choosing the next page, at growing numbers of pages that are not due.

python bench/choose.py 10000 100000 1000000
"""

from __future__ import annotations

import random
import sys
import time

from evercrawl.lab import policy

CHOICES = 20_000
STEP_DAYS = 0.25
PER_STEP = 100
HUB_PAGES = 200


def cost_of_choice(pages: int) -> tuple[float, float]:
    """Microseconds of CPU for one choice, and for one choice with what its visit teaches."""
    driven = policy(budget_per_day=PER_STEP / STEP_DAYS)
    draw = random.Random(1)
    for page in range(pages):
        driven.add(page, page // HUB_PAGES, 0.0, True)
    driven.poll_due(0.5)  # the calendar of what was just added is made once, not at each choice
    spent = chosen = whole = 0.0
    for step in range(CHOICES // PER_STEP):
        t = 1.0 + step * STEP_DAYS
        for _ in range(PER_STEP):
            start = time.process_time()
            page = driven.next(t)
            middle = time.process_time()
            assert page is not None
            driven.observe(page, t, draw.random() < 0.02, False)
            spent += middle - start
            whole += time.process_time() - start
            chosen += 1
    return 1e6 * spent / chosen, 1e6 * whole / chosen


def main() -> None:
    print("| pages | choose | choose and learn |\n|---|---|---|")
    for pages in map(int, sys.argv[1:] or ("10000", "100000", "1000000")):
        choose, learn = cost_of_choice(pages)
        print(f"| {pages:,} | {choose:.1f} µs | {learn:.1f} µs |", flush=True)


if __name__ == "__main__":
    main()
