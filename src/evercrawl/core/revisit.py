"""When is a page looked at again? Sooner after a change, later after none."""

from __future__ import annotations

from datetime import timedelta

from evercrawl.model.settings import RevisitSettings


def next_interval(interval: timedelta | None, *, changed: bool, policy: RevisitSettings) -> timedelta:
    """Visit a page that moves more often, a page that rests less often; `interval` is None after the first
    visit.
    """
    if interval is None:
        return policy.first
    factor = policy.shrink if changed else policy.grow
    return min(max(interval * factor, policy.shortest), policy.longest)
