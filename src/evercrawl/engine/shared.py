"""State shared by the shards of one process, and what a shard needs from its process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import NamedTuple

from evercrawl.core.credit.shard_credit import Generations
from evercrawl.core.duplicates.repeats import MirrorRegistry
from evercrawl.core.duplicates.url_seen import BloomChain, UrlSeenTest
from evercrawl.core.politeness import Pace, SideRequest
from evercrawl.core.revisit.request_budget import RUN_BURST_DAYS, WATCH_BURST_DAYS, RequestBudget, initial_threshold
from evercrawl.engine.decision import Policy
from evercrawl.engine.page_rendering import PartCache, SharedRenderer
from evercrawl.engine.ports import Archive, Clock, NearTexts, Renderer, ShardStore
from evercrawl.engine.robots import RobotsCache, SideRequests
from evercrawl.engine.runtime import RunStats
from evercrawl.model.page import DuplicateCandidate, LinkBatch
from evercrawl.model.time import to_us

ROBOTS_RECENT = timedelta(minutes=10)
"""A new run uses a robots.txt of this age; with `refresh` it reads all of them again."""
CONTENT_FILTER_BYTES = 16 * 1024 * 1024
"""For all shards of a process: enough for nine million contents; beyond that the store is read more often."""
MIN_KEY_CACHE = 1024


class ShardPorts(NamedTuple):
    """Where one shard keeps its data."""

    store: ShardStore
    archive: Archive
    near: NearTexts


@dataclass(frozen=True, slots=True)
class ShardHost:
    """What a shard needs from its process."""

    may_start: Callable[[], bool]
    has_enough_pages: Callable[[], bool]  # The page limit of the run is reached; only assets are fetched from now on.
    blocked_until_us: Callable[[], int | None]
    on_quiet: Callable[[], None]
    page_at: Callable[[str], Awaitable[DuplicateCandidate | None]]  # Finds a page in any shard of the process.
    pages_elsewhere: Callable[[int], Mapping[int, int]]  # Pages of every shard of the process but this one.
    takes_batches: Callable[[int], bool]  # Links and credit can be sent to the shard of this number.
    deliver: Callable[[LinkBatch], None]
    confirm: Callable[[int, int, int], None]


class SharedState:
    """The memory that all shards of a process share."""

    def __init__(
        self,
        policy: Policy,
        *,
        shards: int,
        pace: Pace,
        seed: int,
        total_credit: Callable[[], int],
        send: Callable[[SideRequest], Awaitable[None]],
        clock: Clock,
        renderer: Renderer | None = None,
    ) -> None:
        """`shards`: of the whole collection. `send` hands a side request to the shard that owns its site."""
        settings = policy.settings
        self.shards = shards
        self.robots_since_us = to_us(clock.now() - ROBOTS_RECENT) if settings.outposts.listen is None else 0
        """A run that somebody starts reads a robots.txt again that was fetched before; an outpost reads its own."""
        self.pace = pace
        self.seed = seed
        self.restart_delay: timedelta = pace.floor
        """The least delay after a crash."""
        self.stats = RunStats()
        # The key cache only sees what the cache of popular URLs in front of it has missed, so it can be small.
        key_cache = max(MIN_KEY_CACHE, settings.url_seen.cache_entries // 16)
        self.seen = UrlSeenTest(replace(settings.url_seen, cache_entries=key_cache))
        self.contents = BloomChain(CONTENT_FILTER_BYTES)
        self.mirrors = MirrorRegistry(is_on=settings.duplicates.mirrors)
        self.budget = request_budget(policy)
        self.generations = Generations(total_credit)
        self.robots = RobotsCache(policy.agent, allow_private=settings.http.allow_private)
        self.slots = asyncio.Semaphore(settings.crawl.concurrency)
        self.side_requests = SideRequests(send)
        self.renderer = SharedRenderer(renderer, PartCache(self.side_requests.run, clock))


def request_budget(policy: Policy) -> RequestBudget:
    """Return the budget that the settings allow."""
    settings = policy.settings.revisit
    gain = settings.min_freshness_gain / timedelta(days=1)
    threshold = initial_threshold(per_day=settings.budget, pages=0, default=gain)
    burst = WATCH_BURST_DAYS if policy.forever else RUN_BURST_DAYS
    return RequestBudget(settings.budget, threshold, burst_days=burst)
