"""Import captures into a shard, as if the pages had been visited at that time."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import assert_never

from evercrawl.adapters.sql.listing_reader import VersionReader
from evercrawl.adapters.warc.reader import HttpBlock, WarcRecord, parse_http_block, read_record
from evercrawl.adapters.warc.writer import WarcArchive
from evercrawl.collection.exchange.import_sources import (
    Catalogue,
    CatalogueEntry,
    DamagedRecord,
    ImportedResponse,
    RecordFiles,
    fetch_result_of,
    response_parts,
)
from evercrawl.core.digest import content_digest
from evercrawl.core.frontier import priority_of
from evercrawl.core.revisit.request_budget import RequestBudget, budget_level
from evercrawl.core.url import key_of, registrable_domain, site_of, site_parts
from evercrawl.engine.apply import archive_answer, visit_row
from evercrawl.engine.assets import redirect_row
from evercrawl.engine.commits import CommitBuffer
from evercrawl.engine.decide import decide
from evercrawl.engine.decision import Decision, DuplicateLookup, PageKnowledge, Policy, Related, SiteKnowledge
from evercrawl.engine.gather import ContentReader
from evercrawl.engine.interpret import redirect_target
from evercrawl.engine.ports import ShardStore
from evercrawl.engine.site_state import CHANGE, FRESHNESS, MAX_OUTLOOKS, MAX_TEXTS, SiteStates
from evercrawl.errors import StoreUnavailable
from evercrawl.model.fetch import Failed, Fetched, FetchResult, Moved, NotModified
from evercrawl.model.page import NewPage, Page
from evercrawl.model.settings import Settings
from evercrawl.model.site import Site
from evercrawl.model.time import from_us, to_us

MAX_DAMAGE = 100  # Damaged records listed in a report; all are counted.
IMPORTED_DEPTH = 1  # Not 0, because only URLs given by the user are seeds.


@dataclass(slots=True)
class ImportReport:
    """The result of an import; each of the `records` is also counted in one of the other fields."""

    records: int = 0  # Response and revisit records found.
    new_pages: int = 0
    versions: int = 0  # Records that became versions.
    unchanged: int = 0  # Unchanged pages, redirects and errors: logged, without a version.
    already: int = 0  # Records that the collection already had.
    older: int = 0  # Records older than the newest visit of their page; history is only appended.
    ignored: int = 0  # Records that are not the response to a GET request for a web page.
    unresolved: int = 0  # Revisit records whose original is missing.
    damaged: int = 0
    damage: list[str] = field(default_factory=list)  # Descriptions of the first damaged records.

    def add_damage(self, text: str) -> None:
        """Count a damaged record."""
        self.damaged += 1
        if len(self.damage) < MAX_DAMAGE:
            self.damage.append(text)


@dataclass(frozen=True, slots=True)
class ImportContext:
    """Values that all shards of an import share."""

    collection: Path
    settings: Settings
    catalogue: Catalogue
    records: RecordFiles
    policy: Policy
    report: ImportReport = field(default_factory=ImportReport)


@dataclass(slots=True)
class IdCounter:
    """The next ids of a shard."""

    page: int
    seq: int
    site: int


class ShardImporter:
    """Imports captures into one shard, oldest first.
    Invariant: a page is in a batch at most once, so the store has its newest state for each decision."""

    def __init__(
        self,
        shared: ImportContext,
        store: ShardStore,
        archive: WarcArchive,
        *,
        buffer: CommitBuffer,
        reader: VersionReader,
        numbers: IdCounter,
    ) -> None:
        self._import = shared
        self._report = shared.report
        self._store = store
        self._archive = archive
        self._buffer = buffer
        self._reader = reader
        self._numbers = numbers
        policy = shared.policy
        self._change = SiteStates(store, CHANGE, most=MAX_TEXTS)
        self._outlooks = SiteStates(store, FRESHNESS, most=MAX_OUTLOOKS)
        self._contents = ContentReader(store, archive, self._change, original_of=buffer.original_of, policy=policy)
        budget = RequestBudget(None, policy.settings.revisit.min_freshness_gain / timedelta(days=1))
        self._level = budget_level(budget, policy.settings.revisit)
        self._in_batch: set[bytes] = set()
        self._sites: dict[str, Site] = {}

    async def import_capture(self, entry: CatalogueEntry) -> None:
        """Import one capture; count and skip it if it cannot be used."""
        try:
            result = self._result(entry)
        except (DamagedRecord, ValueError, StoreUnavailable) as error:
            self._report.add_damage(f"{entry.url} of {from_us(entry.at_us):%Y-%m-%dT%H:%M:%SZ}: {error}")
            return
        if result is None:
            return
        key = key_of(entry.url)
        if key in self._in_batch or len(self._in_batch) >= self._import.settings.store.commit_pages:
            await self._commit()
        await self._place(entry, key, result)

    async def finish(self) -> None:
        """Write the site state and the last batch."""
        self._buffer.batch.site_states |= self._change.unsaved()
        self._buffer.batch.site_states |= self._outlooks.unsaved()
        await self._commit()

    async def _commit(self) -> None:
        await self._buffer.commit()
        self._in_batch.clear()
        self._sites.clear()

    # The result of a capture

    def _result(self, entry: CatalogueEntry) -> FetchResult | None:
        """Return the result of the visit; None: the record is counted as something else."""
        record = self._import.records.read(entry.place)
        request_head = self._request_head(entry)
        if request_head and not request_head.startswith(b"GET "):
            self._report.ignored += 1
            return None
        http = self._resolve_revisit(entry, record) if entry.kind == "revisit" else response_parts(record)
        if http is None:
            self._report.unresolved += 1
            return None
        capture = ImportedResponse(
            url=entry.url,
            date=from_us(entry.at_us),
            ip=record.headers.get("warc-ip-address"),
            is_cut=record.headers.get("warc-truncated") is not None,
            http=http,
            request_head=request_head,
        )
        return fetch_result_of(capture, self._import.settings.http)

    def _request_head(self, entry: CatalogueEntry) -> bytes:
        place = self._import.catalogue.request_of(entry)
        return b"" if place is None else self._import.records.read(place).block

    def _resolve_revisit(self, entry: CatalogueEntry, revisit: WarcRecord) -> HttpBlock | None:
        """Return the head of a revisit with the body of its original; None: the original is missing."""
        own = parse_http_block(revisit.block) if revisit.block.startswith(b"HTTP/") else None
        if own is not None and own.status == 304:
            return own
        place = self._import.catalogue.original_of(entry)
        if place is not None:
            original = response_parts(self._import.records.read(place))
            return original if own is None else own._replace(body=original.body)
        body = self._stored_body(entry)
        return own._replace(body=body) if own is not None and body is not None else None

    def _stored_body(self, entry: CatalogueEntry) -> bytes | None:
        """Return the body of an original that is already in the collection."""
        page = self._reader.page(key_of(entry.refers_url)) if entry.refers_url else None
        for stored in self._reader.versions(page.id) if page is not None else ():
            original = self._reader.original(stored.version.digest)
            if stored.seen_us == entry.refers_us and original is not None:
                place = original.file, original.offset, original.length
                return read_record(self._import.collection / "archive", *place).wire_body
        return None

    # Its page

    async def _place(self, entry: CatalogueEntry, key: bytes, result: FetchResult) -> None:
        known = self._reader.page(key)
        if known is None:
            if isinstance(result, NotModified):
                self._report.unresolved += 1
                return
            await self._write(await self._new_page(entry, key), result, entry.at_us)
            return
        at_us = self._free_time(known.id, entry.at_us, result)
        if at_us is None:
            self._report.already += 1
        elif known.last_us is not None and at_us < known.last_us:
            self._report.older += 1
        elif isinstance(result, NotModified) and known.version == 0:
            self._report.unresolved += 1
        else:
            site = await self._site(known.site)
            page = Page(
                id=known.id,
                key=key,
                url=known.url,
                site_id=site.id,
                depth=known.depth,
                hops=known.hops,
                priority=known.priority,
                seq=-1,
                tries=known.tries,
                visits=known.visits,
                version=known.version,
                etag=known.etag,
                last_modified=known.last_modified,
                digest=known.digest,
                interval_s=known.interval_s,
                rate_estimate=known.rate_estimate,
                last_us=known.last_us,
            )
            await self._write(page, result, at_us)

    def _free_time(self, page_id: int, at_us: int, result: FetchResult) -> int | None:
        """Return the time of the capture, slightly later if another capture has it; None: it is already stored.
        Old archives have times in whole seconds, in which a page may have been captured twice."""
        while visits := self._reader.visits_at(page_id, at_us):
            if any(_is_same(result, status, digest) for status, digest in visits):
                return None
            at_us += 1
        return at_us

    async def _new_page(self, entry: CatalogueEntry, key: bytes) -> Page:
        site = await self._site(site_of(entry.url))
        numbers = self._numbers
        priority = priority_of(depth=IMPORTED_DEPTH, hops=0, priorities=self._import.settings.frontier.priorities)
        new = NewPage(
            numbers.page, key, entry.url, site.id, IMPORTED_DEPTH, 0, priority, numbers.seq, None, entry.at_us
        )
        numbers.page, numbers.seq = numbers.page + 1, numbers.seq + 1
        self._buffer.batch.new_pages.append(new)
        self._report.new_pages += 1
        return Page(new.id, key, new.url, site.id, new.depth, new.hops, new.priority, new.seq)

    async def _site(self, name: str) -> Site:
        site = self._sites.get(name) or (await self._store.sites_named([name])).get(name)
        if site is None:
            site = Site(self._numbers.site, name, registrable_domain(site_parts(name).host))
            self._numbers.site += 1
            self._buffer.note_site(site)
        self._sites[name] = site
        return site

    # The visit

    async def _write(self, page: Page, result: FetchResult, at_us: int) -> None:
        now = from_us(at_us)
        decision = await self._decide(page, result, now)
        stored = archive_answer(page, decision, self._archive)
        if decision.site.change is not None:
            self._change.update(page.site_id, decision.site.change)
        if decision.site.outlook is not None:
            self._outlooks.update(page.site_id, decision.site.outlook)
        visit = visit_row(page, decision, now=now, stored=stored)._replace(at_us=at_us)
        if self._is_out_of_scope(page):
            visit = visit._replace(due_us=None)
        self._buffer.write_visit(page, visit)
        if isinstance(result, Moved) and stored is not None:
            self._buffer.batch.resources.append(redirect_row(page.url, result, stored, now=now))
        self._in_batch.add(page.key)
        if visit.version is not None:
            self._report.versions += 1
        else:
            self._report.unchanged += 1

    def _is_out_of_scope(self, page: Page) -> bool:
        """Return whether the page is outside the scope, so that no crawl visits it."""
        settings, scope = self._import.settings, self._import.policy.scope
        return bool(settings.scope.seeds) and scope.verdict(page.url, depth=page.depth) is not None

    async def _decide(self, page: Page, result: FetchResult, now: datetime) -> Decision:
        """Decide what a record means, as if the page had been visited at that time."""
        policy = self._import.policy
        is_304 = isinstance(result, NotModified)
        content = await self._contents.read(page, result, now=now) if isinstance(result, Fetched) else None
        baseline = await self._store.baseline(page.id) if is_304 else None
        original = await self._store.version_original(page.id) if is_304 else None
        outlook, change = await self._outlooks.of(page.site_id), await self._change.of(page.site_id)
        site = Site(page.site_id, site_of(page.url), "")
        related = Related(
            SiteKnowledge(site, change.value, outlook.value),
            self._level,
            content=content,
            baseline=baseline,
            original=original,
            duplicates=DuplicateLookup(is_original_pending=True),
        )
        if isinstance(result, Moved):
            related = related._replace(found=redirect_target(page, result, now_us=to_us(now), policy=policy))
        return decide(page, result, PageKnowledge(), related, now=now, policy=policy)


def _is_same(result: FetchResult, status: int | None, digest: bytes | None) -> bool:
    """Return whether the result has this status and content."""
    match result:
        case Fetched(status=own, body=body):
            return own == status and digest in (None, content_digest(body))
        case NotModified():
            return status == 304
        case Moved(status=own) | Failed(status=own):
            return own == status
        case unknown:
            assert_never(unknown)
