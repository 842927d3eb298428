"""Which outpost is a URL's?

The domain director of the paper (B2): a route is a suffix (`.edu`), a domain with all below it
(`example.org`) or one site (`https://example.org:8443`, `example.org:8443`). The limit exact route wins;
of two equal ones the one that was paired first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from evercrawl.core.url import canonical, site_of, site_parts

SITE, DOMAIN, SUFFIX = 3, 2, 1


HEARTBEATS_PER_LEASE = 4
"""An outpost renews its lease this often while one lasts."""
MAX_OPEN_HEARTBEATS = 64
"""Beats without an answer that are remembered."""


def normalise_route(text: str) -> str:
    """A route as it is stored; ValueError where it is none."""
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
    """How exactly a route names a site; None: not at all."""
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
    """Sends each site to the outpost whose route names it limit exactly."""

    def __init__(self, routes: Mapping[str, Iterable[str]]) -> None:
        """Outpost -> its routes, in the order of pairing."""
        self._routes = [(outpost, route) for outpost, own in routes.items() for route in own]
        self._found = lru_cache(maxsize=4096)(self._search)

    def outpost_of(self, site: str) -> str | None:
        """The outpost of a site; None: it is the crawler's own."""
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
    """The owner's list names the site; an empty list names none."""
    return any(route_precision(route, site) is not None for route in allow)


@dataclass
class GrantedLease:
    """Home's side. Times are of home's own clock, in microseconds."""

    lease_us: int
    until_us: int = 0

    def renew(self, now_us: int) -> None:
        """The outpost was heard: what was granted (or waited for) before is replaced."""
        self.until_us = now_us + self.lease_us

    def free_at_us(self, handover_us: int) -> int:
        """From when on somebody else may ask its sites."""
        return self.until_us + handover_us if self.until_us else 0


@dataclass
class HeldLease:
    """The outpost's side. Times are of its own clock, in microseconds."""

    lease_us: int = 0
    until_us: int = 0
    _sent: dict[int, int] = field(default_factory=dict)
    _last: int = 0

    def heartbeat(self, now_us: int) -> int:
        """The number of a beat that is sent now."""
        self._last += 1
        self._sent[self._last] = now_us
        if len(self._sent) > MAX_OPEN_HEARTBEATS:
            self._sent.pop(next(iter(self._sent)))
        return self._last

    def renew_from(self, number: int, lease_us: int) -> None:
        """Home has granted a lease for a beat; a beat that was never sent grants nothing."""
        sent_us = self._sent.pop(number, None)
        if sent_us is not None:
            self.lease_us = lease_us
            self.until_us = max(self.until_us, sent_us + lease_us)

    def remaining_us(self, now_us: int, delay_us: int) -> int:
        """How long a request that begins now to a site with this gap may take; 0 or less: none may begin."""
        return self.until_us - min(delay_us, self.lease_us // 2) - now_us


def handover_us(lease_us: int, max_delay_us: int) -> int:
    """What home adds to a lease's end for gaps longer than the half lease that was kept free."""
    return max(0, max_delay_us - lease_us // 2)
