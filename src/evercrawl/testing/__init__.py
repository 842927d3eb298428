"""A world to try the crawler in: virtual time, and a seeded web that lives, breaks and watches us."""

from __future__ import annotations

from evercrawl.testing.sim_web import DelayRule, LoggedRequest, RequestLog, SimWeb, Violation
from evercrawl.testing.site_plan import NO_FAULTS, SiteFaults
from evercrawl.testing.virtual_time import EPOCH, SimClock, SimLoop, SimulationStalled, run

__all__ = [
    "EPOCH",
    "NO_FAULTS",
    "DelayRule",
    "LoggedRequest",
    "RequestLog",
    "SimClock",
    "SimLoop",
    "SimWeb",
    "SimulationStalled",
    "SiteFaults",
    "Violation",
    "run",
]
