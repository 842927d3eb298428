"""Regular checks of a whole simulated cluster, for breaches that no single event shows."""

from __future__ import annotations

from collections.abc import Iterable

from evercrawl.model.time import to_us
from evercrawl.testing.virtual_time import EPOCH
from tests.worlds.cluster.database import Server
from tests.worlds.cluster.monitor import BreachKind, Monitor
from tests.worlds.cluster.worker import SimWorker
from tests.worlds.credit_audit import find_errors

STABLE_S = 600.0
"""Shares are checked when no worker has joined or left for this long."""
DELIVERY_S = 3600.0
"""A due page is visited, and a link batch delivered, within this time."""
MAX_REPORTED = 3


class Audit:
    """Checks ownership, shares, lost and overdue pages, stuck links and credit."""

    def __init__(self, server: Server, monitor: Monitor) -> None:
        self._server = server
        self._monitor = monitor
        self._suspects: set[int] = set()
        self._waiting: dict[tuple[int, int, int], float] = {}

    def check_ownership(self, workers: Iterable[SimWorker]) -> None:
        """Check that every shard has one worker, and every worker its share."""
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
        self._check_shares(working)

    def _check_shares(self, workers: list[SimWorker]) -> None:
        monitor, tables = self._monitor, self._server.tables
        now = monitor.now()
        if now - max(monitor.changed_s, monitor.up_since_s, monitor.slow_until_s) < STABLE_S:
            return
        whole = sum(row.capacity for row in tables.workers.values())
        monitor.counts["share checks"] += 1
        for worker in workers:
            share = len(tables.owners) * worker.capacity / whole
            if not int(share) - 1 < len(worker.works_on()) + 0.5 < share + 3:
                owned = len(worker.works_on())
                monitor.breach(BreachKind.UNFAIR, f"{worker.process.number} has {owned} of {share:.1f}")

    def check_store(self) -> None:
        """Check pages, links and credit in the store."""
        self._check_pages()
        self._check_link_batches()
        for error in find_errors(self._server.store)[:MAX_REPORTED]:
            self._monitor.breach(BreachKind.CREDIT, error)

    def _check_pages(self) -> None:
        store, monitor = self._server.store, self._monitor
        for (shard, page_id), number in monitor.versions.items():
            record = store.state_of(shard).records.get(page_id)
            if record is None or record.page.version < number:
                monitor.breach(BreachKind.LOST, f"shard {shard}, page {page_id}, version {number}")
        late_us = to_us(EPOCH) + int((monitor.now() - DELIVERY_S) * 1e6)
        for shard in range(store.shards):
            due = store.state_of(shard).due
            if due and due[0][0] < late_us and monitor.now() - monitor.up_since_s > DELIVERY_S:
                monitor.breach(BreachKind.OVERDUE, f"shard {shard}, page {due[0][1]}")

    def _check_link_batches(self) -> None:
        now, store = self._monitor.now(), self._server.store
        waiting = {
            (batch.source, batch.target, batch.seq)
            for shard in range(store.shards)
            for batch in store.state_of(shard).outbox.values()
            if batch.seq > store.state_of(batch.target).received.get(batch.source, 0)
        }
        self._waiting = {route: self._waiting.get(route, now) for route in waiting}
        for route, since in self._waiting.items():
            if now - since > DELIVERY_S:
                self._monitor.breach(BreachKind.STUCK, f"from shard {route[0]} to {route[1]}")
