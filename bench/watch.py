"""Watch a synthetic web with faults for months of virtual time: `python bench/watch.py --sites 200`.

Prints one JSON object: true and estimated freshness at each look, requests against the budget, violations
of the pace, and how the visits to a page are spread over the day.
"""

from __future__ import annotations

import argparse
import json
import resource
import time

from tests.worlds.long_watch import run_long_watch


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sites", type=int, default=200)
    parser.add_argument("--days", type=int, default=180)
    parser.add_argument("--pages", type=int, default=10)
    parser.add_argument("--per-day", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    began = time.process_time()
    vigil = run_long_watch(
        chosen.seed, sites=chosen.sites, days=chosen.days, per_day=chosen.per_day, pages=chosen.pages, parts=9
    )
    found = {
        "looks": [
            {"pages": look.pages, "true": round(look.true, 4), "estimated": round(look.estimated, 4)}
            for look in vigil.looks
        ],
        "estimate_error": round(vigil.estimate_error, 4),
        "requests": vigil.requests,
        "allowed": vigil.allowed,
        "spent_share": round(vigil.requests / vigil.allowed, 4),
        "violations": vigil.violations,
        "time_of_day_spread": round(vigil.spread, 3),
        "cpu_s": round(time.process_time() - began, 1),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
