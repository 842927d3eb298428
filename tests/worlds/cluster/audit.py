"""From time to time all of a simulated cluster is looked over: what no single event shows."""

from __future__ import annotations

from collections.abc import Iterable

from evercrawl.model.time import to_us
from evercrawl.testing.virtual_time import EPOCH
from tests.worlds.cluster.database import Server
from tests.worlds.cluster.monitor import BreachKind, Monitor
from tests.worlds.cluster.worker import SimWorker
from tests.worlds.credit_audit import find_errors

CALM_S = 600.0
"""Shares are judged when nobody has come or gone for so long."""
PATIENCE_S = 3600.0
"""A page is visited, and a parcel taken in, at most so long after its time."""
MOST_TOLD = 3


class Audit:
    """Looks for shards without work, pages and links that wait, pages that are gone, and into the books."""

    def __init__(self, server: Server, monitor: Monitor) -> None:
        self._server = server
        self._monitor = monitor
        self._suspects: set[int] = set()
        self._parcels: dict[tuple[int, int, int], float] = {}

    def check_ownership(self, workers: Iterable[SimWorker]) -> None:
        """Who works on what."""
        working = [worker for worker in workers if not worker.process.is_dead]
        monitor = self._monitor
        owners: dict[int, int] = {}
        for worker in working:
            for shard in worker.works_on():
                if shard in owners:
                    monitor.breach(BreachKind.TWO_OWNERS, f"shard {shard}: {owners[shard]} and {worker.process.number}")
                owners[shard] = worker.process.number
        late = {shard for shard in monitor.claims if shard not in owners and monitor.is_late(shard)}
        for shard in late & self._suspects:
            monitor.breach(BreachKind.IDLE, f"shard {shard}, whose owner is {self._server.tables.owners[shard]}")
        self._suspects = late
        self._look_at_shares(working)

    def _look_at_shares(self, workers: list[SimWorker]) -> None:
        monitor, tables = self._monitor, self._server.tables
        now = monitor.now()
        if now - max(monitor.changed_s, monitor.up_since_s, monitor.slow_until_s) < CALM_S:
            return
        whole = sum(row.capacity for row in tables.workers.values())
        monitor.counts["share looks"] += 1
        for worker in workers:
            share = len(tables.owners) * worker.capacity / whole
            if not int(share) - 1 < len(worker.works_on()) + 0.5 < share + 3:
                owned = len(worker.works_on())
                monitor.breach(BreachKind.UNFAIR, f"{worker.process.number} has {owned} of {share:.1f}")

    def check_store(self) -> None:
        """What lies in the store."""
        self._look_for_pages()
        self._look_at_parcels()
        for words in find_errors(self._server.store)[:MOST_TOLD]:
            self._monitor.breach(BreachKind.CREDIT, words)

    def _look_for_pages(self) -> None:
        store, monitor = self._server.store, self._monitor
        for (shard, page_id), number in monitor.versions.items():
            record = store.state_of(shard).records.get(page_id)
            if record is None or record.page.version < number:
                monitor.breach(BreachKind.LOST, f"shard {shard}, page {page_id}, version {number}")
        late_us = to_us(EPOCH) + int((monitor.now() - PATIENCE_S) * 1e6)
        for shard in range(store.shards):
            due = store.state_of(shard).due
            if due and due[0][0] < late_us and monitor.now() - monitor.up_since_s > PATIENCE_S:
                monitor.breach(BreachKind.OVERDUE, f"shard {shard}, page {due[0][1]}")

    def _look_at_parcels(self) -> None:
        now, store = self._monitor.now(), self._server.store
        waiting = {
            (parcel.source, parcel.target, parcel.seq)
            for shard in range(store.shards)
            for parcel in store.state_of(shard).outbox.values()
            if parcel.seq > store.state_of(parcel.target).taken.get(parcel.source, 0)
        }
        self._parcels = {way: self._parcels.get(way, now) for way in waiting}
        for way, since in self._parcels.items():
            if now - since > PATIENCE_S:
                self._monitor.breach(BreachKind.STUCK, f"from shard {way[0]} to {way[1]}")
