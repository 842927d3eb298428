"""Workers that die, freeze, leave, join and lose the network, and a database that crashes and fails over."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.failover import FAULTS, run
from tests.e2e.failover_judge import LEASE_S
from tests.postgres_pair import running_pair

BOUND_S = 4 * LEASE_S
"""Take-over on a busy machine; `make bench-failover` measures it against the lease and two seconds."""


def test_faults_of_workers_and_database_cause_no_impolite_or_lost_page(tmp_path: Path) -> None:
    with running_pair() as server:
        seen = run(server, tmp_path, faults=list(FAULTS), seed=3)
    assert (seen["unfinished"], seen["defects"]) == (0, 0), seen
    assert (seen["violations"], seen["lost"], seen["double_commits"]) == (0, 0, 0), seen
    assert seen["pages"] == seen["pages_expected"], seen
    assert seen["credit_checks"] > len(FAULTS) // 2, seen
    assert seen["credit_error"] == 0, seen
    assert seen["duplicate_fetches"] <= seen["duplicate_bound"], seen
    assert {kind for kind, _ in seen["takeovers"]} == {"kill", "freeze", "network"}, seen
    assert seen["takeover_s"] <= BOUND_S + seen["stall_s"], seen
