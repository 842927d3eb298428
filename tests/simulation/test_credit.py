"""The engine conserves credit over crashes and shards."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any

import pytest

from evercrawl.core.credit import shard_credit as credit_module
from evercrawl.core.credit.ledger import CreditLedger
from evercrawl.engine.ports import Stored
from evercrawl.model.page import Batch, Promotion
from evercrawl.model.settings import CreditSettings, Settings
from evercrawl.testing import NO_FAULTS, SimWeb
from evercrawl.testing.sim_world import MemoryArchive, SimWorld, make_world
from evercrawl.testing.store import MemoryShard, MemoryStore
from tests.worlds.credit_audit import find_errors, ledgers_of

SEED = 11


@pytest.fixture(autouse=True)
def short_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Distribute credit and promote pages every few visits."""
    monkeypatch.setattr(credit_module, "VISITS_PER_ROUND", 15)


def check_credit(store: MemoryStore) -> CreditLedger:
    """Check that ledgers, pages and minted credit agree; return the largest ledger."""
    assert find_errors(store) == []
    return max(ledgers_of(store).values(), key=lambda ledger: ledger.pages)


def world_of(web: SimWeb, *, shards: int, credit: CreditSettings | None = None) -> SimWorld:
    settings = Settings()
    crawl = replace(settings.crawl, idle_timeout=timedelta(hours=0.5))
    scope = replace(settings.scope, kind="domain", max_pages_per_site=60)
    frontier = replace(settings.frontier, window=4)
    settings = replace(settings, crawl=crawl, scope=scope, credit=credit or settings.credit, frontier=frontier)
    return make_world(web, settings=settings, shards=shards)


def record_promotions(monkeypatch: pytest.MonkeyPatch) -> list[Promotion]:
    """Collect every promotion that is committed."""
    moved: list[Promotion] = []
    commit = MemoryShard.commit

    async def noting(shard: MemoryShard, epoch: int, batch: Batch) -> None:
        moved.extend(batch.promoted)
        await commit(shard, epoch, batch)

    monkeypatch.setattr(MemoryShard, "commit", noting)
    return moved


@pytest.mark.parametrize("shards", [1, 4])
def test_credit_is_conserved_over_crashes_and_shards(shards: int):
    world = world_of(SimWeb(SEED, sites=10, pages_per_site=30), shards=shards)
    for crash in range(8):
        world.crawl(crash_after=timedelta(seconds=4.1 + 5.3 * crash))
        check_credit(world.store)
    world.crawl()
    richest = check_credit(world.store)
    assert richest.dividend > 0
    assert shards == 1 or sum(ledger.received for ledger in ledgers_of(world.store).values()) > 0


def test_credit_is_conserved_if_few_shares_are_written():
    credit = CreditSettings(writes_per_visit=0, buffer_entries=10)
    world = world_of(SimWeb(SEED, sites=6, pages_per_site=30, faults=NO_FAULTS), shards=3, credit=credit)
    for crash in range(3):
        world.crawl(crash_after=timedelta(seconds=7.3 + 9.7 * crash))
        check_credit(world.store)
    world.crawl()
    check_credit(world.store)


def test_promoted_pages_are_visited_once(monkeypatch: pytest.MonkeyPatch):
    web = SimWeb(SEED, sites=6, pages_per_site=40, faults=NO_FAULTS)
    world = world_of(web, shards=2)
    moved = record_promotions(monkeypatch)
    world.crawl()
    assert len(moved) > 10
    urls = [request.site + request.path for request in web.log.requests]
    pages = [url for url in urls if not url.endswith(("/robots.txt", "/sitemap.xml", "XTND"))]
    assert len(pages) == len(set(pages)) > 100


def test_revisits_and_later_runs_conserve_credit():
    world = world_of(SimWeb(SEED, sites=4, pages_per_site=20, faults=NO_FAULTS), shards=2)
    world.crawl()
    world.crawl(refresh=True)
    check_credit(world.store)
    world.watch(timedelta(days=3))
    check_credit(world.store)


def test_a_page_that_could_not_be_archived_spends_no_credit(monkeypatch: pytest.MonkeyPatch):
    """A failed archive write loses the visit, but no credit."""
    calls = count()
    append = MemoryArchive.append

    def failing(archive: MemoryArchive, *arguments: Any, **words: Any) -> Stored:
        if next(calls) % 5 == 3:
            raise FileExistsError("this name is taken")
        return append(archive, *arguments, **words)

    monkeypatch.setattr(MemoryArchive, "append", failing)
    world = world_of(SimWeb(SEED, sites=6, pages_per_site=30, faults=NO_FAULTS), shards=3)
    for crash in range(3):
        world.crawl(crash_after=timedelta(seconds=7.3 + 9.7 * crash))
        check_credit(world.store)
    world.crawl()
    check_credit(world.store)
    assert next(calls) > 100
