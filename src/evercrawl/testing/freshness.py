"""How fresh is a collection really, and what does the crawler believe? Only a simulated web knows both."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from evercrawl.core.moment import DAY_US, from_us, to_us
from evercrawl.core.revisit.outlook import Outlook, unpacked
from evercrawl.core.revisit.schedule import belief_of
from evercrawl.core.revisit.worth import chance_current
from evercrawl.engine.revisits import hub_of
from evercrawl.model.page import Page
from evercrawl.testing.world import World


class Freshness(NamedTuple):
    """Shares of the pages that we hold a copy of."""

    pages: int
    true: float
    estimated: float


def freshness_of(world: World) -> Freshness:
    """The share of copies that are current between two runs, and the mean of what is believed of each."""
    now = world.clock.start
    now_us = to_us(now)
    true, believed, pages = 0, 0.0, 0
    for shard in range(world.store.shards):
        for page, outlook in _copies(world, shard):
            pages += 1
            true += _is_current(world, page, now)
            believed += _chance(page, outlook, now_us / DAY_US)
    return Freshness(pages, true / max(1, pages), believed / max(1, pages))


def _copies(world: World, shard: int) -> list[tuple[Page, Outlook]]:
    state = world.store.state_of(shard)
    outlooks = {site_id: unpacked(stored) for (site_id, kind), stored in state.memories.items() if kind == "freshness"}
    pages = [record.page for record in state.records.values() if record.page.version]
    return [(page, outlooks.get(page.site_id, Outlook())) for page in pages]


def _is_current(world: World, page: Page, now: datetime) -> bool:
    assert page.last_us is not None
    return world.web.version(page.url, at=now) == world.web.version(page.url, at=from_us(page.last_us))


def _chance(page: Page, outlook: Outlook, now: float) -> float:
    belief = belief_of(page.belief)
    if belief is None:
        return 0.0
    return chance_current(belief, outlook.belief, now=now, spared=outlook.spared(hub_of(page.url), now=now))
