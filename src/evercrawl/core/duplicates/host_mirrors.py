"""Is a host a copy of another? Told from the same paths having the same content on both, never from names.

A name only lowers the amount of evidence that is asked for: www and http/https variants are copies more often
than not.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import NamedTuple

from evercrawl.core.url import DEFAULT_PORTS, SiteName, site_parts

MIN_SAME = 24
"""Different contents that two hosts must have at the same paths: small sites of one make are alike."""
MIN_REDIRECTED = 8
"""Pages of a host that must lead to the same path of another before it counts as its copy."""
MIN_SAME_VARIANTS = 3
"""The same where the names differ by www or scheme only."""
MIN_SHARE = 0.8
"""Of the compared paths, so many must hold the same content even at the careful end of the estimate."""
MIN_SHARE_VARIANTS = 0.4
CONFIDENCE = 1.64
"""Standard deviations of a one-sided estimate that is right 95 times of 100."""


class HostEvidence(NamedTuple):
    """What decides which of two copies stands for both."""

    site: str
    credit: int
    """Of all its pages together."""
    redirected_to: int = 0
    """Pages of the other host that redirect here or name a page here as their canonical one."""


class HostMirror(NamedTuple):
    """Two sites that hold the same, and the evidence."""

    site: str
    of: str
    same: int
    compared: int

    @property
    def detail(self) -> str:
        """The evidence in words."""
        return f"{self.site} is a copy of {self.of}: {self.same} of {self.compared} compared pages are the same"


def are_name_variants(one: str, other: str) -> bool:
    """The sites differ by a leading www or by scheme only. The same host at another port is another site:
    who runs two servers on one machine mostly means two.
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
    """Whether the sites are copies, from samples of path -> digest of content; None: no, or not known yet.

    Contents are counted once however many paths have them: a server that answers everything with the same
    page proves nothing.
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
    """The careful end of the share that so many of so many show (Wilson 1927)."""
    if not compared:
        return 0.0
    share, z2 = same / compared, CONFIDENCE**2
    middle = share + z2 / (2 * compared)
    spread = CONFIDENCE * sqrt(share * (1 - share) / compared + z2 / (4 * compared**2))
    return (middle - spread) / (1 + z2 / compared)


def choose_original(one: HostEvidence, other: HostEvidence) -> tuple[HostEvidence, HostEvidence]:
    """The site that stands for both, and the copy: whom the other names, then https, then credit."""
    chosen, copy = sorted((one, other), key=_preference)
    return chosen, copy


def _preference(host: HostEvidence) -> tuple[int, bool, int, int, str]:
    return (-host.redirected_to, not host.site.startswith("https:"), -host.credit, len(host.site), host.site)
