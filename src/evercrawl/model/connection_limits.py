"""The open connections of a server, and which of them to close when there are too many.
Anybody can open connections and say nothing, so connections of strangers make room for new ones: those that have waited
for their client the longest go first. Connections of clients that have logged in go last."""

from __future__ import annotations

from collections import OrderedDict
from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Generic, TypeVar

C = TypeVar("C")
IPV6_BITS = 64  # One customer of a provider usually has all addresses with these first bits.


@lru_cache(maxsize=4096)
def address_block(address: str, *, ipv4_bits: int = 32) -> str:
    """Return the block of addresses that one client can usually choose from; other text is returned as it is."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is not None:
        parsed = parsed.ipv4_mapped
    bits = IPV6_BITS if isinstance(parsed, IPv6Address) else ipv4_bits
    return str(ip_network((parsed, bits), strict=False))


class OpenConnections(Generic[C]):
    """At most `limit` connections, and at most `limit_per_address` of strangers from one address block.
    Invariant: a connection either waits for its client until a deadline, or is being served."""

    def __init__(self, *, limit: int, limit_per_address: int) -> None:
        self._limit = limit
        self._limit_per_address = limit_per_address
        self._blocks: OrderedDict[C, str] = OrderedDict()  # Oldest first, like all of these.
        self._deadlines: OrderedDict[C, float] = OrderedDict()
        self._strangers: dict[str, OrderedDict[C, None]] = {}

    def __len__(self) -> int:
        return len(self._blocks)

    def add(self, connection: C, block: str, *, deadline: float) -> list[C]:
        """Add a connection of a stranger; return the connections to close for it, which are removed."""
        self._blocks[connection] = block
        self._strangers.setdefault(block, OrderedDict())[connection] = None
        self._deadlines[connection] = deadline
        closed = []
        if len(self._strangers[block]) > self._limit_per_address:
            closed.append(self._longest_waiting(self._strangers[block]))
        elif len(self._blocks) > self._limit:
            closed.append(self._least_wanted())
        for one in closed:
            self.remove(one)
        return closed

    def remove(self, connection: C) -> None:
        """Forget a closed connection."""
        block = self._blocks.pop(connection, None)
        self._deadlines.pop(connection, None)
        if block is not None:
            self._remove_stranger(connection, block)

    def prove(self, connection: C, *, is_known: bool) -> None:
        """Note whether the client has proved who it is."""
        block = self._blocks.get(connection)
        if block is None:
            return
        if is_known:
            self._remove_stranger(connection, block)
        else:
            self._strangers.setdefault(block, OrderedDict()).setdefault(connection)

    def is_stranger(self, connection: C) -> bool:
        """Return whether the client has not proved who it is."""
        return connection in self._strangers.get(self._blocks.get(connection, ""), ())

    def wait(self, connection: C, *, deadline: float) -> None:
        """Start to wait for the client."""
        if connection in self._blocks:
            self._deadlines.pop(connection, None)
            self._deadlines[connection] = deadline

    def serve(self, connection: C) -> None:
        """Stop to wait: the client waits for us."""
        self._deadlines.pop(connection, None)

    def overdue(self, now: float) -> list[C]:
        """Return the connections whose clients took too long; they are removed."""
        found = [one for one, deadline in self._deadlines.items() if deadline < now]
        for one in found:
            self.remove(one)
        return found

    def _remove_stranger(self, connection: C, block: str) -> None:
        strangers = self._strangers.get(block)
        if strangers is not None:
            strangers.pop(connection, None)
            if not strangers:
                del self._strangers[block]

    def _longest_waiting(self, strangers: OrderedDict[C, None]) -> C:
        return next((one for one in strangers if one in self._deadlines), next(iter(strangers)))

    def _least_wanted(self) -> C:
        """Return the stranger that has waited the longest, or else the oldest stranger or connection."""
        waiting = (one for one in self._deadlines if self.is_stranger(one))
        strangers = (one for one in self._blocks if self.is_stranger(one))
        return next(waiting, None) or next(strangers, None) or next(iter(self._blocks))
