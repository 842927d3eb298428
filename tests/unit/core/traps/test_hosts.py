from __future__ import annotations

from evercrawl.core.traps.hosts import LEAST_HOSTS, HostYield, from_bytes, named, to_bytes


def _after(known: HostYield, hosts: int, *, others: int, fresh: int) -> HostYield:
    for _ in range(hosts):
        known = named(known, others=others, fresh=fresh)
    return known


def test_hosts_that_name_ever_new_hosts_are_fenced_after_some_dozen() -> None:
    few = _after(HostYield("a.test"), LEAST_HOSTS - 1, others=3, fresh=3)
    assert not few.is_fenced
    assert named(few, others=3, fresh=3).is_fenced
    assert "24 hosts of a.test" in named(few, others=3, fresh=3).evidence


def test_hosts_that_name_each_other_are_not() -> None:
    assert not _after(HostYield("a.test"), 500, others=4, fresh=2).is_fenced
    assert not _after(HostYield("a.test"), 500, others=0, fresh=0).is_fenced


def test_a_fence_opens_when_most_are_known() -> None:
    fenced = _after(HostYield("a.test"), 60, others=3, fresh=3)
    assert not _after(fenced, 30, others=3, fresh=0).is_fenced


def test_it_survives_its_stored_form() -> None:
    known = _after(HostYield("a.test"), 30, others=3, fresh=3)
    assert from_bytes(to_bytes(known)) == known
