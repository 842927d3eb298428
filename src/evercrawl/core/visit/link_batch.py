"""Links and credit for another shard, packed as bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import orjson

from evercrawl.core.url import key_of
from evercrawl.model.page import Candidate

_SHARE_FIELDS = 2
_LAMBDA = ""  # Stands for the Lambda page in place of a URL.


class LinkBatchContents(NamedTuple):
    """Links with their credit, credit for known pages by URL, and credit for the Lambda page."""

    candidates: list[Candidate]
    shares: dict[str, int]
    grant: int = 0

    @property
    def credit(self) -> int:
        """All credit in the batch."""
        return self.grant + sum(self.shares.values()) + sum(c.credit or 0 for c in self.candidates)


def pack_links(candidates: Sequence[Candidate], *, shares: Mapping[str, int] | None = None, grant: int = 0) -> bytes:
    """Pack links and credit. Keys follow from the URLs; parent numbers mean nothing in another shard."""
    rows: list[list[object]] = [[c.url, c.depth, c.hops, c.parent, c.credit] for c in candidates]
    rows += [[url, amount] for url, amount in (shares or {}).items()]
    if grant:
        rows.append([_LAMBDA, grant])
    return orjson.dumps(rows)


def chain_batch(links: bytes, after: int) -> bytes:
    """Return a batch that is received only after the batch `after` of the same sender; 0: after none."""
    return b"%d:%b" % (after, links)


def chain_of(links: bytes) -> int:
    """Return the number of the batch that must be received first; 0 if there is none."""
    after, colon, _ = links.partition(b":")
    return int(after) if colon and after.isdigit() else 0


def unpack_links(links: bytes) -> LinkBatchContents:
    """Unpack links and credit."""
    before, _, body = links.partition(b":")
    links = body if before.isdigit() else links
    contents = LinkBatchContents([], {})
    grant = 0
    for url, *rest in orjson.loads(links):
        if len(rest) + 1 > _SHARE_FIELDS:
            depth, hops, parent, *credit = rest
            candidate = Candidate(url, key_of(url), depth, hops, parent, None, *credit)
            contents.candidates.append(candidate)
        elif url == _LAMBDA:
            grant += rest[0]
        else:
            contents.shares[url] = contents.shares.get(url, 0) + rest[0]
    return contents._replace(grant=grant)
