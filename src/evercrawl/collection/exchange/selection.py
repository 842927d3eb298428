"""Which versions of which pages? Read shard by shard, never more than a portion at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from evercrawl.adapters.sqlite.reader import StateReader
from evercrawl.adapters.sqlite.stored import Bounds, StoredReader, StoredVersion, stored_reader
from evercrawl.model.time import to_us


@dataclass(frozen=True, slots=True)
class Selection:
    """What is taken out; None: no matter."""

    site: str | None = None
    """Host (with or without port) or origin."""
    since: datetime | None = None
    until: datetime | None = None
    lang: str | None = None
    """A language such as `en`, which takes in `en-GB` too."""
    all_versions: bool = False
    """Otherwise the newest of each page that is not behind `until`."""


def selected(collection: Path, selection: Selection) -> Iterator[tuple[StoredReader, StoredVersion]]:
    """The selected versions, each with the reader of its shard; those of one page follow each other."""
    bounds = bounds_of(selection)
    for shard in StateReader(collection).shards():
        with stored_reader(collection, shard) as reader:
            for version in reader.stored_versions(bounds):
                yield reader, version


def bounds_of(selection: Selection) -> Bounds:
    """The selection in terms of the store."""
    return Bounds(
        site=selection.site.strip().rstrip("/").lower() if selection.site else None,
        since_us=to_us(selection.since) if selection.since else None,
        until_us=to_us(selection.until) if selection.until else None,
        lang=selection.lang.strip().lower() if selection.lang else None,
        newest_only=not selection.all_versions,
    )
