"""What must never happen in a cluster is noticed when it happens."""

from __future__ import annotations

from uuid import UUID

from evercrawl.model.page import Batch
from tests.contract.store_values import a_page, a_version, a_visit
from tests.worlds.cluster.monitor import BreachKind, Monitor, WorkerLease

SITE = "http://a.test"


class Story:
    """A monitor and its clock."""

    def __init__(self) -> None:
        self.now = 0.0
        self.monitor = Monitor(lambda: self.now, lease_s=30.0, gap_s=lambda _: 10.0)

    def at(self, now: float) -> Monitor:
        self.now = now
        return self.monitor

    def breach_kinds(self) -> list[BreachKind]:
        return [breach.kind for breach in self.monitor.breaches]


def test_requests_that_come_too_soon_or_beside_another():
    story = Story()
    story.at(0).request_sent(SITE, 1, 2.0)
    story.at(3).request_sent(SITE, 1, 5.0)
    assert story.breach_kinds() == [], "a second is enough as long as nobody knows what the site asks for"
    story.at(4).request_sent(SITE, 2, 6.0)
    story.at(6.5).request_sent(SITE, 2, 7.0)
    assert story.breach_kinds() == [BreachKind.CONCURRENT, BreachKind.TOO_SOON]


def test_a_request_that_nobody_can_break_off_counts_until_its_process_was_stopped():
    story = Story()
    story.at(0).request_sent(SITE, 1, 60.0)
    story.at(1).worker_frozen(1)
    story.at(40).request_sent(SITE, 2, 41.0)
    assert story.breach_kinds() == []
    assert story.monitor.counts["concurrent with a frozen request"] == 1


def test_a_commit_by_anybody_but_the_last_claimer():
    story = Story()
    story.at(0).shard_claimed(3, 1, 7)
    story.monitor.shard_claimed(3, 2, 8)
    story.monitor.batch_committed(3, 1, 7, Batch())
    story.monitor.batch_committed(3, 2, 8, Batch())
    assert story.breach_kinds() == [BreachKind.UNFENCED]


def test_a_version_that_is_stored_twice():
    story = Story()
    story.at(0).shard_claimed(3, 1, 7)
    batch = Batch(visited=[a_visit(a_page(1), version=a_version(1))])
    story.monitor.batch_committed(3, 1, 7, batch)
    story.monitor.batch_committed(3, 1, 7, batch)
    assert story.breach_kinds() == [BreachKind.TWICE]


def test_a_shard_that_is_given_away_under_its_owner():
    story = Story()
    story.monitor.leases[UUID(int=1)] = WorkerLease(1, lambda: True)
    story.monitor.leases[UUID(int=2)] = WorkerLease(2, lambda: False)
    story.at(0).shards_granted(3, {4: UUID(int=2), 5: None})
    assert story.breach_kinds() == []
    story.monitor.shards_granted(3, {6: UUID(int=1)})
    assert story.breach_kinds() == [BreachKind.TWO_OWNERS]


def test_a_take_over_within_the_lease_and_two_seconds():
    story = Story()
    story.at(0).shard_claimed(3, 1, 7)
    story.at(100).worker_killed(7)
    story.at(131).shard_claimed(3, 2, 8)
    assert story.breach_kinds() == []
    story.at(200).worker_killed(8)
    story.at(233).shard_claimed(3, 3, 9)
    assert story.breach_kinds() == [BreachKind.LATE]
    assert story.monitor.takeovers_s == [31.0, 33.0]
