"""Addresses and errors of the database."""

from __future__ import annotations

import asyncpg
import pytest

from evercrawl.adapters.postgres.postgres_pool import DatabaseAddress, parse_address, servers_of, translate_errors
from evercrawl.adapters.sql.database import DuplicateKey
from evercrawl.errors import BugFound, ConfigError, StoreUnavailable


@pytest.mark.parametrize(
    "error",
    [
        asyncpg.InternalClientError("cannot switch to state 12; another operation (2) is in progress"),
        asyncpg.InterfaceError("pool is closed"),
        ConnectionResetError(),
    ],
)
def test_closed_connection_is_not_our_bug(error: Exception) -> None:
    with pytest.raises(StoreUnavailable), translate_errors():
        raise error


def test_wrong_call_of_the_driver_is_our_bug() -> None:
    with pytest.raises(BugFound), translate_errors():
        raise asyncpg.InterfaceError("the server expects 2 arguments for this query, 1 was passed")


def test_unique_violation_is_a_duplicate_key() -> None:
    with pytest.raises(DuplicateKey), translate_errors():
        raise asyncpg.UniqueViolationError("duplicate key value violates unique constraint")


def test_address_may_name_several_servers() -> None:
    assert servers_of("postgresql://me:pw@one:5432,two/db?target_session_attrs=read-write") == [
        "postgresql://me:pw@one:5432/db?target_session_attrs=read-write",
        "postgresql://me:pw@two/db?target_session_attrs=read-write",
    ]


def test_address_may_name_a_namespace() -> None:
    address = parse_address("postgresql://me@host/db?namespace=news&sslmode=require")
    assert address == DatabaseAddress("postgresql://me@host/db?sslmode=require", "news")
    assert parse_address("postgres://host/db").namespace == "evercrawl"
    for wrong in ("mysql://host/db", "postgresql://host/db?namespace=No-Good"):
        with pytest.raises(ConfigError):
            parse_address(wrong)
