"""Every statement of the embedded store is one that PostgreSQL understands, about one shard."""

from __future__ import annotations

import asyncio
from importlib.resources import files

import asyncpg
import pytest
from evercrawl.adapters.postgres.dialect import for_each, said_in_postgres, schema_of
from evercrawl.adapters.sqlite.statements import OUTLINE_SCHEMA

from evercrawl.adapters.sql.statements import parse_statements
from evercrawl.adapters.sqlite.state_file import SCHEMA
from tests.postgres_server import PostgresServer

FOLDER = files("evercrawl.adapters.sqlite")
ONLY_IN_FILES = frozenset({"upgrade.sql", "schema.sql", "outline_schema.sql"})
FILES = sorted(
    entry.name for entry in FOLDER.iterdir() if entry.name.endswith(".sql") and entry.name not in ONLY_IN_FILES
)


def statements(name: str) -> dict[str, str]:
    return parse_statements(FOLDER.joinpath(name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", FILES)
def test_every_statement_is_understood(postgres: PostgresServer, name: str) -> None:
    async def prepare() -> dict[str, str]:
        schema = schema_of(postgres.new_namespace(), SCHEMA, OUTLINE_SCHEMA)
        connection = await asyncpg.connect(postgres.dsn)
        refused = {}
        try:
            await connection.execute(schema.script)
            for title, statement in statements(name).items():
                try:
                    await connection.prepare(said_in_postgres(statement, schema))
                except asyncpg.PostgresError as error:
                    refused[title] = f"{error}"
        finally:
            await connection.close()
        return refused

    assert asyncio.run(prepare()) == {}


def test_a_statement_sees_one_shard() -> None:
    schema = schema_of("space", SCHEMA)
    said = said_in_postgres("select p.id from seen k join page p on p.id = k.page_id where k.key = ?", schema)
    assert said.count("where shard = $1::integer") == 2
    assert said.endswith("where k.key = $2")
    assert "shard = $1::integer and (id = $3)" in said_in_postgres("update page set band = ? where id = ?", schema)
    assert said_in_postgres("delete from text where page_id = ?", schema) == (
        "delete from space.text as text where text.shard = $1::integer and (page_id = $2)"
    )
    inserted = said_in_postgres(
        "insert into memory (site_id, kind) values (?, ?) on conflict (site_id) do nothing", schema
    )
    assert inserted == (
        "insert into space.memory as memory (shard, site_id, kind) values ($1::integer, $2, $3)"
        " on conflict (shard, site_id) do nothing"
    )


def test_many_values_are_asked_for_at_once() -> None:
    schema = schema_of("space", SCHEMA)
    said = for_each("select key from seen where key = ?", schema, kind="bytea")
    assert "unnest($2::bytea[])" in said
    assert "where key = asked.value limit 1" in said


def test_every_key_and_index_begins_with_the_shard() -> None:
    script = schema_of("space", SCHEMA).script
    tables = script.count("create table")
    assert tables == script.count("shard integer not null") == script.count("primary key (shard, ")
    assert script.count("create index") == script.count(" (shard, ") - script.count("key (shard, ") - script.count(
        "unique (shard, "
    )
