"""Workers that die, freeze, leave and join, and a database that crashes, in one short run."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.failover import FAULTS, LEASE_S, run
from tests.postgres_server import running_server

BOUND_S = LEASE_S + 2.0
"""Take-over: the lease, and two seconds for the burial and the gap."""


def test_no_fault_is_felt_by_a_site(tmp_path: Path) -> None:
    with running_server() as server:
        seen = run(server, tmp_path, faults=list(FAULTS), pages=70, seed=3)
    assert seen["unfinished"] == 0
    assert (seen["violations"], seen["lost"], seen["double_commits"]) == (0, 0, 0), seen
    assert seen["pages"] == seen["pages_expected"], seen
    assert seen["duplicate_fetches"] <= 0.1 * seen["requests"], seen
    assert 0 < seen["takeover_s"] <= BOUND_S, seen
