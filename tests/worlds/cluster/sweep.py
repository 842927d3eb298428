"""From time to time all of a simulated cluster is looked over: what no single event shows."""

from __future__ import annotations

from collections.abc import Iterable

from evercrawl.model.time import to_us
from evercrawl.testing.virtual_time import EPOCH
from tests.worlds.cluster.database import Server
from tests.worlds.cluster.member import Member
from tests.worlds.cluster.watch import Offence, Watch
from tests.worlds.credit_audit import mistakes

CALM_S = 600.0
"""Shares are judged when nobody has come or gone for so long."""
PATIENCE_S = 3600.0
"""A page is visited, and a parcel taken in, at most so long after its time."""
MOST_TOLD = 3


class Sweep:
    """Looks for shards without work, pages and links that wait, pages that are gone, and into the books."""

    def __init__(self, server: Server, watch: Watch) -> None:
        self._server = server
        self._watch = watch
        self._suspects: set[int] = set()
        self._parcels: dict[tuple[int, int, int], float] = {}

    def often(self, members: Iterable[Member]) -> None:
        """Who works on what."""
        working = [member for member in members if not member.process.is_dead]
        watch = self._watch
        owners: dict[int, int] = {}
        for member in working:
            for shard in member.works_on():
                if shard in owners:
                    watch.breach(Offence.TWO_OWNERS, f"shard {shard}: {owners[shard]} and {member.process.number}")
                owners[shard] = member.process.number
        late = {shard for shard in watch.claims if shard not in owners and watch.is_late(shard)}
        for shard in late & self._suspects:
            watch.breach(Offence.IDLE, f"shard {shard}, whose owner is {self._server.tables.owners[shard]}")
        self._suspects = late
        self._look_at_shares(working)

    def _look_at_shares(self, members: list[Member]) -> None:
        watch, tables = self._watch, self._server.tables
        now = watch.now()
        if now - max(watch.changed_s, watch.up_since_s, watch.slow_until_s) < CALM_S:
            return
        whole = sum(row.capacity for row in tables.workers.values())
        watch.counts["share looks"] += 1
        for member in members:
            share = len(tables.owners) * member.capacity / whole
            if not int(share) - 1 < len(member.works_on()) + 0.5 < share + 3:
                owned = len(member.works_on())
                watch.breach(Offence.UNFAIR, f"{member.process.number} has {owned} of {share:.1f}")

    def seldom(self) -> None:
        """What lies in the store."""
        self._look_for_pages()
        self._look_at_parcels()
        for words in mistakes(self._server.store)[:MOST_TOLD]:
            self._watch.breach(Offence.CREDIT, words)

    def _look_for_pages(self) -> None:
        store, watch = self._server.store, self._watch
        for (shard, page_id), number in watch.versions.items():
            record = store.state_of(shard).records.get(page_id)
            if record is None or record.page.version < number:
                watch.breach(Offence.LOST, f"shard {shard}, page {page_id}, version {number}")
        late_us = to_us(EPOCH) + int((watch.now() - PATIENCE_S) * 1e6)
        for shard in range(store.shards):
            due = store.state_of(shard).due
            if due and due[0][0] < late_us and watch.now() - watch.up_since_s > PATIENCE_S:
                watch.breach(Offence.OVERDUE, f"shard {shard}, page {due[0][1]}")

    def _look_at_parcels(self) -> None:
        now, store = self._watch.now(), self._server.store
        waiting = {
            (parcel.source, parcel.target, parcel.seq)
            for shard in range(store.shards)
            for parcel in store.state_of(shard).outbox.values()
            if parcel.seq > store.state_of(parcel.target).taken.get(parcel.source, 0)
        }
        self._parcels = {way: self._parcels.get(way, now) for way in waiting}
        for way, since in self._parcels.items():
            if now - since > PATIENCE_S:
                self._watch.breach(Offence.STUCK, f"from shard {way[0]} to {way[1]}")
