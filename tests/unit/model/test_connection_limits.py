"""Which connections are closed when there are too many, or when their clients take too long."""

from __future__ import annotations

import pytest

from evercrawl.model.connection_limits import OpenConnections, address_block


@pytest.mark.parametrize(
    ("address", "block"),
    [
        ("192.0.2.7", "192.0.2.7/32"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7/32"),
        ("-", "-"),
    ],
)
def test_a_client_is_known_by_its_address_block(address: str, block: str) -> None:
    assert address_block(address) == block


def test_passwords_are_limited_for_wider_blocks() -> None:
    assert address_block("192.0.2.7", ipv4_bits=24) == address_block("192.0.2.200", ipv4_bits=24)
    assert address_block("192.0.2.7", ipv4_bits=24) != address_block("192.0.3.7", ipv4_bits=24)


def test_silent_strangers_make_room_and_users_stay() -> None:
    open_now: OpenConnections[str] = OpenConnections(limit=3, limit_per_address=3)
    assert open_now.add("user", "a", deadline=10) == []
    open_now.prove("user", is_known=True)
    assert open_now.add("served", "a", deadline=10) == []
    open_now.serve("served")
    assert open_now.add("silent", "b", deadline=10) == []
    assert open_now.add("new", "c", deadline=10) == ["silent"]
    open_now.serve("new")
    assert open_now.add("newer", "d", deadline=10) == ["newer"]  # Nobody else waits for the client.
    open_now.prove("user", is_known=False)
    assert open_now.add("newest", "d", deadline=10) == ["user"]
    assert len(open_now) == 3


def test_one_address_has_only_its_share() -> None:
    open_now: OpenConnections[int] = OpenConnections(limit=100, limit_per_address=2)
    open_now.add(0, "other", deadline=10)
    closed = [gone for number in range(1, 50) for gone in open_now.add(number, "one", deadline=10)]
    assert closed == list(range(1, 48))
    assert len(open_now) == 3


def test_each_wait_has_its_own_deadline() -> None:
    open_now: OpenConnections[str] = OpenConnections(limit=9, limit_per_address=9)
    open_now.add("slow", "a", deadline=10)
    open_now.add("served", "a", deadline=10)
    open_now.add("idle", "a", deadline=10)
    open_now.serve("served")
    open_now.wait("idle", deadline=30)
    assert open_now.overdue(11) == ["slow"]
    assert open_now.overdue(31) == ["idle"]
    assert open_now.overdue(10**9) == []
    open_now.remove("served")
    assert len(open_now) == 0
