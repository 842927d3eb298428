"""Outlines of pages into one shard's file, inside a transaction that the caller holds."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from evercrawl.adapters.sqlite.statements import OUTLINES
from evercrawl.model.page import CompletedVisit


def write_outlines(db: sqlite3.Connection, visits: Sequence[CompletedVisit]) -> None:
    """What the pages that were seen lead to; the newest sight replaces the one before."""
    rows = [(visited.page_id, visited.at_us, visited.outline) for visited in visits if visited.outline]
    db.executemany(OUTLINES["write_outline"], rows)
