"""Duplicates follow the page that they repeat: what it says anew sends for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evercrawl.core.duplicates.follow import GONE, is_asked
from evercrawl.engine.keep import status_of

if TYPE_CHECKING:
    from evercrawl.engine.see import Seen
    from evercrawl.engine.shard import Shard
    from evercrawl.model.page import Page

MOST_REPEATS = 64
"""Duplicates that one change sends for; others are looked at when their own time comes."""


async def send_for_repeats(page: Page, seen: Seen, shard: Shard) -> None:
    """Queue the duplicates of a page that says something else than before, is gone or leads elsewhere."""
    if not _says_otherwise(page, seen):
        return
    weight, version = shard.around.settings.duplicates.weight, page.version + 1
    found = await shard.store.repeats(page.id, MOST_REPEATS)
    asked = [
        repeat.key for repeat in found if is_asked(repeat.key, visits=repeat.visits, version=version, weight=weight)
    ]
    if asked:
        await shard.due.visit_soon(asked)


def _says_otherwise(page: Page, seen: Seen) -> bool:
    if not page.version:
        return False
    status = status_of(seen.result)
    has_left = status in GONE or (status is not None and 300 < status < 400 and status != 304)
    return has_left or seen.judgement.is_new_version
