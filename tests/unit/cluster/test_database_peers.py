"""What a worker tells the others about itself with its heartbeats."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import cast

import pytest

from evercrawl.adapters.postgres.membership import Membership
from evercrawl.cluster.database_peers import DatabasePeers
from evercrawl.engine.crawl import Crawl, Ended


@dataclass
class Heartbeats:
    """Implements the part of `Membership` that heartbeats use."""

    queries: None = None
    told: list[str | None] = field(default_factory=list)

    async def renew(self, *, quiet: str | None, visits: int, wire_bytes: int) -> None:
        self.told.append(quiet)

    async def spent_by_others(self) -> tuple[int, int]:
        return 0, 0


@dataclass
class State:
    """Implements the part of `Crawl` that heartbeats use."""

    ended: Ended | None

    def end_if_quiet(self) -> Ended | None:
        return self.ended


@pytest.mark.parametrize(("ended", "told"), [(Ended.DONE, "done"), (None, None)])
def test_a_worker_that_got_work_after_it_was_idle_is_busy(ended: Ended | None, told: str | None) -> None:
    """Also while its pages wait for their turn: others would end the run, and nobody would take over if it died."""
    membership = Heartbeats()
    peers = DatabasePeers(cast(Membership, membership))
    peers.report_idle(Ended.DONE)
    asyncio.run(peers.send_heartbeat(cast(Crawl, State(ended))))
    assert membership.told == [told]
