"""Apply one batch to one shard, inside a transaction of the caller."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter, itemgetter
from typing import Any

from evercrawl.adapters.sql.database import Transaction, edits_row, noise_row
from evercrawl.errors import BugFound
from evercrawl.model.page import Batch, CompletedVisit, NewPage, Refusal, Represented, Requeue, SettledChange, Version
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.site import Site

WAITING = (Outcome.QUEUED.value, Reason.WAITING.value)  # Outcome and reason of a page before its first visit.
CONFIRMING = frozenset({Outcome.UNCHANGED, Outcome.DUPLICATE, Outcome.TRUNCATED})
"""Outcomes that confirm the newest version although they store none."""
VERSION_COLUMNS = Version._fields.index("text")  # Text and analysis are in tables of their own.

_id = itemgetter(NewPage._fields.index("id"))
_site_id = itemgetter(NewPage._fields.index("site_id"))
_seq = itemgetter(NewPage._fields.index("seq"))
_key_and_id = itemgetter(NewPage._fields.index("key"), NewPage._fields.index("id"))
_site_row = attrgetter(
    "id", "name", "domain", "open_us", "delay_ms", "backoff", "failures", "closed_reason", "requests", "wire_bytes"
)


@dataclass(slots=True)
class CountChanges:
    """What a commit adds to the counts of its shard, summed so that each row is written once."""

    pages: Counter[int] = field(default_factory=Counter)
    pending: Counter[int] = field(default_factory=Counter)
    tally: Counter[tuple[str, str]] = field(default_factory=Counter)
    touched: set[int] = field(default_factory=set)
    refusals_kept: int = 0
    refusals_dropped: int = 0


@dataclass(slots=True)
class PageColumns:
    """The columns of a page that a commit may change, in the order of `touched_page`."""

    id: int
    site_id: int
    priority: int
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
    rate_estimate: bytes | None
    credit: int
    has_baseline: bool
    has_outline: bool

    def decision(self) -> tuple[str, str]:
        """Return outcome and reason as the tally counts them."""
        return WAITING if self.outcome is None or self.reason is None else (self.outcome, self.reason)


_NOT_WRITTEN = frozenset({"site_id", "has_baseline", "has_outline"})
_page_row = attrgetter(*(name for name in PageColumns.__slots__ if name not in _NOT_WRITTEN))


async def write_batch(db: Transaction, batch: Batch, *, skip_known: bool, most_refusals: int) -> None:
    """Apply a batch. Unless `skip_known` is set, a key that is already known raises DuplicateKey."""
    counts = CountChanges()
    await _write_sites(db, batch.sites.values())
    new_pages = await _without_known(db, batch.new_pages) if skip_known else batch.new_pages
    await _write_new_pages(db, new_pages, counts)
    await _delete_refusals(db, new_pages, counts)
    pages = await _move_pages(db, batch, counts)
    await db.write("reschedule", [tuple(later) for later in batch.rescheduled])
    await _write_credit(db, batch, counts)
    await _write_content(db, batch.visited, pages)
    await _settle_changes(db, batch.settled)
    await db.write("write_resource", list(map(tuple, batch.resources)))
    await db.write("write_assets_of", [(page, *rest) for page, rest in batch.completed.items()])
    await db.write("write_site_state", [(*key, value) for key, value in batch.site_states.items()])
    await _write_refusals(db, batch.refusals, counts, most=most_refusals)
    await _write_links(db, batch)
    await _write_counts(db, counts)
    await _advance(db, batch)


# Sites


async def _write_sites(db: Transaction, sites: Collection[Site]) -> None:
    await db.write("write_site", list(map(_site_row, sites)))
    await db.write("write_robots", [(site.id, *site.robots) for site in sites if site.robots is not None])
    await db.write("delete_robots", [(site.id,) for site in sites if site.robots is None])


# New pages


async def _write_new_pages(db: Transaction, pages: Sequence[NewPage], counts: CountChanges) -> None:
    # Plain tuples are bound faster than named ones.
    await db.write("insert_page", map(tuple, pages))
    # In order of the keys: those of one folder are adjacent, so few pages of the index change.
    await db.write("insert_seen", sorted(map(_key_and_id, pages)))
    of_site = Counter(map(_site_id, pages))
    counts.pages.update(of_site)
    counts.pending.update(of_site)
    counts.touched.update(of_site)
    counts.tally[WAITING] += len(pages)


async def _without_known(db: Transaction, pages: Sequence[NewPage]) -> list[NewPage]:
    """Return the pages with new keys, each once."""
    known = {row[0] for row in await db.each("is_seen", [(page.key,) for page in pages])}
    unknown: dict[bytes, NewPage] = {}
    for page in pages:
        if page.key not in known:
            unknown.setdefault(page.key, page)
    return list(unknown.values())


# Visits and the queue


async def _move_pages(db: Transaction, batch: Batch, counts: CountChanges) -> dict[int, PageColumns]:
    """Apply visits and requeues; a requeued page enters the queue before its visit or, if still in it, after."""
    if not (batch.requeued or batch.visited or batch.represented):
        return {}
    pages = await _touched_pages(db, batch)
    requeues: dict[int, deque[Requeue]] = defaultdict(deque)
    for requeue in batch.requeued:
        requeues[requeue.page_id].append(requeue)
    for page_id in requeues:
        _enter_queue(pages[page_id], requeues[page_id], counts)
    visits, versions = [], []
    for visit in batch.visited:
        page = pages[visit.page_id]
        if visit.version is not None:
            versions.append(_version_row(page, visit))
        _apply_visit(page, visit, counts)
        visits.append(_visit_row(page, visit))
        _enter_queue(page, requeues[page.id], counts)
    for view in batch.represented:
        _represent(pages[view.page_id], view, counts)
    await db.write("update_page", [_page_row(pages[page_id]) for page_id in sorted(pages)])
    await db.write("repoint_duplicates", [(view.page_id, view.by) for view in batch.represented])
    await db.write("insert_visit", visits)
    await db.write("insert_version", versions)
    return pages


async def _touched_pages(db: Transaction, batch: Batch) -> dict[int, PageColumns]:
    wanted = {requeue.page_id for requeue in batch.requeued}
    wanted.update(visit.page_id for visit in batch.visited)
    wanted.update(view.page_id for view in batch.represented)
    rows = await db.each("touched_page", [(page_id,) for page_id in sorted(wanted)])
    pages = {row[0]: PageColumns(*row) for row in rows}
    if missing := wanted - pages.keys():
        raise BugFound(f"a batch moves the page {min(missing)}, which is not in the store")
    return pages


def _enter_queue(page: PageColumns, requeues: deque[Requeue], counts: CountChanges) -> None:
    if page.seq is None and requeues:
        requeue = requeues.popleft()
        page.priority, page.seq, page.due_us = requeue.priority, requeue.seq, None
        counts.pending[page.site_id] += 1
        counts.touched.add(page.site_id)


def _represent(page: PageColumns, view: Represented, counts: CountChanges) -> None:
    """Make a page the duplicate of the one with the plainer URL."""
    counts.tally[page.decision()] -= 1
    page.outcome, page.reason, page.detail = Outcome.DUPLICATE.value, view.reason.value, view.detail
    counts.tally[page.decision()] += 1
    page.duplicate_of = view.by


def _apply_visit(page: PageColumns, visit: CompletedVisit, counts: CountChanges) -> None:
    """Update a page from its visit, and remove it from the queue if it is still where the visit took it from."""
    if page.seq == visit.seq and page.priority == visit.priority:
        page.seq = None
        counts.pending[page.site_id] -= 1
        counts.touched.add(page.site_id)
    counts.tally[page.decision()] -= 1
    page.outcome, page.reason, page.detail = visit.outcome.value, visit.reason.value, visit.detail
    counts.tally[page.decision()] += 1
    page.due_us = visit.due_us if page.seq is None else None
    page.status, page.last_us, page.tries = visit.status, visit.at_us, visit.tries
    page.interval_s, page.moved_to, page.duplicate_of = visit.interval_s, visit.moved_to, visit.duplicate_of
    page.visits += 1
    page.rate_estimate = page.rate_estimate if visit.rate_estimate is None else visit.rate_estimate
    page.credit -= visit.spent
    _apply_content(page, visit)


def _apply_content(page: PageColumns, visit: CompletedVisit) -> None:
    """Update version and validators. The validators are a pair: replaced together, or kept if the visit has neither."""
    version = visit.version
    page.digest = page.digest if visit.digest is None else visit.digest
    if version is not None:
        page.version, page.digest = version.number, version.digest
        page.etag, page.last_modified = version.etag, version.last_modified
    if version is not None or (visit.outcome in CONFIRMING and visit.status is not None):
        page.confirmed_us = visit.at_us
    if visit.etag is not None or visit.last_modified is not None:
        page.etag, page.last_modified = visit.etag, visit.last_modified


def _visit_row(page: PageColumns, visit: CompletedVisit) -> tuple[Any, ...]:
    outcome, reason = visit.outcome.value, visit.reason.value
    return (page.id, visit.at_us, outcome, reason, visit.status, visit.took_ms, visit.wire_bytes, page.version)


def _version_row(page: PageColumns, visit: CompletedVisit) -> tuple[Any, ...]:
    assert visit.version is not None
    return (page.id, visit.at_us, page.confirmed_us, visit.status, *visit.version[:VERSION_COLUMNS])


# Content


async def _write_content(db: Transaction, visits: Sequence[CompletedVisit], pages: Mapping[int, PageColumns]) -> None:
    """Write texts, first holders, baselines, edits, outlines and analyses."""
    stored = [(visit.page_id, visit.version) for visit in visits if visit.version is not None]
    texts = [(page_id, one.number, *one.text) for page_id, one in stored if one.text is not None]
    await db.write("insert_text", texts)
    # Sorted by digest alone: if two pages of a batch have the same content, the first visited is the original.
    holders = [(version.digest, page_id, version.number) for page_id, version in stored]
    await db.write("insert_content", sorted(holders, key=itemgetter(0)))
    await db.write("insert_change", _change_rows(visits))
    noise = {visit.page_id: visit for visit in visits if visit.change is not None and visit.change.noise}
    await db.write("write_noise", map(_noise_row, noise.values()))
    analyses = [(page_id, one.number, one.analysis) for page_id, one in stored if one.analysis is not None]
    await db.write("write_analysis", analyses)
    # The last visit of a page in the batch counts.
    baselines = {visit.page_id: (visit.page_id, *visit.baseline) for visit in visits if visit.baseline is not None}
    outlines = {visit.page_id: (visit.page_id, visit.at_us, visit.outline) for visit in visits if visit.outline}
    await db.write("insert_baseline", [row for page_id, row in baselines.items() if not pages[page_id].has_baseline])
    await db.write("insert_outline", [row for page_id, row in outlines.items() if not pages[page_id].has_outline])
    await db.write("update_baseline", [row for page_id, row in baselines.items() if pages[page_id].has_baseline])
    await db.write("update_outline", [row for page_id, row in outlines.items() if pages[page_id].has_outline])


def _noise_row(visit: CompletedVisit) -> tuple[int, int, str]:
    return visit.page_id, visit.at_us, noise_row(visit.change.noise if visit.change is not None else ())


def _change_rows(visits: Sequence[CompletedVisit]) -> Iterator[tuple[int, int, str, float, str]]:
    for visit in visits:
        change = visit.change
        if change is not None and change.edits:
            yield visit.page_id, visit.at_us, change.kind.value, change.size, edits_row(change)


async def _settle_changes(db: Transaction, settled: Sequence[SettledChange]) -> None:
    """Write verdicts on earlier visits, and note them for readers of the log."""
    verdicts = [
        (page_id, at_us, change.kind.value, change.size, edits_row(change)) for page_id, at_us, change, _ in settled
    ]
    await db.write("settle_change", verdicts)
    await db.write("settle_version", [row[:4] for row in verdicts])
    await db.write("insert_late_change", [row[:2] for row in verdicts])


# Credit


async def _write_credit(db: Transaction, batch: Batch, counts: CountChanges) -> None:
    """Add shares to known pages, and move promoted pages."""
    # In order of the pages, so that adjacent rows change together; shares of one page stay in their order.
    await db.write("add_credit", sorted(map(tuple, batch.shares), key=itemgetter(0)))
    moves = [(move.page_id, move.old_priority, move.old_seq, move.priority, move.seq) for move in batch.promoted]
    await db.write("promote", moves)
    counts.touched.update(move.site_id for move in batch.promoted)


# Refusals


async def _delete_refusals(db: Transaction, pages: Sequence[NewPage], counts: CountChanges) -> None:
    """Delete the refusals of URLs that are pages now."""
    if not pages or not await _refusals_kept(db):
        return
    for (reason,) in await db.all("delete_refusals_of_pages", first_id=min(map(_id, pages))):
        counts.tally[Outcome.REJECTED.value, reason] -= 1
        counts.refusals_kept -= 1


async def _write_refusals(db: Transaction, refusals: Sequence[Refusal], counts: CountChanges, *, most: int) -> None:
    """Store refused URLs up to the limit and only count the others. A page is never refused."""
    if not refusals:
        return
    room = most - await _refusals_kept(db) - counts.refusals_kept
    written = []
    by_key = dict(sorted({refusal.key: refusal for refusal in refusals}.items()))
    decisions = {row[0]: row[1:] for row in await db.each("decision_about", [(key,) for key in by_key])}
    for key, refusal in by_key.items():
        before, detail, is_page = decisions[key]
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
        written.append(tuple(refusal))
    await db.write("write_refusal", written)


async def _refusals_kept(db: Transaction) -> int:
    row = await db.one("refusals_kept")
    return 0 if row is None else int(row[0])


# Links for other shards, counts and next numbers


async def _write_links(db: Transaction, batch: Batch) -> None:
    await db.write("insert_link_batch", list(map(tuple, batch.sent)))
    await db.write("delete_link_batch", [(seq,) for seq in batch.delivered])
    await db.write("write_received", list(batch.received.items()))


async def _write_counts(db: Transaction, counts: CountChanges) -> None:
    sites = sorted(counts.touched)
    rows = [(site_id, counts.pages[site_id], counts.pending[site_id]) for site_id in sites]
    if rows and await db.count("count_site", rows) != len(rows):
        raise BugFound(f"a batch moves pages of a site that is not in the store; the sites are {sites[:20]}")
    await db.write("count_tally", [(*decision, urls) for decision, urls in counts.tally.items() if urls])
    if counts.refusals_kept or counts.refusals_dropped:
        await db.execute("count_refusals", kept=counts.refusals_kept, dropped=counts.refusals_dropped)


async def _advance(db: Transaction, batch: Batch) -> None:
    last_seq = max(
        max(map(_seq, batch.new_pages), default=0),
        max((requeue.seq for requeue in batch.requeued), default=0),
        max((promotion.seq for promotion in batch.promoted), default=0),
    )
    file, size = batch.archive_end or (None, None)
    await db.execute(
        "advance_shard",
        next_id=max(map(_id, batch.new_pages), default=0) + 1,
        next_seq=last_seq + 1,
        next_site_id=max(batch.sites, default=0) + 1,
        next_link_batch=max((links.seq for links in batch.sent), default=0) + 1,
        archive_file=file,
        archive_size=size,
    )
