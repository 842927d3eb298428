"""Check the search index against the stored versions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import tantivy

from evercrawl.adapters.sql.database import parse_statements
from evercrawl.adapters.sql.log_reader import LogReader, VersionNumber, log_reader
from evercrawl.adapters.sql.state_reader import shards_of
from evercrawl.adapters.tantivy.text_index import TextIndex, match_count, version_key
from evercrawl.collection.search_index import VISITS_AT_A_TIME

VERSION_KEYS = parse_statements("""
-- version_keys --
-- The next versions: page and number.
select page_id, number from version where shard = :shard and (page_id, number) > (:page_id, :number)
 order by page_id, number limit :most
""")["version_keys"]


def version_places(reader: LogReader, after: VersionNumber) -> list[VersionNumber]:
    """Return the next versions in order of page and number."""
    page_id, number = after
    rows = reader.queries.select(VERSION_KEYS, page_id=page_id, number=number, most=VISITS_AT_A_TIME)
    return list(map(tuple, rows))


def has_version(index: TextIndex, shard: int, page_id: int, number: int, searcher: tantivy.Searcher) -> bool:
    """Check whether a version is indexed exactly once."""
    key = version_key(shard, page_id, number)
    return match_count(searcher.search(tantivy.Query.term_query(index.schema, "key", key, "basic"), 1)) == 1


def missing_versions(collection: Path, index: TextIndex) -> Iterator[tuple[int, int, int]]:
    """Yield shard, page and number of every version that the index misses."""
    searcher = index.searcher()
    for shard in shards_of(collection):
        with log_reader(collection, shard) as reader:
            place: VersionNumber = (0, 0)
            while places := version_places(reader, place):
                for page_id, number in places:
                    if not has_version(index, shard, page_id, number, searcher):
                        yield shard, page_id, number
                place = places[-1]
