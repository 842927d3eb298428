"""A sample of a collection's pages, each with what is believed of it and of its site."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import NamedTuple

from evercrawl.adapters.sqlite.reader import ROWS_AT_A_TIME, ShardReader, StateReader
from evercrawl.core.revisit.belief import PageBelief
from evercrawl.core.revisit.outlook import Outlook
from evercrawl.core.revisit.schedule import OPTIMAL, belief_of, memory_of
from evercrawl.core.revisit.tended import Tended, believed
from evercrawl.core.revisit.visit import page_found
from evercrawl.engine.revisits import hub_of
from evercrawl.engine.site_state import FRESHNESS
from evercrawl.model.listing import SampledPage, SampledSite
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.time import DAY_US

MOST_SAMPLED = 20_000
"""Pages that are looked at; of a larger collection every k-th by number, which is by age."""
VANISHED = frozenset({Reason.NOT_FOUND, Reason.GONE})


class Gathered(NamedTuple):
    """The sample."""

    pages: list[Tended]
    outlooks: dict[Hashable, Outlook]
    sites: dict[Hashable, SampledSite]
    share: float
    """Rows that were read, of all."""

    def in_all(self, sampled: float) -> int:
        """So many pages of the sample stand for so many of the collection."""
        return round(sampled / self.share)


def gathered(reader: StateReader, *, now_us: int, policy: str, most: int = MOST_SAMPLED) -> Gathered:
    """A systematic sample over all shards; every page where there are no more than `most`."""
    found = Gathered([], {}, {}, 1.0)
    read, pages = 0, 0
    for shard, ids in _chosen(reader, most):
        with reader.shard(shard) as state:
            read += _take(state, shard, ids, found, now_us=now_us, policy=policy)
            pages += state.totals(now_us).pages
    return found._replace(share=min(1.0, read / pages) if read else 1.0)


def sampled(reader: StateReader, *, most: int = MOST_SAMPLED) -> Iterator[tuple[SampledPage, Outlook]]:
    """The same sample row by row, each with what is expected of its site."""
    for shard, ids in _chosen(reader, most):
        known = Gathered([], {}, {}, 1.0)
        with reader.shard(shard) as state:
            for start in range(0, len(ids), ROWS_AT_A_TIME):
                rows = state.sampled_pages(ids[start : start + ROWS_AT_A_TIME])
                _learn_sites(state, shard, {row.site_id for row in rows}, known)
                yield from ((row, known.outlooks[shard, row.site_id]) for row in rows)


def _chosen(reader: StateReader, most: int) -> Iterator[tuple[int, range]]:
    """The numbers of the pages that are looked at, shard by shard."""
    sizes = _sizes(reader)
    stride = max(1, -(-sum(sizes.values()) // most))
    offset = stride // 2
    for shard, size in sizes.items():
        ids = range(offset + 1, size + 1, stride)
        yield shard, ids
        offset = offset + stride * len(ids) - size


def _sizes(reader: StateReader) -> dict[int, int]:
    """The largest page number of each shard."""
    sizes = {}
    for shard in reader.shards():
        with reader.shard(shard) as state:
            sizes[shard] = state.next_id() - 1
    return sizes


def _take(state: ShardReader, shard: int, ids: range, found: Gathered, *, now_us: int, policy: str) -> int:
    """Add a shard's part of the sample; the number of rows that were read."""
    read = 0
    for start in range(0, len(ids), ROWS_AT_A_TIME):
        rows = state.sampled_pages(ids[start : start + ROWS_AT_A_TIME])
        read += len(rows)
        _learn_sites(state, shard, {row.site_id for row in rows}, found)
        for row in rows:
            key = (shard, row.site_id)
            page = tended_of(row, key, found.outlooks[key], now_us=now_us, policy=policy)
            if page is not None:
                found.pages.append(page)
    return read


def _learn_sites(state: ShardReader, shard: int, ids: set[int], found: Gathered) -> None:
    unknown = [number for number in ids if (shard, number) not in found.sites]
    for site in state.sampled_sites(unknown, FRESHNESS.name) if unknown else ():
        found.sites[shard, site.id] = site._replace(memory=None)
        found.outlooks[shard, site.id] = FRESHNESS.read(site.memory)


def tended_of(row: SampledPage, site: Hashable, outlook: Outlook, *, now_us: int, policy: str) -> Tended | None:
    """The page as forecasts see it; None: it is refused, has vanished, or is not asked for again."""
    if row.outcome is Outcome.REJECTED or row.reason in VANISHED:
        return None
    hub = hub_of(row.url)
    if row.version == 0 and row.belief is None:
        missing = page_found(outlook.belief, now=now_us / DAY_US, has_copy=False)
        return Tended(row.url, site, hub, missing) if row.is_waiting else None
    return Tended(
        row.url,
        site,
        hub,
        belief_in(row, outlook),
        changes=max(row.version - 1, 0),
        interval=_interval(row.belief) if policy != OPTIMAL else 0.0,
        counts=row.version > 0 and row.reason is not Reason.MOVED,
    )


def belief_in(row: SampledPage, outlook: Outlook) -> PageBelief:
    """What is stored, or what the counts of visits and versions say where another policy was at work."""
    stored = belief_of(row.belief)
    if stored is not None:
        return stored
    visited = (row.last_us or row.found_us) / DAY_US
    return believed(
        outlook.belief,
        visited=visited,
        watched=visited - row.found_us / DAY_US,
        visits=row.visits,
        changes=max(row.version - 1, 0),
    )


def _interval(state: bytes | None) -> float:
    """Days that a rule by name leaves between two visits; 0: it did not say so yet."""
    memory = memory_of(state)
    return max(memory.due - memory.visited, 0.0) if memory.records else 0.0
