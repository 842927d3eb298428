"""One batch into one shard's file, inside a transaction that the caller holds."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from operator import itemgetter

from evercrawl.adapters.sqlite.analysis import write_analyses
from evercrawl.adapters.sqlite.connection import first_rows
from evercrawl.adapters.sqlite.counts import WAITING, Counts, write_counts
from evercrawl.adapters.sqlite.moves import move_pages
from evercrawl.adapters.sqlite.outlines import write_outlines
from evercrawl.adapters.sqlite.rows import site_row
from evercrawl.adapters.sqlite.sights import write_sights
from evercrawl.adapters.sqlite.statements import SQL
from evercrawl.model.page import Batch, NewPage, Refusal
from evercrawl.model.reason import Outcome
from evercrawl.model.site import Site

_id = itemgetter(NewPage._fields.index("id"))
_site_id = itemgetter(NewPage._fields.index("site_id"))
_seq = itemgetter(NewPage._fields.index("seq"))
_key_and_id = itemgetter(NewPage._fields.index("key"), NewPage._fields.index("id"))


def write_batch(db: sqlite3.Connection, batch: Batch, *, careful: bool, most_refusals: int) -> None:
    """Apply a batch. Unless `careful`, a key that is known already ends in an IntegrityError."""
    counts = Counts()
    _write_sites(db, batch.sites.values())
    new_pages = _without_known(db, batch.new_pages) if careful else batch.new_pages
    _write_new_pages(db, new_pages, counts)
    _forget_refusals(db, new_pages, counts)
    move_pages(db, batch, counts)
    moved = ((later.due_us, later.belief, later.page_id) for later in batch.rescheduled)
    db.executemany(SQL["reschedule"], moved)
    _write_credit(db, batch, counts)
    write_sights(db, batch.visited)
    write_outlines(db, batch.visited)
    write_analyses(db, batch.visited)
    db.executemany(SQL["write_memory"], ((*key, value) for key, value in batch.memories.items()))
    _write_refusals(db, batch.refusals, counts, most=most_refusals)
    _write_parcels(db, batch)
    write_counts(db, counts)
    _advance(db, batch)


# Sites


def _write_sites(db: sqlite3.Connection, sites: Iterable[Site]) -> None:
    sites = list(sites)
    db.executemany(SQL["write_site"], map(site_row, sites))
    db.executemany(SQL["write_robots"], ((site.id, *site.robots) for site in sites if site.robots is not None))
    db.executemany(SQL["forget_robots"], ((site.id,) for site in sites if site.robots is None))


# New pages


def _write_new_pages(db: sqlite3.Connection, pages: Sequence[NewPage], counts: Counts) -> None:
    # Plain tuples are bound faster than named ones.
    db.executemany(SQL["insert_page"], map(tuple, pages))
    # In order of the keys: those of one folder stand together, so that few pages of the index are touched.
    db.executemany(SQL["insert_seen"], sorted(map(_key_and_id, pages)))
    of_site = Counter(map(_site_id, pages))
    counts.pages.update(of_site)
    counts.pending.update(of_site)
    counts.touched.update(of_site)
    counts.tally[WAITING] += len(pages)


def _without_known(db: sqlite3.Connection, pages: Sequence[NewPage]) -> list[NewPage]:
    """Those that are new, each once."""
    unknown: dict[bytes, NewPage] = {}
    known = first_rows(db, SQL["is_seen"], [page.key for page in pages])
    for page, row in zip(pages, known, strict=True):
        if row is None:
            unknown.setdefault(page.key, page)
    return list(unknown.values())


# Credit


def _write_credit(db: sqlite3.Connection, batch: Batch, counts: Counts) -> None:
    """Shares for known pages, and those of them that move up in the queue."""
    # In order of the pages: rows that stand together are touched together.
    shares = sorted((share.page_id, share.amount, share.generation) for share in batch.shares)
    db.executemany(SQL["pay_share"], ((amount, generation, page_id) for page_id, amount, generation in shares))
    db.executemany(
        SQL["promote"], ((move.band, move.seq, move.page_id, move.old_band, move.old_seq) for move in batch.promoted)
    )
    counts.touched.update(move.site_id for move in batch.promoted)


# Refusals


def _forget_refusals(db: sqlite3.Connection, pages: Sequence[NewPage], counts: Counts) -> None:
    """A URL that is a page now leaves the refusals."""
    if not pages or not _refusals_kept(db):
        return
    for (reason,) in db.execute(SQL["forget_refusals"], (min(map(_id, pages)),)).fetchall():
        counts.tally[Outcome.REJECTED.value, reason] -= 1
        counts.refusals_kept -= 1


def _write_refusals(db: sqlite3.Connection, refusals: Sequence[Refusal], counts: Counts, *, most: int) -> None:
    """Remember refused URLs up to the limit; beyond it they are only counted. A page stays a page."""
    if not refusals:
        return
    room = most - _refusals_kept(db) - counts.refusals_kept
    written = []
    by_key = dict(sorted({refusal.key: refusal for refusal in refusals}.items()))
    decisions = first_rows(db, SQL["decision_about"], list(by_key))
    for refusal, (before, detail, is_page) in zip(by_key.values(), decisions, strict=True):
        if is_page or (before, detail) == (refusal.reason.value, refusal.detail):
            continue
        if before is not None:
            counts.tally[Outcome.REJECTED.value, before] -= 1
        elif room > 0:
            room -= 1
            counts.refusals_kept += 1
        else:
            counts.refusals_dropped += 1
            continue
        counts.tally[Outcome.REJECTED.value, refusal.reason.value] += 1
        written.append(refusal)
    db.executemany(SQL["write_refusal"], written)


def _refusals_kept(db: sqlite3.Connection) -> int:
    return int(db.execute(SQL["refusals_kept"]).fetchone()[0])


# Parcels and numbers


def _write_parcels(db: sqlite3.Connection, batch: Batch) -> None:
    db.executemany(SQL["insert_parcel"], batch.sent)
    db.executemany(SQL["delete_parcel"], ((seq,) for seq in batch.delivered))
    db.executemany(SQL["mark_taken"], batch.taken.items())


def _advance(db: sqlite3.Connection, batch: Batch) -> None:
    seqs = max(
        max(map(_seq, batch.new_pages), default=0),
        max((requeued.seq for requeued in batch.requeued), default=0),
        max((promoted.seq for promoted in batch.promoted), default=0),
    )
    last_id = max(map(_id, batch.new_pages), default=0)
    last_parcel = max((parcel.seq for parcel in batch.sent), default=0)
    file, size = batch.archive_end or (None, None)
    numbers = (last_id + 1, seqs + 1, max(batch.sites, default=0) + 1, last_parcel + 1)
    db.execute(SQL["advance_shard"], (*numbers, file, size))
