"""A world to try the crawler in: virtual time, and a seeded web that lives, breaks and watches us."""

from __future__ import annotations

from evercrawl.testing.clock import EPOCH, SimClock
from evercrawl.testing.loop import SimLoop, SimulationStalled, run
from evercrawl.testing.record import Asked, GapRule, Violation, WebRecord
from evercrawl.testing.trouble import CALM, Faults
from evercrawl.testing.web import SimWeb

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
