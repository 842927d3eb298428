"""Errors of the driver in our terms."""

from __future__ import annotations

import asyncpg
import pytest

from evercrawl.adapters.postgres.postgres_pool import translate_errors
from evercrawl.errors import BugFound, StoreUnavailable


@pytest.mark.parametrize(
    "error",
    [
        asyncpg.InternalClientError("cannot switch to state 12; another operation (2) is in progress"),
        asyncpg.InterfaceError("pool is closed"),
        ConnectionResetError(),
    ],
)
def test_a_connection_that_was_given_up_is_no_defect(error: Exception) -> None:
    with pytest.raises(StoreUnavailable), translate_errors():
        raise error


def test_a_question_put_wrongly_is_one() -> None:
    with pytest.raises(BugFound), translate_errors():
        raise asyncpg.InterfaceError("the server expects 2 arguments for this query, 1 was passed")
