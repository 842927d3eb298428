"""A hundred workers and ten thousand sites in virtual time: `python bench/cluster_sim.py --days 14`.

The cluster's own code runs over a simulated database, network and web; the seed decides what goes wrong and
when, and repeats it. Each day has its line, and the last line is JSON; the exit code is 1 where something
happened that must not.
"""

from __future__ import annotations

import argparse
import json
import logging
import resource
import sys
import time
from collections.abc import Callable
from itertools import count

from tests.worlds.cluster.faults import ClusterFault
from tests.worlds.cluster.simulation import ClusterPlan, ClusterResult, figures, simulate_cluster


def tell_of_day(began: float) -> Callable[[ClusterResult], None]:
    """A line for each simulated day and breach: a run that is broken off has shown what it has shown."""
    days, told = count(1), [0]

    def tell(seen: ClusterResult) -> None:
        faults = sum(seen.counts.get(fault.value, 0) for fault in ClusterFault)
        cpu_s = time.process_time() - began
        words = f"{faults} faults, {seen.counts['requests']} requests, {len(seen.breaches)} breaches"
        print(f"day {next(days)}: {words}, {cpu_s:.0f} s of CPU", flush=True)
        for breach in seen.breaches[told[0] :]:
            print(f"{breach.at_s:>12.3f} s  {breach.kind.value}: {breach.detail}", flush=True)
        told[0] = len(seen.breaches)

    return tell


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=100)
    parser.add_argument("--sites", type=int, default=10_000)
    parser.add_argument("--shards", type=int, default=1024)
    parser.add_argument("--days", type=float, default=14.0)
    parser.add_argument("--fault-every", type=float, default=900.0, help="seconds, on average")
    chosen = parser.parse_args()
    logging.disable(logging.WARNING)
    print(f"seed {chosen.seed}: python bench/cluster_sim.py {' '.join(sys.argv[1:])}", flush=True)
    began = time.process_time()
    seen = simulate_cluster(
        ClusterPlan(
            chosen.seed,
            workers=chosen.workers,
            sites=chosen.sites,
            shards=chosen.shards,
            days=chosen.days,
            fault_every_s=chosen.fault_every,
        ),
        on_day=tell_of_day(began),
    )
    found = figures(seen) | {
        "cpu_s": round(time.process_time() - began, 1),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
    print(json.dumps(found))
    return 1 if seen.breaches else 0


if __name__ == "__main__":
    sys.exit(main())
