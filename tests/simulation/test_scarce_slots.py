"""Few requests at a time for many sites: a shard that waits for a slot misses nothing meanwhile."""

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
    limits = replace(base.crawl, concurrency=concurrency, patience=timedelta(seconds=90))
    scope = replace(base.scope, pages_per_site=30)
    store = replace(base.store, commit_every=timedelta(milliseconds=20))
    # Which addresses are made up to try a site out depends on what was seen of it before.
    traps = replace(base.traps, enabled=False)
    settings = replace(base, crawl=limits, scope=scope, store=store, traps=traps)
    world = make_world(web, settings=settings, shards=8)
    assert world.crawl() is Ended.DONE, f"seed {SEED}, concurrency {concurrency}"
    assert web.violations() == []
    return {asked.site + asked.path for asked in web.log.requests}


@pytest.mark.parametrize("concurrency", [1, 2, 3])
def test_the_number_of_slots_changes_no_page_that_is_visited(concurrency: int):
    assert visited(concurrency=concurrency) == visited(concurrency=64)
