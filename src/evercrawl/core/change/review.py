"""Which changes has somebody looked at? An edit that comes again on other pages later is news again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from evercrawl.core.url import site_of
from evercrawl.model.history import Mark
from evercrawl.model.listing import ChangeRecord


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What was looked at: single edits, all of a site, or everything, each up to a moment."""

    edits: dict[int, int] = field(default_factory=dict)
    sites: dict[str, int] = field(default_factory=dict)
    all_us: int = 0

    def has(self, key: int, view: ChangeRecord) -> bool:
        """This edit of a change was looked at."""
        until_us = max(self.all_us, self.edits.get(key, 0), self.sites.get(site_of(view.url), 0))
        return view.at_us <= until_us


def reviewed_by(marks: Iterable[Mark]) -> Reviewed:
    """What marks say together: the latest of each counts."""
    edits: dict[int, int] = {}
    sites: dict[str, int] = {}
    all_us = 0
    for mark in marks:
        if mark.key is not None:
            edits[mark.key] = max(mark.until_us, edits.get(mark.key, 0))
        elif mark.site is not None:
            sites[mark.site] = max(mark.until_us, sites.get(mark.site, 0))
        else:
            all_us = max(all_us, mark.until_us)
    return Reviewed(edits, sites, all_us)


def only(views: Iterable[ChangeRecord], reviewed: Reviewed, *, was_seen: bool) -> list[ChangeRecord]:
    """The changes with those of their edits that were looked at, or were not; none without edits."""
    kept = []
    for view in views:
        edits = tuple(edit for edit in view.change.edits if reviewed.has(edit.key, view) is was_seen)
        if edits:
            kept.append(view._replace(change=replace(view.change, edits=edits)))
    return kept
