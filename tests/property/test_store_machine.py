"""Whatever the batches, the store on disk answers like the store in memory."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from evercrawl.adapters.sqlite.sqlite_database import SqliteStore
from evercrawl.errors import BugFound, LeaseLost
from evercrawl.model.page import Batch, CompletedVisit, LinkBatch, NewPage, Requeue
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.settings import StoreSettings
from evercrawl.testing.store import MemoryStore
from tests.contract.store_values import a_page, a_refusal, a_robots_record, a_site, a_version, a_visit, url_of

SITES = (1, 2, 3)
PRIORITIES = (0, 1, 2)
MOST_REFUSALS = 4
LONGEST_LIST = 6

number_of_url = st.integers(1, 12)
outcomes = st.sampled_from(
    [(Outcome.FETCHED, Reason.NEW), (Outcome.UNCHANGED, Reason.SAME_CONTENT), (Outcome.ERROR, Reason.TIMEOUT)]
)


class Stores(RuleBasedStateMachine):
    """A batch is gathered by rules and then committed to both stores."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = tempfile.TemporaryDirectory()
        self.memory = MemoryStore(1, most_refusals=MOST_REFUSALS)
        self.batch = Batch()
        self.next_id = self.next_seq = self.next_link_batch = 1
        self.versions: dict[int, int] = {}
        """Page -> number of its newest version, those in the batch included."""
        self.kept_versions: dict[int, int] = {}
        self.committed: list[NewPage] = []

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(coroutine)

    @initialize()
    def open(self) -> None:
        chosen = StoreSettings(shards=1, max_refusals_per_shard=MOST_REFUSALS)
        self.disk = SqliteStore(Path(self.folder.name), chosen)
        self.shards = [self.run(store.open_shard(0)) for store in (self.memory, self.disk)]
        facts = self.both("claim")
        self.epoch = facts.epoch
        # A batch that was not committed is lost in a crash, and its numbers are given again.
        self.batch = Batch()
        self.next_id, self.next_seq, self.next_link_batch = facts.next_id, facts.next_seq, facts.next_link_batch

    def both(self, method: str, *arguments: Any) -> Any:
        """The answer of the two, which must be the same."""
        answers = [self.run(getattr(shard, method)(*arguments)) for shard in self.shards]
        assert answers[0] == answers[1], method
        return answers[0]

    @rule(site=st.sampled_from(SITES), open_us=st.integers(0, 9), has_robots=st.booleans())
    def touch_site(self, site: int, open_us: int, has_robots: bool) -> None:
        robots = a_robots_record()._replace(fetched_us=open_us) if has_robots else None
        self.batch.sites[site] = a_site(site)._replace(open_us=open_us, robots=robots)

    @rule(urls=st.lists(number_of_url, min_size=1, max_size=4), site=st.sampled_from(SITES))
    def find_pages(self, urls: list[int], site: int) -> None:
        self.batch.sites.setdefault(site, a_site(site))
        for url in urls:
            named = a_page(url, site=site, priority=url % len(PRIORITIES), seq=self.next_seq)
            self.batch.new_pages.append(named._replace(id=self.next_id))
            self.next_id += 1
            self.next_seq += 1

    @rule(data=st.data(), priority=st.sampled_from(PRIORITIES), only_due=st.booleans())
    def requeue(self, data: st.DataObject, priority: int, only_due: bool) -> None:
        pages = self.both("due", 9, 1000) if only_due else self.committed
        if pages:
            page = data.draw(st.sampled_from(pages))
            self.batch.requeued.append(Requeue(page.id, page.site_id, priority, self.next_seq))
            self.next_seq += 1

    @rule(
        data=st.data(),
        decision=outcomes,
        due_us=st.none() | st.integers(1, 9),
        body=st.none() | st.sampled_from([b"one", b"two"]),
        etag=st.none() | st.just('"e"'),
    )
    def visit_queued(
        self,
        data: st.DataObject,
        decision: tuple[Outcome, Reason],
        due_us: int | None,
        body: bytes | None,
        etag: str | None,
    ) -> None:
        queued = [
            page for site in SITES for priority in PRIORITIES for page in self.both("queue", site, priority, 0, 1000)
        ]
        if queued:
            page = data.draw(st.sampled_from(queued))
            visited = a_visit(page, due_us=due_us, etag=etag, outcome=decision[0], reason=decision[1])
            self.batch.visited.append(self.with_version(visited, body))

    @rule(data=st.data())
    def visit_at_a_place_that_is_not_its_own(self, data: st.DataObject) -> None:
        if self.committed:
            page = data.draw(st.sampled_from(self.committed))
            seq = data.draw(st.integers(1, self.next_seq))
            self.batch.visited.append(a_visit(page, seq=seq, due_us=3, moved_to=url_of(1)))

    def with_version(self, visited: CompletedVisit, body: bytes | None) -> CompletedVisit:
        if body is None:
            return visited
        number = self.versions[visited.page_id] = self.versions.get(visited.page_id, 0) + 1
        return visited._replace(version=a_version(number, body=body))

    @rule(number=number_of_url, reason=st.sampled_from([Reason.ROBOTS, Reason.EXCLUDED]), of_page=st.booleans())
    def refuse(self, number: int, reason: Reason, of_page: bool) -> None:
        refusal = a_refusal(number, reason=reason)
        if of_page:
            page = a_page(number)
            refusal = refusal._replace(key=page.key, url=page.url)
        self.batch.refusals.append(refusal)

    @rule(other=st.integers(1, 3), delivered=st.integers(1, 5), received=st.integers(1, 9))
    def exchange_links(self, other: int, delivered: int, received: int) -> None:
        self.batch.sent.append(LinkBatch(self.next_link_batch, 0, other, b"links"))
        self.next_link_batch += 1
        self.batch.delivered.append(delivered)
        self.batch.received[other] = received

    @rule()
    def commit(self) -> None:
        batch, self.batch = self.batch, Batch()
        self.both("commit", self.epoch, batch)
        self.kept_versions = dict(self.versions)
        self.committed += self.those_that_entered(batch)

    def those_that_entered(self, batch: Batch) -> list[NewPage]:
        entered = {page.id for page in self.committed}
        kept = []
        for page in batch.new_pages:
            is_there = any(page.key == other.key for other in self.committed + kept)
            if not is_there and page.id not in entered:
                kept.append(page)
        return kept

    @rule()
    def fail_to_commit(self) -> None:
        broken = Batch(sites=dict(self.batch.sites), visited=[a_visit(a_page(10_000))])
        for shard in self.shards:
            with pytest.raises(BugFound):
                self.run(shard.commit(self.epoch, broken))
            with pytest.raises(LeaseLost):
                self.run(shard.commit(self.epoch - 1, self.batch))

    @rule(clean=st.booleans())
    def end_and_begin_again(self, clean: bool) -> None:
        if clean:
            self.commit()
            self.both("release", self.epoch)
        self.memory.crash()
        self.run(self.disk.close())
        self.versions = dict(self.kept_versions)
        self.open()

    @invariant()
    def all_answers_agree(self) -> None:
        for site in SITES:
            self.both("site", site)
            for priority in PRIORITIES:
                self.both("queue", site, priority, 2, 3)
        for priority in PRIORITIES:
            self.both("waiting_sites", priority, 0, 2)
            self.both("waiting_sites", priority, 1, 9)
        for now_us in (0, 5, 9):
            self.both("due", now_us, LONGEST_LIST)
        self.both("next_due")
        self.both("known", [a_page(number).key for number in range(1, 13)])
        self.both("refusals", b"", 10)
        self.both("outbox")
        self.both("received")
        self.both("originals", [a_version(body=body).digest for body in (b"one", b"two", b"three")])
        for page in self.committed:
            self.both("version_original", page.id)
            self.both("moved_to", page.key)

    @invariant()
    def counts_are_what_is_there(self) -> None:
        for site_id in SITES:
            site = self.both("site", site_id)
            if site is not None:
                queued = [self.both("queue", site_id, priority, 0, 1000) for priority in PRIORITIES]
                assert site.pending == sum(map(len, queued))
                assert site.pages == sum(page.site_id == site_id for page in self.committed)

    def teardown(self) -> None:
        self.run(self.disk.close())
        self.loop.close()
        self.folder.cleanup()


TestStores = Stores.TestCase
TestStores.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)
