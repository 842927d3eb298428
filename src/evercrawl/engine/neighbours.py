"""The workers that own the other shards of a collection: what one process tells them and asks of them."""

from __future__ import annotations

from typing import Protocol

from evercrawl.engine.stop import Ended
from evercrawl.model.batch import LinkBatch
from evercrawl.model.fetch import FetchResult, Request
from evercrawl.model.page import Candidate


class Neighbours(Protocol):
    """What a crawl needs of the processes beside it. Messages between two of them arrive in order, or the
    receiver has ended.
    """

    def owns(self, shard: int) -> bool:
        """Is the shard ours?"""

    def is_first(self) -> bool:
        """Do we write down what belongs to no shard, such as refused seeds?"""

    def may_ask(self) -> bool:
        """Are our shards surely ours at this moment? Nothing is asked of a site otherwise."""

    def bring(self, parcel: LinkBatch) -> None:
        """Links for a shard that is not ours; they stay in our store until it confirms them."""

    def fetches(self) -> bool:
        """Are links looked for where their sender stores them, also those from ourselves?"""

    def confirm(self, source: int, target: int, seq: int) -> None:
        """Everything up to this parcel is stored here: its sender need not keep it."""

    def offer(self, candidate: Candidate, shard: int) -> None:
        """A URL for a shard that is not ours, which we keep as a refusal until it has become a page."""

    async def ask(self, request: Request, shard: int) -> FetchResult:
        """The answer to a request at a site that is not ours, in that site's pace."""

    def adopted(self, seed: str, target: str) -> None:
        """A seed has moved to another host, which belongs to the scope from now on."""

    def spent(self, visits: int, wire_bytes: int) -> tuple[int, int]:
        """Say what we have spent in this run, and hear what all have spent together."""

    def agree(self, ended: Ended) -> bool:
        """We have nothing left to do: has everybody?"""


class Alone:
    """Implements `Neighbours` for a process that owns every shard."""

    def owns(self, shard: int) -> bool:
        return True

    def is_first(self) -> bool:
        return True

    def may_ask(self) -> bool:
        return True

    def bring(self, parcel: LinkBatch) -> None:
        raise AssertionError("every shard is ours")

    def fetches(self) -> bool:
        return False

    def confirm(self, source: int, target: int, seq: int) -> None:
        raise AssertionError("every shard is ours")

    def offer(self, candidate: Candidate, shard: int) -> None:
        raise AssertionError("every shard is ours")

    async def ask(self, request: Request, shard: int) -> FetchResult:
        raise AssertionError("every shard is ours")

    def adopted(self, seed: str, target: str) -> None:
        pass

    def spent(self, visits: int, wire_bytes: int) -> tuple[int, int]:
        return visits, wire_bytes

    def agree(self, ended: Ended) -> bool:
        return True
