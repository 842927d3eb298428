"""Texts and arrays for PostgreSQL, and the lock between reads and writes."""

from __future__ import annotations

import asyncio

from evercrawl.adapters.postgres.postgres_database import (
    ReadWriteLock,
    _distinct_parts,
    combined_text,
    lateral_text,
    single_text,
    storable,
    transpose,
)
from evercrawl.adapters.sql.database import SQL


def test_single_statement_has_numbered_parameters() -> None:
    text = single_text("queue")
    assert "shard = $1::integer and site_id = $2 and priority = $3 and seq > $4 order by seq limit $5" in text


def test_batch_insert_selects_from_arrays() -> None:
    text = combined_text(("write_site_state",))
    assert "select $1::integer, batch.p0, batch.p1, batch.p2 from unnest" in text
    assert "unnest($2::bigint[], $3::text[], $4::bytea[]) as batch (p0, p1, p2)" in text
    assert text.endswith("do update set value = excluded.value")


def test_batch_update_and_delete_find_their_rows_by_key() -> None:
    text = combined_text(("promote",))
    assert "update page set priority = batch.p3, seq = batch.p4 from unnest(" in text
    assert "where page.shard = $1::integer and page.id = batch.p0 and" in text
    assert text.endswith("offset 0) found where page.ctid = found.place")
    assert combined_text(("delete_link_batch",)).startswith("delete from outbox using unnest($2::bigint[])")


def test_batch_query_runs_once_for_each_input() -> None:
    text = lateral_text("is_seen")
    assert "unnest($2::bytea[]) as batch (p0)" in text
    assert "key = batch.p0 limit 1) found" in text


def test_statements_about_different_tables_become_one() -> None:
    text = combined_text(("insert_seen", "delete_link_batch"))
    assert text.startswith("with write0 as (insert into seen")
    assert "), write1 as (delete from outbox using unnest($4::bigint[])" in text
    assert text.endswith("select 1")


def test_rows_that_change_the_same_row_are_separated_in_order() -> None:
    statement = SQL["add_credit"]
    rows: list[tuple[object, ...]] = [(7, 1, 3), (8, 2, 3), (7, 5, 4), (7, 6, 4)]
    assert _distinct_parts(statement, rows) == [[(7, 1, 3), (8, 2, 3)], [(7, 5, 4)], [(7, 6, 4)]]
    assert _distinct_parts(statement, rows[:2]) == [rows[:2]]
    assert _distinct_parts(statement, []) == []


def test_rows_become_arrays() -> None:
    assert transpose(SQL["write_site_state"], [(1, "a\0", b"x"), (2, "b", b"y")]) == [
        (1, 2),
        ["a\ufffd", "b"],
        (b"x", b"y"),
    ]


def test_text_that_postgres_cannot_store_is_replaced() -> None:
    assert storable("a\0b\ud800c") == "a\ufffdb?c"
    assert storable("größer") == "größer"
    assert storable(b"\0") == b"\0"


def test_reads_run_side_by_side_and_a_write_alone() -> None:
    async def run() -> list[str]:
        lock, log = ReadWriteLock(), []

        async def read(name: str) -> None:
            async with lock.reading():
                log.append(f"{name} begins")
                await asyncio.sleep(0.01)
                log.append(f"{name} ends")

        async def write() -> None:
            async with lock.writing():
                log.append("write begins")
                await asyncio.sleep(0)
                log.append("write ends")

        await asyncio.gather(read("one"), read("two"), write(), read("three"))
        return log

    log = asyncio.run(run())
    assert log[:2] == ["one begins", "two begins"]
    assert log[4:6] == ["write begins", "write ends"]
    assert log[6:] == ["three begins", "three ends"]
