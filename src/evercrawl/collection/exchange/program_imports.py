"""Bring along what other programs have: an ArchiveBox folder with its snapshots, seeds of Heritrix and Scrapy."""

from __future__ import annotations

import ast
import gzip
import json
import re
import tempfile
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

from evercrawl.adapters.warc.warc_records import response_record
from evercrawl.collection.exchange.import_run import import_archives
from evercrawl.collection.urls import parse_page_url
from evercrawl.config import collection_file, read_settings, write_setting
from evercrawl.errors import ConfigError
from evercrawl.model.history import WatchReport
from evercrawl.model.settings import Settings

MAX_SNAPSHOTS = 200_000
MAX_INDEX_BYTES = 8 * 1024 * 1024  # Of the index.json of one snapshot.
MAX_PAGE_BYTES = 64 * 1024 * 1024  # Of one saved page.
MAX_SEEDS = 20_000
MAX_SOURCE_BYTES = 4 * 1024 * 1024  # Of a file with seeds.
MAX_MODULE_BYTES = 512 * 1024  # Of a module of a spider; its syntax tree takes 500 times as much memory.
MAX_SOURCES = 2_000  # Files of a job or project that are read.
_SAVED_PAGES = ("singlefile", "dom", "wget")
"""Outputs that hold the page itself, the most complete first."""
_SEEDS_PROPERTY = "seeds.textSource.value"
_SEED = re.compile(r"https?://[^\s<>\"']{1,2000}", re.IGNORECASE)


def add_pages(collection: Path, settings: Settings, urls: list[str], *, only_pages: bool) -> None:
    """Add seeds to the settings of a collection; with `only_pages`, nothing but these pages is crawled."""
    file, scope = collection_file(collection), settings.scope
    write_setting(file, "scope.seeds", tuple(dict.fromkeys((*scope.seeds, *urls))))
    if only_pages:
        write_setting(file, "scope.pages", tuple(dict.fromkeys((*scope.pages, *urls))))


# ArchiveBox


class BoxSnapshot(NamedTuple):
    """A snapshot of ArchiveBox: its folder, page and outputs."""

    folder: Path
    url: str
    at: datetime
    history: dict[str, Any]


def import_archivebox(collection: Path, settings: Settings, folder: Path) -> WatchReport:
    """Take over an ArchiveBox folder: its pages as pages to watch, and its snapshots as versions at their times."""
    archive = folder / "archive"
    if not archive.is_dir():
        raise ConfigError(f"{folder} is not an ArchiveBox folder: it has no folder archive")
    report = WatchReport()
    snapshots = sorted(_snapshots(archive, report), key=lambda one: one.at)
    if not snapshots:
        raise ConfigError(f"there is no snapshot in {archive}")
    urls = list(dict.fromkeys(one.url for one in snapshots))
    add_pages(collection, settings, urls, only_pages=True)
    report.pages = len(urls)
    with tempfile.TemporaryDirectory(prefix="evercrawl-import-") as temporary:
        made = Path(temporary) / "pages.warc.gz"
        files = _files_of(snapshots, made, report)
        if files:
            done = import_archives(collection, read_settings(collection).settings, files, form="warc")
            report.versions = done.versions
    return report


def _own_files(paths: Iterable[Path], folder: Path, report: WatchReport) -> list[Path]:
    """Return the plain files; links that lead out of a folder of others, pipes and devices are left out."""
    root, found = folder.resolve(), []
    for path in sorted(paths):
        if path.is_file() and path.resolve().is_relative_to(root):
            found.append(path)
        elif not path.is_dir():
            report.note(f"{path}: not taken: it is no file in this folder")
    return found


def _snapshots(archive: Path, report: WatchReport) -> Iterator[BoxSnapshot]:
    for number, index in enumerate(_own_files(archive.glob("*/index.json"), archive, report)):
        if number >= MAX_SNAPSHOTS:
            raise ConfigError(f"{archive} has more than {MAX_SNAPSHOTS:,} snapshots")
        fields = _read_json(index)
        try:
            # Another snapshot of the same page has the time as the fragment of its URL, which pages do not have.
            url = parse_page_url(str(fields.get("url") or "").partition("#")[0])
            at = datetime.fromtimestamp(float(fields.get("timestamp") or index.parent.name), UTC)
        except (ConfigError, ValueError, OverflowError, OSError) as error:
            report.note(f"{index.parent.name}: not taken: {error}")
            continue
        history = fields.get("history")
        yield BoxSnapshot(index.parent, url, at, history if isinstance(history, dict) else {})


def _read_json(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(read_bounded(file, MAX_INDEX_BYTES))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def read_bounded(file: Path, most: int) -> bytes:
    """Return a file; raise ConfigError if it is larger than a limit or cannot be read."""
    try:
        with file.open("rb") as opened:
            content = opened.read(most + 1)
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror or error}") from error
    if len(content) > most:
        raise ConfigError(f"{file} is too large; it may have {most:,} bytes")
    return content


def _files_of(snapshots: list[BoxSnapshot], made: Path, report: WatchReport) -> list[Path]:
    """Return the WARC files of the snapshots, and one that is made of the saved pages of those that have none."""
    files: list[Path] = []
    with made.open("wb") as out:
        for one in snapshots:
            report.snapshots += 1
            if warcs := _own_files((one.folder / "warc").glob("*.warc.gz"), one.folder, report):
                files += warcs
            elif (page := _saved_page(one)) is not None:
                at, body = page
                out.write(gzip.compress(response_record(one.url, at, "text/html; charset=utf-8", body), mtime=0))
            else:
                report.note(f"{one.url}: not taken: the snapshot {one.folder.name} has no saved page")
    return [*files, made] if made.stat().st_size else files


def _saved_page(snapshot: BoxSnapshot) -> tuple[datetime, bytes] | None:
    """Return time and content of the best saved page; files outside of the snapshot's folder are not read."""
    for extractor in _SAVED_PAGES:
        results = snapshot.history.get(extractor)
        for result in reversed(results) if isinstance(results, list) else ():
            name = result.get("output") if isinstance(result, dict) and result.get("status") == "succeeded" else None
            path = (snapshot.folder / str(name)).resolve()
            if name and path.is_relative_to(snapshot.folder.resolve()) and path.is_file():
                body = read_bounded(path, MAX_PAGE_BYTES)
                return _moment(result.get("start_ts"), snapshot.at), body
    return None


def _moment(text: object, otherwise: datetime) -> datetime:
    try:
        found = datetime.fromisoformat(str(text))
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return otherwise


# Seeds


def import_heritrix(collection: Path, settings: Settings, path: Path) -> WatchReport:
    """Add the seeds of a Heritrix job: a folder, its crawler-beans.cxml, or a seeds file."""
    report = WatchReport()
    files = [path] if path.is_file() else _own_files((*path.glob("*.cxml"), *path.glob("*seeds*.txt")), path, report)
    seeds = [seed for file in files[:MAX_SOURCES] for seed in heritrix_seeds(_text(file))]
    return _add_seeds(collection, settings, seeds, report, f"there are no seeds in {path}")


def heritrix_seeds(text: str) -> list[str]:
    """Return the seeds of a job file or of a list. Lines with # are comments; + marks SURT prefixes of the scope."""
    if text.lstrip().startswith("<"):
        _, *values = text.split(_SEEDS_PROPERTY)
        text = "\n".join(unescape(value.partition("<")[0].lstrip("\"'>= \t")) for value in values)
    lines = (line.strip() for line in text.splitlines())
    named = (line for line in lines if line and not line.startswith(("#", "+")))
    return [found[0] if (found := _SEED.search(line)) else line.split()[0] for line in named if "." in line]


def import_scrapy(collection: Path, settings: Settings, path: Path) -> WatchReport:
    """Add the start_urls and sitemap_urls of the spiders in a file or a project. No code of theirs is run."""
    report = WatchReport()
    files = [path] if path.is_file() else _own_files(path.rglob("*.py"), path, report)
    seeds = []
    for file in files[:MAX_SOURCES]:
        if file.stat().st_size > MAX_MODULE_BYTES:
            report.note(f"{file.name}: not taken: it has more than {MAX_MODULE_BYTES:,} bytes")
            continue
        found = scrapy_seeds(_text(file))
        seeds += found.urls
        for name in found.computed:
            report.note(f"{file.name}: not taken: {name} is computed when the spider runs")
    return _add_seeds(collection, settings, seeds, report, f"no spider with start_urls in {path}")


class SpiderSeeds(NamedTuple):
    """The URLs in a spider's source, and the names of lists that only running it would tell."""

    urls: list[str]
    computed: list[str]


def scrapy_seeds(source: str) -> SpiderSeeds:
    """Return the literal start URLs of the classes in a module."""
    found = SpiderSeeds([], [])
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return found
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
            if name in ("start_urls", "sitemap_urls"):
                _add_literal(found, f"{name} in line {node.lineno}", node.value)
    return found


def _add_literal(found: SpiderSeeds, place: str, value: ast.expr) -> None:
    try:
        urls = ast.literal_eval(value)
    except (ValueError, TypeError, RecursionError, MemoryError):
        found.computed.append(place)
        return
    found.urls.extend(one for one in (urls if isinstance(urls, list | tuple | set) else ()) if isinstance(one, str))


def _text(file: Path) -> str:
    return read_bounded(file, MAX_SOURCE_BYTES).decode("utf-8-sig", "replace")


def _add_seeds(
    collection: Path, settings: Settings, seeds: list[str], report: WatchReport, nothing: str
) -> WatchReport:
    urls: dict[str, None] = {}
    for seed in seeds:
        try:
            urls[parse_page_url(seed)] = None
        except ConfigError as error:
            report.note(f"not taken: {error}")
    if not urls:
        raise ConfigError(nothing)
    if len(urls) > MAX_SEEDS:
        raise ConfigError(f"{len(urls):,} seeds are too many; import at most {MAX_SEEDS:,} at once")
    add_pages(collection, settings, list(urls), only_pages=False)
    report.pages = len(urls)
    return report
