"""Links on their way to another shard, as bytes that any version of the program can read."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from evercrawl.core.url import key_of
from evercrawl.model.page import Candidate


def pack(candidates: Sequence[Candidate]) -> bytes:
    """One parcel. Keys are left out: they follow from the URLs. Parent numbers mean nothing in another
    shard.
    """
    return orjson.dumps([[c.url, c.depth, c.hops, c.parent] for c in candidates])


def unpack(links: bytes) -> list[Candidate]:
    """The candidates of one parcel."""
    rows: list[tuple[str, int, int, str | None]] = orjson.loads(links)
    return [Candidate(url, key_of(url), depth, hops, parent, None) for url, depth, hops, parent in rows]
