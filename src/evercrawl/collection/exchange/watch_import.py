"""Bring watched pages along: backups of changedetection.io with filters, intervals and history, and lists of URLs."""

from __future__ import annotations

import gzip
import json
import lzma
import re
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from evercrawl.adapters.warc.warc_records import response_record
from evercrawl.collection.exchange.import_run import import_archives
from evercrawl.collection.exchange.import_shard import ImportReport
from evercrawl.collection.exchange.program_imports import (
    add_pages,
    import_archivebox,
    import_heritrix,
    import_scrapy,
    read_bounded,
)
from evercrawl.collection.overrides import parse_place, set_schedule
from evercrawl.collection.urls import parse_page_url, read_url_list
from evercrawl.config import read_settings
from evercrawl.config.fields_file import MAX_RULES, add_rule, load_rules
from evercrawl.core.fields.reading import SELECTED_FIELD
from evercrawl.core.http.content_coding import BadCoding, DecodeLimits, decode
from evercrawl.errors import ConfigError
from evercrawl.model.fields import FieldRule, FieldType
from evercrawl.model.history import WatchReport
from evercrawl.model.settings import Settings

MAX_WATCHES = 20_000
MAX_MEMBERS = 1_000_000  # Files in a backup.
MAX_MEMBER_BYTES = 32 * 1024 * 1024  # Of one file, unpacked.
MAX_WATCH_BYTES = 1024 * 1024  # Of the settings of one watch; the settings of all are in memory.
MAX_FILTERS = 100  # Of one watch.
MAX_SECONDS = 10 * 365 * 86_400  # Of an interval.
MAX_TOTAL_BYTES = 4 * 1024**3  # Of all that is read of a backup, unpacked.
MAX_SNAPSHOTS = 200_000  # Of all watches.
MAX_HISTORY_BYTES = 4 * 1024 * 1024  # Of the list of the snapshots of one watch.
MAX_LIST_BYTES = 16 * 1024 * 1024
_WATCH = re.compile(r"([0-9a-f-]{36})/watch\.json")
_UNITS = ("weeks", "days", "hours", "minutes", "seconds")
_SECONDS = {"weeks": 604_800, "days": 86_400, "hours": 3600, "minutes": 60, "seconds": 1}
_NOT_TAKEN = {
    "notification_urls": "notification URLs; set up an alert",
    "subtractive_selectors": "elements to remove; mute the part",
    "ignore_text": "text to ignore; mute the part",
    "trigger_text": "trigger texts; use an alert with --query",
    "text_should_not_be_present": "texts that block; use an alert with --query",
    "extract_text": "expressions that extract text; use a field with text:…",
    "headers": "request headers; see: evercrawl login",
    "browser_steps": "browser steps; see: evercrawl login",
}


def import_url_list(collection: Path, settings: Settings, file: Path) -> WatchReport:
    """Add the pages of a list, OPML file, bookmarks file or sitemap as seeds."""
    urls = read_url_list(read_bounded(file, MAX_LIST_BYTES).decode("utf-8-sig", "replace"), most=MAX_WATCHES)
    add_pages(collection, settings, urls, only_pages=False)
    return WatchReport(pages=len(urls))


class Watch(NamedTuple):
    """A watch of a backup."""

    folder: str
    url: str
    fields: dict[str, Any]

    @property
    def is_paused(self) -> bool:
        """Whether it is not visited there, and so not here."""
        return bool(self.fields.get("paused"))

    @property
    def filters(self) -> list[str]:
        """The selectors of the parts that it watches."""
        found = self.fields.get("include_filters") or []
        return [str(text) for text in found[:MAX_FILTERS]] if isinstance(found, list) else []


def import_changedetection(collection: Path, settings: Settings, file: Path) -> WatchReport:
    """Take over the watches of a changedetection.io backup: pages, filters as fields, intervals and history."""
    report = WatchReport()
    try:
        with zipfile.ZipFile(file) as opened:
            backup = Members(opened)
            watches = list(_watches(backup, report))
            watched = [one.url for one in watches if not one.is_paused]
            add_pages(collection, settings, watched, only_pages=True)
            report.pages = len(watched)
            _add_snapshots(collection, backup, watches, report)
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError, EOFError, RuntimeError, ValueError) as error:
        raise ConfigError(f"{file} is not a changedetection.io backup: {error}") from error
    for watch in watches:
        _add_fields(collection, watch, report)
        if not watch.is_paused:
            _add_schedule(collection, watch, report)
        for name, words in _NOT_TAKEN.items():
            if watch.fields.get(name):
                report.note(f"{watch.url}: not taken: {words}")
    return report


class Members:
    """The files of a backup, read up to a limit for all of them."""

    def __init__(self, backup: zipfile.ZipFile) -> None:
        self.names = frozenset(backup.namelist())
        self._backup = backup
        self._room = MAX_TOTAL_BYTES
        if len(self.names) > MAX_MEMBERS:
            raise ConfigError(f"the backup has more than {MAX_MEMBERS:,} files")

    def read(self, name: str, longest: int = MAX_MEMBER_BYTES) -> bytes:
        """Return the content of a file."""
        with self._backup.open(name) as opened:
            content = opened.read(longest + 1)
        if len(content) > longest:
            raise ConfigError(f"{name} in the backup is larger than {longest:,} bytes")
        self.take(len(content))
        return content

    def take(self, size: int) -> None:
        """Count what was unpacked."""
        self._room -= size
        if self._room < 0:
            raise ConfigError(f"the files of the backup have more than {MAX_TOTAL_BYTES:,} bytes")


def _watches(backup: Members, report: WatchReport) -> Iterator[Watch]:
    found = 0
    for folder, fields in _watch_fields(backup):
        try:
            url = parse_page_url(str(fields.get("url") or ""))
        except ConfigError as error:
            report.note(str(error))
            continue
        watch = Watch(folder, url, fields)
        if watch.is_paused:
            report.paused += 1
            report.note(f"{url}: paused there, so it is not watched here; its history is kept")
        found += 1
        if found > MAX_WATCHES:
            raise ConfigError(f"the backup has more than {MAX_WATCHES:,} watches")
        yield watch
    if not found:
        raise ConfigError("there is no watch in this backup; make one in changedetection.io under Settings, Backups")


def _watch_fields(backup: Members) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the folder and the settings of each watch, of a new backup or of an old one."""
    names = backup.names
    for name in sorted(names):
        if (match := _WATCH.fullmatch(name)) and isinstance(one := _json(backup, name, MAX_WATCH_BYTES), dict):
            yield match[1], one
    if "url-watches.json" in names and isinstance(old := _json(backup, "url-watches.json", MAX_MEMBER_BYTES), dict):
        watching = old.get("watching")
        for folder, one in watching.items() if isinstance(watching, dict) else ():
            if isinstance(one, dict) and f"{folder}/watch.json" not in names:
                yield str(folder), one


def _json(backup: Members, name: str, longest: int) -> Any:
    try:
        return json.loads(backup.read(name, longest))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{name} in the backup cannot be read: {error}") from error


def _add_fields(collection: Path, watch: Watch, report: WatchReport) -> None:
    for text in watch.filters:
        selector = _selector(text)
        if selector is None:
            report.note(f"{watch.url}: not taken: the filter {text[:80]}")
            continue
        names = {rule.name for rule in load_rules(collection)}
        if len(names) >= MAX_RULES:
            report.note(f"{watch.url}: not taken: the filter {text[:80]}: there are {MAX_RULES:,} fields already")
            continue
        rule = FieldRule(_free_name(watch, names), (watch.url,), selector, FieldType.LIST, only=True)
        try:
            add_rule(collection, rule)
            report.fields += 1
        except ConfigError as error:
            report.note(f"{watch.url}: not taken: the filter {text[:80]}: {error}")


def _selector(text: str) -> str | None:
    """Return a filter as a selector; None: of a kind that there is not here."""
    language, colon, rest = text.strip().partition(":")
    if colon and language in ("xpath", "xpath1"):
        return f"xpath:{rest}"
    if colon and language in ("json", "css"):
        return f"{language}:{rest}"
    if colon and language in ("jq", "jqraw", "re"):
        return None
    return f"xpath:{text.strip()}" if text.strip().startswith("/") else f"css:{text.strip()}"


def _free_name(watch: Watch, taken: set[str]) -> str:
    title = str(watch.fields.get("title") or watch.url.rstrip("/").rpartition("/")[2])
    base = re.sub(r"\W+", "_", title).strip("_").lower()[:40] or "part"
    base = base if not base[0].isdigit() else f"part_{base}"
    return next(name for name in (base, *(f"{base}_{n}" for n in range(2, 10_000))) if name not in taken)


def _add_schedule(collection: Path, watch: Watch, report: WatchReport) -> None:
    every = watch.fields.get("time_between_check")
    if not isinstance(every, dict):
        return
    numbers = {unit: every.get(unit) for unit in _UNITS}
    seconds = sum(int(value) * _SECONDS[unit] for unit, value in numbers.items() if isinstance(value, int))
    if not 0 < seconds <= MAX_SECONDS:
        return
    unit = next((one for one in _UNITS[1:4] if seconds % _SECONDS[one] == 0), None)
    minutes = max(1, round(seconds / 60))
    text = f"every {seconds // _SECONDS[unit]} {unit}" if unit else f"every {minutes} minutes"
    try:
        set_schedule(collection, parse_place(collection, watch.url), text, now=datetime.now(UTC))
        report.schedules += 1
    except ConfigError as error:
        report.note(f"{watch.url}: not taken: its interval: {error}")


# History


def _add_snapshots(collection: Path, backup: Members, watches: list[Watch], report: WatchReport) -> None:
    """Import the snapshots as responses at their times."""
    with tempfile.TemporaryDirectory(prefix="evercrawl-import-") as folder:
        file = Path(folder) / "history.warc.gz"
        with file.open("wb") as out:
            for watch in watches:
                selector = _selector(watch.filters[0]) if len(watch.filters) == 1 else None
                part = ((SELECTED_FIELD, selector),) if selector is not None else ()
                for at, kind, body, is_page in _history(backup, watch):
                    record = response_record(watch.url, at, kind, body, () if is_page else part)
                    out.write(gzip.compress(record, compresslevel=6, mtime=0))
                    report.snapshots += 1
                    if report.snapshots > MAX_SNAPSHOTS:
                        raise ConfigError(f"the backup has more than {MAX_SNAPSHOTS:,} snapshots")
        if report.snapshots:
            settings = read_settings(collection).settings
            done: ImportReport = import_archives(collection, settings, [file], form="warc")
            report.versions = done.versions


def _history(backup: Members, watch: Watch) -> Iterator[tuple[datetime, str, bytes, bool]]:
    """Yield time, media type and body of each snapshot, and whether it is the page or just the text of its part."""
    listed = f"{watch.folder}/history.txt"
    if listed not in backup.names:
        return
    text = backup.read(listed, MAX_HISTORY_BYTES).decode("utf-8", "replace")
    for line in dict.fromkeys(text.splitlines()):
        stamp, _, name = line.partition(",")
        if not stamp.isascii() or not stamp.isdigit() or len(stamp) > 11:
            continue
        at = datetime.fromtimestamp(int(stamp), UTC)
        base = f"{watch.folder}/{Path(name.strip()).name}"
        for kind, path, unpack in (
            ("text/html; charset=utf-8", f"{watch.folder}/{stamp}.html.br", True),
            ("text/plain; charset=utf-8", base, base.endswith(".br")),
        ):
            if path in backup.names:
                body = backup.read(path)
                if unpack:
                    body = _unpack(body)
                    backup.take(len(body))
                is_json = body.lstrip()[:1] in (b"{", b"[") and watch.url.partition("?")[0].endswith(".json")
                yield at, "application/json" if is_json else kind, body, unpack and kind.startswith("text/html")
                break


def _unpack(packed: bytes) -> bytes:
    try:
        body, truncated = decode(packed, ["br"], limits=DecodeLimits(MAX_MEMBER_BYTES, MAX_MEMBER_BYTES))
    except BadCoding as error:
        raise ConfigError(f"a snapshot of the backup is damaged: {error}") from error
    if truncated is not None:
        raise ConfigError(f"a snapshot of the backup is larger than {MAX_MEMBER_BYTES:,} bytes")
    return body


IMPORTERS: dict[str, Callable[[Path, Settings, Path], WatchReport]] = {
    "archivebox": import_archivebox,
    "changedetection": import_changedetection,
    "heritrix": import_heritrix,
    "scrapy": import_scrapy,
    "urls": import_url_list,
}
