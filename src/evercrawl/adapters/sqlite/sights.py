"""The last sights of pages, and the edits that visits met."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence

from evercrawl.adapters.sqlite.statements import SQL
from evercrawl.model.change import Change, ChangeClass, Edit
from evercrawl.model.listing import ChangeRecord
from evercrawl.model.page import CompletedVisit


def write_sights(db: sqlite3.Connection, visits: Sequence[CompletedVisit]) -> None:
    """What later answers are compared with, and what this comparison found."""
    looks = [(visited.page_id, *visited.look) for visited in visits if visited.look is not None]
    db.executemany(SQL["write_look"], looks)
    db.executemany(SQL["insert_change"], _change_rows(visits))


def _change_rows(visits: Sequence[CompletedVisit]) -> Iterator[tuple[int, int, str, float, str]]:
    for visited in visits:
        change = visited.change
        if change is not None and change.edits:
            edits = [(f"{edit.key:x}", *edit[1:]) for edit in change.edits]
            yield visited.page_id, visited.at_us, change.kind.value, change.size, json.dumps(edits)


def change_from(row: tuple[int, int, str, str, float, str]) -> ChangeRecord:
    """The change of a row of `view_changes_since`."""
    at_us, page_id, url, kind, size, written = row
    edits = tuple(Edit(int(key, 16), *rest) for key, *rest in json.loads(written))
    return ChangeRecord(page_id, url, at_us, Change(ChangeClass(kind), size, edits))
