"""A folder of collections: which there are, the state of each at a glance, new ones, and removal."""

from __future__ import annotations

import logging
import os
import re
import secrets
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from heapq import nlargest
from pathlib import Path

from evercrawl.adapters.sql.listing_reader import each_listing
from evercrawl.adapters.sql.state_reader import StateReader
from evercrawl.adapters.system import CollectionLock, modified_ns
from evercrawl.collection.runs import live_run, past_runs
from evercrawl.config import default_collection_path, is_collection, read_settings
from evercrawl.config.load import FOLDER_ENDING
from evercrawl.config.trust import ADDRESS_FILES, distrust_collection
from evercrawl.errors import CollectionBusy, ConfigError, EvercrawlError, StoreUnavailable
from evercrawl.model.listing import Totals
from evercrawl.model.time import from_us, to_us

log = logging.getLogger("evercrawl")
MAX_COLLECTIONS = 1000  # Collections of a folder that are listed; the others are counted.
MAX_NAME_CHARS = 100
REMOVED_PREFIX = ".removed-"  # A collection is renamed first, so that an interrupted removal leaves no half of one.
_UNSAFE = re.compile(r"[\x00-\x1f\x7f/\\]")
_TAG = re.compile(r"[^\s,]{1,40}")
MAX_TAGS = 20


@dataclass(frozen=True, slots=True)
class CollectionSummary:
    """The state of a collection of a folder."""

    name: str
    tags: tuple[str, ...] = ()
    seeds: int = 0
    sites: int = 0
    pages: int = 0
    queued: int = 0
    versions: int = 0
    last_change: datetime | None = None
    next_visit: datetime | None = None
    running: str | None = None  # What runs now, in words; None: nothing.
    is_idle: bool = False  # What runs has nothing to do now.
    last_run: datetime | None = None
    health: str = "ok"  # ok, new, attention, or unreadable.
    detail: str = ""
    is_trusted: bool = True
    keep_watching: bool = False


def collections_in(folder: Path) -> dict[str, Path]:
    """Return the collections directly in a folder by name, which is that of the folder without its ending.
    Links are left out: removing one would remove what it names."""
    try:
        with os.scandir(folder) as entries:
            found = [Path(one.path) for one in entries if one.is_dir(follow_symlinks=False)]
    except OSError as error:
        raise StoreUnavailable(f"{folder} cannot be read: {error.strerror or error}") from error
    own = sorted(path for path in found if _is_listed(path))
    plain = {path.name for path in own}
    named = ((path.name.removesuffix(FOLDER_ENDING) or path.name, path) for path in own)
    return {path.name if name != path.name and name in plain else name: path for name, path in named}


def _is_listed(path: Path) -> bool:
    return not path.name.startswith(".") and not _UNSAFE.search(path.name) and is_collection(path)


def new_collection_path(folder: Path, url: str, name: str = "") -> Path:
    """Return the folder of a new collection: by its name, or by the host of its first URL with a number if that
    exists. Raise ConfigError if the name cannot be used or exists."""
    if not name:
        first = default_collection_path(url, folder)
        stem = first.name.removesuffix(FOLDER_ENDING)
        others = (folder / f"{stem}-{number}{FOLDER_ENDING}" for number in range(2, MAX_COLLECTIONS + 2))
        return next(path for path in (first, *others) if not path.exists())
    text = name.strip().removesuffix(FOLDER_ENDING)
    if not text or text.startswith(".") or len(text) > MAX_NAME_CHARS or _UNSAFE.search(text) or not text.isprintable():
        raise ConfigError(f"{name!r} cannot be the name of a collection; use letters, digits, spaces, - and _")
    path = folder / f"{text}{FOLDER_ENDING}"
    if path.exists() or (folder / text).exists():
        raise ConfigError(f"the collection {text!r} exists; choose another name")
    return path


def parse_tags(text: str) -> tuple[str, ...]:
    """Return tags separated by commas or spaces, each once; raise ConfigError if there are too many or one is long."""
    tags = tuple(dict.fromkeys(part.lower() for part in re.split(r"[\s,]+", text) if part))
    if len(tags) > MAX_TAGS:
        raise ConfigError(f"a collection has at most {MAX_TAGS} tags")
    for tag in tags:
        if not _TAG.fullmatch(tag) or not tag.isprintable():
            raise ConfigError(f"{tag[:60]!r} is no tag; a tag has at most 40 characters")
    return tags


def summarise_collection(name: str, path: Path, *, env: Mapping[str, str], now: datetime) -> CollectionSummary:
    """Return the state of a collection; one that cannot be read says why."""
    try:
        return _summary(name, path, env, now)
    except (EvercrawlError, OSError) as error:
        return CollectionSummary(name, health="unreadable", detail=str(error))
    except Exception:  # A damaged collection must not hide the others.
        log.exception("bug while reading %s", path)
        return CollectionSummary(name, health="unreadable", detail="it cannot be read; see evercrawl.log")


def _summary(name: str, path: Path, env: Mapping[str, str], now: datetime) -> CollectionSummary:
    loaded = read_settings(path, env=env)
    reader = StateReader(path)
    totals = reader.totals(to_us(now))
    run = live_run(path, now=now)
    last = next(iter(past_runs(path, limit=1)), None)
    health, detail = judge_health(
        totals,
        distrust=None if loaded.distrust is None else loaded.distrust.reason,
        summary={} if last is None else last.summary,
        closed=sum(1 for site in reader.sites() if site.closed_reason and from_us(site.open_us) > now),
    )
    running = None if run is None else "watching" if run.forever else "crawling"
    return CollectionSummary(
        name,
        tags=loaded.settings.web.tags,
        seeds=len(loaded.settings.scope.seeds),
        sites=totals.sites,
        pages=totals.pages,
        queued=totals.pending,
        versions=totals.versions,
        last_change=last_change(path),
        next_visit=reader.next_due(),
        running=running,
        is_idle=run is not None and not run.progress.queued and not run.progress.in_flight,
        last_run=None if last is None else last.ended,
        health=health,
        detail=detail,
        is_trusted=loaded.distrust is None,
        keep_watching=loaded.settings.web.keep_watching,
    )


def judge_health(
    totals: Totals, *, distrust: str | None, summary: Mapping[str, object], closed: int
) -> tuple[str, str]:
    """Return the health of a collection and what is wrong, the worst first."""
    if distrust is not None:
        return "attention", f"not trusted: {distrust}"
    if summary.get("nothing_reachable"):
        return "attention", "the last crawl reached nothing"
    if not totals.requests:
        return "new", "not crawled yet"
    if closed:
        return "attention", f"{closed} {'site is' if closed == 1 else 'sites are'} paused after failures"
    done = sum(_count(summary, name) for name in ("fetched", "unchanged", "not_modified"))
    failed = _count(summary, "errors") - _count(summary, "gone")
    if failed > 0 and failed >= done:
        return "attention", f"{failed:,} of {done + failed:,} visits of the last run failed"
    return "ok", ""


def _count(summary: Mapping[str, object], name: str) -> int:
    value = summary.get(name)
    return value if isinstance(value, int) else 0


def last_change(collection: Path) -> datetime | None:
    """Return when the newest change was seen."""
    moments = (moment for _, reader in each_listing(collection) for moment in reader.change_moments(0, 1))
    newest = nlargest(1, moments)
    return from_us(newest[0]) if newest else None


def collection_stamp(path: Path) -> tuple[int, ...]:
    """Return what changes when a summary does: the times of the files that it is read from."""
    files = [path / "collection.toml", path / "runs.jsonl", path / "live.json", *sorted((path / "state").glob("*"))]
    return tuple(map(modified_ns, files))


def remove_collection(path: Path) -> None:
    """Delete a collection with everything in it. Raise CollectionBusy while a process crawls it, and ConfigError if
    its pages are in a database or object store, which would stay behind."""
    settings = read_settings(path).settings
    if settings.store.url or settings.archive.url or any((path / name).exists() for name in ADDRESS_FILES):
        raise ConfigError(
            f"{path.name} keeps pages in a database or an object store; delete them there, then delete the folder"
        )
    with CollectionLock(path):
        if live_run(path, now=datetime.now(UTC)) is not None:
            raise CollectionBusy("a crawl is running; stop it first")
        gone = path.with_name(f"{REMOVED_PREFIX}{secrets.token_hex(6)}")
        try:
            path.rename(gone)
        except OSError as error:
            raise StoreUnavailable(f"{path} cannot be removed: {error.strerror or error}") from error
    distrust_collection(path, os.environ)
    shutil.rmtree(gone, ignore_errors=True)


def finish_removals(folder: Path) -> None:
    """Delete what interrupted removals left."""
    for path in folder.glob(f"{REMOVED_PREFIX}*"):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class WatchTurn:
    """A collection that is watched, as far as turns depend on it."""

    name: str
    is_due: bool  # A page is due, queued, or was never visited.
    for_s: float | None = None  # How long its process has run; None: it has none.
    is_idle: bool = False


def next_turns(watched: Iterable[WatchTurn], *, others: int, limit: int, turn_s: float) -> tuple[list[str], list[str]]:
    """Return which watching processes to stop and to start, so that at most `limit` crawl at the same time, of which
    `others` do something else. Where all fit, all run; otherwise those with due pages take turns of `turn_s`."""
    everyone = list(watched)
    running = [one for one in everyone if one.for_s is not None]
    waiting = [one for one in everyone if one.for_s is None]
    free = max(0, limit - others - len(running))
    is_scarce = len(everyone) + others > limit
    ready = [one for one in waiting if one.is_due or not is_scarce]
    start = [one.name for one in ready[:free]]
    missing = len(ready) - len(start)
    may_stop = [one for one in running if one.is_idle or (one.for_s or 0.0) >= turn_s]
    may_stop.sort(key=lambda one: (not one.is_idle, -(one.for_s or 0.0)))
    return [one.name for one in may_stop[:missing]], start
