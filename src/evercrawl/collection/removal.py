"""Remove a site, a page or a version everywhere: state, archive, search index, alerts and caches.
A removal is first written to `removals/`, and the page or site is never requested again. If it is interrupted, or a
crawl is running, it is carried out when that crawl ends or the next one starts. Repeating any step changes nothing."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

from evercrawl.adapters.graph_files import graph_folder
from evercrawl.adapters.objectstore.uploader import archive_address
from evercrawl.adapters.sqlite.hardened_file import connect
from evercrawl.adapters.sqlite.pruning import (
    RemovalRows,
    RemovalTarget,
    VersionPlace,
    archive_end,
    delete_rows,
    select_rows,
)
from evercrawl.adapters.sqlite.sqlite_database import SqliteConnection
from evercrawl.adapters.sqlite.state_file import (
    TranslateErrors,
    database_of,
    open_for_reading,
    open_for_writing,
    shard_path,
)
from evercrawl.adapters.system import CollectionLock
from evercrawl.adapters.tantivy.text_index import index_folder
from evercrawl.adapters.warc.reader import WarcRecord, parse_warc_date, read_record
from evercrawl.adapters.warc.rewrite import RemovalPlan, plan_removal, rewrite_file
from evercrawl.adapters.warc.shard_archive import QUARANTINE_SUFFIX, truncate_archive
from evercrawl.adapters.warc.warc_records import tombstone_record
from evercrawl.collection.maintenance import RewrittenFiles, compact, delete_dropped, warc_info
from evercrawl.collection.site_list import find_origin
from evercrawl.collection.stored_pages import canonical_page_url, load_page, split_version, utc_now
from evercrawl.config import collection_file, read_settings, removals_folder, write_setting
from evercrawl.config.edit import replace_file
from evercrawl.config.load import outbox_path
from evercrawl.core.alerts.definition import event_from_json
from evercrawl.core.url import canonical, shard_of_site, site_of
from evercrawl.errors import CollectionBusy, ConfigError
from evercrawl.model.settings import Settings
from evercrawl.model.time import to_us

KINDS = ("site", "page", "version")
STATES = ("preview", "pending", "done")
MAX_REQUEST_CHARS = 500
_ID = re.compile(r"[0-9a-f]{32}")
_VIEW = "urn:view:"  # Before the URL of a page, the target of its screenshot.
_ALWAYS = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Removal:
    """A request to remove something, and what it removed. `state` is one of STATES."""

    id: str
    kind: str  # One of KINDS.
    target: str  # The origin of a site or the URL of a page.
    version: int | None
    requested_at: str
    request: str  # Why, or on whose request.
    who: str
    state: str
    pages: int = 0
    versions: int = 0
    resources: int = 0  # Assets and redirects.
    archive_bytes: int = 0
    shared_pages: int = 0  # Other pages with some of the content, which keep it.
    damaged_files: tuple[str, ...] = ()  # Damaged archive files, which could not be searched.

    def rows_of(self) -> RemovalTarget:
        """Return what to remove from the state."""
        return RemovalTarget(self.target, self.kind == "site", self.version)


def removals(collection: Path) -> list[Removal]:
    """Return all removals, the newest first."""
    found = [_read(path) for path in removals_folder(collection).glob("*.json")]
    return sorted(found, key=lambda removal: removal.requested_at, reverse=True)


def preview(collection: Path, settings: Settings, kind: str, name: str) -> Removal:
    """Return what a removal would delete; `name` is a site, a URL, or `URL@VERSION`."""
    removal = _new_removal(collection, settings, kind, name)
    path = shard_path(collection, shard_of_site(site_of(removal.target), settings.store.shards))
    if not path.exists():
        return removal
    with closing(SqliteConnection(path, open_for_reading(path))) as db:
        db.db.execute("begin")  # One snapshot; otherwise each of thousands of queries would lock the file.
        rows = select_rows(db, removal.rows_of())
    return removal if rows is None else _counted(removal, rows)


def remove(
    collection: Path, settings: Settings, kind: str, name: str, *, request: str = "", who: str = "library"
) -> Removal:
    """Remove a site, a page or a version. The result is pending if a crawl is running, which keeps the data until it
    ends but requests nothing more of it."""
    request = " ".join(request.split())[:MAX_REQUEST_CHARS]
    removal = replace(preview(collection, settings, kind, name), state="pending", request=request, who=who)
    write_removal(collection, removal)
    if kind != "version":
        _block(collection, removal)
    with suppress(CollectionBusy), CollectionLock(collection):
        removal = _carry_out(collection, settings, removal)
    return removal


def finish_removals(collection: Path, settings: Settings) -> list[Removal]:
    """Carry out the removals that are pending, in a collection that the caller has locked."""
    pending = [removal for removal in removals(collection) if removal.state == "pending"]
    for removal in pending:
        if removal.kind != "version":
            _block(collection, removal)
    return [_carry_out(collection, settings, removal) for removal in pending]


def allow_again(collection: Path, name: str) -> bool:
    """Let a removed page or site be requested again; return False if it was not removed. Nothing comes back by it."""
    known = read_settings(collection).settings.scope.removed
    wanted = {name, name.rstrip("/"), canonical(name) or name}
    left = tuple(one for one in known if one not in wanted)
    if left != known:
        write_setting(collection_file(collection), "scope.removed", left)
    return left != known


def _new_removal(collection: Path, settings: Settings, kind: str, name: str) -> Removal:
    if database_of(collection) is not None or settings.store.url is not None:
        raise ConfigError(
            "nothing can be removed while the state is in PostgreSQL; stop its workers, move the state to files with:"
            " evercrawl store move --to files, remove, and move it back"
        )
    if archive_address(collection / "archive") is not None:
        raise ConfigError(
            "nothing can be removed while the archive is on object storage, where records cannot be rewritten;"
            " download the files, delete archive/objects and archive/uploaded, and try again"
        )
    version: int | None = None
    if kind == "site":
        target = find_origin(collection, name)
    else:
        url, which = split_version(collection, settings, name) if kind == "version" else (name, None)
        target = canonical_page_url(url)
        if kind == "version":
            stored = load_page(collection, settings, target)
            if which is None:
                raise ConfigError(
                    f"which version? Write it like {target}@v3; list them with: evercrawl history {target}"
                )
            if len(stored.versions) == 1:
                raise ConfigError(f"{target} has only one version; remove the page: evercrawl remove page {target}")
            version = stored.choose(which, now=utc_now()).version.number
    return Removal(uuid4().hex, kind, target, version, f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", "", "", "preview")


def _counted(removal: Removal, rows: RemovalRows) -> Removal:
    others = {page_id for versions in rows.shared.values() for (page_id, _), _ in versions}
    return replace(
        removal,
        pages=len(rows.pages) if removal.version is None else 0,
        versions=len(rows.versions),
        resources=rows.resources if removal.version is None else 0,
        archive_bytes=sum(version.length for version in rows.versions.values()),
        shared_pages=len(others),
    )


def _block(collection: Path, removal: Removal) -> None:
    """Never request the page or site again, and take a site's seeds away."""
    file, scope = collection_file(collection), read_settings(collection).settings.scope
    if removal.target not in scope.removed:
        write_setting(file, "scope.removed", (*scope.removed, removal.target))
    if removal.kind == "site":
        seeds = tuple(seed for seed in scope.seeds if site_of(canonical(seed) or "://") != removal.target)
        if seeds != scope.seeds:
            write_setting(file, "scope.seeds", seeds)


def _carry_out(collection: Path, settings: Settings, removal: Removal) -> Removal:
    shard = shard_of_site(site_of(removal.target), settings.store.shards)
    path = shard_path(collection, shard)
    if path.exists():
        with closing(SqliteConnection(path, open_for_writing(path, durability="power"))) as db:
            removal = _remove_from_shard(collection / "archive", settings, db, removal)
        compact(path, durability=settings.store.durability, is_forced=True)
    for folder in (index_folder(collection).parent, graph_folder(collection), collection / "near" / f"s{shard:02}"):
        shutil.rmtree(folder, ignore_errors=True)
    selects = _selects_url(removal)
    _forget(outbox_path(collection), lambda db: _forget_events(db, removal, selects))
    _forget(collection / "inbox.sqlite", lambda db: _forget_rows(db, "mute", "place", selects))
    for table in ("exchange", "result"):
        _forget(collection / "outposts" / "home.db", lambda db, name=table: _forget_rows(db, name, "url", selects))  # type: ignore[misc]
    removal = replace(removal, state="done")
    write_removal(collection, removal)
    return removal


def _remove_from_shard(folder: Path, settings: Settings, db: SqliteConnection, removal: Removal) -> Removal:
    delete_dropped(folder, db)
    target, end = removal.rows_of(), archive_end(db)
    rows = select_rows(db, target)
    if rows is None:
        return removal  # The version is gone already.
    if end is not None:
        truncate_archive(folder, db.shard, end)
    plan = _plan_archive(folder, db.shard, removal, rows)
    aside = [one for one in plan.files if QUARANTINE_SUFFIX in one.path.name]
    files = RewrittenFiles([one for one in plan.files if one not in aside], plan.damaged)
    new_end = files.write(folder, settings, db.shard)
    holders = {UUID(old[1:-1]).bytes: UUID(holder.own_id[1:-1]).bytes for old, holder in plan.holders.items()}
    delete_rows(
        db,
        target,
        rows,
        moved=files.new_position,
        files=sorted(files.rewritten),
        archive_end=new_end,
        holders=holders,
        now_us=to_us(datetime.now(UTC)),
    )
    for one in aside:
        fresh = f"{one.path.name}.new"
        (folder / fresh).unlink(missing_ok=True)
        rewrite_file(one, fresh, warc_info(settings), now=datetime.now(UTC), level=settings.archive.gzip_level)
        (folder / fresh).replace(one.path)
    delete_dropped(folder, db)
    counted = _counted(removal, rows) if rows.pages or rows.resources else removal
    dropped = sum(one.dropped_bytes for one in plan.files)
    return replace(counted, archive_bytes=dropped or removal.archive_bytes, damaged_files=tuple(plan.damaged))


def _plan_archive(folder: Path, shard: int, removal: Removal, rows: RemovalRows) -> RemovalPlan:
    since, until = (_date_at(folder, rows.first) or _ALWAYS[0], _date_at(folder, rows.following) or _ALWAYS[1])
    selects_url = _selects_url(removal)

    def selects(record: WarcRecord) -> bool:
        uri = record.headers.get("warc-target-uri", "").removeprefix(_VIEW)
        return selects_url(uri) and since <= parse_warc_date(record.headers["warc-date"]) < until

    fields = {"removed": removal.requested_at, "what": removal.kind, "request": removal.request or "not given"}
    added = tombstone_record(removal.target, fields | {"removal": removal.id}, now=datetime.now(UTC))
    known = [record_id for versions in rows.shared.values() for _, record_id in versions]
    paths = sorted(folder.glob(f"s{shard:02}-*.warc.gz")) + sorted(folder.glob(f"s{shard:02}-*{QUARANTINE_SUFFIX}*"))
    return plan_removal(paths, selects, preferred=known, added=added)


def _date_at(folder: Path, place: VersionPlace | None) -> datetime | None:
    return None if place is None else read_record(folder, *place).date


def _selects_url(removal: Removal) -> Callable[[str], bool]:
    """Return whether a URL is the removed page, or on the removed site."""
    if removal.kind == "site":
        return lambda url: url.startswith(removal.target) and site_of(canonical(url) or "://") == removal.target
    host = site_of(removal.target)
    return lambda url: url == removal.target or (url.startswith(host) and canonical(url) == removal.target)


def _forget(path: Path, delete: Callable[[sqlite3.Connection], None]) -> None:
    """Delete rows of another database and what the file still holds of them."""
    if not path.exists():
        return
    with TranslateErrors(path), closing(connect(path, mode="rw", isolation_level=None, timeout=10.0)) as db:
        delete(db)
        db.execute("vacuum")
        db.execute("pragma wal_checkpoint(truncate)").fetchall()


def _forget_events(db: sqlite3.Connection, removal: Removal, selects: Callable[[str], bool]) -> None:
    """Delete the events of removed pages, and open messages without any."""
    for number, event in db.execute("select number, event from event").fetchall():
        found = event_from_json(event)
        if selects(found.url) and removal.version in (None, found.version, found.version - 1):
            db.execute("delete from event where number = ?", (number,))
    db.execute(
        "delete from message where state in ('pending', 'sending')"
        " and not exists (select 1 from event where event.message = message.id)"
    )


def _forget_rows(db: sqlite3.Connection, table: str, column: str, selects: Callable[[str], bool]) -> None:
    for (url,) in db.execute(f"select distinct {column} from {table}").fetchall():
        if selects(url):
            db.execute(f"delete from {table} where {column} = ?", (url,))


def write_removal(collection: Path, removal: Removal) -> None:
    """Write a removal down."""
    folder = removals_folder(collection)
    folder.mkdir(mode=0o750, exist_ok=True)
    replace_file(folder / f"{removal.id}.json", json.dumps(asdict(removal), indent=1) + "\n")


def _read(path: Path) -> Removal:
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
        found = Removal(**fields | {"damaged_files": tuple(fields["damaged_files"])})
        _check(found, path)
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise ConfigError(f"{path} cannot be read: {error}; it describes a removal, so restore or delete it") from error
    return found


def _check(removal: Removal, path: Path) -> None:
    """Raise ValueError if this program did not write the removal: its file may come from somebody else, and its number
    is the name of the file that is written when it is done."""
    if removal.id != path.stem or not _ID.fullmatch(removal.id):
        raise ValueError("its id is not the name of the file")
    if removal.kind not in KINDS or removal.state not in STATES:
        raise ValueError("its kind or state is unknown")
    texts = (removal.target, removal.requested_at, removal.request, removal.who, *removal.damaged_files)
    counts = (removal.version or 0, removal.pages, removal.versions, removal.resources, removal.archive_bytes)
    if not all(isinstance(one, str) for one in texts) or not all(isinstance(one, int) for one in counts):
        raise ValueError("a field has another type")
