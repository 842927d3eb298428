"""What commands ask about a collection, also while another process crawls: read-only, in short steps."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evercrawl.adapters.postgres.marker import marked
from evercrawl.adapters.sqlite.analysis import Fields, analyses_of, newest_of_site
from evercrawl.adapters.sqlite.connection import open_for_reading
from evercrawl.adapters.sqlite.fault import Translating
from evercrawl.adapters.sqlite.rows import refusal_from, site_from, text_of
from evercrawl.adapters.sqlite.sights import change_from
from evercrawl.adapters.sqlite.statements import SQL
from evercrawl.adapters.sqlite.store import shard_path, shards_in
from evercrawl.core.credit.credit_priority import mean_importance
from evercrawl.core.credit.ledger import CREDIT_KEY, MICROS, PageCredit, importance_of, ledger_of
from evercrawl.core.document.compression import MAX_CHAIN
from evercrawl.model.listing import (
    ChangeRecord,
    CreditSummary,
    Decisions,
    PageRecord,
    RejectedPage,
    SampledPage,
    SampledSite,
    Totals,
    VersionMoment,
    VersionRecord,
    VisitRecord,
)
from evercrawl.model.page import OriginalRecord, Refusal, Version
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.site import Site

ROWS_AT_A_TIME = 1000
"""A step reads no more rows: a long read transaction would keep the log of a crawl from being moved away."""
VISITS_AT_A_TIME = 50_000
"""Lines of the log that are counted in one step."""
MOST_ID = 2**63 - 1
"""Behind every page."""


class ShardReader:
    """The state of one shard, as of the moment of each call."""

    def __init__(self, path: Path, connection: sqlite3.Connection | None = None) -> None:
        """`connection`: where the state lies when it is not in the file."""
        self._translating = Translating(path)
        self.connection: sqlite3.Connection = connection or open_for_reading(path)

    def page(self, key: bytes) -> PageRecord | None:
        """The page of this key."""
        row = self._one("view_page", key)
        if row is None:
            return None
        page = PageRecord._make(row)
        return page._replace(outcome=Outcome(page.outcome), reason=Reason(page.reason), is_queued=bool(page.is_queued))

    def credit(self, key: bytes) -> CreditSummary | None:
        """What the page of this key counts; None: there is no such page."""
        row = self._one("view_credit", key)
        if row is None:
            return None
        ledger = ledger_of(self.memory(*CREDIT_KEY))
        held, earned, generation = row
        importance = importance_of(PageCredit(0, 0, earned, generation), max(generation, ledger.generation))
        mean = mean_importance(ledger)
        return CreditSummary((held + ledger.dividend) / MICROS, importance / mean if mean else 1.0)

    def refusal(self, key: bytes) -> Refusal | None:
        """The refused URL of this key."""
        row = self._one("view_refusal", key)
        return None if row is None else refusal_from(row)

    def refusals(self, after: bytes = b"", most: int = ROWS_AT_A_TIME) -> list[Refusal]:
        """The next refused URLs in order of key."""
        return [refusal_from(row) for row in self._all("refusals", after, most)]

    def decisions(self) -> Decisions:
        """Number of URLs by outcome and reason."""
        return {(Outcome(outcome), Reason(reason)): urls for outcome, reason, urls in self._all("view_tally")}

    def sites(self, after: int = 0, most: int = ROWS_AT_A_TIME) -> list[Site]:
        """The next sites in order of id."""
        return [site_from(row) for row in self._all("view_sites", after, most)]

    def visits(self, page_id: int, most: int) -> list[VisitRecord]:
        """The last visits of a page, newest first."""
        rows = self._all("view_visits", page_id, most)
        return [VisitRecord(at, Outcome(outcome), Reason(reason), *rest) for at, outcome, reason, *rest in rows]

    def versions(self, page_id: int) -> list[VersionRecord]:
        """The versions of a page, oldest first."""
        rows = self._all("view_versions", page_id)
        return [VersionRecord(seen, after, status, Version(*rest)) for seen, after, status, *rest in rows]

    def text(self, page_id: int, number: int, *, most_bytes: int | None = None) -> str | None:
        """The main text of a version, or about so much of it; None: the version is not there, or has none."""
        chain = self._all("text_chain", page_id, number, MAX_CHAIN)
        return text_of(chain, page_id, number, most_bytes=most_bytes)

    def analyses(self, page_id: int) -> dict[int, Fields]:
        """Version -> what analysers said about it."""
        with self._translating:
            return analyses_of(self.connection, page_id)

    def analyses_of_site(self, site: str) -> Iterator[tuple[str, Fields]]:
        """URL and what analysers said about the newest version, of every page of a site."""
        with self._translating:
            yield from newest_of_site(self.connection, site)

    def changes_since(self, at_us: int, page_id: int = MOST_ID) -> list[ChangeRecord]:
        """A portion of the changes that were seen behind this moment and page, in order of time."""
        return [change_from(row) for row in self._all("view_changes_since", at_us, page_id, ROWS_AT_A_TIME)]

    def totals(self, now_us: int) -> Totals:
        """Sums over the shard."""
        return Totals._make(self._one("view_totals", now_us))

    def next_due(self) -> int | None:
        """The earliest due time of any page."""
        due: int | None = self._one("next_due")[0]
        return due

    def site_named(self, name: str) -> Site | None:
        """The site of this name."""
        row = self._one("view_site", name)
        return None if row is None else site_from(row)

    def original(self, digest: bytes) -> OriginalRecord | None:
        """The version that held this content first."""
        row = self._one("original", digest)
        return None if row is None else OriginalRecord._make(row)

    def rejected_pages(self, after: int = 0, most: int = ROWS_AT_A_TIME) -> list[RejectedPage]:
        """The next pages that were refused when their turn came."""
        rows = map(RejectedPage._make, self._all("view_rejected", after, most))
        return [row._replace(reason=Reason(row.reason)) for row in rows]

    def next_id(self) -> int:
        """The number that the next page will get: no page has a larger one."""
        number: int = self._one("read_shard")[2]
        return number

    def sampled_pages(self, ids: Sequence[int]) -> list[SampledPage]:
        """Those of the pages that there are; at most `ROWS_AT_A_TIME` of them."""
        rows = map(SampledPage._make, self._all("view_sample", json.dumps(list(ids))))
        return [
            row._replace(
                outcome=None if row.outcome is None else Outcome(row.outcome),
                reason=None if row.reason is None else Reason(row.reason),
                is_waiting=bool(row.is_waiting),
            )
            for row in rows
        ]

    def sampled_sites(self, ids: Sequence[int], kind: str) -> list[SampledSite]:
        """The sites, each with what was learned about it of one kind."""
        return list(map(SampledSite._make, self._all("view_sampled_sites", json.dumps(list(ids)), kind)))

    def memory(self, site_id: int, kind: str) -> bytes | None:
        """What was learned about a site; None: nothing."""
        row = self._one("memory", site_id, kind)
        return None if row is None else row[0]

    def memory_sites(self, kind: str) -> list[int]:
        """The sites about which something of this kind was learned."""
        return [site_id for (site_id,) in self._all("memory_sites", kind)]

    def not_due(self, now_us: int) -> int:
        """Pages outside the queue whose time has not come."""
        count: int = self._one("view_not_due", now_us)[0]
        return count

    def spared(self) -> tuple[int, int]:
        """Answers 304, and the bytes of the bodies that did not have to be sent for them."""
        answers = body_bytes = 0
        for after in range(0, self._one("view_last_visit")[0], VISITS_AT_A_TIME):
            some, size = self._one("view_spared", after, after + VISITS_AT_A_TIME)
            answers, body_bytes = answers + some, body_bytes + size
        return answers, body_bytes

    def histories(self, after: int, upto: int) -> list[VersionMoment]:
        """When the versions of the pages of a range of numbers were seen."""
        return list(map(VersionMoment._make, self._all("view_history", after, upto)))

    def rows_of(self, statement: str, *parameters: object) -> list[Any]:
        """The rows of a question that another module asks."""
        with self._translating:
            return self.connection.execute(statement, parameters).fetchall()

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    def _one(self, name: str, *parameters: object) -> Any:
        with self._translating:
            return self.connection.execute(SQL[name], parameters).fetchone()

    def _all(self, name: str, *parameters: object) -> list[Any]:
        with self._translating:
            return self.connection.execute(SQL[name], parameters).fetchall()


def _reading(address: str) -> Any:
    """Imported when a collection needs it: the library is an extra."""
    from evercrawl.adapters.postgres.reading import reading

    return reading(address)


def session_of(collection: Path, shard: int) -> Any:
    """Where the shard's state lies when it is in a database; None: in its file."""
    address = marked(collection)
    return None if address is None else _reading(address).session(shard)


class StateReader:
    """The state of a whole collection, in its files or in the database that it names; one shard at a time."""

    def __init__(self, collection: Path) -> None:
        self._collection = collection
        self._address = marked(collection)

    def shards(self) -> list[int]:
        """The shards that hold something."""
        if self._address is not None:
            shards: list[int] = _reading(self._address).shards()
            return shards
        return shards_in(self._collection)

    @contextmanager
    def shard(self, shard: int) -> Iterator[ShardReader]:
        """One shard's reader, closed behind the block."""
        reader = ShardReader(shard_path(self._collection, shard), session_of(self._collection, shard))
        try:
            yield reader
        finally:
            reader.close()

    def decisions(self) -> Decisions:
        """Number of URLs by outcome and reason, over all shards."""
        counted: Counter[tuple[Outcome, Reason]] = Counter()
        for shard in self.shards():
            with self.shard(shard) as reader:
                counted.update(reader.decisions())
        return dict(counted)

    def totals(self, now_us: int) -> Totals:
        """Sums over all shards."""
        total = Totals()
        for shard in self.shards():
            with self.shard(shard) as reader:
                total = Totals._make(map(sum, zip(total, reader.totals(now_us), strict=True)))
        return total

    def refusals(self) -> Iterator[Refusal]:
        """Every refused URL that is remembered."""
        for shard in self.shards():
            with self.shard(shard) as reader:
                after = b""
                while portion := reader.refusals(after):
                    yield from portion
                    after = portion[-1].key

    def sites(self) -> Iterator[Site]:
        """Every site."""
        for shard in self.shards():
            with self.shard(shard) as reader:
                after = 0
                while portion := reader.sites(after):
                    yield from portion
                    after = portion[-1].id

    def rejected_pages(self) -> Iterator[RejectedPage]:
        """Every page that was refused when its turn came."""
        for shard in self.shards():
            with self.shard(shard) as reader:
                after = 0
                while portion := reader.rejected_pages(after):
                    yield from portion
                    after = portion[-1].id


def shards_of(collection: Path) -> list[int]:
    """The shards that hold something."""
    return StateReader(collection).shards()
