"""Import WARC files and WACZ packages: catalogue their records, then add them shard by shard in order of time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from evercrawl.adapters.parse_process import ParseProcesses
from evercrawl.adapters.plugins import InstalledHandlers
from evercrawl.adapters.sql.listing_reader import version_reader
from evercrawl.adapters.sqlite.sqlite_database import SqliteStore
from evercrawl.adapters.system import CollectionLock, SystemClock
from evercrawl.adapters.warc.reader import WarcDamage, WarcRecord, parse_warc_date
from evercrawl.adapters.warc.warc_records import WarcInfo
from evercrawl.adapters.warc.writer import WarcArchive
from evercrawl.collection.exchange.import_shard import IdCounter, ImportContext, ImportReport, ShardImporter
from evercrawl.collection.exchange.import_sources import (
    Catalogue,
    CatalogueEntry,
    ImportFormat,
    RecordFiles,
    RecordPlace,
    locate_records,
    warc_files,
)
from evercrawl.core.scope.scope import Scope
from evercrawl.core.traps.user_rules import TrapFilter
from evercrawl.core.url import canonical, shard_of_site, site_of
from evercrawl.engine.commits import CommitBuffer
from evercrawl.engine.decision import Policy
from evercrawl.engine.ports import ShardStore
from evercrawl.model import __version__
from evercrawl.model.settings import Settings
from evercrawl.model.time import to_us

WORK_FOLDER = "import-"  # Prefix of the temporary folder of an import, inside the collection.

CAPTURES = ("response", "revisit")  # Types of records that mean a visit.

OnImport = Callable[[ImportReport], None]


def import_archives(
    collection: Path, settings: Settings, files: list[Path], *, form: ImportFormat, on_progress: OnImport | None = None
) -> ImportReport:
    """Import the captures of WARC files or WACZ packages, and return the counts."""
    with CollectionLock(collection), TemporaryDirectory(prefix=WORK_FOLDER, dir=collection) as folder:
        paths = warc_files(files, form, Path(folder))
        catalogue, records = Catalogue(Path(folder) / "catalogue.sqlite"), RecordFiles(paths)
        try:
            importer = ArchiveImporter(_import_context(collection, settings, catalogue, records), on_progress)
            for number, path in enumerate(paths):
                importer.catalogue_file(path, number)
            catalogue.close_entries()
            asyncio.run(importer.import_all())
            return importer.report
        finally:
            records.close()
            catalogue.close()


def _import_context(collection: Path, settings: Settings, catalogue: Catalogue, records: RecordFiles) -> ImportContext:
    # Whoever imports an archive wants all of it, also files that a crawl with these settings would not keep.
    everything = replace(
        settings.scope,
        media_types=("*/*",),
        exclude_media_types=(),
        min_bytes=None,
        max_bytes=None,
        languages=(),
        newer_than=None,
        older_than=None,
        keywords=(),
        exclude_keywords=(),
    )
    policy = Policy(
        settings=settings,
        scope=Scope(everything, sites=(), allow_ports=settings.http.allow_ports),
        traps=TrapFilter(settings.traps),
        agent=settings.identity.product,
        handler_of=InstalledHandlers().get,
        parser=ParseProcesses(),
    )
    return ImportContext(collection, settings, catalogue, records, policy)


class ArchiveImporter:
    """One import: catalogue all files, then import shard by shard."""

    def __init__(self, shared: ImportContext, on_progress: OnImport | None) -> None:
        self._import = shared
        self._on_progress = on_progress
        self.report = shared.report

    def catalogue_file(self, path: Path, number: int) -> None:
        """Add the records of a file to the catalogue."""
        for found in locate_records(path, number):
            if isinstance(found, WarcDamage):
                self.report.add_damage(f"{path.name} at {found.offset}: {found.message}")
                continue
            place, record = found
            fields = record.headers
            own, concurrent = fields.get("warc-record-id"), fields.get("warc-concurrent-to")
            if record.kind == "request":
                self._import.catalogue.add_request(place, record_id=own, concurrent=concurrent)
            elif record.kind in CAPTURES:
                self.report.records += 1
                self._add_entry(path, record, place)
                self.progress()

    def _add_entry(self, path: Path, record: WarcRecord, place: RecordPlace) -> None:
        fields = record.headers
        url = canonical(fields.get("warc-target-uri", ""))
        if url is None:
            self.report.ignored += 1
            return
        try:
            at_us = to_us(parse_warc_date(fields["warc-date"]))
        except (KeyError, ValueError):
            self.report.add_damage(f"{path.name} at {place.offset}: the record has no valid date")
            return
        self._import.catalogue.add(
            CatalogueEntry(
                shard=shard_of_site(site_of(url), self._import.settings.store.shards),
                at_us=at_us,
                url=url,
                kind=record.kind,
                source=place.source,
                offset=place.offset,
                nth=place.nth,
                record_id=fields.get("warc-record-id"),
                concurrent=fields.get("warc-concurrent-to"),
                refers_to=fields.get("warc-refers-to"),
                refers_url=canonical(fields.get("warc-refers-to-target-uri", "")),
                refers_us=_moment_us(fields.get("warc-refers-to-date")),
                payload=fields.get("warc-payload-digest"),
            )
        )

    async def import_all(self) -> None:
        """Import the captures of every shard."""
        store = SqliteStore(self._import.collection, self._import.settings.store)
        try:
            for shard in self._import.catalogue.shards():
                await self._import_shard(await store.open_shard(shard), shard)
        finally:
            await store.close()
            if self._import.policy.parser is not None:
                self._import.policy.parser.close()

    async def _import_shard(self, store: ShardStore, shard: int) -> None:
        facts = await store.claim()
        archive = WarcArchive(
            self._import.collection / "archive",
            shard,
            settings=self._import.settings.archive,
            clock=SystemClock(),
            info=WarcInfo(f"evercrawl/{__version__}", {"description": "Includes records imported from other archives"}),
            durable=self._import.settings.store.durability == "power",
        )
        archive.truncate_to(facts.archive_end)
        buffer = CommitBuffer(store, archive, epoch=facts.epoch, pages=self._import.settings.store.commit_pages)
        with version_reader(self._import.collection, shard) as reader:
            numbers = IdCounter(facts.next_id, facts.next_seq, facts.next_site_id)
            into = ShardImporter(self._import, store, archive, buffer=buffer, reader=reader, numbers=numbers)
            try:
                for entry in self._import.catalogue.of_shard(shard):
                    await into.import_capture(entry)
                    self.progress()
                await into.finish()
            finally:
                archive.close()
        if not facts.crashed:
            # Keep the mark of a crash, because the next crawl must wait out every delay after it.
            await store.release(facts.epoch)
        await store.close()

    def progress(self) -> None:
        """Report the progress."""
        if self._on_progress is not None:
            self._on_progress(self.report)


def _moment_us(text: str | None) -> int | None:
    try:
        return None if text is None else to_us(parse_warc_date(text))
    except ValueError:
        return None
