"""Convert rows of the tables to model values, if they are not the same tuple."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from evercrawl.adapters.sql.database import Row
from evercrawl.core.change.text_diff import pack_edit, unpack_edit
from evercrawl.core.document.compression import unpack_text, unpack_text_start
from evercrawl.errors import StoreUnavailable
from evercrawl.model.change import Change, ChangeClass, Edit
from evercrawl.model.listing import ChangeRecord
from evercrawl.model.page import Refusal
from evercrawl.model.reason import Reason
from evercrawl.model.site import RobotsRecord, Site

_SITE_COLUMNS = Site._fields.index("robots")


def refusal_from(row: Row) -> Refusal:
    """Return the refusal of a row."""
    refusal = Refusal._make(row)
    return refusal._replace(reason=Reason(refusal.reason))


def site_from(row: Row) -> Site:
    """Return the site of a row of `site_row`; the columns of a missing robots record are null."""
    values: tuple[Any, ...] = tuple(row)
    robots = values[_SITE_COLUMNS:]
    record = None if robots[0] is None else RobotsRecord._make(robots)
    return Site._make((*values[:_SITE_COLUMNS], record))


def change_from(row: Row) -> ChangeRecord:
    """Return the change of a row of `changes_since` or `changes_before`."""
    at_us, page_id, url, kind, size, written = row
    edits, omitted = edits_from(written)
    return ChangeRecord(page_id, url, at_us, Change(ChangeClass(kind), size, edits, omitted=omitted))


def edits_row(change: Change) -> str:
    """Return the edits of a change as they are stored."""
    return json.dumps([change.omitted, *map(pack_edit, change.edits)])


def noise_row(edits: Sequence[Edit]) -> str:
    """Return edits that were called noise as they are stored."""
    return json.dumps(list(map(pack_edit, edits)))


def noise_from(row: Row) -> ChangeRecord:
    """Return the noise of a row of `noise_after`."""
    page_id, at_us, url, written = row
    edits = tuple(map(unpack_edit, json.loads(written)))
    return ChangeRecord(page_id, url, at_us, Change(ChangeClass.NOISE, 0.0, edits))


def edits_from(written: str) -> tuple[tuple[Edit, ...], int]:
    """Read the edits of a change, and the number of those that are not stored."""
    omitted, *edits = json.loads(written)
    return tuple(map(unpack_edit, edits)), omitted


def text_of(chain: Sequence[Row], page_id: int, number: int, *, most_bytes: int | None = None) -> str | None:
    """Return the text at the end of the rows of `text_chain`, or about `most_bytes` of it; None: there is none."""
    if not chain:
        return None
    try:
        if chain[0][1] is not None:
            raise ValueError(f"the frame of version {chain[0][1]} is missing")
        frames = [row[0] for row in chain]
        return unpack_text(frames) if most_bytes is None else unpack_text_start(frames, most_bytes)
    except ValueError as error:
        raise StoreUnavailable(f"the text of version {number} of page {page_id} cannot be read: {error}") from error
