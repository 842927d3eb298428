"""What decides about visits: policy, budget, and the threshold that the last run left behind."""

from __future__ import annotations

from datetime import timedelta

from evercrawl.adapters.sqlite.reader import StateReader
from evercrawl.core.revisit.purse import PURSE_KEY, Purse, first_threshold
from evercrawl.core.revisit.schedule import Level
from evercrawl.model.report import RevisitStatus
from evercrawl.model.settings import RevisitSettings

DAY = timedelta(days=1)


def stored_purse(reader: StateReader, settings: RevisitSettings, *, pages: int) -> Purse:
    """The purse as the last run left it."""
    worth = settings.worth / DAY
    threshold = first_threshold(per_day=settings.budget, pages=pages, worth=worth)
    purse = Purse(settings.budget, threshold, pages=pages)
    shards = reader.shards()
    if shards:
        with reader.shard(min(shards)) as state:
            purse.recall(state.memory(*PURSE_KEY))
    return purse


def level_of(purse: Purse, settings: RevisitSettings) -> Level:
    """What that purse allows, within the settings' bounds."""
    return purse.level(shortest=settings.shortest / DAY, longest=settings.longest / DAY)


def steering_of(reader: StateReader, settings: RevisitSettings, *, pages: int) -> RevisitStatus:
    """Policy, budget and threshold in force."""
    purse = stored_purse(reader, settings, pages=pages)
    return RevisitStatus(settings.policy, settings.budget, purse.threshold)
