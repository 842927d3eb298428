"""The first crawl of many slow sites, in virtual time: `python bench/slow_web.py --sites 1000 --pages 20`.

Every site answers after its own latency and wants the usual delay between requests. Prints one JSON object: requests
per second, the share of the best that the delays allow, impolite requests, CPU seconds and memory.

The best: each site gets its next request at the moment its delay ends. `makespan_share` compares the time until the
last answer of all sites, `site_share` the sum of the sites' own times from their first request to their last answer.
Computing takes no virtual time, so these shares judge the order of requests alone; `cpu_per_request_ms` is the rest.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from dataclasses import replace
from datetime import timedelta

from evercrawl.model.settings import Settings
from evercrawl.testing.sim_web import LoggedRequest, SimWeb, default_delay
from evercrawl.testing.sim_world import make_world
from evercrawl.testing.site_plan import NO_FAULTS


def best_span(requests: list[LoggedRequest], crawl_delay: timedelta | None) -> timedelta:
    """Return the least time from the first request of a site to its last answer, with these latencies."""
    spans = [request.answered - request.sent for request in requests]
    delays = [default_delay(request, crawl_delay) for request in requests[:-1]]
    return sum((*spans, *delays), timedelta())


def measure(sites: int, pages: int, *, concurrency: int, seed: int) -> dict[str, object]:
    """Crawl a web once and compare the request log with the best order."""
    web = SimWeb(seed, sites=sites, pages_per_site=pages, faults=NO_FAULTS)
    settings = Settings()
    settings = replace(settings, crawl=replace(settings.crawl, concurrency=concurrency))
    world = make_world(web, settings=settings, seed=seed)
    began = time.process_time()
    world.crawl()
    cpu = time.process_time() - began
    by_site = {site: sorted(requests) for site, requests in web.log.by_site().items()}
    requests = [request for own in by_site.values() for request in own]
    best = {site: best_span(own, web.crawl_delay(f"{site}/")) for site, own in by_site.items()}
    actual = {site: own[-1].answered - own[0].sent for site, own in by_site.items()}
    makespan = max(request.answered for request in requests) - min(request.sent for request in requests)
    return {
        "sites": len(by_site),
        "requests": len(requests),
        "virtual_s": round(makespan.total_seconds(), 1),
        "requests_per_s": round(len(requests) / makespan.total_seconds(), 1),
        "makespan_share": round(max(best.values()) / makespan, 4),
        "site_share": round(sum(best.values(), timedelta()) / sum(actual.values(), timedelta()), 4),
        "violations": len(web.violations()),
        "cpu_s": round(cpu, 1),
        "cpu_per_request_ms": round(1000 * cpu / len(requests), 2),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sites", type=int, default=1000)
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--concurrency", type=int, default=1024)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    print(json.dumps(measure(chosen.sites, chosen.pages, concurrency=chosen.concurrency, seed=chosen.seed), indent=1))


if __name__ == "__main__":
    main()
