"""Read the state of a collection, also while another process crawls: read-only, in short steps."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

from evercrawl.adapters.sql.database import BlockingQueries, change_from, noise_from, refusal_from, site_from, text_of
from evercrawl.adapters.sqlite.sqlite_database import SqliteConnection
from evercrawl.adapters.sqlite.state_file import database_of, open_for_reading, shard_path, shards_in
from evercrawl.core.credit.ledger import (
    CREDIT_KEY,
    MICROS,
    CreditLedger,
    PageCredit,
    importance_of,
    ledger_of,
    mean_importance,
)
from evercrawl.core.document.compression import MAX_CHAIN
from evercrawl.model.change import Change
from evercrawl.model.listing import (
    ChangeRecord,
    CreditSummary,
    Decisions,
    PageBalance,
    PageDecision,
    PageRecord,
    SampledPage,
    SampledSite,
    Totals,
    VersionMoment,
    VersionRecord,
    VisitRecord,
)
from evercrawl.model.page import OriginalRecord, Refusal, Resource, Version
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.site import Site
from evercrawl.model.time import from_us

ROWS_AT_A_TIME = 1000
"""A step reads no more rows: a long read transaction would keep SQLite from checkpointing the log of a crawl."""
VISITS_AT_A_TIME = 50_000  # Visits of the log that one step counts.
MAX_ID = 2**63 - 1  # Greater than or equal to every page number.
AnalysisFields = dict[str, Any]
K = TypeVar("K", int, bytes)
T = TypeVar("T")


def open_queries(collection: Path, shard: int) -> BlockingQueries:
    """Open one shard for reading, in its file or in the database that the collection names."""
    address = database_of(collection)
    if address is not None:
        from evercrawl.adapters.postgres.postgres_database import reader_of  # an optional dependency

        return reader_of(address).shard(shard)
    path = shard_path(collection, shard)
    return SqliteConnection(path, open_for_reading(path))


def shards_of(collection: Path) -> list[int]:
    """Return the shards of a collection that are not empty."""
    address = database_of(collection)
    if address is not None:
        from evercrawl.adapters.postgres.postgres_database import reader_of  # an optional dependency

        return reader_of(address).shards()
    return shards_in(collection)


def _credit_summary(page: PageCredit, ledger: CreditLedger) -> CreditSummary:
    history = importance_of(page, max(page.generation, ledger.generation))
    mean = mean_importance(ledger)
    return CreditSummary((page.held + ledger.dividend) / MICROS, history / mean if mean else 1.0, history / MICROS)


class ShardReader:
    """The state of one shard at the moment of each call."""

    def __init__(self, queries: BlockingQueries) -> None:
        self.queries = queries

    def page(self, key: bytes) -> PageRecord | None:
        """Return the page with this key."""
        row = self.queries.row("view_page", key=key)
        if row is None:
            return None
        page = PageRecord._make(row)
        return page._replace(outcome=Outcome(page.outcome), reason=Reason(page.reason), is_queued=bool(page.is_queued))

    def credit(self, key: bytes) -> CreditSummary | None:
        """Return credit and importance of the page with this key; None: no such page."""
        row = self.queries.row("page_credit", key=key)
        return None if row is None else _credit_summary(PageCredit(row[0], 0, *row[1:]), self.credit_ledger())

    def credit_ledger(self) -> CreditLedger:
        """Return the credit ledger of this shard."""
        return ledger_of(self.site_state(*CREDIT_KEY))

    def richest_pages(self, most: int) -> list[PageBalance]:
        """Return the pages with the most credit."""
        ledger = self.credit_ledger()
        return [
            PageBalance(url, *_credit_summary(PageCredit(held, 0, earned, generation), ledger), visits, bool(is_queued))
            for url, held, earned, generation, visits, is_queued in self.queries.rows("richest_pages", most=most)
        ]

    def refusal(self, key: bytes) -> Refusal | None:
        """Return the refused URL with this key."""
        row = self.queries.row("view_refusal", key=key)
        return None if row is None else refusal_from(row)

    def refusals(self, after: bytes = b"", most: int = ROWS_AT_A_TIME) -> list[Refusal]:
        """Return the next refused URLs in order of key."""
        return [refusal_from(row) for row in self.queries.rows("refusals", after=after, most=most)]

    def decisions(self) -> Decisions:
        """Return the number of URLs by outcome and reason."""
        return {(Outcome(outcome), Reason(reason)): urls for outcome, reason, urls in self.queries.rows("decisions")}

    def sites(self, after: int = 0, most: int = ROWS_AT_A_TIME) -> list[Site]:
        """Return the next sites in order of id."""
        return [site_from(row) for row in self.queries.rows("sites", after=after, most=most)]

    def visits(self, page_id: int, most: int) -> list[VisitRecord]:
        """Return the last visits of a page, newest first."""
        rows = self.queries.rows("visits_of_page", page_id=page_id, most=most)
        return [VisitRecord(at, Outcome(outcome), Reason(reason), *rest) for at, outcome, reason, *rest in rows]

    def versions(self, page_id: int) -> list[VersionRecord]:
        """Return the versions of a page, oldest first."""
        rows = self.queries.rows("versions_of_page", page_id=page_id)
        return [VersionRecord(seen, after, status, Version(*rest)) for seen, after, status, *rest in rows]

    def text(self, page_id: int, number: int, *, most_bytes: int | None = None) -> str | None:
        """Return the main text of a version, or about `most_bytes` of it; None: no such version, or it has no text."""
        chain = self.queries.rows("text_chain", page_id=page_id, number=number, most=MAX_CHAIN)
        return text_of(chain, page_id, number, most_bytes=most_bytes)

    def analyses(self, page_id: int) -> dict[int, AnalysisFields]:
        """Return what analysers found in each version of a page; versions without a finding are absent."""
        rows = self.queries.rows("analyses_of_page", page_id=page_id)
        return {number: json.loads(fields) for number, fields in rows}

    def analyses_of_site(self, site: str) -> Iterator[tuple[str, AnalysisFields]]:
        """Yield URL and analysis of the newest version of every page of a site."""
        after = 0
        while rows := self.queries.rows("analyses_of_site", site=site, after=after, most=ROWS_AT_A_TIME):
            yield from ((url, json.loads(fields)) for _, url, fields in rows)
            after = rows[-1][0]

    def changes_since(self, at_us: int, page_id: int = MAX_ID) -> list[ChangeRecord]:
        """Return the next changes after this moment and page, in order of time."""
        rows = self.queries.rows("changes_since", at_us=at_us, page_id=page_id, most=ROWS_AT_A_TIME)
        return list(map(change_from, rows))

    def change_at(self, page_id: int, at_us: int) -> Change | None:
        """Return what the visit to a page at this moment found; None: no edit."""
        rows = self.queries.rows("changes_since", at_us=at_us, page_id=page_id - 1, most=1)
        found = [change_from(row) for row in rows]
        return next((one.change for one in found if (one.page_id, one.at_us) == (page_id, at_us)), None)

    def noise_since(self, at_us: int) -> Iterator[ChangeRecord]:
        """Yield what the last visit to each page called noise, if it was after this moment."""
        after = -1
        while rows := self.queries.rows("noise_after", after=after, since_us=at_us, most=ROWS_AT_A_TIME):
            yield from map(noise_from, rows)
            after = rows[-1][0]

    def totals(self, now_us: int) -> Totals:
        """Return the totals of the shard."""
        return Totals._make(self._first("totals", now_us=now_us))

    def next_due(self) -> int | None:
        """Return the earliest due time of any page."""
        due: int | None = self._first("next_due")[0]
        return due

    def site_named(self, name: str) -> Site | None:
        """Return the site with this name."""
        row = self._one_for("site_named", name)
        return None if row is None else site_from(row)

    def original(self, digest: bytes) -> OriginalRecord | None:
        """Return the first record of this content."""
        row = self._one_for("original", digest)
        return None if row is None else OriginalRecord._make(row[1:])

    def resources_of(self, key: bytes) -> list[Resource]:
        """Return the contents of a URL that is not a page, newest first."""
        return list(map(Resource._make, self.queries.rows("resources_of", key=key)))

    def resources(self, after_key: bytes = b"") -> Iterator[Resource]:
        """Yield the resources in order of key, from a key on."""
        place = after_key, b""
        while rows := self.queries.rows("resources", after_key=place[0], after_digest=place[1], most=ROWS_AT_A_TIME):
            portion = [Resource._make(row) for row in rows]
            yield from portion
            place = portion[-1].key, portion[-1].digest

    def asset_uses(self, site: str | None = None) -> Iterator[tuple[str, bytes]]:
        """Yield the URL of each version's page with the marks of its assets, of one site or of any."""
        page_id, number = 0, -1
        while rows := self.queries.rows(
            "asset_uses", site=site, after_id=page_id, after_number=number, most=ROWS_AT_A_TIME
        ):
            yield from ((url, marks) for _, _, url, marks in rows)
            page_id, number = rows[-1][:2]

    def resource_original(self, digest: bytes) -> OriginalRecord | None:
        """Return the record that holds this content of resources."""
        rows = self.queries.rows("resource_original", digest=digest)
        return OriginalRecord._make(rows[0]) if rows else None

    def rejected_pages(self, after: int = 0, most: int = ROWS_AT_A_TIME) -> list[PageDecision]:
        """Return the next pages that were refused at their turn."""
        return list(map(PageDecision.from_row, self.queries.rows("rejected_pages", after=after, most=most)))

    def page_decisions(self, after: int = 0, most: int = ROWS_AT_A_TIME) -> list[PageDecision]:
        """Return the next pages with their last decision."""
        return list(map(PageDecision.from_row, self.queries.rows("page_decisions", after=after, most=most)))

    def next_id(self) -> int:
        """Return the number of the next new page, which is greater than every page number."""
        number: int = self._first("read_shard")[2]
        return number

    def sampled_pages(self, ids: Sequence[int]) -> list[SampledPage]:
        """Return the known pages among these numbers."""
        rows = map(SampledPage._make, self.queries.rows_for("sampled_page", [(page_id,) for page_id in ids]))
        return [
            row._replace(
                outcome=None if row.outcome is None else Outcome(row.outcome),
                reason=None if row.reason is None else Reason(row.reason),
                is_waiting=bool(row.is_waiting),
            )
            for row in rows
        ]

    def sampled_sites(self, ids: Sequence[int], kind: str) -> list[SampledSite]:
        """Return the sites, each with its learned state of one kind."""
        return list(map(SampledSite._make, self.queries.rows_for("sampled_site", [(site_id, kind) for site_id in ids])))

    def site_state(self, site_id: int, kind: str) -> bytes | None:
        """Return the learned state of one kind of a site; None: there is none."""
        row = self.queries.row("site_state", site_id=site_id, kind=kind)
        return None if row is None else row[0]

    def sites_with_state(self, kind: str) -> list[int]:
        """Return the sites with learned state of this kind."""
        return [site_id for (site_id,) in self.queries.rows("sites_with_state", kind=kind)]

    def not_due(self, now_us: int) -> int:
        """Return the number of pages outside the queue that are not due yet."""
        count: int = self._first("count_not_due", now_us=now_us)[0]
        return count

    def saved_bodies(self) -> tuple[int, int]:
        """Return the number of 304 answers and the bytes of the bodies that they saved."""
        answers = body_bytes = 0
        for after in range(0, self.last_visit_id(), VISITS_AT_A_TIME):
            some, size = self._first("saved_bodies", after=after, upto=after + VISITS_AT_A_TIME)
            answers, body_bytes = answers + some, body_bytes + size
        return answers, body_bytes

    def version_times(self, after: int, upto: int) -> list[VersionMoment]:
        """Return when the versions of a range of pages were seen."""
        return list(map(VersionMoment._make, self.queries.rows("version_times", after=after, upto=upto)))

    def last_visit_id(self) -> int:
        """Return the number of the newest visit in the log; 0: the log is empty."""
        number: int = self._first("last_visit_id")[0]
        return number

    def last_late_change(self) -> int:
        """Return the number of the newest late verdict on a change; 0: there is none."""
        number: int = self._first("last_late_change")[0]
        return number

    def close(self) -> None:
        """Release the file or connection."""
        self.queries.close()

    def _first(self, name: str, **values: object) -> Any:
        """Return the row of a query that always has one."""
        return self.queries.rows(name, **values)[0]

    def _one_for(self, name: str, value: object) -> Any:
        """Return the row of a batch query for one input; None: there is none."""
        rows = self.queries.rows_for(name, [(value,)])
        return rows[0] if rows else None


class StateReader:
    """The state of a whole collection, one shard at a time."""

    def __init__(self, collection: Path) -> None:
        self._collection = collection

    def shards(self) -> list[int]:
        """Return the shards that are not empty."""
        return shards_of(self._collection)

    @contextmanager
    def shard(self, shard: int) -> Iterator[ShardReader]:
        """Open a reader of one shard for the block."""
        with closing(ShardReader(open_queries(self._collection, shard))) as reader:
            yield reader

    def decisions(self) -> Decisions:
        """Return the number of URLs by outcome and reason, over all shards."""
        counted: Counter[tuple[Outcome, Reason]] = Counter()
        for shard in self.shards():
            with self.shard(shard) as reader:
                counted.update(reader.decisions())
        return dict(counted)

    def totals(self, now_us: int) -> Totals:
        """Return the totals over all shards."""
        total = Totals()
        for shard in self.shards():
            with self.shard(shard) as reader:
                total = Totals._make(map(sum, zip(total, reader.totals(now_us), strict=True)))
        return total

    def next_due(self) -> datetime | None:
        """Return when the next page is due."""
        moments: list[int] = []
        for shard in self.shards():
            with self.shard(shard) as reader:
                due_us = reader.next_due()
                if due_us is not None:
                    moments.append(due_us)
        return from_us(min(moments)) if moments else None

    def refusals(self) -> Iterator[Refusal]:
        """Yield every stored refusal."""
        return self._portions(ShardReader.refusals, b"", attrgetter("key"))

    def sites(self) -> Iterator[Site]:
        """Yield every site."""
        return self._portions(ShardReader.sites, 0, attrgetter("id"))

    def rejected_pages(self) -> Iterator[PageDecision]:
        """Yield every page that was refused at its turn."""
        return self._portions(ShardReader.rejected_pages, 0, attrgetter("id"))

    def page_decisions(self) -> Iterator[PageDecision]:
        """Yield every page with its last decision."""
        return self._portions(ShardReader.page_decisions, 0, attrgetter("id"))

    def _portions(self, read: Callable[[ShardReader, K], list[T]], first: K, key: Callable[[T], K]) -> Iterator[T]:
        """Yield what `read` returns after each key, shard by shard."""
        for shard in self.shards():
            with self.shard(shard) as reader:
                after = first
                while portion := read(reader, after):
                    yield from portion
                    after = key(portion[-1])
