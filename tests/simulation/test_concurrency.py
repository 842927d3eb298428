"""With few concurrent requests for many sites, a shard that waits for a slot misses nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from evercrawl.engine.crawl import Ended
from evercrawl.model.settings import Settings
from evercrawl.testing import NO_FAULTS, SimWeb
from evercrawl.testing.sim_world import make_world

SEED = 11


def visited(*, concurrency: int) -> set[str]:
    web = SimWeb(SEED, sites=12, pages_per_site=15, faults=NO_FAULTS)
    base = Settings()
    limits = replace(base.crawl, concurrency=concurrency, idle_timeout=timedelta(seconds=90))
    scope = replace(base.scope, max_pages_per_site=30)
    store = replace(base.store, commit_interval=timedelta(milliseconds=20))
    # The URLs of probes depend on earlier visits.
    traps = replace(base.traps, enabled=False)
    settings = replace(base, crawl=limits, scope=scope, store=store, traps=traps)
    world = make_world(web, settings=settings, shards=8)
    assert world.crawl() is Ended.DONE, f"seed {SEED}, concurrency {concurrency}"
    assert web.violations() == []
    return {request.site + request.path for request in web.log.requests}


@pytest.mark.parametrize("concurrency", [1, 2, 3])
def test_concurrency_does_not_change_the_visited_pages(concurrency: int):
    assert visited(concurrency=concurrency) == visited(concurrency=64)
