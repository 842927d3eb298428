"""A page as forecasts see it: what is believed of it, whatever policy it was visited by."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from evercrawl.core.revisit.rate_estimate import PageEstimate, SiteEstimate, change_rate, with_change_rate
from evercrawl.core.revisit.rate_estimate import MAX_SHAPE, after_change

UNVISITED = PageEstimate()


class Tended(NamedTuple):
    """A page that visits are spent on."""

    url: str
    site: Hashable
    hub: int
    belief: PageEstimate = UNVISITED
    """`visited` is None: there is no copy yet."""
    changes: int = 0
    """Changes that visits have found."""
    interval: float = 0.0
    """Days that the rule in force leaves between two visits; 0: the value decides."""
    counts: bool = True
    """It has content that can be fresh; a redirect only costs visits."""

    @property
    def has_copy(self) -> bool:
        return self.belief.visited is not None


def believed(site: SiteEstimate, *, visited: float, watched: float, visits: int, changes: int) -> PageEstimate:
    """What so many changes in so many visits say about a page of which only these counts are known.

    The visits are taken to have been evenly spaced over the `watched` days.
    """
    page = PageEstimate(b=-site.exposure, visited=visited)
    later = max(visits - 1, 0)
    if not later or watched <= 0.0:
        return page
    gap = watched / later
    changed = min(changes, later)
    a, b = change_rate(page, site)
    b += gap * (later - changed)
    for _ in range(min(changed, int(MAX_SHAPE))):
        a, b = after_change(a, b, gap)
    return with_change_rate(page, site, a=a, b=b)
