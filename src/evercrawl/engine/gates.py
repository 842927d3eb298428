"""Compiled robots.txt files of sites that have no lane at the moment."""

from __future__ import annotations

from evercrawl.core.robots_policy import RobotsGate, compile_record
from evercrawl.model.site import RobotsRecord, Site

MOST_GATES = 2000


class Gates:
    """The gates that were asked for lately; a changed record is compiled anew."""

    def __init__(self, agent: str, *, allow_private: bool = False) -> None:
        self._agent = agent
        self._allow_private = allow_private
        self._held: dict[str, tuple[RobotsRecord, RobotsGate]] = {}

    def of(self, site: Site) -> RobotsGate | None:
        """What the site's robots.txt says; None: it was not read yet."""
        record = site.robots
        if record is None or (record.stance == "private" and self._allow_private):
            return None
        held = self._held.get(site.name)
        if held is not None and held[0] == record:
            return held[1]
        gate = compile_record(record, agent=self._agent)
        if len(self._held) >= MOST_GATES:
            self._held.pop(next(iter(self._held)))
        self._held[site.name] = (record, gate)
        return gate
