"""Detection of mirrored hosts: the same paths have the same content on both.

Names only lower the required evidence: www and http/https variants are mirrors more often than not.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import NamedTuple

from evercrawl.core.url import DEFAULT_PORTS, SiteName, site_parts

MIN_SAME = 24
"""Different contents that two hosts must share at the same paths: small sites can look alike."""
MIN_REDIRECTED = 8
"""Pages of a host that must redirect to the same path of another before it counts as its mirror."""
MIN_SAME_VARIANTS = 3
"""The same where names differ only by www or scheme."""
MIN_SHARE = 0.8
"""Least share of compared paths with the same content, at the lower bound of the estimate."""
MIN_SHARE_VARIANTS = 0.4
CONFIDENCE = 1.64
"""Standard deviations of a one-sided 95 % estimate."""


class HostEvidence(NamedTuple):
    """What decides which of two mirrors is the original."""

    site: str
    credit: int
    """Of all its pages together."""
    redirected_to: int = 0
    """Pages of the other host that redirect here or name a canonical page here."""


class HostMirror(NamedTuple):
    """Two sites with the same content, and the evidence."""

    site: str
    of: str
    same: int
    compared: int

    @property
    def detail(self) -> str:
        """Return the evidence as text."""
        return f"{self.site} is a copy of {self.of}: {self.same} of {self.compared} compared pages are the same"


def are_name_variants(one: str, other: str) -> bool:
    """Return whether the sites differ only by a leading www or by scheme.

    Another port is another site: two servers on one machine mostly are.
    """
    here, there = site_parts(one), site_parts(other)
    if one == other or _bare(here) != _bare(there):
        return False
    return here.host != there.host or (_is_public(here) and _is_public(there))


def _is_public(name: SiteName) -> bool:
    return name.port == DEFAULT_PORTS[name.scheme]


def _bare(name: SiteName) -> str:
    return name.host.removeprefix("www.")


def compare_hosts(
    one: HostEvidence, other: HostEvidence, *, samples: tuple[Mapping[str, bytes], Mapping[str, bytes]]
) -> HostMirror | None:
    """Compare samples of path -> content digest; None if the sites are no mirrors, or not known to be.

    Each content counts once: a server that answers everything with the same page proves nothing.
    """
    here, there = samples
    compared = {(here[path], there[path]) for path in here.keys() & there.keys()}
    same = sum(a == b for a, b in compared)
    variants = are_name_variants(one.site, other.site)
    enough = MIN_SAME_VARIANTS if variants else MIN_SAME
    share = MIN_SHARE_VARIANTS if variants else MIN_SHARE
    if same < enough or wilson_lower_bound(same, len(compared)) < share:
        return None
    chosen, copy = choose_original(one, other)
    return HostMirror(copy.site, chosen.site, same, len(compared))


def wilson_lower_bound(same: int, compared: int) -> float:
    """Return the lower bound of a share (Wilson 1927)."""
    if not compared:
        return 0.0
    share, z2 = same / compared, CONFIDENCE**2
    middle = share + z2 / (2 * compared)
    spread = CONFIDENCE * sqrt(share * (1 - share) / compared + z2 / (4 * compared**2))
    return (middle - spread) / (1 + z2 / compared)


def choose_original(one: HostEvidence, other: HostEvidence) -> tuple[HostEvidence, HostEvidence]:
    """Return original and mirror: by redirects and canonical links, then https, then credit."""
    chosen, copy = sorted((one, other), key=_preference)
    return chosen, copy


def _preference(host: HostEvidence) -> tuple[int, bool, int, int, str]:
    return (-host.redirected_to, not host.site.startswith("https:"), -host.credit, len(host.site), host.site)
