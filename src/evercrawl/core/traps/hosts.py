"""Does a registrable domain name ever new hosts? Judged for all its hosts together.

Each host of such a domain is a site of its own that never has pages enough to be judged. What they have in
common shows: host after host names others that nobody named before. The hosts of an honest domain, be they
many, name each other, or are named by a list: after some dozen of them most that are named are known.
"""

from __future__ import annotations

from typing import NamedTuple

import orjson

LEAST_HOSTS = 24
"""Hosts of one domain whose pages were seen before anything is said about the domain."""
PACE = 1 / 24
"""How much the newest host counts in the average."""
PRIOR_WEIGHT = 4
"""As many hosts outweigh what was assumed before the first of them."""
FENCE_ABOVE, OPEN_BELOW = 0.85, 0.6
"""Share of the hosts named by a host that were never named before, for a fence and for taking it back."""


class HostYield(NamedTuple):
    """What the hosts of one domain have named."""

    domain: str
    hosts: int = 0
    """Hosts of which a page was seen."""
    fresh: float = 0.5
    """Of the hosts that the first page of a host names, the share that nobody named before."""
    is_fenced: bool = False

    @property
    def evidence(self) -> str:
        """What the verdict rests on, in words and figures."""
        return (
            f"{self.hosts} hosts of {self.domain} were looked at, "
            f"and lately {self.fresh:.0%} of the hosts that they name are named for the first time"
        )


def named(known: HostYield, *, others: int, fresh: int) -> HostYield:
    """The yield after one more host, which names so many others, so many of them for the first time."""
    hosts = known.hosts + 1
    pace = max(PACE, 1 / (hosts + PRIOR_WEIGHT))
    average = known.fresh + pace * (fresh / max(others, 1) - known.fresh)
    is_endless = hosts >= LEAST_HOSTS and average >= FENCE_ABOVE
    is_fenced = is_endless or (known.is_fenced and average >= OPEN_BELOW)
    return HostYield(known.domain, hosts, average, is_fenced)


def to_bytes(known: HostYield) -> bytes:
    """The stored form."""
    return orjson.dumps(list(known))


def from_bytes(stored: bytes) -> HostYield:
    """What was stored."""
    return HostYield(*orjson.loads(stored))
