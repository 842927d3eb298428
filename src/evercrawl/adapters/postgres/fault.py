"""The database's errors in our terms: what happened, and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import asyncpg

from evercrawl.errors import BugFound, StoreUnavailable

_WRONG_STATEMENT = (asyncpg.SyntaxOrAccessError, asyncpg.DataError)
_LOST = ("closed", "closing", "released back to the pool")
"""What the driver says of a connection that broke while it was used; it has no class of its own for it."""


@contextmanager
def translating() -> Iterator[None]:
    """Inside `with`, no exception of the database leaves untranslated."""
    try:
        yield
    except asyncpg.InsufficientPrivilegeError as error:
        raise StoreUnavailable(f"the database refuses it ({error}); grant the user of --store what it needs") from error
    except asyncpg.DiskFullError as error:
        raise StoreUnavailable(
            f"the database's disk is full ({error}); free some space and crawl again;"
            " everything up to the last commit is kept"
        ) from error
    except (OSError, asyncpg.PostgresConnectionError, asyncpg.OperatorInterventionError) as error:
        raise StoreUnavailable(
            f"the database cannot be reached ({error}); check that it runs and that --store names it;"
            " everything up to the last commit is kept"
        ) from error
    except asyncpg.InterfaceError as error:
        if not any(word in str(error) for word in _LOST):
            raise BugFound(f"the database was asked in a wrong way: {error}") from error
        raise StoreUnavailable(f"the connection to the database was given up ({error})") from error
    except asyncpg.InternalClientError as error:
        # What the driver says of a connection that was torn from its hands in the middle of an answer.
        raise StoreUnavailable(f"the connection to the database was given up ({error})") from error
    except _WRONG_STATEMENT as error:
        raise BugFound(f"the database refused a statement of ours: {error}") from error
    except asyncpg.PostgresError as error:
        raise StoreUnavailable(f"the database failed: {error}") from error
