"""What a site had to bear from us: for its owner, and for ourselves."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from statistics import median

from evercrawl.adapters.sqlite.browse import browsing
from evercrawl.model.listing import SiteLoad
from evercrawl.model.reason import Reason
from evercrawl.model.site import Site

LINES_READ = 200_000
"""The newest lines of the shard's log that are looked at."""
MOST_VISITS = 2000
SECOND_US = 1_000_000


def load_of(collection: Path, shard: int, site: Site) -> SiteLoad:
    """Requests ever, and the newest of them with the gaps between."""
    with browsing(collection, shard) as reader:
        visits = reader.visits_of_site(site.id, lines=LINES_READ, most=MOST_VISITS)
    asked = [visit for visit in visits if visit.took_ms or visit.status]
    gaps = tuple((later.at_us - earlier.at_us) / SECOND_US for later, earlier in pairwise(asked))
    return SiteLoad(
        site=site.name,
        requests=site.requests,
        wire_bytes=site.wire_bytes,
        visits=tuple(asked),
        not_modified=sum(visit.reason == Reason.NOT_MODIFIED for visit in asked),
        gaps_s=gaps,
        median_ms=int(median(visit.took_ms for visit in asked)) if asked else None,
        asked_gap_s=site.gap_ms / 1000 if site.gap_ms else None,
    )
