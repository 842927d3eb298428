"""The state of a collection in memory, for simulations and as the reference for tests of other stores."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import Counter, defaultdict, deque
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from evercrawl.core.document.compression import unpack_text
from evercrawl.errors import BugFound, LeaseLost, StoreUnavailable
from evercrawl.model.page import (
    MAX_CLOCK_STEP_US,
    MAX_SITE_WAIT_US,
    ArchiveEnd,
    Baseline,
    Batch,
    CompletedVisit,
    CreditShare,
    DuplicateCandidate,
    LinkBatch,
    NewPage,
    OriginalRecord,
    Page,
    PageToComplete,
    Promotion,
    QueuePosition,
    Refusal,
    Represented,
    Requeue,
    Reschedule,
    Resource,
    ShardState,
    Version,
)
from evercrawl.model.site import Site

KEYS_AT_A_TIME = 1000
MOST_REFUSALS = 1_000_000


@dataclass(slots=True)
class _StoredVersion:
    """A version with the moment of its visit."""

    seen_us: int
    version: Version


@dataclass(slots=True)
class _Record:
    """A page with its queue state and the results of its visits."""

    page: Page
    is_queued: bool = True
    due_us: int | None = None
    moved_to: str | None = None
    status: int | None = None
    versions: dict[int, _StoredVersion] = field(default_factory=dict)
    baseline: Baseline | None = None
    outline: bytes | None = None


@dataclass(slots=True)
class _State:
    """What survives a crash."""

    epoch: int = 0
    is_clean: bool = True
    next_id: int = 1
    next_seq: int = 1
    next_site_id: int = 1
    next_link_batch: int = 1
    archive_end: ArchiveEnd | None = None
    last_visit_us: int = 0
    sites: dict[int, Site] = field(default_factory=dict)
    site_ids: dict[str, int] = field(default_factory=dict)
    records: dict[int, _Record] = field(default_factory=dict)
    page_ids: dict[bytes, int] = field(default_factory=dict)
    queues: dict[int, dict[int, list[tuple[int, int]]]] = field(default_factory=dict)
    """Site -> priority -> sorted pairs of seq and page."""
    due: list[tuple[int, int]] = field(default_factory=list)  # Sorted pairs of due time and page.
    content: dict[bytes, tuple[int, int]] = field(default_factory=dict)
    site_states: dict[tuple[int, str], bytes] = field(default_factory=dict)
    resources: dict[tuple[bytes, bytes], Resource] = field(default_factory=dict)
    completed: dict[int, tuple[int, bytes]] = field(default_factory=dict)
    refusals: dict[bytes, Refusal] = field(default_factory=dict)
    outbox: dict[int, LinkBatch] = field(default_factory=dict)
    received: dict[int, int] = field(default_factory=dict)


class MemoryStore:
    """Implements `Store`. `crash` keeps only what was committed, like `kill -9`."""

    def __init__(self, shards: int, *, most_refusals: int = MOST_REFUSALS) -> None:
        self.shards = shards
        self._most_refusals = most_refusals
        self._states: dict[int, _State] = {}
        self._open: list[MemoryShard] = []

    async def open_shard(self, shard: int) -> MemoryShard:
        """Return the state of a shard, created empty if needed."""
        state = self._states.setdefault(shard, _State())
        opened = MemoryShard(shard, state, most_refusals=self._most_refusals)
        self._open.append(opened)
        return opened

    async def existing_shards(self) -> list[int]:
        """Return the shards that are not empty."""
        return sorted(self._states)

    async def close(self) -> None:
        """Close everything."""
        self.crash()

    def state_of(self, shard: int) -> _State:
        """Return the state of a shard, for measurements."""
        return self._states.setdefault(shard, _State())

    def crash(self) -> None:
        """Close every open shard; what was not committed is lost."""
        for shard in self._open:
            shard.is_open = False
        self._open.clear()


class MemoryShard:
    """Implements `ShardStore`. It checks a batch before it applies any of it: all or nothing."""

    def __init__(self, shard: int, state: _State, *, most_refusals: int) -> None:
        self.shard = shard
        self.is_open = True
        self._kept = state
        self._most_refusals = most_refusals

    @property
    def _state(self) -> _State:
        if not self.is_open:
            raise StoreUnavailable(f"shard {self.shard} of the store in memory is closed; open it again")
        return self._kept

    async def claim(self) -> ShardState:
        """Become the owner: raise the epoch and return the state of the shard."""
        state = self._state
        crashed = not state.is_clean
        state.epoch, state.is_clean = state.epoch + 1, False
        return ShardState(
            shard=self.shard,
            epoch=state.epoch,
            crashed=crashed,
            next_id=state.next_id,
            next_seq=state.next_seq,
            next_site_id=state.next_site_id,
            next_link_batch=state.next_link_batch,
            archive_end=state.archive_end,
            pages=sum(site.pages for site in state.sites.values()),
            pending=sum(site.pending for site in state.sites.values()),
        )

    async def release(self, epoch: int) -> None:
        """Release the shard cleanly; no effect if it has another owner."""
        if self._state.epoch == epoch:
            self._state.is_clean = True

    async def follow_clock(self, now_us: int) -> int:
        """Move times of the future to the present if the clock was set back; return by how much it was."""
        state = self._state
        last_us = state.last_visit_us
        if last_us - now_us <= MAX_CLOCK_STEP_US:
            return 0
        for number, site in state.sites.items():
            wait_us = MAX_SITE_WAIT_US if site.closed_reason else 1000 * site.delay_ms
            opens_us = now_us + max(site.open_us - last_us, wait_us)
            robots = site.robots
            if robots is not None and robots.fetched_us > now_us:
                robots = robots._replace(fetched_us=now_us, expires_us=now_us)
            state.sites[number] = site._replace(open_us=min(site.open_us, opens_us), robots=robots)
        for record in state.records.values():
            if record.page.last_us is not None and record.page.last_us > now_us:
                if record.due_us is not None:
                    _set_due(state, record, now_us + max(record.due_us - record.page.last_us, 0))
                record.page = record.page._replace(last_us=now_us)
        for place, resource in state.resources.items():
            if resource.last_us > now_us:
                state.resources[place] = resource._replace(last_us=now_us, fresh_until_us=now_us)
        return last_us - now_us

    async def commit(self, epoch: int, batch: Batch) -> None:
        """Apply the batch in one transaction; raise LeaseLost if the epoch is not the current one."""
        state = self._state
        if state.epoch != epoch or state.is_clean:
            raise LeaseLost(f"shard {self.shard} is at epoch {state.epoch}; epoch {epoch} may no longer write")
        new_pages = _without_known(state, batch.new_pages)
        _check(state, batch, new_pages)
        _write_sites(state, batch.sites)
        for new in new_pages:
            _enter(state, new)
        if batch.visited:
            state.last_visit_us = batch.visited[-1].at_us
        _move_pages(state, batch)
        for view in batch.represented:
            _represent(state, view)
        for share in batch.shares:
            _pay(state.records[share.page_id], share)
        for promoted in batch.promoted:
            _promote(state, promoted)
        _set_priorities(state, batch, new_pages)
        _write_refusals(state, batch.refusals, most=self._most_refusals)
        for later in batch.rescheduled:
            _reschedule(state, later)
        _write_links(state, batch)
        state.site_states |= batch.site_states
        state.completed |= {page: one for page, one in batch.completed.items() if one[0]}
        for resource in batch.resources:
            _write_resource(state, resource)
        _advance(state, batch)

    async def known(self, keys: Sequence[bytes]) -> set[bytes]:
        """Return the keys that belong to pages of this shard."""
        return {key for key in keys if key in self._state.page_ids}

    async def keys(self) -> AsyncIterator[list[bytes]]:
        """Yield the keys of all pages, in portions."""
        every = sorted(self._state.page_ids)
        for start in range(0, len(every), KEYS_AT_A_TIME):
            yield every[start : start + KEYS_AT_A_TIME]

    async def sites_named(self, names: Sequence[str]) -> dict[str, Site]:
        """Return the known sites among these names."""
        ids = self._state.site_ids
        return {name: self._state.sites[ids[name]] for name in names if name in ids}

    async def site(self, site_id: int) -> Site | None:
        """Return a site by its number."""
        return self._state.sites.get(site_id)

    async def waiting_sites(self, priority: int, after_id: int, most: int) -> list[Site]:
        """Return the next sites with queued pages whose most urgent priority is `priority`, in order of id."""
        sites = self._state.sites.values()
        waiting = [site for site in sites if site.pending and site.priority == priority and site.id > after_id]
        return sorted(waiting)[:most]

    async def queue(self, site_id: int, priority: int, after_seq: int, most: int) -> list[Page]:
        """Return the next queued pages of a site in one priority, in order of seq."""
        queue = self._state.queues.get(site_id, {}).get(priority, [])
        start = bisect_right(queue, after_seq, key=lambda place: place[0])
        return [self._state.records[page_id].page for _, page_id in queue[start : start + most]]

    async def due(self, now_us: int, most: int) -> list[Page]:
        """Return pages whose due time has passed, earliest first."""
        due = self._state.due
        end = bisect_right(due, now_us, key=lambda moment: moment[0])
        return [self._state.records[page_id].page._replace(seq=0) for _, page_id in due[: min(end, most)]]

    async def unfetched(self, after_id: int, most: int) -> list[Page]:
        """Return the next pages that have a due time and no stored version, in order of id."""
        records = self._state.records
        found = (
            records[page_id].page._replace(seq=0)
            for page_id in sorted(records)
            if page_id > after_id and records[page_id].due_us is not None and not records[page_id].page.version
        )
        return list(islice(found, most))

    async def duplicates_of(self, page_id: int, most: int) -> list[Page]:
        """Return pages outside the queue that are duplicates of this one, in order of id."""
        found = (
            record.page._replace(seq=0)
            for _, record in sorted(self._state.records.items())
            if record.page.duplicate_of == page_id and not record.is_queued
        )
        return list(islice(found, most))

    async def pages(self, keys: Sequence[bytes]) -> list[Page]:
        """Return the known pages among these keys, in order of key."""
        ids = [self._state.page_ids[key] for key in sorted(keys) if key in self._state.page_ids]
        records = [self._state.records[page_id] for page_id in ids]
        return [record.page if record.is_queued else record.page._replace(seq=0) for record in records]

    async def queue_positions(self, keys: Sequence[bytes]) -> list[QueuePosition]:
        """Return queue position and credit of the known pages among these keys, in order of key."""
        ids = [self._state.page_ids[key] for key in sorted(keys) if key in self._state.page_ids]
        return [_queue_position(self._state.records[page_id]) for page_id in ids]

    async def duplicate_candidate(self, page: bytes | int) -> DuplicateCandidate | None:
        """Return what is needed to compare another page with this one, by key or number; None: no such page."""
        page_id = self._state.page_ids.get(page) if isinstance(page, bytes) else page
        record = self._state.records.get(page_id) if page_id is not None else None
        return None if record is None else _duplicate_candidate(record)

    async def next_due(self) -> int | None:
        """Return the earliest due time of any page, in microseconds."""
        return self._state.due[0][0] if self._state.due else None

    async def originals(self, digests: Sequence[bytes]) -> dict[bytes, OriginalRecord]:
        """Return the first record of each content that was stored before."""
        content = self._state.content
        return {digest: _original(self._state, *content[digest]) for digest in digests if digest in content}

    async def version_original(self, page_id: int) -> OriginalRecord | None:
        """Return the record of the content seen last, possibly of another page that had it first."""
        record = self._state.records.get(page_id)
        if record is None or record.page.version == 0:
            return None
        baseline = record.baseline
        if baseline is not None and baseline.digest == record.page.digest:
            place = (baseline.record_id, baseline.payload_sha1, baseline.file, baseline.offset, baseline.length)
            return OriginalRecord(page_id, record.page.url, baseline.seen_us, *place)
        newest = record.versions[record.page.version].version
        return _original(self._state, *self._state.content[newest.digest])

    async def earlier_original(self, page_id: int, number: int) -> OriginalRecord | None:
        """Return the record of the content of one version, possibly of another page that had it first."""
        record = self._state.records.get(page_id)
        kept = record.versions.get(number) if record is not None else None
        return None if kept is None else _original(self._state, *self._state.content[kept.version.digest])

    async def text(self, page_id: int, number: int) -> str | None:
        """Return the main text of a version; None: no such version, or it has no text."""
        record = self._state.records.get(page_id)
        return None if record is None else _text(record, number)

    async def baseline(self, page_id: int) -> Baseline | None:
        """Return what the next answer of a page is compared with; None: its newest version."""
        record = self._state.records.get(page_id)
        return None if record is None else record.baseline

    async def outline(self, page_id: int) -> bytes | None:
        """Return headings and links of the newest content of a page, packed; None: there are none."""
        record = self._state.records.get(page_id)
        return None if record is None else record.outline

    async def resource(self, key: bytes) -> Resource | None:
        """Return the newest content of a URL that is not a page; None: nothing is stored."""
        found = [one for (its, _), one in self._state.resources.items() if its == key]
        return min(found, key=lambda one: (-one.last_us, -one.seen_us, one.digest), default=None)

    async def resource_original(self, digest: bytes) -> OriginalRecord | None:
        """Return the record of a resource with this content; None: there is none."""
        held = self._state.resources.values()
        found = [one for one in held if one.digest == digest and one.refers_to is None]
        first = min(found, key=lambda one: (one.seen_us, one.key), default=None)
        if first is None:
            return None
        place = (first.record_id, first.payload_sha1, first.file, first.offset, first.length)
        return OriginalRecord(0, first.url, first.seen_us, *place)

    async def pages_without_assets(self, after_id: int, most: int) -> list[PageToComplete]:
        """Return the next pages whose newest version needs its assets, in order of id."""
        completed = self._state.completed
        pages = (record.page for _, record in sorted(self._state.records.items()))
        found = (page for page in pages if page.id > after_id and page.version > completed.get(page.id, (0, b""))[0])
        return [PageToComplete(page.id, page.url, page.version) for page in islice(found, most)]

    async def site_state(self, site_id: int, kind: str) -> bytes | None:
        """Return the learned state of one kind of a site; None: there is none yet."""
        return self._state.site_states.get((site_id, kind))

    async def sites_with_state(self, kind: str) -> list[int]:
        """Return the sites with learned state of this kind."""
        return sorted(site_id for site_id, name in self._state.site_states if name == kind and site_id > 0)

    async def moved_to(self, key: bytes) -> str | None:
        """Return the redirect target of a page; None: it does not redirect, or is unknown."""
        page_id = self._state.page_ids.get(key)
        return None if page_id is None else self._state.records[page_id].moved_to

    async def refusals(self, after: bytes, most: int) -> list[Refusal]:
        """Return the next refused URLs in order of key."""
        refusals = self._state.refusals
        return [refusals[key] for key in sorted(refusals) if key > after][:most]

    async def outbox(self) -> list[LinkBatch]:
        """Return the batches that were sent and not confirmed yet, in order."""
        return [self._state.outbox[seq] for seq in sorted(self._state.outbox)]

    async def received(self) -> dict[int, int]:
        """Return the highest batch number received from each source shard."""
        return dict(self._state.received)

    async def close(self) -> None:
        """Close everything."""
        self.is_open = False


def _queue_position(record: _Record) -> QueuePosition:
    page = record.page
    seq = page.seq if record.is_queued else None
    return QueuePosition(page.key, page.id, page.site_id, page.priority, seq, page.credit)


def _duplicate_candidate(record: _Record) -> DuplicateCandidate:
    page = record.page
    newest = record.versions.get(page.version)
    version = newest.version if newest is not None else None
    return DuplicateCandidate(
        page.id,
        page.url,
        page.version,
        version.signature if version is not None else None,
        record.moved_to,
        page.duplicate_of,
        version.title if version is not None else None,
        version.digest if version is not None else None,
        record.status,
    )


def _original(state: _State, page_id: int, number: int) -> OriginalRecord:
    record = state.records[page_id]
    kept = record.versions[number]
    version = kept.version
    place = (version.file, version.offset, version.length)
    return OriginalRecord(page_id, record.page.url, kept.seen_us, version.record_id, version.payload_sha1, *place)


def _text(record: _Record, number: int) -> str | None:
    frames: list[bytes] = []
    wanted: int | None = number
    while wanted is not None:
        kept = record.versions.get(wanted)
        if kept is None or kept.version.text is None:
            return None
        wanted, frame = kept.version.text
        frames.append(frame)
    return unpack_text(reversed(frames))


def _without_known(state: _State, pages: Sequence[NewPage]) -> list[NewPage]:
    unknown: dict[bytes, NewPage] = {}
    for page in pages:
        if page.key not in state.page_ids:
            unknown.setdefault(page.key, page)
    return list(unknown.values())


def _check(state: _State, batch: Batch, new_pages: Sequence[NewPage]) -> None:
    """Raise BugFound for a batch that could fail halfway."""
    new_ids = Counter(page.id for page in new_pages)
    if any(count > 1 or page_id in state.records for page_id, count in new_ids.items()):
        raise BugFound("a batch gives the number of a page twice")
    if any(page.site_id not in state.sites and page.site_id not in batch.sites for page in new_pages):
        raise BugFound("a batch moves pages of a site that is not in the store")
    moved = {move.page_id for move in batch.requeued} | {visited.page_id for visited in batch.visited}
    if missing := [page_id for page_id in moved if page_id not in state.records and page_id not in new_ids]:
        raise BugFound(f"a batch moves the page {min(missing)}, which is not in the store")
    _check_versions(state, batch.visited)


def _check_versions(state: _State, visits: Sequence[CompletedVisit]) -> None:
    seen = set()
    for visited in visits:
        if visited.version is not None:
            place = (visited.page_id, visited.version.number)
            record = state.records.get(visited.page_id)
            if place in seen or (record is not None and visited.version.number in record.versions):
                raise BugFound(f"a batch stores version {place[1]} of the page {place[0]} twice")
            seen.add(place)


def _write_sites(state: _State, sites: dict[int, Site]) -> None:
    for site in sites.values():
        before = state.sites.get(site.id)
        if before is not None:
            del state.site_ids[before.name]
        pages, pending, priority = (before.pages, before.pending, before.priority) if before is not None else (0, 0, 0)
        state.sites[site.id] = site._replace(pages=pages, pending=pending, priority=priority)
        state.site_ids[site.name] = site.id


def _enter(state: _State, new: NewPage) -> None:
    """Add a new page to the table and the queue, and delete its refusal."""
    page = Page(new.id, new.key, new.url, new.site_id, new.depth, new.hops, new.priority, new.seq)
    page = page._replace(credit=new.credit, earned=new.earned, generation=new.generation)
    state.records[new.id] = _Record(page)
    state.page_ids[new.key] = new.id
    state.refusals.pop(new.key, None)
    insort(_queue(state, new.site_id, new.priority), (new.seq, new.id))
    _count(state, new.site_id, pages=1, pending=1)


def _queue(state: _State, site_id: int, priority: int) -> list[tuple[int, int]]:
    return state.queues.setdefault(site_id, {}).setdefault(priority, [])


def _take_out(pairs: list[tuple[int, int]], pair: tuple[int, int]) -> None:
    del pairs[bisect_left(pairs, pair)]


def _count(state: _State, site_id: int, *, pages: int, pending: int) -> None:
    site = state.sites[site_id]
    state.sites[site_id] = site._replace(pages=site.pages + pages, pending=site.pending + pending)


def _set_priorities(state: _State, batch: Batch, new_pages: Sequence[NewPage]) -> None:
    """Set the most urgent priority of each site whose queue changed; a site without a queue keeps its last one."""
    moved = [requeued.page_id for requeued in batch.requeued] + [visited.page_id for visited in batch.visited]
    moved += [promoted.page_id for promoted in batch.promoted]
    touched = {new.site_id for new in new_pages} | {state.records[page_id].page.site_id for page_id in moved}
    for site_id in touched:
        priorities = [priority for priority, queue in state.queues[site_id].items() if queue]
        site = state.sites[site_id]
        state.sites[site_id] = site._replace(priority=min(priorities, default=site.priority))


def _move_pages(state: _State, batch: Batch) -> None:
    """Apply visits and requeues; a requeued page enters the queue before its visit or, if still in it, after."""
    requeues: dict[int, deque[Requeue]] = defaultdict(deque)
    for requeued in batch.requeued:
        requeues[requeued.page_id].append(requeued)
    for page_id, queue in requeues.items():
        _enter_again(state, state.records[page_id], queue)
    for visited in batch.visited:
        record = state.records[visited.page_id]
        _apply_visit(state, record, visited)
        _enter_again(state, record, requeues[visited.page_id])


def _enter_again(state: _State, record: _Record, requeues: deque[Requeue]) -> None:
    if record.is_queued or not requeues:
        return
    requeued = requeues.popleft()
    _set_due(state, record, None)
    record.is_queued = True
    record.page = record.page._replace(priority=requeued.priority, seq=requeued.seq)
    insort(_queue(state, record.page.site_id, requeued.priority), (requeued.seq, record.page.id))
    _count(state, record.page.site_id, pages=0, pending=1)


def _pay(record: _Record, share: CreditShare) -> None:
    page = record.page
    earned = (page.earned >> max(0, share.generation - page.generation)) + share.amount
    record.page = page._replace(credit=page.credit + share.amount, earned=earned, generation=share.generation)


def _promote(state: _State, move: Promotion) -> None:
    record = state.records[move.page_id]
    page = record.page
    if record.is_queued and (page.priority, page.seq) == (move.old_priority, move.old_seq):
        _take_out(_queue(state, page.site_id, page.priority), (page.seq, page.id))
        record.page = page._replace(priority=move.priority, seq=move.seq)
        insort(_queue(state, page.site_id, move.priority), (move.seq, page.id))


def _apply_visit(state: _State, record: _Record, visited: CompletedVisit) -> None:
    page = record.page
    if record.is_queued and (page.priority, page.seq) == (visited.priority, visited.seq):
        record.is_queued = False
        _take_out(_queue(state, page.site_id, page.priority), (page.seq, page.id))
        _count(state, page.site_id, pages=0, pending=-1)
    _set_due(state, record, None if record.is_queued else visited.due_us)
    record.moved_to, record.status = visited.moved_to, visited.status
    record.page = page._replace(
        visits=page.visits + 1,
        tries=visited.tries,
        interval_s=visited.interval_s,
        rate_estimate=page.rate_estimate if visited.rate_estimate is None else visited.rate_estimate,
        last_us=visited.at_us,
        credit=page.credit - visited.spent,
        duplicate_of=visited.duplicate_of,
    )
    _apply_content(state, record, visited)


def _represent(state: _State, view: Represented) -> None:
    for record in state.records.values():
        page = record.page
        if page.id == view.page_id or (page.duplicate_of == view.page_id and page.id != view.by):
            record.page = page._replace(duplicate_of=view.by)


def _apply_content(state: _State, record: _Record, visited: CompletedVisit) -> None:
    version = visited.version
    record.baseline = visited.baseline or record.baseline
    record.outline = visited.outline or record.outline
    if visited.digest is not None:
        record.page = record.page._replace(digest=visited.digest)
    if version is not None:
        record.versions[version.number] = _StoredVersion(visited.at_us, version)
        record.page = record.page._replace(
            version=version.number, digest=version.digest, etag=version.etag, last_modified=version.last_modified
        )
        state.content.setdefault(version.digest, (record.page.id, version.number))
    if visited.etag is not None or visited.last_modified is not None:
        record.page = record.page._replace(etag=visited.etag, last_modified=visited.last_modified)


def _set_due(state: _State, record: _Record, due_us: int | None) -> None:
    if record.due_us is not None:
        _take_out(state.due, (record.due_us, record.page.id))
    record.due_us = due_us
    if due_us is not None:
        insort(state.due, (due_us, record.page.id))


def _reschedule(state: _State, later: Reschedule) -> None:
    record = state.records[later.page_id]
    if not record.is_queued and later.due_us is not None:
        _set_due(state, record, later.due_us)
    if later.rate_estimate is not None:
        record.page = record.page._replace(rate_estimate=later.rate_estimate)


def _write_resource(state: _State, new: Resource) -> None:
    place = new.key, new.digest
    known = state.resources.get(place)
    if known is not None:
        seen = max(known.last_us, new.last_us)
        new = known._replace(
            last_us=seen, fresh_until_us=new.fresh_until_us, etag=new.etag, last_modified=new.last_modified
        )
    state.resources[place] = new


def _write_refusals(state: _State, refusals: Sequence[Refusal], *, most: int) -> None:
    for key, refusal in sorted({refusal.key: refusal for refusal in refusals}.items()):
        before = state.refusals.get(key)
        if key in state.page_ids or (before is None and len(state.refusals) >= most):
            continue
        if before is None or (before.reason, before.detail) != (refusal.reason, refusal.detail):
            state.refusals[key] = refusal


def _write_links(state: _State, batch: Batch) -> None:
    for links in batch.sent:
        state.outbox.setdefault(links.seq, links)
    for seq in batch.delivered:
        state.outbox.pop(seq, None)
    for source, seq in batch.received.items():
        state.received[source] = max(seq, state.received.get(source, 0))


def _advance(state: _State, batch: Batch) -> None:
    """Advance the next numbers, which never decrease."""
    seqs = [page.seq for page in batch.new_pages] + [requeued.seq for requeued in batch.requeued]
    seqs += [promoted.seq for promoted in batch.promoted]
    state.next_id = max([state.next_id, *(page.id + 1 for page in batch.new_pages)])
    state.next_seq = max([state.next_seq, *(seq + 1 for seq in seqs)])
    state.next_site_id = max([state.next_site_id, *(site_id + 1 for site_id in batch.sites)])
    state.next_link_batch = max([state.next_link_batch, *(links.seq + 1 for links in batch.sent)])
    if batch.archive_end is not None:
        state.archive_end = batch.archive_end
