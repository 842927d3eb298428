"""What every store must do: memory, SQLite and PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest

from evercrawl.adapters.postgres.membership import PostgresStore
from evercrawl.adapters.postgres.postgres_pool import DatabaseAddress
from evercrawl.adapters.sqlite.sqlite_database import SqliteStore
from evercrawl.core.document.compression import pack_text
from evercrawl.engine.ports import ShardStore, Store
from evercrawl.errors import BugFound, LeaseLost
from evercrawl.model.page import (
    ArchiveEnd,
    Batch,
    CreditShare,
    DuplicateCandidate,
    LinkBatch,
    Promotion,
    QueuePosition,
    Requeue,
)
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.settings import StoreSettings
from evercrawl.model.time import DAY_US
from evercrawl.testing.store import MemoryStore
from tests.contract.store_values import (
    HOUR_US,
    NOON_US,
    a_baseline,
    a_page,
    a_refusal,
    a_robots_record,
    a_site,
    a_version,
    a_visit,
    url_of,
)
from tests.postgres_server import PostgresServer

T = TypeVar("T")
REFUSALS_KEPT = 3


class OpenStore:
    """A store that can crash and be opened again."""

    def __init__(self, make: Callable[[], Store], crash: Callable[[Store], Awaitable[None]]) -> None:
        self._make = make
        self._crash = crash
        self.store = make()

    async def crash(self) -> None:
        """End without releasing the shards."""
        await self._crash(self.store)
        self.store = self._make()


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> OpenStore:
    settings = StoreSettings(shards=4, max_refusals_per_shard=REFUSALS_KEPT)
    if request.param == "postgres":
        server: PostgresServer = request.getfixturevalue("postgres")
        place = DatabaseAddress(server.dsn, server.new_namespace())
        return OpenStore(lambda: PostgresStore(place, settings, connections=4), lambda store: store.close())
    if request.param == "memory":
        memory = MemoryStore(4, most_refusals=REFUSALS_KEPT)

        async def crash(_: Store) -> None:
            memory.crash()

        return OpenStore(lambda: memory, crash)
    return OpenStore(lambda: SqliteStore(tmp_path, settings), lambda store: store.close())


def in_one_loop(opened: OpenStore, work: Coroutine[Any, Any, None]) -> None:
    """Run in one event loop: connections to a server cannot leave theirs."""

    async def and_close() -> None:
        try:
            await work
        finally:
            await opened.store.close()

    asyncio.run(and_close())


def scenario(test: Callable[..., Awaitable[None]]) -> Callable[[OpenStore], None]:
    """Run a test with shard 0, its epoch and its store."""

    def run(opened: OpenStore) -> None:
        async def begin() -> None:
            shard = await opened.store.open_shard(0)
            facts = await shard.claim()
            names = test.__code__.co_varnames[: test.__code__.co_argcount]  # type: ignore[attr-defined]
            given: dict[str, Any] = {"opened": opened, "shard": shard, "epoch": facts.epoch}
            await test(**{name: given[name] for name in names})

        in_one_loop(opened, begin())

    run.__name__, run.__doc__ = test.__name__, test.__doc__  # type: ignore[attr-defined]
    return run


def with_site(**parts: Any) -> Batch:
    return Batch(sites={1: a_site()}, **parts)


async def ids_queued(shard: ShardStore, site: int = 1, priority: int = 1) -> list[int]:
    return [page.id for page in await shard.queue(site, priority, 0, 1000)]


async def every_key(shard: ShardStore) -> list[bytes]:
    portions = shard.keys()
    return [key async for portion in portions for key in portion]


# Ownership


def test_a_new_shard_is_empty_and_clean(opened: OpenStore) -> None:
    async def run() -> None:
        assert await opened.store.existing_shards() == []
        shard = await opened.store.open_shard(3)
        facts = await shard.claim()
        assert (facts.shard, facts.epoch, facts.crashed, facts.pages, facts.pending) == (3, 1, False, 0, 0)
        assert (facts.next_id, facts.next_seq, facts.next_site_id, facts.next_link_batch) == (1, 1, 1, 1)
        assert facts.archive_end is None
        assert await opened.store.existing_shards() == [3]

    in_one_loop(opened, run())


@scenario
async def test_an_older_epoch_cannot_write(shard: ShardStore, epoch: int) -> None:
    newer = (await shard.claim()).epoch
    assert newer == epoch + 1
    with pytest.raises(LeaseLost):
        await shard.commit(epoch, with_site(new_pages=[a_page(1)]))
    assert await every_key(shard) == []
    await shard.commit(newer, with_site(new_pages=[a_page(1)]))
    assert await every_key(shard) == [a_page(1).key]


@scenario
async def test_after_release_nothing_is_written(shard: ShardStore, epoch: int) -> None:
    await shard.release(epoch)
    with pytest.raises(LeaseLost):
        await shard.commit(epoch, with_site())
    assert (await shard.claim()).crashed is False


@scenario
async def test_release_by_a_former_owner_changes_nothing(shard: ShardStore, epoch: int) -> None:
    await shard.claim()
    await shard.release(epoch)
    assert (await shard.claim()).crashed is True


@scenario
async def test_claim_reports_a_crash_but_not_a_clean_release(opened: OpenStore, shard: ShardStore, epoch: int) -> None:
    await shard.commit(epoch, with_site(new_pages=[a_page(5, seq=9)], archive_end=ArchiveEnd("a.warc.gz", 77)))
    await opened.crash()
    again = await opened.store.open_shard(0)
    facts = await again.claim()
    assert facts.crashed is True
    assert (facts.next_id, facts.next_seq, facts.next_site_id) == (6, 10, 2)
    assert (facts.pages, facts.pending) == (1, 1)
    assert facts.archive_end == ArchiveEnd("a.warc.gz", 77)
    assert await ids_queued(again) == [5]
    await again.release(facts.epoch)
    await opened.crash()
    assert (await (await opened.store.open_shard(0)).claim()).crashed is False


@scenario
async def test_times_of_the_future_are_moved_when_the_clock_was_set_back(shard: ShardStore, epoch: int) -> None:
    year_us, pages = 365 * DAY_US, [a_page(number) for number in range(1, 5)]
    ahead_us, closed = NOON_US + year_us, {"open_us": NOON_US + year_us + 5, "closed_reason": "throttled"}
    sites = {
        1: a_site()._replace(open_us=ahead_us + 7, robots=a_robots_record()._replace(fetched_us=ahead_us)),
        2: a_site(2)._replace(**closed),
        3: a_site(3)._replace(open_us=NOON_US + 3 * DAY_US, closed_reason="throttled"),
    }
    visited = [
        a_visit(pages[0], at_us=NOON_US - DAY_US, due_us=NOON_US + 9 * DAY_US),
        a_visit(pages[1], at_us=ahead_us, due_us=ahead_us + 2 * DAY_US),
        a_visit(pages[2], at_us=ahead_us, due_us=None),
    ]
    await shard.commit(epoch, Batch(sites=sites, new_pages=pages, visited=visited))
    assert await shard.follow_clock(ahead_us) == 0, "the clock goes on"
    assert await shard.follow_clock(ahead_us - 1_000_000) == 0, "clocks of machines differ"
    for again in range(2):
        assert await shard.follow_clock(NOON_US + again) == year_us - again
        due = await shard.due(NOON_US + 100 * DAY_US, 10)
        assert [page.id for page in due] == [2, 1], "the page of the future keeps its interval, others their time"
        assert await shard.next_due() == NOON_US + 2 * DAY_US
    assert await ids_queued(shard) == [4]
    found = [await shard.site(number) for number in (1, 2, 3)]
    assert [site.open_us - NOON_US for site in found if site is not None] == [1_000_000, DAY_US, DAY_US]
    assert found[0] is not None
    assert found[0].robots is not None
    assert found[0].robots.expires_us == NOON_US


# Pages and the queue


@scenario
async def test_new_pages_are_known_queued_and_counted(shard: ShardStore, epoch: int) -> None:
    pages = [a_page(1, priority=1), a_page(2, priority=0), a_page(3, priority=1)]
    await shard.commit(epoch, with_site(new_pages=pages))
    unknown = a_page(4).key
    assert await shard.known([page.key for page in pages] + [unknown]) == {page.key for page in pages}
    assert await every_key(shard) == sorted(page.key for page in pages)
    assert await ids_queued(shard, priority=0) == [2]
    assert await ids_queued(shard, priority=1) == [1, 3]
    first = (await shard.queue(1, 1, 0, 1))[0]
    assert (first.key, first.url, first.depth, first.seq, first.visits) == (pages[0].key, url_of(1), 2, 1, 0)
    site = await shard.site(1)
    assert site is not None
    assert (site.pages, site.pending, site.priority) == (3, 3, 0)


@scenario
async def test_a_known_key_makes_no_second_page(shard: ShardStore, epoch: int) -> None:
    await shard.commit(epoch, with_site(new_pages=[a_page(1)]))
    twin = a_page(1)._replace(id=7, seq=7)
    fresh = a_page(2)
    await shard.commit(epoch, with_site(new_pages=[twin, fresh, fresh._replace(id=8, seq=8)]))
    assert await ids_queued(shard) == [1, 2]
    site = await shard.site(1)
    assert site is not None
    assert (site.pages, site.pending) == (2, 2)
    facts = await shard.claim()
    assert (facts.next_id, facts.next_seq) == (9, 9)


@scenario
async def test_queue_is_read_in_portions_by_seq(shard: ShardStore, epoch: int) -> None:
    pages = [a_page(number, seq=100 - number) for number in range(1, 11)]
    await shard.commit(epoch, with_site(new_pages=pages))
    window = await shard.queue(1, 1, 0, 4)
    assert [page.seq for page in window] == [90, 91, 92, 93]
    assert [page.seq for page in await shard.queue(1, 1, 93, 100)] == [94, 95, 96, 97, 98, 99]
    assert await shard.queue(1, 0, 0, 4) == []
    assert await shard.queue(2, 1, 0, 4) == []


@scenario
async def test_a_visit_leaves_the_queue_and_gets_a_due_time(shard: ShardStore, epoch: int) -> None:
    page = a_page(1)
    visit = a_visit(page, due_us=NOON_US + HOUR_US, version=a_version(), tries=0)
    await shard.commit(epoch, with_site(new_pages=[page, a_page(2)], visited=[visit]))
    assert await ids_queued(shard) == [2]
    assert await shard.next_due() == NOON_US + HOUR_US
    assert await shard.due(NOON_US, 10) == []
    (due,) = await shard.due(NOON_US + HOUR_US, 10)
    assert (due.id, due.visits, due.version, due.etag, due.interval_s) == (1, 1, 1, '"v1"', 3600)
    assert due.digest == a_version().digest
    site = await shard.site(1)
    assert site is not None
    assert (site.pages, site.pending) == (2, 1)


@scenario
async def test_due_pages_come_earliest_first(shard: ShardStore, epoch: int) -> None:
    pages = [a_page(number) for number in range(1, 6)]
    times = {1: 50, 2: 10, 3: 30, 4: 99, 5: None}
    await shard.commit(
        epoch, with_site(new_pages=pages, visited=[a_visit(page, due_us=times[page.id]) for page in pages])
    )
    assert [page.id for page in await shard.due(50, 10)] == [2, 3, 1]
    assert [page.id for page in await shard.due(50, 2)] == [2, 3]
    assert await shard.next_due() == 10


@scenario
async def test_unfetched_pages_come_in_order_of_id(shard: ShardStore, epoch: int) -> None:
    pages = [a_page(number) for number in range(1, 6)]
    visits = [
        a_visit(pages[0], due_us=90),
        a_visit(pages[1], due_us=50, version=a_version()),
        a_visit(pages[2], due_us=None),
        a_visit(pages[3], due_us=10),
    ]
    await shard.commit(epoch, with_site(new_pages=pages, visited=visits))
    assert [page.id for page in await shard.unfetched(0, 10)] == [1, 4]
    assert [page.id for page in await shard.unfetched(1, 10)] == [4]
    assert [page.id for page in await shard.unfetched(0, 1)] == [1]


@scenario
async def test_a_requeued_page_is_queued_and_not_due(shard: ShardStore, epoch: int) -> None:
    page = a_page(1)
    await shard.commit(epoch, with_site(new_pages=[page], visited=[a_visit(page, due_us=5, tries=2)]))
    await shard.commit(epoch, Batch(requeued=[Requeue(1, 1, 0, 20)]))
    assert await shard.next_due() is None
    (queued,) = await shard.queue(1, 0, 0, 10)
    assert (queued.id, queued.priority, queued.seq, queued.tries, queued.visits) == (1, 0, 20, 2, 1)
    site = await shard.site(1)
    assert site is not None
    assert (site.pages, site.pending, site.priority) == (1, 1, 0)
    assert (await shard.claim()).next_seq == 21


@scenario
async def test_a_queued_page_is_not_queued_twice(shard: ShardStore, epoch: int) -> None:
    await shard.commit(epoch, with_site(new_pages=[a_page(1)]))
    await shard.commit(epoch, Batch(requeued=[Requeue(1, 1, 0, 20)]))
    assert await ids_queued(shard, priority=0) == []
    assert await ids_queued(shard, priority=1) == [1]
    site = await shard.site(1)
    assert site is not None
    assert site.pending == 1


@scenario
async def test_credit_shares_add_up_and_earlier_earnings_fade(shard: ShardStore, epoch: int) -> None:
    page = a_page(1)._replace(credit=100, earned=160, generation=3)
    await shard.commit(epoch, with_site(new_pages=[page, a_page(2)]))
    await shard.commit(
        epoch, Batch(shares=[CreditShare(1, 7, 5), CreditShare(2, 9, 70)], visited=[a_visit(page, spent=90)])
    )
    assert await shard.queue_positions([page.key, b"?" * 16]) == [QueuePosition(page.key, 1, 1, 1, None, 17)]
    await shard.commit(epoch, Batch(requeued=[Requeue(1, 1, 0, 20)]))
    (first,) = await shard.queue(1, 0, 0, 10)
    assert (first.credit, first.earned, first.generation) == (17, 160 // 4 + 7, 5)
    (second,) = await shard.queue(1, 1, 0, 10)
    assert (second.credit, second.earned, second.generation) == (9, 9, 70)


@scenario
async def test_promotion_needs_the_old_queue_position(shard: ShardStore, epoch: int) -> None:
    await shard.commit(epoch, with_site(new_pages=[a_page(1, priority=3), a_page(2, priority=3)]))
    await shard.commit(epoch, Batch(promoted=[Promotion(1, 1, 3, 1, 0, 30), Promotion(2, 1, 3, 99, 0, 31)]))
    assert [(page.id, page.seq) for page in await shard.queue(1, 0, 0, 10)] == [(1, 30)]
    assert await ids_queued(shard, priority=3) == [2]
    site = await shard.site(1)
    assert site is not None
    assert (site.pending, site.priority) == (2, 0)
    assert (await shard.claim()).next_seq == 32


@scenario
async def test_duplicate_candidate_is_found_by_key_and_number(shard: ShardStore, epoch: int) -> None:
    page = a_page(1)
    await shard.commit(epoch, with_site(new_pages=[page, a_page(2)]))
    visits = [a_visit(page, version=a_version()), a_visit(a_page(2), duplicate_of=1, moved_to="https://x.test/")]
    await shard.commit(epoch, Batch(visited=visits))
    version = a_version()
    expected = DuplicateCandidate(1, page.url, 1, b"signature", None, None, "A title", version.digest, visits[0].status)
    assert await shard.duplicate_candidate(page.key) == expected
    moved = DuplicateCandidate(2, url_of(2), 0, None, "https://x.test/", 1, status=visits[1].status)
    assert await shard.duplicate_candidate(2) == moved
    assert await shard.duplicate_candidate(3) is None


@scenario
async def test_duplicates_are_found_by_their_original(shard: ShardStore, epoch: int) -> None:
    pages = [a_page(number) for number in range(1, 6)]
    await shard.commit(epoch, with_site(new_pages=pages))
    visits = [
        a_visit(page, due_us=9, duplicate_of=repeated)
        for page, repeated in zip(pages[:4], (None, 1, 1, 3), strict=True)
    ]
    await shard.commit(epoch, Batch(visited=visits))
    assert [page.id for page in await shard.duplicates_of(1, 10)] == [2, 3]
    assert [page.id for page in await shard.duplicates_of(1, 1)] == [2]
    await shard.commit(epoch, Batch(requeued=[Requeue(2, 1, 1, 20)]))
    assert [page.id for page in await shard.duplicates_of(1, 10)] == [3]
    assert await shard.duplicates_of(2, 10) == []
    keys = [page.key for page in pages[1:3]]
    assert {page.id: page.seq for page in await shard.pages(keys)} == {2: 20, 3: 0}


@scenario
async def test_requeue_before_or_after_a_visit_in_one_batch(shard: ShardStore, epoch: int) -> None:
    page = a_page(1)
    await shard.commit(epoch, with_site(new_pages=[page], visited=[a_visit(page, due_us=5)]))
    again = a_visit(page, due_us=77, seq=20)
    await shard.commit(epoch, Batch(requeued=[Requeue(1, 1, 1, 20)], visited=[again]))
    assert await ids_queued(shard) == []
    assert await shard.next_due() == 77
    await shard.commit(epoch, Batch(requeued=[Requeue(1, 1, 1, 30)]))
    third = a_visit(page, due_us=88, seq=30)
    await shard.commit(epoch, Batch(visited=[third], requeued=[Requeue(1, 1, 1, 40)]))
    assert [queued.seq for queued in await shard.queue(1, 1, 0, 10)] == [40]
    assert await shard.next_due() is None


@scenario
async def test_validators_survive_a_failure_and_are_replaced_as_a_pair(shard: ShardStore, epoch: int) -> None:
    page = a_page(1)
    visits = [
        a_visit(page, version=a_version(etag='"v1"')),
        a_visit(page, seq=0, outcome=Outcome.ERROR, reason=Reason.TIMEOUT, due_us=1, tries=1),
    ]
    await shard.commit(epoch, with_site(new_pages=[page], visited=visits))
    (due,) = await shard.due(1, 1)
    assert (due.etag, due.last_modified, due.tries, due.visits) == ('"v1"', None, 1, 2)
    confirmed = a_visit(page, seq=0, outcome=Outcome.UNCHANGED, last_modified="Mon", due_us=2)
    await shard.commit(epoch, Batch(visited=[confirmed]))
    (due,) = await shard.due(2, 1)
    assert (due.etag, due.last_modified, due.version) == (None, "Mon", 1)


@scenario
async def test_redirect_target_of_a_page(shard: ShardStore, epoch: int) -> None:
    page = a_page(1)
    await shard.commit(epoch, with_site(new_pages=[page]))
    assert await shard.moved_to(page.key) is None
    await shard.commit(epoch, Batch(visited=[a_visit(page, reason=Reason.REDIRECT, moved_to="https://t.example/")]))
    assert await shard.moved_to(page.key) == "https://t.example/"
    assert await shard.moved_to(a_page(2).key) is None


# Sites


@scenario
async def test_a_site_is_found_by_name_and_number_with_its_robots(shard: ShardStore, epoch: int) -> None:
    site = a_site()._replace(robots=a_robots_record(), closed_reason="429", backoff=2.5, pages=99, pending=99)
    await shard.commit(epoch, Batch(sites={1: site}))
    stored = await shard.site(1)
    assert stored == site._replace(pages=0, pending=0)
    assert await shard.sites_named([site.name, "https://none.example"]) == {site.name: stored}
    assert await shard.site(2) is None


@scenario
async def test_a_site_is_replaced_and_its_counts_are_not(shard: ShardStore, epoch: int) -> None:
    first = a_site()._replace(robots=a_robots_record())
    await shard.commit(epoch, Batch(sites={1: first}, new_pages=[a_page(1)]))
    newer = a_robots_record()._replace(expires_us=NOON_US + 9 * HOUR_US, body=b"")
    changed = first._replace(open_us=NOON_US + 5, failures=2, requests=7, wire_bytes=8, robots=newer)
    await shard.commit(epoch, Batch(sites={1: changed}))
    assert await shard.site(1) == changed._replace(pages=1, pending=1, priority=1)
    await shard.commit(epoch, Batch(sites={1: changed._replace(robots=None)}))
    stored = await shard.site(1)
    assert stored is not None
    assert stored.robots is None


@scenario
async def test_waiting_sites_are_listed_by_their_most_urgent_priority(shard: ShardStore, epoch: int) -> None:
    sites = {number: a_site(number) for number in range(1, 7)}
    pages = [a_page(number, site=number, priority=number % 2) for number in range(1, 6)]
    pages.append(a_page(7, site=1, priority=0))
    await shard.commit(epoch, Batch(sites=sites, new_pages=pages))
    assert [site.id for site in await shard.waiting_sites(0, 0, 10)] == [1, 2, 4]
    assert [site.id for site in await shard.waiting_sites(0, 1, 1)] == [2]
    assert [site.id for site in await shard.waiting_sites(1, 0, 10)] == [3, 5]
    await shard.commit(epoch, Batch(visited=[a_visit(pages[-1]), a_visit(pages[1])]))
    assert [site.id for site in await shard.waiting_sites(0, 0, 10)] == [4]
    assert [site.id for site in await shard.waiting_sites(1, 0, 10)] == [1, 3, 5]


# Content


@scenario
async def test_the_first_holder_of_some_content_is_its_original(shard: ShardStore, epoch: int) -> None:
    one, two = a_page(1), a_page(2)
    first = a_visit(one, at_us=NOON_US + 1, version=a_version(body=b"same"))
    second = a_visit(two, at_us=NOON_US + 2, version=a_version(body=b"same"), duplicate_of=1)
    await shard.commit(epoch, with_site(new_pages=[one, two], visited=[first]))
    await shard.commit(epoch, Batch(visited=[second]))
    digest = a_version(body=b"same").digest
    found = await shard.originals([digest, b"0" * 16])
    assert set(found) == {digest}
    original = found[digest]
    assert (original.page_id, original.url, original.at_us) == (1, one.url, NOON_US + 1)
    assert (original.file, original.offset, original.length) == ("s00.warc.gz", 100, 100)
    assert original.payload_sha1 == a_version(body=b"same").payload_sha1
    assert await shard.version_original(2) == original


@scenario
async def test_in_one_batch_the_page_visited_first_is_the_original(shard: ShardStore, epoch: int) -> None:
    one, two = a_page(1), a_page(2)
    visits = [a_visit(page, version=a_version(body=b"same")) for page in (two, one)]
    await shard.commit(epoch, with_site(new_pages=[one, two], visited=visits))
    digest = a_version(body=b"same").digest
    assert (await shard.originals([digest]))[digest].page_id == 2


@scenario
async def test_the_newest_version_of_a_page(shard: ShardStore, epoch: int) -> None:
    page = a_page(1)
    await shard.commit(epoch, with_site(new_pages=[page]))
    assert await shard.version_original(1) is None
    visits = [a_visit(page, version=a_version(1)), a_visit(page, seq=0, version=a_version(2, body=b"two"))]
    await shard.commit(epoch, Batch(visited=visits))
    newest = await shard.version_original(1)
    assert newest is not None
    assert (newest.offset, newest.record_id) == (200, a_version(2, body=b"two").record_id)
    assert await shard.version_original(5) is None


@scenario
async def test_a_reverted_page_has_three_versions(shard: ShardStore, epoch: int) -> None:
    page = a_page(1)
    bodies = [b"a", b"b", b"a"]
    visits = [
        a_visit(page, seq=1 if number == 1 else 0, at_us=NOON_US + number, version=a_version(number, body=body))
        for number, body in enumerate(bodies, start=1)
    ]
    await shard.commit(epoch, with_site(new_pages=[page], visited=visits[:2]))
    await shard.commit(epoch, Batch(visited=visits[2:]))
    newest = await shard.version_original(1)
    assert newest is not None
    assert newest.at_us == NOON_US + 1
    with pytest.raises(BugFound):
        await shard.commit(epoch, Batch(visited=[a_visit(page, seq=0, version=a_version(3, body=b"a"))]))


@scenario
async def test_the_text_of_every_version_can_be_read(opened: OpenStore, shard: ShardStore, epoch: int) -> None:
    page, other = a_page(1), a_page(2)
    texts = [" ".join(f"word{(number * step) % 97}" for step in range(200)) for number in range(1, 41)]
    before: tuple[int, str] | None = None
    visits = []
    for number, text in enumerate(texts, start=1):
        version = a_version(number, body=b"%d" % number)._replace(text=pack_text(text, number, before))
        visits.append(a_visit(page, seq=page.seq if number == 1 else 0, version=version))
        before = number, text
    await shard.commit(epoch, with_site(new_pages=[page, other], visited=visits))
    await shard.commit(epoch, Batch(visited=[a_visit(other, version=a_version(body=b"none"))]))
    await opened.crash()
    again = await opened.store.open_shard(0)
    assert [await again.text(1, number) for number in range(1, 41)] == texts
    assert await again.text(1, 41) is None
    assert await again.text(2, 1) is None
    assert await again.text(3, 1) is None


# Refusals


@scenario
async def test_baseline_is_stored_and_referred_to(opened: OpenStore, shard: ShardStore, epoch: int) -> None:
    page = a_page(1)
    await shard.commit(epoch, with_site(new_pages=[page], visited=[a_visit(page, version=a_version(1))]))
    assert await shard.baseline(page.id) is None
    version_place = await shard.version_original(page.id)
    assert version_place is not None
    baseline = a_baseline(b"other bytes")
    noise = a_visit(page, at_us=NOON_US + HOUR_US, digest=baseline.digest, baseline=baseline)
    await shard.commit(epoch, Batch(visited=[noise]))
    await opened.crash()
    again = await opened.store.open_shard(0)
    assert await again.baseline(page.id) == baseline
    place = await again.version_original(page.id)
    assert place is not None
    assert (place.page_id, place.record_id, place.offset) == (page.id, baseline.record_id, baseline.offset)
    epoch = (await again.claim()).epoch
    back = a_visit(page, at_us=NOON_US + 2 * HOUR_US, digest=a_version(1).digest)
    await again.commit(epoch, Batch(visited=[back]))
    assert await again.version_original(page.id) == version_place
    assert await again.baseline(page.id) == baseline


@scenario
async def test_site_state_is_stored_by_kind(shard: ShardStore, epoch: int) -> None:
    assert await shard.site_state(1, "change") is None
    await shard.commit(epoch, with_site(site_states={(1, "change"): b"one", (1, "other"): b"two"}))
    await shard.commit(epoch, Batch(site_states={(1, "change"): b"three"}))
    assert await shard.site_state(1, "change") == b"three"
    assert await shard.site_state(1, "other") == b"two"
    assert await shard.site_state(2, "change") is None


@scenario
async def test_refusals_are_stored_once_up_to_the_limit(shard: ShardStore, epoch: int) -> None:
    refusals = sorted(a_refusal(number) for number in range(1, 5))
    await shard.commit(epoch, Batch(refusals=[*refusals, refusals[0]]))
    assert await shard.refusals(b"", 10) == refusals[:REFUSALS_KEPT]
    assert await shard.refusals(refusals[0].key, 1) == [refusals[1]]
    assert await shard.known([refusal.key for refusal in refusals]) == set()
    again = refusals[0]._replace(at_us=NOON_US + 1)
    changed = refusals[1]._replace(reason=Reason.EXCLUDED, detail="by /p/")
    await shard.commit(epoch, Batch(refusals=[again, changed]))
    assert await shard.refusals(b"", 10) == [refusals[0], changed, refusals[2]]


@scenario
async def test_page_is_never_refused(shard: ShardStore, epoch: int) -> None:
    refused, page = a_page(1), a_page(2)
    refusals = [a_refusal(9)._replace(key=refused.key, url=refused.url), a_refusal(9)]
    await shard.commit(epoch, with_site(new_pages=[page], refusals=refusals))
    await shard.commit(epoch, with_site(new_pages=[refused]))
    assert await shard.refusals(b"", 10) == [a_refusal(9)]
    await shard.commit(epoch, Batch(refusals=[a_refusal(9)._replace(key=page.key, url=page.url)]))
    assert await shard.refusals(b"", 10) == [a_refusal(9)]
    assert await shard.known([refused.key, page.key]) == {refused.key, page.key}


# Links for other shards


@scenario
async def test_outbox_keeps_batches_until_they_are_delivered(shard: ShardStore, epoch: int) -> None:
    parcels = [LinkBatch(2, 0, 3, b"two"), LinkBatch(1, 0, 2, b"one")]
    await shard.commit(epoch, Batch(sent=parcels))
    await shard.commit(epoch, Batch(sent=parcels))
    assert await shard.outbox() == sorted(parcels)
    await shard.commit(epoch, Batch(delivered=[2, 99]))
    assert await shard.outbox() == [parcels[1]]
    assert (await shard.claim()).next_link_batch == 3


@scenario
async def test_received_numbers_never_decrease(shard: ShardStore, epoch: int) -> None:
    assert await shard.received() == {}
    await shard.commit(epoch, Batch(received={1: 5, 2: 1}))
    await shard.commit(epoch, Batch(received={1: 3, 2: 4}))
    assert await shard.received() == {1: 5, 2: 4}


# All or nothing


@scenario
async def test_a_batch_that_fails_leaves_nothing(opened: OpenStore, shard: ShardStore, epoch: int) -> None:
    batch = with_site(
        new_pages=[a_page(1)], refusals=[a_refusal(1)], sent=[LinkBatch(1, 0, 1, b"")], visited=[a_visit(a_page(404))]
    )
    with pytest.raises(BugFound, match="404"):
        await shard.commit(epoch, batch)
    assert await every_key(shard) == []
    assert await shard.site(1) is None
    assert await shard.refusals(b"", 10) == []
    assert await shard.outbox() == []
    await opened.crash()
    assert (await (await opened.store.open_shard(0)).claim()).next_id == 1


@scenario
async def test_pages_need_their_site(shard: ShardStore, epoch: int) -> None:
    with pytest.raises(BugFound, match="site"):
        await shard.commit(epoch, Batch(new_pages=[a_page(1)]))
    assert await every_key(shard) == []


@scenario
async def test_a_version_is_not_stored_twice(shard: ShardStore, epoch: int) -> None:
    page = a_page(1)
    await shard.commit(epoch, with_site(new_pages=[page], visited=[a_visit(page, version=a_version())]))
    with pytest.raises(BugFound):
        await shard.commit(epoch, Batch(visited=[a_visit(page, version=a_version())]))


@scenario
async def test_page_number_is_unique(shard: ShardStore, epoch: int) -> None:
    await shard.commit(epoch, with_site(new_pages=[a_page(1)]))
    with pytest.raises(BugFound):
        await shard.commit(epoch, with_site(new_pages=[a_page(2)._replace(id=1)]))
    assert await ids_queued(shard) == [1]
