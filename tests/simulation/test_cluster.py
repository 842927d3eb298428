"""The production cluster code in virtual time, over a database, a network and a web with faults from a seed.

A failure prints the plan, which repeats it. `python bench/cluster_sim.py --seed N` simulates weeks.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace

import pytest

from evercrawl.cluster.database_worker import WorkerIntervals
from tests.worlds.cluster.connection import Latency
from tests.worlds.cluster.database import Flaws
from tests.worlds.cluster.faults import ClusterFault
from tests.worlds.cluster.monitor import BreachKind
from tests.worlds.cluster.simulation import ClusterPlan, figures, simulate_cluster

SMALL = ClusterPlan(
    1,
    workers=6,
    sites=60,
    pages=3,
    shards=32,
    days=150 / 86_400,
    lease_s=6.0,
    fault_every_s=20.0,
    shortest_s=30.0,
    longest_s=120.0,
    change_every_s=100.0,
    latency=Latency(slow_share=0.3),
    intervals=WorkerIntervals(report_s=86_400.0),
)
ROUGH = replace(SMALL, sites=200, pages=4, shards=64, lease_s=4.0, fault_every_s=4.0)
"""Leases shorter than many delays, and constant faults: a broken rule shows soon."""


@pytest.fixture(autouse=True)
def idle() -> Iterator[None]:
    """Workers log every fault."""
    logging.disable(logging.ERROR)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("seed", [1, 2, 10])
def test_faults_cause_no_breach(seed: int):
    seen = simulate_cluster(replace(SMALL, seed=seed))
    assert seen.breaches == [], f"repeat with {seen.plan}"
    assert seen.counts["requests"] > 200
    assert seen.least_spare_s >= 0
    assert seen.sites_found == SMALL.sites, "links between shards lead to all sites"


def test_restart_and_failover_of_the_database_cost_only_time():
    faults = {ClusterFault.RESTART: 1.0, ClusterFault.FAILOVER: 1.0, ClusterFault.KILL: 1.0, ClusterFault.SLOW: 0.5}
    seen = simulate_cluster(replace(SMALL, seed=3, faults=faults))
    assert seen.breaches == [], f"repeat with {seen.plan}"
    assert seen.counts["restart"] + seen.counts["failover"] >= 2


@pytest.mark.parametrize("plan", [SMALL, ROUGH])
def test_the_same_seed_gives_the_same_run(plan: ClusterPlan):
    one, other = (simulate_cluster(replace(plan, seed=5, days=60 / 86_400)) for _ in range(2))
    assert figures(one) == figures(other)
    assert (one.counts, one.takeovers_s) == (other.counts, other.takeovers_s)


def test_shares_follow_capacity_without_faults():
    plan = replace(SMALL, workers=10, shards=64, days=900 / 86_400, fault_every_s=1e9, shortest_s=1e5)
    seen = simulate_cluster(replace(plan, longest_s=2e5, latency=Latency(slow_share=0.02)))
    assert seen.breaches == []
    assert seen.counts["share checks"] > 5


FAILOVERS = {ClusterFault.FAILOVER: 1.0}
KILLS = {ClusterFault.KILL: 1.0}
FREEZES = {ClusterFault.FREEZE: 1.0}


@pytest.mark.parametrize("plan", [replace(SMALL, seed=2), replace(ROUGH, seed=3), replace(ROUGH, seed=7)])
def test_a_worker_that_freezes_repeatedly_is_replaced_in_time(plan: ClusterPlan):
    """Also if it has just restarted and does not take its shards."""
    seen = simulate_cluster(replace(plan, faults=FREEZES))
    assert seen.breaches == [], f"repeat with {seen.plan}"
    assert seen.counts["freeze"] > 2
    assert max(seen.takeovers_s) <= plan.lease_s + 2


@pytest.mark.parametrize("is_fenced", [True, False])
def test_the_epoch_check_rejects_a_worker_that_lost_its_shard(is_fenced: bool):
    """The lease guard would stop the worker before the epoch check is needed, so grant shards twice here."""
    flaws = Flaws()._replace(double_grant=True, unfenced=not is_fenced)
    seen = simulate_cluster(replace(SMALL, seed=6, flaws=flaws, until=BreachKind.UNFENCED))
    assert (BreachKind.UNFENCED in {breach.kind for breach in seen.breaches}) is not is_fenced


@pytest.mark.parametrize(
    ("flaw", "noticed", "plan"),
    [
        ("double_grant", BreachKind.TWO_OWNERS, SMALL),
        ("hasty_burial", BreachKind.TWO_OWNERS, SMALL),
        ("lossy_failover", BreachKind.TWICE, replace(SMALL, seed=2, faults=FAILOVERS)),
        ("lossy_failover", BreachKind.LOST, replace(SMALL, seed=5, faults=FAILOVERS, days=60 / 86_400)),
        ("no_gap_wait", BreachKind.TOO_SOON, replace(ROUGH, faults=KILLS)),
        ("unasked_lease", BreachKind.TOO_SOON, replace(ROUGH, seed=5, faults=FREEZES)),
    ],
)
def test_a_broken_rule_is_noticed(flaw: str, noticed: BreachKind, plan: ClusterPlan):
    seen = simulate_cluster(replace(plan, flaws=Flaws()._replace(**{flaw: True}), until=noticed))
    assert noticed in {breach.kind for breach in seen.breaches}, f"{flaw} was not noticed"
