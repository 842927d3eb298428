"""A whole run on several workers: from the lock to the summary."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from evercrawl.adapters.sqlite.reader import StateReader
from evercrawl.cluster.run_summary import PROGRESS_EVERY_S, reporting, summary_of
from evercrawl.cluster.workers.crew import Crew
from evercrawl.engine.runtime import StopSignal
from evercrawl.model.report import Progress, Summary
from evercrawl.model.settings import Settings
from evercrawl.model.time import to_us


async def run_crew(
    collection: Path,
    settings: Settings,
    *,
    refresh: bool,
    forever: bool,
    stop: StopSignal,
    on_progress: Callable[[Progress], None] | None,
    lock: int,
) -> Summary:
    """Visit what is due with `crawl.workers` processes; `lock` is held until the last of them has ended."""
    workers = min(settings.crawl.workers, settings.store.shards)
    crew = Crew(
        collection,
        settings,
        workers=workers,
        shares=budget_shares(StateReader(collection), workers),
        stop=stop,
        refresh=refresh,
        forever=forever,
        keep_open=(lock,),
    )
    async with reporting(crew.run_facts, on_progress, every_s=PROGRESS_EVERY_S):
        ended = await crew.run()
    return summary_of(crew.run_facts, collection, ended)


def budget_shares(reader: StateReader, workers: int) -> list[float]:
    """The part of a budget that each worker gets: half of it alike, half by the pages that it owns."""
    pages, now_us = [0] * workers, to_us(datetime.now(UTC))
    for number in reader.shards():
        with reader.shard(number) as shard:
            pages[number % workers] += shard.totals(now_us).pages
    known = sum(pages)
    if not known:
        return [1.0 / workers] * workers
    return [0.5 / workers + 0.5 * own / known for own in pages]
