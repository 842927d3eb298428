"""Statements for many rows at once."""

from __future__ import annotations

from evercrawl.adapters.postgres.columns import columnwise, together

from evercrawl.adapters.postgres.postgres_pool import servers_of

INSERT = (
    "insert into x.memory as memory (shard, site_id, kind, value) values ($1::integer, $2, $3, $4)\n"
    "    on conflict (shard, site_id, kind) do update set value = excluded.value"
)
UPDATE = "update x.page as page set credit = credit + $2, generation = $3 where page.shard = $1::integer and (id = $4)"
READING = f"with page as not materialized (select 1) {UPDATE}"


def test_an_insert_takes_an_array_for_each_column() -> None:
    way = columnwise(INSERT, ["int8", "text", "bytea"])
    assert way is not None
    assert "select $1::integer, rows.p2, rows.p3, rows.p4 from unnest" in way.text
    assert "unnest($2::int8[], $3::text[], $4::bytea[]) as rows (p2, p3, p4)" in way.text
    assert way.text.endswith("do update set value = excluded.value")
    assert (way.key, way.texts, way.table) == ((0, 1), {1}, "memory")


def test_an_update_is_joined_with_the_rows() -> None:
    way = columnwise(UPDATE, ["int8", "int8", "int8"])
    assert way is not None
    assert "set credit = credit + rows.p2, generation = rows.p3 from unnest($2::int8[]" in way.text
    assert way.text.endswith("where page.shard = $1::integer and (id = rows.p4) returning 1")
    assert (way.key, way.table) == ((2,), "page")


def test_a_statement_that_reads_other_rows_is_not_put_off() -> None:
    way = columnwise(READING, ["int8", "int8", "int8"])
    assert way is not None
    assert way.table is None


def test_rows_that_mean_the_same_place_are_seen() -> None:
    way = columnwise(UPDATE, ["int8", "int8", "int8"])
    assert way is not None
    assert way.has_doubles([(5, 1, 7), (6, 1, 7)])
    assert not way.has_doubles([(5, 1, 7), (5, 1, 8)])


def test_other_statements_have_no_such_way() -> None:
    assert columnwise("delete from x.robots as robots where robots.shard = $1::integer", ["int8"]) is None


def test_several_statements_become_one() -> None:
    assert together(["insert a $1 $2 $3", "insert b $1 $2"]) == (
        "with write0 as (insert a $1 $2 $3), write1 as (insert b $1 $4) select 1"
    )


def test_every_server_of_an_address_is_tried() -> None:
    assert servers_of("postgresql://me:pw@one:5432,two/db?target_session_attrs=read-write") == [
        "postgresql://me:pw@one:5432/db?target_session_attrs=read-write",
        "postgresql://me:pw@two/db?target_session_attrs=read-write",
    ]
