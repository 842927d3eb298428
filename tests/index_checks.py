"""Check the search index against the stored versions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from evercrawl.adapters.sql.log_reader import VersionNumber, log_reader
from evercrawl.adapters.sql.state_reader import shards_of
from evercrawl.adapters.tantivy.text_index import TextIndex
from evercrawl.collection.search_index import VISITS_AT_A_TIME


def missing_versions(collection: Path, index: TextIndex) -> Iterator[tuple[int, int, int]]:
    """Yield shard, page and number of every version that the index misses."""
    searcher = index.searcher()
    for shard in shards_of(collection):
        with log_reader(collection, shard) as reader:
            place: VersionNumber = (0, 0)
            while places := reader.version_places(place, VISITS_AT_A_TIME):
                for page_id, number in places:
                    if not index.has_version(shard, page_id, number, searcher):
                        yield shard, page_id, number
                place = places[-1]
