"""Which database holds the state of a collection: a file in its `state` folder says so."""

from __future__ import annotations

import os
from pathlib import Path

from evercrawl.errors import StoreUnavailable

MARKER = "postgres"
_PRIVATE = 0o600
"""The address may hold a password."""


def marked(collection: Path) -> str | None:
    """The address of the database; None: the state lies in files."""
    try:
        return (collection / "state" / MARKER).read_text(encoding="utf-8").strip() or None
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreUnavailable(
            f"{collection / 'state' / MARKER} cannot be read: {error.strerror}; check its permissions"
        ) from error


def mark(collection: Path, address: str) -> None:
    """From now on the state of the collection is looked for there."""
    folder = collection / "state"
    folder.mkdir(parents=True, exist_ok=True)
    fresh = folder / f"{MARKER}.new"
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _PRIVATE), "w") as file:
        file.write(address + "\n")
    fresh.replace(folder / MARKER)


def unmark(collection: Path) -> None:
    """From now on the state of the collection is looked for in its files."""
    (collection / "state" / MARKER).unlink(missing_ok=True)
