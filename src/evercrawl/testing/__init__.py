"""Simulation kernel for tests: virtual time, a synthetic web with faults and a request log, storage in memory.

from evercrawl.testing import SimWeb, make_world

web = SimWeb(seed=1, sites=5)
make_world(web).crawl()
assert web.violations() == []
"""

from __future__ import annotations

from evercrawl.testing.sim_web import DelayRule, LoggedRequest, RequestLog, SimWeb, Violation
from evercrawl.testing.sim_world import MemoryArchive, SimWorld, make_world
from evercrawl.testing.site_plan import NO_FAULTS, SiteFaults
from evercrawl.testing.store import MemoryStore
from evercrawl.testing.virtual_time import EPOCH, SimClock, SimLoop, SimulationStalled, run

__all__ = [
    "EPOCH", "NO_FAULTS", "DelayRule", "LoggedRequest", "MemoryArchive", "MemoryStore", "RequestLog", "SimClock",
    "SimLoop", "SimWeb", "SimWorld", "SimulationStalled", "SiteFaults", "Violation", "make_world", "run",
]  # fmt: skip
