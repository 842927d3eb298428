"""Decide which outpost serves a site, and who may fetch from it now.
A route (the paper's domain director, B2) is a suffix (`.edu`), a domain with its subdomains (`example.org`) or one site
(`https://example.org:8443`). The most precise route wins, then the first one paired.
The agent counts its lease from sending a heartbeat, the coordinator from answering it, so the agent always stops first,
whatever clocks and network do. It stops one crawl delay early (at most half a lease) for the next fetcher."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from evercrawl.core.url import canonical, site_of, site_parts

SITE, DOMAIN, SUFFIX = 3, 2, 1
HEARTBEATS_PER_LEASE = 4  # How often an agent renews its lease while it lasts.
MAX_OPEN_HEARTBEATS = 64  # Unanswered heartbeats to remember.


def normalise_route(text: str) -> str:
    """Return the stored form of a route; raise ValueError if it is invalid."""
    route = text.strip().lower().rstrip("/")
    if not route.removeprefix(".") or route.endswith(":") or any(sign in route for sign in " \t?#@*"):
        raise ValueError("is not a suffix such as .edu, a domain such as example.org, or a site")
    bare = route.removeprefix(".")
    found = canonical(bare if "://" in bare else f"http://{bare}/")
    if found is None or (route.startswith(".") and (":" in route or "/" in route)):
        raise ValueError("is not a suffix such as .edu, a domain such as example.org, or a site")
    if "://" in route:
        return site_of(found)
    name = site_parts(site_of(found))
    if route.startswith("."):
        return f".{name.host}"
    return f"{name.host}:{name.port}" if _has_port(route) else name.host


def _has_port(route: str) -> bool:
    return ":" in route.rpartition("]")[2]


def route_precision(route: str, site: str) -> tuple[int, int] | None:
    """Return how precisely a route matches a site, or None if it does not match."""
    name = site_parts(site)
    if "://" in route:
        return (SITE, len(route)) if route == site else None
    if _has_port(route):
        return (SITE, 0) if route == f"{name.host}:{name.port}" else None
    if route.startswith("."):
        return (SUFFIX, len(route)) if name.host.endswith(route) else None
    if name.host == route or name.host.endswith(f".{route}"):
        return DOMAIN, len(route)
    return None


class SiteRouter:
    """Assign each site to the outpost with the most precise route."""

    def __init__(self, routes: Mapping[str, Iterable[str]]) -> None:
        """Take the routes of each outpost, in the order of pairing."""
        self._routes = [(outpost, route) for outpost, own in routes.items() for route in own]
        self._found = lru_cache(maxsize=4096)(self._search)

    def outpost_of(self, site: str) -> str | None:
        """Return the outpost of a site, or None if the crawler fetches it itself."""
        return self._found(site)

    def _search(self, site: str) -> str | None:
        best: tuple[int, int] | None = None
        chosen = None
        for outpost, route in self._routes:
            exact = route_precision(route, site)
            if exact is not None and (best is None or exact > best):
                best, chosen = exact, outpost
        return chosen


def is_allowed(site: str, allow: Iterable[str]) -> bool:
    """Check whether the owner's list matches the site."""
    return any(route_precision(route, site) is not None for route in allow)


@dataclass
class GrantedLease:
    """The coordinator's view of a lease, in microseconds of its own clock."""

    lease_us: int
    until_us: int = 0

    def renew(self, now_us: int) -> None:
        """Extend the lease from now on."""
        self.until_us = now_us + self.lease_us

    def free_at_us(self, handover_us: int) -> int:
        """Return when another process may fetch from the outpost's sites."""
        return self.until_us + handover_us if self.until_us else 0


@dataclass
class HeldLease:
    """The agent's view of its lease, in microseconds of its own clock."""

    lease_us: int = 0
    until_us: int = 0
    _sent: dict[int, int] = field(default_factory=dict)
    _last: int = 0

    def heartbeat(self, now_us: int) -> int:
        """Register a heartbeat sent now and return its number."""
        self._last += 1
        self._sent[self._last] = now_us
        if len(self._sent) > MAX_OPEN_HEARTBEATS:
            self._sent.pop(next(iter(self._sent)))
        return self._last

    def renew_from(self, number: int, lease_us: int) -> None:
        """Extend the lease from the time of a heartbeat; ignore unknown heartbeats."""
        sent_us = self._sent.pop(number, None)
        if sent_us is not None:
            self.lease_us = lease_us
            self.until_us = max(self.until_us, sent_us + lease_us)

    def remaining_us(self, now_us: int, delay_us: int) -> int:
        """Return how long a request started now may take; 0 or less if none may start."""
        return self.until_us - min(delay_us, self.lease_us // 2) - now_us


def handover_us(lease_us: int, max_delay_us: int) -> int:
    """Return what to add to a lease's end for crawl delays longer than half a lease."""
    return max(0, max_delay_us - lease_us // 2)
