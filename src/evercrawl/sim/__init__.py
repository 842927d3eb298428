"""A world to try the crawler in: virtual time, and a seeded web that lives, breaks and watches us."""

from __future__ import annotations

from evercrawl.sim.clock import EPOCH, SimClock
from evercrawl.sim.loop import SimLoop, SimulationStalled, run
from evercrawl.sim.record import Asked, GapRule, Violation, WebRecord
from evercrawl.sim.trouble import CALM, Faults
from evercrawl.sim.web import SimWeb

__all__ = [
    "CALM",
    "EPOCH",
    "Asked",
    "Faults",
    "GapRule",
    "SimClock",
    "SimLoop",
    "SimWeb",
    "SimulationStalled",
    "Violation",
    "WebRecord",
    "run",
]
