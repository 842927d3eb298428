"""Sees everything that happens in a simulated cluster, and says what must never happen.

It keeps its own account of who may do what, made from events and not from the cluster's tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from evercrawl.model.page import Batch

SOON_S = 2.0
"""What a take-over may take beside the lease."""
LOOKS_ROUND_S = 10.0
"""How long it may take until the first worker has noticed a new life of the database."""
LONG_S = 3600.0
LEAST_GAP_S = 1.0
"""What is kept between two requests to a site whose wishes are not known yet."""
STALLS_KEPT = 20
MOST_KEPT = 50
"""Breaches that are kept with their details; the others are counted."""


class BreachKind(StrEnum):
    """What must never happen."""

    TOO_SOON = "a site was asked within its gap"
    CONCURRENT = "a site was asked while another request was under way there"
    UNFENCED = "a worker wrote to a shard that another had claimed"
    TWO_OWNERS = "a shard was given away while its owner could still work on it"
    TWICE = "a version was stored twice"
    LOST = "an acknowledged page is gone"
    LATE = "a shard was taken over too late"
    IDLE = "nobody works on a shard"
    OVERDUE = "a page is not visited although it is due"
    STUCK = "links do not arrive"
    CREDIT = "credit is not conserved"
    UNFAIR = "a worker has more or less than its share"
    BROKEN = "a worker ended with a defect"


class Breach(NamedTuple):
    """An kind."""

    kind: BreachKind
    at_s: float
    detail: str


class LastRequest(NamedTuple):
    """The last request at a site."""

    process: int
    ends_s: float
    left_s: float | None = None
    """When its process was stopped and could not even break it off."""


class WorkerLease(NamedTuple):
    """A worker as the database knows it, and whether it believes that it may work."""

    process: int
    holds: Callable[[], bool]


class Monitor:
    """The account of one run."""

    def __init__(self, now: Callable[[], float], *, lease_s: float, gap_s: Callable[[str], float]) -> None:
        self.now = now
        self.lease_s = lease_s
        self.breaches: list[Breach] = []
        self.counts: Counter[str] = Counter()
        self.takeovers_s: list[float] = []
        self.least_spare_s = float("inf")
        """The shortest time by which a gap was kept."""
        self.tolerance_s: Callable[[int, int], float] = lambda before, after: 0.0
        """By how much the calendars of two machines differ."""
        self.on_breach: Callable[[BreachKind], None] = lambda _: None
        self.leases: dict[UUID, WorkerLease] = {}
        self.claims: dict[int, tuple[int, int]] = {}
        """Shard -> epoch and process of its last claim."""
        self.unserved: dict[int, float] = {}
        """Shard -> since when nobody works on it."""
        self.versions: dict[tuple[int, int], int] = {}
        self.up_since_s = 0.0
        self.changed_s = 0.0
        self.slow_until_s = 0.0
        self._taking: dict[int, int] = {}
        self._stalls: dict[int, list[tuple[float, float]]] = {}
        self._gap_s = gap_s
        self._asked: dict[str, LastRequest] = {}
        self._told: set[str] = set()
        """Sites whose wish for a longer gap is stored."""

    def breach(self, kind: BreachKind, detail: str) -> None:
        """It has happened."""
        self.counts[kind.name] += 1
        self.on_breach(kind)
        if len(self.breaches) < MOST_KEPT:
            self.breaches.append(Breach(kind, round(self.now(), 3), detail))

    # Sites

    def asked(self, site: str, process: int, ends_s: float) -> None:
        """A request goes out; its answer will be complete at `ends_s`."""
        before = self._asked.get(site)
        self.counts["requests"] += 1
        if before is not None:
            self._compare(site, before, process)
        self._asked[site] = LastRequest(process, ends_s)

    def _compare(self, site: str, before: LastRequest, process: int) -> None:
        """Who is stopped with a request under way cannot break it off: the gap of others counts from that
        moment.
        """
        now = self.now()
        is_left = before.left_s is not None and before.process != process
        self.counts["beside a stopped one"] += is_left and now < before.ends_s
        ended = before.left_s if is_left and before.left_s is not None else before.ends_s
        gap = self._gap_s(site) if site in self._told else LEAST_GAP_S
        spare = now - ended - gap + self.tolerance_s(before.process, process)
        self.least_spare_s = min(self.least_spare_s, spare)
        if now < ended:
            self.breach(BreachKind.CONCURRENT, f"{site} by {process}, beside one of {before.process}")
        elif spare < -1e-6:
            words = f"{site} by {process} after {before.process}, {-spare:.3f} s early"
            self.breach(BreachKind.TOO_SOON, words)

    def broken_off(self, site: str, process: int) -> None:
        """The request of this process ends here."""
        before = self._asked.get(site)
        if before is not None and before.process == process:
            self._asked[site] = before._replace(ends_s=min(before.ends_s, self.now()))

    # Ownership

    def took(self, process: int, before: dict[int, UUID | None]) -> None:
        """The database gives shards away; nobody who had them before may believe that they are still his."""
        for shard, owner in before.items():
            self._taking[shard] = process
            lease_holder = self.leases.get(owner) if owner is not None else None
            if lease_holder is not None and lease_holder.holds():
                self.breach(BreachKind.TWO_OWNERS, f"shard {shard} of {lease_holder.process} to {process}")

    def claimed(self, shard: int, epoch: int, process: int) -> None:
        """Somebody begins to work on a shard."""
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
        """Somebody should work on this shard by now."""
        since = self.unserved.get(shard, self.now() - LONG_S)
        return self.now() > self.latest_s(since) + self._stalled_s(self._taking.get(shard), since)

    def latest_s(self, since: float) -> float:
        """When somebody must have taken over what nobody has worked on since then: within the lease and two
        seconds, or as much after the time in which a database that came up buries nobody.
        """
        return max(since, self.up_since_s + LOOKS_ROUND_S, self.slow_until_s) + self.lease_s + SOON_S

    def let_go(self, shard: int, process: int) -> None:
        """Its owner does not want it any more."""
        if self.claims.get(shard, (0, None))[1] == process:
            self.unserved.setdefault(shard, self.now())

    def committed(self, shard: int, epoch: int, process: int, batch: Batch) -> None:
        """A batch is in the database."""
        self.counts["commits"] += 1
        if self.claims.get(shard) != (epoch, process):
            self.breach(BreachKind.UNFENCED, f"shard {shard}, epoch {epoch} by {process}")
        self._told.update(site.name for site in batch.sites.values() if site.robots is not None)
        for visited in batch.visited:
            self.counts["visits"] += 1
            if visited.version is None:
                continue
            key, number = (shard, visited.page_id), visited.version.number
            if number <= self.versions.get(key, 0):
                self.breach(BreachKind.TWICE, f"shard {shard}, page {visited.page_id}, version {number}")
            self.versions[key] = number

    # Processes

    def gone(self, process: int) -> None:
        """From now on this process does not work: it died, was stopped, was cut off, or lost its lease."""
        now = self.now()
        for shard, (_, server) in self.claims.items():
            if server == process:
                self.unserved.setdefault(shard, now)
        for shard in [shard for shard, taker in self._taking.items() if taker == process]:
            if shard in self.unserved:
                self.unserved[shard] = now

    def died(self, process: int) -> None:
        """Its connections break."""
        self.gone(process)
        for site, before in self._asked.items():
            if before.process == process and before.ends_s > self.now():
                self._asked[site] = before._replace(ends_s=self.now())

    def stopped(self, process: int) -> None:
        """It can do nothing any more, not even break a request off."""
        self.gone(process)
        now = self.now()
        for site, before in self._asked.items():
            if before.process == process and before.ends_s > now:
                self._asked[site] = before._replace(left_s=now)

    def back(self, process: int, held: Iterable[int]) -> None:
        """It goes on with these shards, whose lease has not run out."""
        for shard in held:
            if self.claims.get(shard, (0, 0))[1] == process:
                self.unserved.pop(shard, None)

    def stalled(self, process: int, seconds: float) -> None:
        """The database takes its time over a question of this process."""
        stalls = self._stalls.setdefault(process, [])
        stalls.append((self.now(), seconds))
        del stalls[:-STALLS_KEPT]
