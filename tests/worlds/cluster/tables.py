"""The statements of `cluster.sql` in Python, on tables in memory.

The contract suite runs the same tests on these tables and on PostgreSQL, so that the two cannot drift apart. Sums over
all workers are cached, because a hundred workers read them all the time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from evercrawl.model.page import LinkBatch
from evercrawl.testing.store import MemoryStore

Rows = list[tuple[Any, ...]]
REQUESTS_AT_A_TIME = 20
FORGOTTEN_S = 3600.0


@dataclass(slots=True)
class WorkerRow:
    """A row of `worker`."""

    until: float
    capacity: int
    dead: bool = False
    draining: bool = False
    quiet: str | None = None
    visits: int = 0
    wire_bytes: int = 0
    owned: set[int] = field(default_factory=set)


@dataclass(slots=True)
class RequestRow:
    """A row of `request`."""

    shard: int
    asked: float
    request: bytes
    answer: bytes | None = None


NOBODY = WorkerRow(0.0, 0)


class Tables:
    """Tables of a database with its clock; `life` is the incarnation, which a restart changes."""

    def __init__(self, store: MemoryStore, now: Callable[[], float]) -> None:
        self.store = store
        self.now = now
        self.life: tuple[int, float] = (1, 0.0)
        self.workers: dict[UUID, WorkerRow] = {}
        self.owners: dict[int, UUID | None] = {}
        self.free: set[int] = set()
        """Shards without an owner that lives."""
        self.incarnations: dict[tuple[int, float], float] = {}
        self.requests: dict[UUID, RequestRow] = {}
        self.moved_seeds: list[tuple[str, str]] = []
        self.outbox_for: dict[int, dict[tuple[int, int], LinkBatch]] = {}
        """Target -> source and number -> parcel that its sender still keeps."""
        self._visits = self._bytes = 0
        """Of all workers that live."""
        self._summed: tuple[int, int, int, list[tuple[WorkerRow, int]]] | None = None
        """What `shares` says, until somebody comes or goes or a shard changes hands."""
        self._all_live_until = 0.0
        """No lease runs out before; a heartbeat can only move that on."""

    def run(self, name: str, **values: Any) -> Rows:
        """Run the statement of this name; return its rows."""
        found: Rows = getattr(self, f"_{name}")(**values)
        return found

    def rewrite_outbox(self, sent: list[LinkBatch], delivered: list[LinkBatch]) -> None:
        """Parcels that senders keep from now on, or no longer."""
        for parcel in sent:
            self.outbox_for.setdefault(parcel.target, {})[parcel.source, parcel.seq] = parcel
        for parcel in delivered:
            self.outbox_for[parcel.target].pop((parcel.source, parcel.seq), None)

    def make_older(self, seconds: float) -> None:
        """All leases run out earlier than they should."""
        for row in self.workers.values():
            row.until -= seconds
        self._all_live_until = 0.0

    # Workers

    def _create_leases(self, shards: int) -> Rows:
        for shard in range(shards):
            if shard not in self.owners:
                self.owners[shard] = None
                self.free.add(shard)
                self._summed = None
        return []

    def _register(self, worker: UUID, lease: timedelta, capacity: int, host: str, pid: int) -> Rows:
        self.workers[worker] = row = WorkerRow(self.now() + lease.total_seconds(), capacity)
        self._all_live_until = min(self._all_live_until, row.until)
        self._summed = None
        return []

    def _renew(self, worker: UUID, lease: timedelta, quiet: str | None, visits: int, wire_bytes: int) -> Rows:
        row = self.workers.get(worker)
        if row is None or row.dead:
            return []
        row.until = self.now() + lease.total_seconds()
        self._visits += visits - row.visits
        self._bytes += wire_bytes - row.wire_bytes
        row.quiet, row.visits, row.wire_bytes = quiet, visits, wire_bytes
        return [(row.draining,)]

    def _note_incarnation(self) -> Rows:
        self.incarnations.setdefault(self.life, self.now())
        return []

    def _declare_dead(self, lease: timedelta) -> Rows:
        now, seen = self.now(), self.incarnations.get(self.life)
        if seen is None or seen >= now - lease.total_seconds() or now <= self._all_live_until:
            return []
        dead = [key for key, row in self.workers.items() if row.until < now]
        for worker in dead:
            self._die(worker)
        self._all_live_until = min((row.until for row in self.workers.values()), default=now)
        return [(worker,) for worker in dead]

    def _terminate_connections(self, names: list[str]) -> Rows:
        return []

    def _leave(self, worker: UUID) -> Rows:
        self._die(worker)
        return []

    def _die(self, worker: UUID) -> None:
        row = self.workers.pop(worker, None)
        if row is not None:
            row.dead = True
            self._summed = None
            self._visits -= row.visits
            self._bytes -= row.wire_bytes
            self.free |= row.owned

    # Shards

    def _take_shards(self, worker: UUID, most: int) -> Rows:
        row = self.workers.get(worker)
        taken = sorted(self.free)[:most] if self.free else []
        for shard in taken:
            self.owners[shard] = worker
            self.free.discard(shard)
            self._summed = None
        if row is None:
            self.free.update(taken)
        elif taken:
            row.owned.update(taken)
            row.quiet = None
        ours = row.owned if row is not None else taken
        return [(shard,) for shard in sorted(ours)]

    def _free_shard(self, shard_number: int, worker: UUID) -> Rows:
        shard = shard_number
        if self.owners[shard] == worker:
            self.owners[shard] = None
            self.free.add(shard)
            self._summed = None
            if worker in self.workers:
                self.workers[worker].owned.discard(shard)
        return []

    def _shares(self, lease: timedelta) -> Rows:
        if self._summed is None:
            rows = [row for row in self.workers.values() if not row.draining]
            whole, shards = sum(row.capacity for row in rows), len(self.owners)
            lacks = ((row, shards * row.capacity // whole - len(row.owned)) for row in rows)
            self._summed = (whole, shards, len(rows), [(row, lack) for row, lack in lacks if lack > 0])
        whole, shards, workers, lackers = self._summed
        fresh = self.now() + lease.total_seconds() * 2 / 3
        lacking = sum(lack for row, lack in lackers if row.until > fresh)
        return [(whole, shards, lacking, len(self.free), workers)]

    def _next_expiry(self) -> Rows:
        return [(min((row.until for row in self.workers.values()), default=self.now()) - self.now(),)]

    def _spent_by_others(self, worker: UUID) -> Rows:
        own = self.workers.get(worker, NOBODY)
        return [(self._visits - own.visits, self._bytes - own.wire_bytes)]

    def _is_busy(self, worker: UUID) -> Rows:
        return [
            (
                any(row.quiet is None for key, row in self.workers.items() if key != worker)
                or any(self.outbox_for.values())
                or bool(self.free)
                or any(row.answer is None for row in self.requests.values()),
            )
        ]

    # Links

    def _incoming_links(self, shards: list[int], most: int) -> Rows:
        found: Rows = []
        for target in shards:
            waiting = self.outbox_for.get(target)
            if waiting:
                taken = self.store.state_of(target).received
                found += [parcel for (source, seq), parcel in waiting.items() if seq > taken.get(source, 0)]
        return sorted(found, key=lambda parcel: (parcel[1], parcel[0]))[:most]

    def _received_links(self, shards: list[int]) -> Rows:
        found = []
        for source in shards:
            for parcel in self.store.state_of(source).outbox.values():
                mark = self.store.state_of(parcel.target).received.get(source, 0)
                if parcel.seq <= mark:
                    found.append((source, parcel.target, mark))
        return sorted(set(found))

    # Requests and moved seeds

    def _send_request(self, id: UUID, shard_number: int, request: bytes) -> Rows:
        self.requests[id] = RequestRow(shard_number, self.now(), request)
        return []

    def _open_requests(self, shards: list[int]) -> Rows:
        if not self.requests:
            return []
        ours = set(shards)
        rows = [(key, row.request) for key, row in self.requests.items() if row.shard in ours and row.answer is None]
        return rows[:REQUESTS_AT_A_TIME]

    def _answer_request(self, id: UUID, answer: bytes) -> Rows:
        if id in self.requests:
            self.requests[id].answer = answer
        return []

    def _answered_requests(self, ids: list[UUID]) -> Rows:
        found = [(key, self.requests[key].answer) for key in ids if key in self.requests]
        return [row for row in found if row[1] is not None]

    def _delete_requests(self, ids: list[UUID]) -> Rows:
        old = self.now() - FORGOTTEN_S
        self.requests = {key: row for key, row in self.requests.items() if key not in ids and row.asked >= old}
        return []

    def _add_moved_seed(self, seed: str, target: str) -> Rows:
        if (seed, target) not in self.moved_seeds:
            self.moved_seeds.append((seed, target))
        return []

    def _moved_seeds(self, after: int) -> Rows:
        return [(place, *pair) for place, pair in enumerate(self.moved_seeds, start=1) if place > after]
