"""Pages that go back into the queue, and pages that a visit takes out of it."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from evercrawl.adapters.sqlite.counts import WAITING, Counts
from evercrawl.adapters.sqlite.statements import SQL
from evercrawl.errors import BugFound
from evercrawl.model.page import Batch, CompletedVisit, Requeue, Version
from evercrawl.model.reason import Outcome

CONFIRMING = frozenset({Outcome.UNCHANGED, Outcome.DUPLICATE, Outcome.TRUNCATED})
"""Outcomes that, without a new version, say that the content is still that of the newest one."""

VERSION_COLUMNS = Version._fields.index("text")
"""The text has a table of its own."""


@dataclass(slots=True)
class PageState:
    """The columns of a page that a commit may change, in the order of `touched_pages`."""

    id: int
    site_id: int
    band: int
    seq: int | None
    due_us: int | None
    outcome: str | None
    reason: str | None
    detail: str | None
    status: int | None
    last_us: int | None
    confirmed_us: int | None
    visits: int
    tries: int
    interval_s: int
    version: int
    digest: bytes | None
    etag: str | None
    last_modified: str | None
    moved_to: str | None
    duplicate_of: int | None
    belief: bytes | None
    credit: int

    def decision(self) -> tuple[str, str]:
        """Outcome and reason as the tally counts them."""
        return WAITING if self.outcome is None or self.reason is None else (self.outcome, self.reason)

    def row(self) -> tuple[Any, ...]:
        """What `update_page` takes."""
        return (
            self.band,
            self.seq,
            self.due_us,
            self.outcome,
            self.reason,
            self.detail,
            self.status,
            self.last_us,
            self.confirmed_us,
            self.visits,
            self.tries,
            self.interval_s,
            self.version,
            self.digest,
            self.etag,
            self.last_modified,
            self.moved_to,
            self.duplicate_of,
            self.belief,
            self.credit,
            self.id,
        )


def move_pages(db: sqlite3.Connection, batch: Batch, counts: Counts) -> None:
    """Requeued pages enter the queue once they are out of it: before their visit, or behind one."""
    if not (batch.requeued or batch.visited):
        return
    pages = _touched_pages(db, batch)
    comers: dict[int, deque[Requeue]] = defaultdict(deque)
    for requeued in batch.requeued:
        comers[requeued.page_id].append(requeued)
    for page_id in comers:
        _enter_queue(pages[page_id], comers[page_id], counts)
    visits, versions = [], []
    for visited in batch.visited:
        page = pages[visited.page_id]
        if visited.version is not None:
            versions.append(_version_row(page, visited))
        _apply_visit(page, visited, counts)
        visits.append(_visit_row(page, visited))
        _enter_queue(page, comers[page.id], counts)
    db.executemany(SQL["update_page"], [pages[page_id].row() for page_id in sorted(pages)])
    db.executemany(SQL["insert_visit"], visits)
    db.executemany(SQL["insert_version"], versions)
    db.executemany(SQL["insert_text"], _text_rows(batch))
    holders = [(v.version.digest, v.page_id, v.version.number) for v in batch.visited if v.version is not None]
    # By digest alone: where two pages of a batch have the same content, the first visited is the original.
    db.executemany(SQL["insert_content"], sorted(holders, key=itemgetter(0)))


def _touched_pages(db: sqlite3.Connection, batch: Batch) -> dict[int, PageState]:
    wanted = {requeued.page_id for requeued in batch.requeued}
    wanted.update(visited.page_id for visited in batch.visited)
    rows = db.execute(SQL["touched_pages"], (json.dumps(sorted(wanted)),))
    pages = {row[0]: PageState(*row) for row in rows}
    if missing := wanted - pages.keys():
        raise BugFound(f"a batch moves the page {min(missing)}, which is not in the store")
    return pages


def _enter_queue(page: PageState, comers: deque[Requeue], counts: Counts) -> None:
    if page.seq is None and comers:
        requeued = comers.popleft()
        page.band, page.seq, page.due_us = requeued.band, requeued.seq, None
        counts.pending[page.site_id] += 1
        counts.touched.add(page.site_id)


def _apply_visit(page: PageState, visited: CompletedVisit, counts: Counts) -> None:
    """The visit takes the page out of the queue if it stands at the visit's place."""
    if page.seq == visited.seq and page.band == visited.band:
        page.seq = None
        counts.pending[page.site_id] -= 1
        counts.touched.add(page.site_id)
    counts.tally[page.decision()] -= 1
    page.outcome, page.reason, page.detail = visited.outcome.value, visited.reason.value, visited.detail
    counts.tally[page.decision()] += 1
    page.due_us = visited.due_us if page.seq is None else None
    page.status, page.last_us, page.tries = visited.status, visited.at_us, visited.tries
    page.interval_s, page.moved_to, page.duplicate_of = (visited.interval_s, visited.moved_to, visited.duplicate_of)
    page.visits += 1
    page.belief = visited.belief or page.belief
    page.credit -= visited.spent
    _apply_content(page, visited)


def _apply_content(page: PageState, visited: CompletedVisit) -> None:
    """The validators are a pair: replaced together, or kept together when the visit brought neither."""
    version = visited.version
    page.digest = visited.digest or page.digest
    if version is not None:
        page.version, page.digest = version.number, version.digest
        page.etag, page.last_modified = version.etag, version.last_modified
    if version is not None or (visited.outcome in CONFIRMING and visited.status is not None):
        page.confirmed_us = visited.at_us
    if visited.etag is not None or visited.last_modified is not None:
        page.etag, page.last_modified = visited.etag, visited.last_modified


def _visit_row(page: PageState, visited: CompletedVisit) -> tuple[Any, ...]:
    return (
        visited.page_id,
        visited.at_us,
        visited.outcome.value,
        visited.reason.value,
        visited.status,
        visited.took_ms,
        visited.wire_bytes,
        page.version,
    )


def _version_row(page: PageState, visited: CompletedVisit) -> tuple[Any, ...]:
    assert visited.version is not None
    return (page.id, visited.at_us, page.confirmed_us, visited.status, *visited.version[:VERSION_COLUMNS])


def _text_rows(batch: Batch) -> Iterator[tuple[int, int, int | None, bytes]]:
    for visited in batch.visited:
        version = visited.version
        if version is not None and version.text is not None:
            yield visited.page_id, version.number, *version.text
