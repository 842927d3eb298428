"""One request to a site, which knows the site's gap."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evercrawl.core.politeness import HostQueue
from evercrawl.model.fetch import FetchResult, Request

if TYPE_CHECKING:
    from evercrawl.engine.shard import Shard


async def ask(request: Request, queue: HostQueue, shard: Shard) -> FetchResult:
    """Send a request; should it have to go out twice, the site's gap lies between."""
    return await shard.around.fetcher.fetch(replace(request, gap_s=queue.site.gap_ms / 1000))
