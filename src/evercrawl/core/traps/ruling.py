"""May this URL of a site be asked for, by what its kind has yielded? Asked for a link and again for a page.

Throttled ones come after everything else, so that a finite pattern is still finished. Behind a fence a few
requests go on: so many, and a share of all that the site is asked, so that a wrong verdict heals and a right
one costs little.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from xxhash import xxh32_intdigest

from evercrawl.core.traps.harvest import SiteYield
from evercrawl.core.traps.parameter import identity, idle_parts, seen_otherwise
from evercrawl.core.traps.pattern import Breadth, Pattern, lengthens, patterns_of, shorter
from evercrawl.core.traps.record import CYCLES_ABOVE, INVENTS, State, evidence, kind_of

PROBES_FIRST, PROBES_SHARE = 2, 0.01
"""Requests behind a fence: so many, and this share of the site's requests."""
PROBE_ONE_IN = 64
"""Of the links that lead behind a fence this part stays at hand for probes."""


IDLE = "(does not matter)"
"""Behind the name of a part of URLs that was found not to alter the content."""


class Ruling(Enum):
    """What to do with a URL."""

    ALLOW = "allow"
    THROTTLE = "throttle"
    """After everything else."""
    FENCE = "fence"


class Ruled(NamedTuple):
    """A ruling with the pattern that decided and the evidence in words."""

    ruling: Ruling
    pattern: str = ""
    evidence: str = ""
    is_probe: bool = False
    """It would be fenced, and is let through to see whether that is still right."""


ALLOWED = Ruled(Ruling.ALLOW)


def says_nothing(site: SiteYield) -> bool:
    """Whatever URL is asked about, the answer is that it may be asked for: most sites set no traps."""
    is_open = all(record.state is State.OPEN for record in site.records.values())
    return is_open and not site.invented and not idle_parts(site.parameters)


def on_offer(site: SiteYield, url: str) -> Ruled:
    """What to do with a link: queue it, queue it behind all others, or leave it out."""
    ruled = _strictest(site, url)
    if ruled.ruling is Ruling.FENCE and xxh32_intdigest(url.encode("utf-8", "replace")) % PROBE_ONE_IN == 0:
        return ruled._replace(ruling=Ruling.THROTTLE, is_probe=True)
    return ruled


def on_turn(site: SiteYield, url: str) -> Ruled:
    """What to do with a page whose turn has come; behind a fence a few go through as probes."""
    ruled = _strictest(site, url)
    if ruled.ruling is not Ruling.FENCE:
        return ruled
    if _probes(site, ruled.pattern) < PROBES_FIRST + PROBES_SHARE * site.requests:
        return ruled._replace(ruling=Ruling.ALLOW, is_probe=True)
    return ruled


def _probes(site: SiteYield, pattern: str) -> int:
    record = site.records.get(pattern)
    if pattern.endswith(IDLE) or record is None:
        return site.parameters.probes
    return record.probes


def _strictest(site: SiteYield, url: str) -> Ruled:
    idle = seen_otherwise(site.parameters, url)
    if idle is not None:
        return Ruled(Ruling.FENCE, f"{idle} {IDLE}", _said_of_idle(site, url))
    patterns = patterns_of(url)
    lengthened = next((name for name in site.invented if lengthens(patterns, name)), None)
    if lengthened is not None:
        return Ruled(Ruling.FENCE, lengthened, INVENTS)
    state, name = max(_states(site, patterns), default=(State.OPEN, ""))
    if state is not State.FENCED and (cycle := _lengthened_cycle(site, patterns[0])):
        state, name = State.FENCED, cycle
    if state is State.OPEN:
        return ALLOWED
    ruling = Ruling.FENCE if state is State.FENCED else Ruling.THROTTLE
    return Ruled(ruling, name, evidence(site.records[name]))


def _said_of_idle(site: SiteYield, url: str) -> str:
    """Of which page this one is a duplicate, as far as that has a URL of its own."""
    plain = identity(site.parameters, url)
    named = f"; without it: {plain}" if plain != url else ""
    return f"seen already but for a part of the URL that does not matter here{named}"


def _lengthened_cycle(site: SiteYield, shape: Pattern) -> str:
    """The fenced cycle that the shape only lengthens; empty: none."""
    while name := shorter(shape):
        record = site.records.get(name)
        if record is not None and record.state is State.FENCED and record.cycles >= CYCLES_ABOVE:
            return name
        shape = Pattern(name, Breadth.SHAPE)
    return ""


def _states(site: SiteYield, patterns: tuple[Pattern, ...]) -> list[tuple[State, str]]:
    shape = site.records.get(patterns[0].name)
    is_proven = shape is not None and shape.is_proven
    return [
        (site.records[pattern.name].state, pattern.name)
        for pattern in patterns
        if pattern.name in site.records and not (is_proven and _is_wider(pattern))
    ]


def _is_wider(pattern: Pattern) -> bool:
    """Says less about a URL than its shape does; folders below the first say more."""
    return pattern.breadth is not Breadth.FOLDER or pattern.name.count("/") <= 2


class Reported(NamedTuple):
    """A pattern that was throttled or fenced, as `trap list` shows it."""

    pattern: str
    kind: str
    evidence: str
    requests: int
    state: str


def report(site: SiteYield) -> list[Reported]:
    """The throttled and fenced patterns of a site, the costliest first."""
    found = [
        Reported(name, kind_of(record), evidence(record), record.requests, record.state.name.lower())
        for name, record in site.records.items()
        if record.state is not State.OPEN
    ]
    return sorted(found, key=lambda one: -one.requests)
