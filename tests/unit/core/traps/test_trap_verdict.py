from __future__ import annotations

from evercrawl.core.traps.trap_verdict import MIN_HOSTS, HostStats, after_host, host_stats_bytes, host_stats_of


def _after(known: HostStats, hosts: int, *, others: int, fresh: int) -> HostStats:
    for _ in range(hosts):
        known = after_host(known, others=others, fresh=fresh)
    return known


def test_domain_with_endless_new_hosts_is_blocked() -> None:
    few = _after(HostStats("a.test"), MIN_HOSTS - 1, others=3, fresh=3)
    assert not few.is_blocked
    assert after_host(few, others=3, fresh=3).is_blocked
    assert "24 hosts of a.test" in after_host(few, others=3, fresh=3).evidence


def test_domain_whose_hosts_name_each_other_is_not_blocked() -> None:
    assert not _after(HostStats("a.test"), 500, others=4, fresh=2).is_blocked
    assert not _after(HostStats("a.test"), 500, others=0, fresh=0).is_blocked


def test_domain_is_unblocked_when_most_hosts_are_known() -> None:
    blocked = _after(HostStats("a.test"), 60, others=3, fresh=3)
    assert not _after(blocked, 30, others=3, fresh=0).is_blocked


def test_host_stats_round_trip() -> None:
    known = _after(HostStats("a.test"), 30, others=3, fresh=3)
    assert host_stats_of(host_stats_bytes(known)) == known
