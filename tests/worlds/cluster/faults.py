"""Faults of a simulated cluster and when they happen, all from one seed."""

from __future__ import annotations

from enum import StrEnum
from random import Random
from typing import NamedTuple


class ClusterFault(StrEnum):
    """A kind of fault or change."""

    KILL = "kill"
    FREEZE = "freeze"
    CUT = "cut"
    LEAVE = "leave"
    JOIN = "join"
    RESTART = "restart"
    FAILOVER = "failover"
    SLOW = "slow"


FAULT_WEIGHTS = {
    ClusterFault.KILL: 6.0,
    ClusterFault.FREEZE: 6.0,
    ClusterFault.CUT: 6.0,
    ClusterFault.LEAVE: 3.0,
    ClusterFault.JOIN: 3.0,
    ClusterFault.RESTART: 0.4,
    ClusterFault.FAILOVER: 0.2,
    ClusterFault.SLOW: 0.5,
}
"""Relative frequency of each fault."""


class ClusterEvent(NamedTuple):
    """A fault, how long it lasts, and the pause before it."""

    fault: ClusterFault
    lasts_s: float
    pause_s: float


def next_event(chance: Random, *, every_s: float, lease_s: float, weights: dict[ClusterFault, float]) -> ClusterEvent:
    """Draw the next fault; half of those that last end before a lease expires."""
    fault = chance.choices(list(weights), list(weights.values()))[0]
    lasts_s = chance.choice((0.3, 0.9, 1.1, 4.0)) * lease_s * chance.uniform(0.7, 1.3)
    if fault in (ClusterFault.RESTART, ClusterFault.FAILOVER):
        lasts_s = chance.uniform(0.5, 20.0)
    return ClusterEvent(fault, lasts_s, chance.expovariate(1 / every_s))
