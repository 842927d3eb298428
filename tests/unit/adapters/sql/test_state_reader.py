from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from evercrawl.adapters.sql.state_reader import StateReader
from evercrawl.adapters.sqlite.sqlite_database import SqliteConnection, SqliteStore
from evercrawl.errors import StoreUnavailable
from evercrawl.model.listing import Totals
from evercrawl.model.page import Batch, Requeue
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.settings import StoreSettings
from tests.contract.store_values import NOON_US, a_page, a_refusal, a_site, a_version, a_visit

ONE, TWO, THREE = a_page(1), a_page(2)._replace(parent_id=1), a_page(3)


@pytest.fixture
def reader(tmp_path: Path) -> StateReader:
    """A collection whose crawl is still running: its files are open for writing."""
    store = SqliteStore(tmp_path, StoreSettings(shards=8, max_refusals_per_shard=2))
    asyncio.run(fill(store))
    return StateReader(tmp_path)


async def fill(store: SqliteStore) -> None:
    shard = await store.open_shard(0)
    epoch = (await shard.claim()).epoch
    site = a_site()._replace(requests=4, wire_bytes=999)
    first = a_visit(ONE, at_us=NOON_US + 10, due_us=NOON_US, version=a_version(1))
    await shard.commit(epoch, Batch(sites={1: site}, new_pages=[ONE, TWO, THREE], visited=[first]))
    still = a_visit(ONE, seq=0, at_us=NOON_US + 20, outcome=Outcome.UNCHANGED, reason=Reason.NOT_MODIFIED, status=304)
    failed = a_visit(ONE, seq=0, at_us=NOON_US + 30, outcome=Outcome.ERROR, reason=Reason.TIMEOUT, status=None)
    changed = a_visit(
        ONE, seq=0, at_us=NOON_US + 40, reason=Reason.CHANGED, version=a_version(2, body=b"new"), due_us=NOON_US + 50
    )
    same = a_visit(TWO, outcome=Outcome.DUPLICATE, reason=Reason.DUPLICATE, duplicate_of=1, detail="as 1")
    await shard.commit(epoch, Batch(visited=[still, failed, changed, same], requeued=[Requeue(2, 1, 0, 9)]))
    await shard.commit(epoch, Batch(refusals=[a_refusal(number) for number in (1, 2, 3)]))
    other = await store.open_shard(5)
    epoch = (await other.claim()).epoch
    await other.commit(epoch, Batch(sites={1: a_site(5)}, refusals=[a_refusal(4, reason=Reason.EXCLUDED)]))


def test_everything_known_about_a_page(reader: StateReader) -> None:
    with reader.shard(0) as shard:
        one, two, three = (shard.page(page.key) for page in (ONE, TWO, THREE))
        assert shard.page(a_page(4).key) is None
    assert one is not None
    assert two is not None
    assert three is not None
    assert (one.outcome, one.reason, one.version, one.visits) == (Outcome.FETCHED, Reason.CHANGED, 2, 4)
    assert (one.is_queued, one.due_us, one.site) == (False, NOON_US + 50, "https://s1.example")
    assert (two.is_queued, two.priority, two.parent, two.duplicate_of) == (True, 0, ONE.url, ONE.url)
    assert (three.outcome, three.reason, three.visits) == (Outcome.QUEUED, Reason.WAITING, 0)
    assert three.reason is Reason.WAITING


def test_the_log_of_visits_and_the_versions(reader: StateReader) -> None:
    with reader.shard(0) as shard:
        visits, versions = shard.visits(1, 3), shard.versions(1)
    assert [(visit.at_us - NOON_US, visit.reason, visit.version) for visit in visits] == [
        (40, Reason.CHANGED, 2),
        (30, Reason.TIMEOUT, 1),
        (20, Reason.NOT_MODIFIED, 1),
    ]
    assert [view.version for view in versions] == [a_version(1), a_version(2, body=b"new")]
    assert [(view.seen_us - NOON_US, view.status) for view in versions] == [(10, 200), (40, 200)]
    # The failure at 30 saw nothing: the change lies between 20 and 40.
    assert [view.changed_after_us for view in versions] == [None, NOON_US + 20]


def test_refusals(reader: StateReader) -> None:
    kept = {refusal.url for refusal in reader.refusals()}
    assert len(kept) == 3
    assert a_refusal(4).url in kept
    with reader.shard(5) as shard:
        assert shard.refusal(a_refusal(4).key) == a_refusal(4, reason=Reason.EXCLUDED)
        assert shard.refusal(ONE.key) is None


def test_totals_of_the_collection(reader: StateReader) -> None:
    assert reader.totals(NOON_US + 50) == Totals(
        sites=2, pages=3, pending=2, requests=4, wire_bytes=999, due_now=1, refusals=3, refusals_dropped=1, versions=2
    )
    assert reader.totals(NOON_US).due_now == 0
    assert reader.decisions() == {
        (Outcome.FETCHED, Reason.CHANGED): 1,
        (Outcome.DUPLICATE, Reason.DUPLICATE): 1,
        (Outcome.QUEUED, Reason.WAITING): 1,
        (Outcome.REJECTED, Reason.OUT_OF_SCOPE): 2,
        (Outcome.REJECTED, Reason.EXCLUDED): 1,
    }
    assert [site.name for site in reader.sites()] == ["https://s1.example", "https://s5.example"]


def test_a_reader_cannot_write(reader: StateReader) -> None:
    with reader.shard(0) as shard:
        assert isinstance(shard.queries, SqliteConnection)
        with pytest.raises(StoreUnavailable, match="cannot be written"):
            shard.queries.run("release_shard", epoch=1)
