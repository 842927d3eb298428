"""Memory, SQLite and PostgreSQL give the same rows in the same order, also for awkward values.

Names outside ASCII, empty texts, nulls, the largest integers, equal sort keys, and rows that change twice in a batch.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from evercrawl.adapters.postgres.membership import PostgresStore
from evercrawl.adapters.postgres.postgres_database import PostgresReader
from evercrawl.adapters.postgres.postgres_pool import DatabaseAddress
from evercrawl.adapters.sql.database import SQL, BlockingQueries, Statement
from evercrawl.adapters.sql.table_reader import TABLES, TableReader
from evercrawl.adapters.sqlite.sqlite_database import SqliteConnection, SqliteStore
from evercrawl.adapters.sqlite.state_file import open_for_reading, shard_path
from evercrawl.core.document.compression import pack_text
from evercrawl.engine.ports import ShardStore, Store
from evercrawl.model.change import Change, ChangeClass, Edit, Words
from evercrawl.model.page import (
    ArchiveEnd,
    Batch,
    CreditShare,
    LinkBatch,
    NewPage,
    Promotion,
    Refusal,
    Requeue,
    Reschedule,
    Resource,
    SettledChange,
)
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.settings import StoreSettings
from evercrawl.model.site import Site
from evercrawl.model.table import NUMBERS, ColumnFilter, TableQuery
from evercrawl.testing.store import MemoryStore
from tests.contract.store_values import NOON_US, a_baseline, a_robots_record, a_version, a_visit
from tests.postgres_server import PostgresServer

SHARD = 7
LARGEST = 2**63 - 1
NAMES = (
    "https://zebra.example",
    "https://Zebra.example",
    "https://äpfel.example",
    "https://apfel.example",
    "https://bücher.example:8443",
    "https://例え.example",
    "https://_.example",
    "https://🗿.example",
)
"""Collations sort them differently from their bytes."""
URLS = ("", "é", "e", "Z", "a?q='\"\\", "ß", "🗿", "a\nb", "%C3%A9", "~", "\u00a0", "straße")
KEYS = [bytes([first, *([0] * 14), last]) for first in (0, 127, 128, 255) for last in (0, 1, 255)]
TEXTS = ("", " ", "NULL", "größer ' \\ \n", "🗿", "\u0301combining", "x" * 3000)


def pages() -> list[NewPage]:
    """Twelve pages of eight sites, with keys around every border of a byte."""
    return [
        NewPage(
            id=number,
            key=KEYS[number - 1],
            url=f"{NAMES[number % 8]}/{URLS[number - 1]}",
            site_id=number % 8 + 1,
            depth=number % 3,
            hops=0,
            priority=number % 2,
            seq=number,
            parent_id=None if number == 1 else number // 2,
            found_us=NOON_US if number % 2 else LARGEST,
            credit=LARGEST // 4 if number == 3 else number,
            earned=LARGEST // 8 if number == 3 else number,
            generation=number % 4,
        )
        for number in range(1, 13)
    ]


def sites() -> dict[int, Site]:
    found = {}
    for number, name in enumerate(NAMES, start=1):
        found[number] = Site(
            number,
            name,
            name.rpartition("/")[2] if number % 2 else "example",
            open_us=LARGEST if number == 1 else 0,
            delay_ms=number * 10**9,
            backoff=0.1 * number,
            failures=number % 3,
            closed_reason=(None, "", "429 – später")[number % 3],
            requests=number,
            wire_bytes=2**59,
            robots=a_robots_record()._replace(etag=None, detail="", body=bytes(range(256))) if number % 3 else None,
        )
    return found


def batches() -> Iterator[Batch]:
    """Three commits that use every part of a batch."""
    new = pages()
    first = Batch(sites=sites(), new_pages=new, archive_end=ArchiveEnd("größe-00.warc.gz", LARGEST))
    first.refusals = [
        Refusal(bytes([255 - number]) * 16, f"https://x.example/{text}", reason, text, parent, at_us, number)
        for number, (text, reason, parent, at_us) in enumerate(
            [("", Reason.OUT_OF_SCOPE, None, 0), ("ö", Reason.EXCLUDED, "", LARGEST), ("🗿", Reason.EXCLUDED, "p", 5)]
        )
    ]
    first.sent = [LinkBatch(seq, SHARD, seq % 5, bytes(range(seq))) for seq in (3, 1, 2)]
    first.received = {0: LARGEST, 63: 1}
    first.site_states = {(1, "größe"): b"", (1, "a"): b"\0\xff", (2, "a"): b"x", (0, "a"): b"whole shard"}
    yield first
    second = Batch(sites={1: sites()[1]._replace(robots=None, failures=9)})
    second.visited = [visit_of(page, place) for place, page in enumerate(new[:9])]
    second.shares = [CreditShare(11, 5, 4), CreditShare(12, 7, 70), CreditShare(11, 6, 5), CreditShare(11, 1, 2)]
    second.promoted = [Promotion(11, 4, 1, 11, 0, 21), Promotion(12, 5, 1, 99, 0, 22)]
    yield second
    third = Batch(delivered=[2, 9], received={0: 5, 63: 2}, site_states={(1, "a"): b"new"})
    third.requeued = [Requeue(2, 3, 0, 30), Requeue(4, 5, 1, 31)]
    third.rescheduled = [Reschedule(5, None, b""), Reschedule(6, 77, b"estimate"), Reschedule(6, 78), Reschedule(12, 5)]
    again = a_visit(new[0], seq=0, at_us=NOON_US + 9, due_us=50, outcome=Outcome.UNCHANGED, reason=Reason.NOT_MODIFIED)
    third.visited = [
        again._replace(status=304, wire_bytes=0, etag="", last_modified=""),
        again._replace(
            at_us=NOON_US + 10, baseline=a_baseline(b"later"), outline=b"later", digest=a_baseline(b"later").digest
        ),
        again._replace(
            at_us=NOON_US + 11,
            baseline=a_baseline(b"last"),
            outline=b"last",
            digest=a_baseline(b"last").digest,
            reason=Reason.GONE,
        ),
        a_visit(new[6], seq=0, at_us=NOON_US, due_us=50, version=next_version(), change=edits(1)),
    ]
    third.settled = [
        SettledChange(2, NOON_US, edits(3)),
        SettledChange(1, NOON_US + 9, edits(2)),
        SettledChange(2, NOON_US, edits(5)),
        SettledChange(9, NOON_US + 8, Change(ChangeClass.NOISE, 0.0, edits(1).edits, omitted=3)),
    ]
    third.resources = [
        *resources(),
        resources()[0]._replace(last_us=LARGEST, etag="later", file="not used"),
        resources()[1]._replace(last_us=0, fresh_until_us=0),
    ]
    third.completed = {1: (1, b""), 7: (1, bytes(range(16))), 3: (LARGEST, bytes(8))}
    third.refusals = [first.refusals[1]._replace(detail="other", reason=Reason.OUT_OF_SCOPE)]
    yield third


def resources() -> list[Resource]:
    same = a_version(body=b"same").digest
    return [
        Resource(
            KEYS[number],
            same if number % 2 else bytes([number]) * 16,
            f"{NAMES[number]}/{URLS[number]}",
            NOON_US - number % 3,
            NOON_US + number % 2,
            (0, LARGEST)[number % 2],
            (200, 301, 404)[number % 3],
            (None, "https://ö.example/", "")[number % 3],
            bytes([number]) * 20,
            (None, "text/css; charset=ü", "")[number % 3],
            LARGEST if number == 1 else number,
            (None, '"ü"', "")[number % 3],
            (None, "")[number % 2],
            "größe-00.warc.gz",
            LARGEST if number == 2 else number,
            number,
            bytes([number]) * 16,
            (None, "length")[number % 2],
            None if number in (1, 3) else b"r" * 16,
        )
        for number in range(8)
    ]


def visit_of(page: NewPage, place: int) -> Any:
    text = TEXTS[place % len(TEXTS)]
    body = b"same" if place in (2, 5) else b"%d" % place
    version = a_version(1, body=body, etag=("", None, '"ü"')[place % 3])._replace(
        title=(None, *TEXTS)[place % 8],
        lang=("de", "DE-at", None, "", "den")[place % 5],
        offset=LARGEST if place == 1 else place,
        body_bytes=LARGEST if place == 1 else 0,
        content_type=None if place == 2 else "text/html; charset=ü",
        signature=None if place == 3 else b"\0" * 8,
        truncated=None if place % 2 else "",
        change_size=0.1 * place,
        change_class="content" if place % 2 else None,
        text=pack_text(text, 1, None) if text.strip() else None,
        analysis=None if place % 2 else '{"mood": "größer"}',
    )
    reasons = (Reason.NEW, Reason.CHANGED, Reason.EXCLUDED)
    return a_visit(
        page,
        at_us=NOON_US if place % 2 else NOON_US + place,
        due_us=(50, 50, None, LARGEST, 10)[place % 5],
        version=None if place == 4 else version,
        outcome=Outcome.REJECTED if place % 3 == 2 else Outcome.FETCHED,
        reason=reasons[place % 3],
        detail=text,
        status=None if place == 4 else 200,
        wire_bytes=2**59,
        moved_to=(None, "", "https://ö.example/")[place % 3],
        duplicate_of=(None, 1)[place in (3, 6, 7)],
        rate_estimate=(None, b"", b"\0")[place % 3],
        baseline=a_baseline(b"%d" % place) if place == 0 else None,
        outline=b"outline" if place % 2 == 0 else None,
        change=edits(place) if place % 2 else None,
        spent=place,
    )


def next_version() -> Any:
    text = pack_text("größer und länger", 2, (1, "größer"))
    return a_version(2, body=b"second")._replace(text=text, change_class="metadata")


def edits(number: int) -> Change:
    edit = Edit(2**63 + number, number % 2 == 0, (Words("+", "größer 🗿"),))
    return Change(ChangeClass.CONTENT, 0.1 * number, (edit,), noise=(edit,))


# The stores


class Filled(NamedTuple):
    """What the same commits left in each store."""

    reads: dict[str, dict[str, Any]]
    """Store -> call -> result."""
    sqlite: BlockingQueries
    postgres: BlockingQueries


@pytest.fixture(scope="module")
def filled(postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    settings = StoreSettings(shards=64, max_refusals_per_shard=100)
    folder: Path = tmp_path_factory.mktemp("same_rows")
    address = DatabaseAddress(postgres.dsn, postgres.new_namespace())
    stores: dict[str, Store] = {
        "memory": MemoryStore(64, most_refusals=100),
        "sqlite": SqliteStore(folder, settings),
        "postgres": PostgresStore(address, settings, connections=2),
    }
    reads = asyncio.run(fill_and_read(stores))
    path = shard_path(folder, SHARD)
    sqlite = SqliteConnection(path, open_for_reading(path))
    reader = PostgresReader(address)
    yield Filled(reads, sqlite, reader.shard(SHARD))
    reader.close()
    sqlite.close()


async def fill_and_read(stores: dict[str, Store]) -> dict[str, dict[str, Any]]:
    reads = {}
    for name, store in stores.items():
        shard = await store.open_shard(SHARD)
        await fill(shard)
        await fill(await store.open_shard(SHARD + 1))
        reads[name] = await read_everything(shard)
        await store.close()
    return reads


async def fill(shard: ShardStore) -> None:
    """Commit the batches. A second shard with the same rows shows whether a statement forgets to name the shard."""
    epoch = (await shard.claim()).epoch
    for batch in batches():
        await shard.commit(epoch, batch)


async def read_everything(shard: ShardStore) -> dict[str, Any]:
    unknown = [b"?" * 16]
    portions = shard.keys()
    found: dict[str, Any] = {
        "claim": await shard.claim(),
        "keys": [key async for portion in portions for key in portion],
        "known": await shard.known(KEYS + unknown),
        "pages": await shard.pages(KEYS[::-1] + unknown),
        "queue_positions": await shard.queue_positions(KEYS[::-1] + unknown),
        "sites_named": await shard.sites_named([*NAMES, "https://none.example", ""]),
        "sites": [await shard.site(number) for number in range(10)],
        "waiting_sites": [await shard.waiting_sites(priority, after, most) for priority, after, most in LIMITS],
        "queue": [await shard.queue(site, priority, 0, 100) for site in range(1, 9) for priority in (0, 1)],
        "queue_limit": [await shard.queue(4, priority, after, most) for priority, after, most in LIMITS],
        "due": [await shard.due(now_us, most) for now_us in (0, 10, 50, LARGEST) for most in (1, 2, 100)],
        "next_due": await shard.next_due(),
        "unfetched": [await shard.unfetched(after, most) for after in (0, 5, LARGEST) for most in (1, 100)],
        "duplicates_of": [await shard.duplicates_of(number, most) for number in range(3) for most in (1, 100)],
        "duplicate_candidate": [await shard.duplicate_candidate(page) for page in [*KEYS, *range(14)]],
        "originals": await shard.originals([a_version(body=b"same").digest, a_version(body=b"0").digest, b""]),
        "version_original": [await shard.version_original(number) for number in range(14)],
        "earlier_original": [await shard.earlier_original(page, number) for page in range(14) for number in range(4)],
        "text": [await shard.text(number, version) for number in range(14) for version in (1, 2)],
        "baseline": [await shard.baseline(number) for number in range(14)],
        "resource": [await shard.resource(key) for key in KEYS + unknown],
        "resource_original": [await shard.resource_original(one.digest) for one in resources()],
        "pages_without_assets": [await shard.pages_without_assets(after, most) for _, after, most in LIMITS],
        "site_state": [await shard.site_state(site, kind) for site in range(3) for kind in ("größe", "a", "")],
        "sites_with_state": await shard.sites_with_state("a"),
        "moved_to": [await shard.moved_to(key) for key in KEYS + unknown],
        "refusals": [await shard.refusals(after, most) for after in (b"", b"\xfe" * 16) for most in (1, 100)],
        "outbox": await shard.outbox(),
        "received": await shard.received(),
    }
    return found


LIMITS = [(priority, after, most) for priority in (0, 1) for after in (0, 3, LARGEST) for most in (1, 100)]
CALLS = [
    *(
        "claim",
        "keys",
        "known",
        "pages",
        "queue_positions",
        "sites_named",
        "sites",
        "waiting_sites",
        "queue",
        "queue_limit",
    ),
    *(
        "due",
        "next_due",
        "unfetched",
        "duplicates_of",
        "duplicate_candidate",
        "originals",
        "version_original",
        "earlier_original",
        "text",
        "baseline",
    ),
    *("resource", "resource_original", "pages_without_assets"),
    *("site_state", "sites_with_state", "moved_to", "refusals", "outbox", "received"),
]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_store_reads_are_those_of_the_store_in_memory(filled: Filled, store: str, call: str) -> None:
    assert filled.reads[store][call] == filled.reads["memory"][call]
    assert set(filled.reads[store]) == set(CALLS)


# Every query, also those that only commands use

VALUES: dict[str, list[object]] = {
    "after": [0, 3],
    "after_digest": [b"", b"\x02" * 16],
    "after_id": [0, 3],
    "after_key": [b"", KEYS[2]],
    "after_number": [0],
    "after_seq": [0],
    "after_us": [0, 50],
    "at_us": [NOON_US, 0, LARGEST],
    "prefix": ["", "https://"],
    "priority": [0, 1],
    "before_id": [LARGEST, 3],
    "before_us": [LARGEST, NOON_US],
    "digest": [a_version(body=b"same").digest],
    "domain": ["example", ""],
    "epoch": [1],
    "file": ["s00.warc.gz", "", "größe-00.warc.gz", "later.warc.gz"],
    "from_us": [0],
    "id": [1, 99],
    "key": [*KEYS, b"\xfe" * 16, b""],
    "kind": ["a", "größe", ""],
    "lang": [None, "de", ""],
    "last": [b"\xff" * 16],
    "most": [2, 100],
    "name": [*NAMES, ""],
    "newest_only": [False, True],
    "now_us": [50, LARGEST],
    "number": [0, 1, 2],
    "page_id": [0, 1, 7],
    "reason": [Reason.EXCLUDED.value, Reason.OUT_OF_SCOPE.value],
    "since_us": [0],
    "site": [None, *NAMES, "bücher.example", "例え.example"],
    "site_id": [None, 1, 4],
    "until_us": [LARGEST, 100],
    "upto": [100],
}
BYTE_KEYS = frozenset({"seen_keys", "refusals", "pages_of_site"})
"""Queries whose `after` is a key."""
NO_NULL_SITE = frozenset({"analyses_of_site", "pages_of_site", "visits_of_site", "site_by_id", "site_state", "queue"})
QUERIES = sorted(statement.name for statement in SQL.values() if statement.target is None)


def choices(statement: Statement) -> list[dict[str, Any]]:
    """Parameter values in which each value of each parameter occurs at least once."""
    options = {}
    for name in statement.parameters:
        values = VALUES[name]
        if name == "after" and statement.name in BYTE_KEYS:
            values = [b"", KEYS[4]]
        if name in ("site", "site_id") and statement.name in NO_NULL_SITE:
            values = [value for value in values if value is not None]
        options[name] = values
    longest = max(map(len, options.values()), default=1)
    some = [{name: values[turn % len(values)] for name, values in options.items()} for turn in range(longest)]
    first = {name: values[0] for name, values in options.items()}
    return some + [first | {name: value} for name, values in options.items() for value in values]


@pytest.mark.parametrize("name", QUERIES)
def test_query_gives_the_same_rows_in_both_databases(filled: Filled, name: str) -> None:
    statement = SQL[name]
    for values in choices(statement):
        if statement.columns:
            row = tuple(values.values())
            ours, theirs = filled.sqlite.rows_for(name, [row]), filled.postgres.rows_for(name, [row])
        else:
            ours, theirs = filled.sqlite.rows(name, **values), filled.postgres.rows(name, **values)
        if " order by " not in statement.text:
            ours, theirs = sorted(map(repr, map(plain, ours))), sorted(map(repr, map(plain, theirs)))
        assert list(map(plain, ours)) == list(map(plain, theirs)), values


def plain(row: Any) -> Any:
    """A row as a tuple; SQLite has no booleans."""
    return tuple(int(value) if isinstance(value, bool) else value for value in row) if not isinstance(row, str) else row


def test_queries_of_the_suite_find_something(filled: Filled) -> None:
    empty = [
        name
        for name in QUERIES
        if not any(
            filled.sqlite.rows_for(name, [tuple(values.values())])
            if SQL[name].columns
            else filled.sqlite.rows(name, **values)
            for values in choices(SQL[name])
        )
    ]
    assert empty == ["dropped_files"]


def test_late_verdicts_replace_earlier_ones_and_are_listed_in_their_order(filled: Filled) -> None:
    for queries in (filled.sqlite, filled.postgres):
        rows = queries.rows("late_events", after=0, upto=LARGEST)
        assert [(row[1], row[2], row[10], round(row[11], 3)) for row in rows] == [
            (2, NOON_US, "content", 0.5),
            (1, NOON_US + 9, "content", 0.2),
            (2, NOON_US, "content", 0.5),
        ]
        assert [(row[8], row[9]) for row in rows] == [("content", 0.5), (None, None), ("content", 0.5)], (
            "the version too"
        )
        end = queries.row("last_late_change")
        assert end is not None
        assert end[0] >= 4


@pytest.mark.parametrize("name", list(TABLES))
def test_tables_are_sorted_filtered_and_paged_alike(filled: Filled, name: str):
    table = TABLES[name]
    both = [TableReader(queries, table, SHARD) for queries in (filled.sqlite, filled.postgres)]
    for column in table.columns:
        sort = column.name if column.is_sortable else None
        signs = (
            (("=", 1), ("!=", -1), (">", 0), ("<=", 200))
            if column.kind in NUMBERS
            else (("~", "A_"), ("!~", "é"), ("=", ""))
        )
        filters = [(), *((ColumnFilter(column.name, *one),) for one in signs if column.is_filterable)]
        for chosen in filters:
            for down in (False, True):
                query = TableQuery(chosen, sort, down, limit=1000)
                ours, theirs = (reader.keys(query) for reader in both)
                assert ours == theirs, (column.name, chosen)
                names = [one.name for one in table.columns]
                assert both[0].rows(ours, names) == both[1].rows(theirs, names) if ours else True
                if sort and len(ours) > 2:
                    rest = [reader.keys(TableQuery(chosen, sort, down, ours[1], limit=1000)) for reader in both]
                    assert rest == [ours[2:]] * 2
                    back = [reader.keys(TableQuery(chosen, sort, down, ours[1], backwards=True)) for reader in both]
                    assert back == [ours[:1]] * 2
    assert both[0].keys(TableQuery(limit=1000)), "there are rows to compare"
