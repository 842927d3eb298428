"""The bytes of a record, from the archive's folder or from where the rest of the archive is."""

from __future__ import annotations

from pathlib import Path

from evercrawl.errors import StoreUnavailable


def read_bytes(folder: Path, file: str, offset: int, length: int) -> bytes:
    """At most `length` bytes; StoreUnavailable: the file is neither here nor there."""
    where = f"{file} at {offset}"
    try:
        with (folder / file).open("rb") as opened:
            opened.seek(offset)
            return opened.read(length)
    except FileNotFoundError as error:
        found = _from_elsewhere(folder, file, offset, length)
        if found is None:
            raise StoreUnavailable(f"the archive file {where} cannot be read: {error.strerror}") from error
        return found
    except OSError as error:
        raise StoreUnavailable(f"the archive file {where} cannot be read: {error.strerror}") from error


def _from_elsewhere(folder: Path, file: str, offset: int, length: int) -> bytes | None:
    from evercrawl.adapters.objectstore.uploader import archive_address  # only where a file is missing

    address = archive_address(folder)
    if address is None:
        return None
    from evercrawl.adapters.objectstore.bucket import open_bucket

    try:
        return open_bucket(address).read(file, offset, length)
    except FileNotFoundError:
        return None
