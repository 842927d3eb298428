"""What goes wrong in a simulated cluster, and when: all of it from one seed."""

from __future__ import annotations

from enum import StrEnum
from random import Random
from typing import NamedTuple


class Fault(StrEnum):
    """One thing that goes wrong, or changes."""

    KILL = "kill"
    FREEZE = "freeze"
    CUT = "cut"
    LEAVE = "leave"
    JOIN = "join"
    RESTART = "restart"
    FAILOVER = "failover"
    SLOW = "slow"


USUAL = {
    Fault.KILL: 6.0, Fault.FREEZE: 6.0, Fault.CUT: 6.0, Fault.LEAVE: 3.0, Fault.JOIN: 3.0,
    Fault.RESTART: 0.4, Fault.FAILOVER: 0.2, Fault.SLOW: 0.5,
}  # fmt: skip
"""How often each happens, against the others."""


class Happening(NamedTuple):
    """A fault, how long it lasts, and how long until the next."""

    fault: Fault
    lasts_s: float
    pause_s: float


def next_happening(chance: Random, *, every_s: float, lease_s: float, weights: dict[Fault, float]) -> Happening:
    """Drawn from the stream; half of what lasts is over before a lease has run out."""
    fault = chance.choices(list(weights), list(weights.values()))[0]
    lasts_s = chance.choice((0.3, 0.9, 1.1, 4.0)) * lease_s * chance.uniform(0.7, 1.3)
    if fault in (Fault.RESTART, Fault.FAILOVER):
        lasts_s = chance.uniform(0.5, 20.0)
    return Happening(fault, lasts_s, chance.expovariate(1 / every_s))
