"""Watches every event of a simulated cluster and reports what must never happen.

It keeps its own state of who may do what, built from events and not from the cluster's tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from evercrawl.model.page import Batch

TAKEOVER_S = 2.0
"""Time that a take-over may need in addition to the lease."""
NOTICE_S = 10.0
"""Time until the first worker notices that the database restarted."""
LONG_S = 3600.0
LEAST_GAP_S = 1.0
"""Delay between two requests to a site whose robots.txt is not known yet."""
MAX_STALLS = 20
MAX_BREACHES = 50
"""Breaches stored with details; further ones are only counted."""


class BreachKind(StrEnum):
    """What must never happen."""

    TOO_SOON = "a site got a request before its delay had passed"
    CONCURRENT = "a site got a request while another was in flight"
    UNFENCED = "a worker wrote to a shard that another had claimed"
    TWO_OWNERS = "a shard was reassigned while its owner could still work on it"
    TWICE = "a version was stored twice"
    LOST = "an acknowledged page is gone"
    LATE = "a shard was taken over too late"
    IDLE = "nobody works on a shard"
    OVERDUE = "a due page was not visited"
    STUCK = "links do not arrive"
    CREDIT = "credit is not conserved"
    UNFAIR = "a worker has more or less than its share"
    BROKEN = "a worker ended with a defect"


class Breach(NamedTuple):
    """Something that must never happen, and when it did."""

    kind: BreachKind
    at_s: float
    detail: str


class LastRequest(NamedTuple):
    """The last request at a site."""

    process: int
    ends_s: float
    frozen_s: float | None = None
    """When its process was frozen and could not cancel it."""


class WorkerLease(NamedTuple):
    """A worker as the database knows it, and whether it believes to hold its lease."""

    process: int
    holds: Callable[[], bool]


class Monitor:
    """The events and breaches of one run."""

    def __init__(self, now: Callable[[], float], *, lease_s: float, gap_s: Callable[[str], float]) -> None:
        self.now = now
        self.lease_s = lease_s
        self.breaches: list[Breach] = []
        self.counts: Counter[str] = Counter()
        self.takeovers_s: list[float] = []
        self.least_spare_s = float("inf")
        """The smallest margin by which a delay was kept."""
        self.tolerance_s: Callable[[int, int], float] = lambda before, after: 0.0
        """By how much the clocks of two machines differ."""
        self.on_breach: Callable[[BreachKind], None] = lambda _: None
        self.leases: dict[UUID, WorkerLease] = {}
        self.claims: dict[int, tuple[int, int]] = {}
        """Shard -> epoch and process of its last claim."""
        self.unserved: dict[int, float] = {}
        """Shard -> since when no worker processes it."""
        self.versions: dict[tuple[int, int], int] = {}
        self.up_since_s = 0.0
        self.changed_s = 0.0
        self.slow_until_s = 0.0
        self._taking: dict[int, int] = {}
        self._stalls: dict[int, list[tuple[float, float]]] = {}
        self._gap_s = gap_s
        self._last_requests: dict[str, LastRequest] = {}
        self._known_sites: set[str] = set()
        """Sites whose robots.txt is stored."""

    def breach(self, kind: BreachKind, detail: str) -> None:
        """Record a breach."""
        self.counts[kind.name] += 1
        self.on_breach(kind)
        if len(self.breaches) < MAX_BREACHES:
            self.breaches.append(Breach(kind, round(self.now(), 3), detail))

    # Sites

    def request_sent(self, site: str, process: int, ends_s: float) -> None:
        """Record a request whose response will be complete at `ends_s`."""
        before = self._last_requests.get(site)
        self.counts["requests"] += 1
        if before is not None:
            self._compare(site, before, process)
        self._last_requests[site] = LastRequest(process, ends_s)

    def _compare(self, site: str, before: LastRequest, process: int) -> None:
        """Check the delay. A frozen process cannot cancel its request, so others count from when it was frozen."""
        now = self.now()
        is_frozen = before.frozen_s is not None and before.process != process
        self.counts["concurrent with a frozen request"] += is_frozen and now < before.ends_s
        ended = before.frozen_s if is_frozen and before.frozen_s is not None else before.ends_s
        gap = self._gap_s(site) if site in self._known_sites else LEAST_GAP_S
        spare = now - ended - gap + self.tolerance_s(before.process, process)
        self.least_spare_s = min(self.least_spare_s, spare)
        if now < ended:
            self.breach(BreachKind.CONCURRENT, f"{site} by {process}, beside one of {before.process}")
        elif spare < -1e-6:
            words = f"{site} by {process} after {before.process}, {-spare:.3f} s early"
            self.breach(BreachKind.TOO_SOON, words)

    def request_cancelled(self, site: str, process: int) -> None:
        """Record that a process cancelled its request."""
        before = self._last_requests.get(site)
        if before is not None and before.process == process:
            self._last_requests[site] = before._replace(ends_s=min(before.ends_s, self.now()))

    # Ownership

    def shards_granted(self, process: int, before: dict[int, UUID | None]) -> None:
        """Record that the database assigned shards. Their previous owners must not believe to hold them."""
        for shard, owner in before.items():
            self._taking[shard] = process
            lease_holder = self.leases.get(owner) if owner is not None else None
            if lease_holder is not None and lease_holder.holds():
                self.breach(BreachKind.TWO_OWNERS, f"shard {shard} of {lease_holder.process} to {process}")

    def shard_claimed(self, shard: int, epoch: int, process: int) -> None:
        """Record that a worker starts processing a shard."""
        self.counts["claims"] += 1
        before = self.claims.get(shard)
        if before is not None and before[0] >= epoch:
            self.breach(BreachKind.UNFENCED, f"shard {shard}: epoch {epoch} after {before[0]}")
        self.claims[shard] = (epoch, process)
        self._taking.pop(shard, None)
        since = self.unserved.pop(shard, None)
        if since is not None:
            self._taken_over(shard, process, since)

    def _taken_over(self, shard: int, process: int, since: float) -> None:
        waited, stalled = self.now() - since, self._stalled_s(process, since)
        if self.up_since_s <= since - self.lease_s and self.slow_until_s < since:
            self.takeovers_s.append(waited - stalled)
        if waited - stalled > self.latest_s(since) - since:
            self.breach(BreachKind.LATE, f"shard {shard} by {process} after {waited:.1f} s")

    def _stalled_s(self, process: int | None, since: float) -> float:
        stalls = self._stalls.get(process, ()) if process is not None else ()
        return sum(length for at, length in stalls if at + length >= since)

    def is_late(self, shard: int) -> bool:
        """Return whether a worker should process this shard by now."""
        since = self.unserved.get(shard, self.now() - LONG_S)
        return self.now() > self.latest_s(since) + self._stalled_s(self._taking.get(shard), since)

    def latest_s(self, since: float) -> float:
        """Return when a shard without a worker since then must have a new one.

        That is the lease and two seconds later, counted from the restart if the database was down.
        """
        return max(since, self.up_since_s + NOTICE_S, self.slow_until_s) + self.lease_s + TAKEOVER_S

    def shard_released(self, shard: int, process: int) -> None:
        """Record that the owner released a shard."""
        if self.claims.get(shard, (0, None))[1] == process:
            self.unserved.setdefault(shard, self.now())

    def batch_committed(self, shard: int, epoch: int, process: int, batch: Batch) -> None:
        """Record a commit."""
        self.counts["commits"] += 1
        if self.claims.get(shard) != (epoch, process):
            self.breach(BreachKind.UNFENCED, f"shard {shard}, epoch {epoch} by {process}")
        self._known_sites.update(site.name for site in batch.sites.values() if site.robots is not None)
        for visited in batch.visited:
            self.counts["visits"] += 1
            if visited.version is None:
                continue
            key, number = (shard, visited.page_id), visited.version.number
            if number <= self.versions.get(key, 0):
                self.breach(BreachKind.TWICE, f"shard {shard}, page {visited.page_id}, version {number}")
            self.versions[key] = number

    # Processes

    def worker_stopped_working(self, process: int) -> None:
        """Record that a process stopped working: killed, frozen, disconnected, or without its lease."""
        now = self.now()
        for shard, (_, server) in self.claims.items():
            if server == process:
                self.unserved.setdefault(shard, now)
        for shard in [shard for shard, taker in self._taking.items() if taker == process]:
            if shard in self.unserved:
                self.unserved[shard] = now

    def worker_killed(self, process: int) -> None:
        """Record that a process was killed; its connections break."""
        self.worker_stopped_working(process)
        for site, before in self._last_requests.items():
            if before.process == process and before.ends_s > self.now():
                self._last_requests[site] = before._replace(ends_s=self.now())

    def worker_frozen(self, process: int) -> None:
        """Record that a process was frozen; it cannot even cancel a request."""
        self.worker_stopped_working(process)
        now = self.now()
        for site, before in self._last_requests.items():
            if before.process == process and before.ends_s > now:
                self._last_requests[site] = before._replace(frozen_s=now)

    def worker_resumed(self, process: int, held: Iterable[int]) -> None:
        """Record that a process resumed with these shards, whose lease has not expired."""
        for shard in held:
            if self.claims.get(shard, (0, 0))[1] == process:
                self.unserved.pop(shard, None)

    def query_stalled(self, process: int, seconds: float) -> None:
        """Record a slow query of this process."""
        stalls = self._stalls.setdefault(process, [])
        stalls.append((self.now(), seconds))
        del stalls[:-MAX_STALLS]
