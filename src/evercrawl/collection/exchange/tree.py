"""Versions as files in folders: the mirror of requirement A4 (moment / domain / path), and Markdown.

Everything is written below one new folder, and `mapping.jsonl` there says which URL each file is.
"""

from __future__ import annotations

import os
import re
import sqlite3
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha1
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import orjson

from evercrawl.adapters.sqlite.stored import StoredVersion
from evercrawl.collection.exchange.markdown import markdown_of
from evercrawl.collection.exchange.output import MAPPING, writing
from evercrawl.collection.exchange.run import ExportRun, PageCopy
from evercrawl.collection.exchange.selection import selected
from evercrawl.core.document.media_type import HTML_TYPES, media_type
from evercrawl.core.url import DEFAULT_PORTS, path_of, site_of, site_parts
from evercrawl.model.time import from_us

PAUSE_US = 60 * 60 * 1_000_000
"""A crawl has ended when nothing new was stored for so long."""
_MINUTE_US = 60 * 1_000_000
_ENDINGS = {
    "application/pdf": ".pdf",
    "text/plain": ".txt",
    "text/css": ".css",
    "text/xml": ".xml",
    "application/xml": ".xml",
    "application/json": ".json",
} | dict.fromkeys(HTML_TYPES, ".html")


class Snapshots:
    """The folder of a version: named by the moment at which the crawl that found it began."""

    def __init__(self, run: ExportRun) -> None:
        minutes = _first_of_minutes(run)
        if not run.selection.all_versions:
            # One state of all pages, as of the newest of them.
            self._starts = [max(minutes, default=0)]
            return
        self._starts = [
            at for before, at in zip([-PAUSE_US, *minutes], minutes, strict=False) if at - before > PAUSE_US
        ]

    def start_of(self, version: StoredVersion) -> int:
        """When the crawl of a version began."""
        return self._starts[max(bisect_right(self._starts, version.seen_us) - 1, 0)]


def _first_of_minutes(run: ExportRun) -> list[int]:
    """The first moment in every minute in which something was stored: no more than there were minutes."""
    first: dict[int, int] = {}
    for _, version in selected(run.collection, run.selection):
        minute = version.seen_us // _MINUTE_US
        first[minute] = min(version.seen_us, first.get(minute, version.seen_us))
    return sorted(first.values())


class TakenNames:
    """Which names are taken, without regard to case, so that any file system can hold the tree."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("pragma journal_mode = off")
        self._db.execute("pragma synchronous = off")
        self._db.execute("create table name (path text primary key, is_folder integer not null) without rowid")
        self._db.execute("begin")
        self.take((MAPPING,), MAPPING)

    def take(self, parts: tuple[str, ...], url: str) -> tuple[str, ...]:
        """The path, other names in it where a file or folder of that name is in the way."""
        folder: tuple[str, ...] = ()
        for part in parts[:-1]:
            folder = self._free((*folder, part), url, as_folder=True)
            self._note(folder, is_folder=True)
        path = self._free((*folder, parts[-1]), url, as_folder=False)
        self._note(path, is_folder=False)
        return path

    def _free(self, path: tuple[str, ...], url: str, *, as_folder: bool) -> tuple[str, ...]:
        """The path itself, or with another last name; folders are shared, files are not."""
        free, count = path, 0
        while (taken := self._kind(free)) is not None and not (as_folder and taken):
            free = (*path[:-1], another_name(path[-1], url, count))
            count += 1
        return free

    def _kind(self, path: tuple[str, ...]) -> bool | None:
        row = self._db.execute("select is_folder from name where path = ?", ("/".join(path).lower(),)).fetchone()
        return None if row is None else bool(row[0])

    def _note(self, path: tuple[str, ...], *, is_folder: bool) -> None:
        self._db.execute("insert or ignore into name values (?, ?)", ("/".join(path).lower(), is_folder))

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()


@contextmanager
def _taken_names() -> Iterator[TakenNames]:
    with TemporaryDirectory(prefix="evercrawl-") as place:
        names = TakenNames(Path(place) / "names.sqlite")
        try:
            yield names
        finally:
            names.close()


def write_mirror(run: ExportRun, folder: Path) -> None:
    """Bodies as the servers sent them, without content coding."""
    _write_tree(run, folder, ending_of=_ending, content_of=lambda page: page.body, has_moments=True)


def write_markdown(run: ExportRun, folder: Path) -> None:
    """The main text of every page; below moments only where a page may have several versions."""
    _write_tree(
        run,
        folder,
        ending_of=lambda page: ".md",
        content_of=lambda page: markdown_of(page).encode("utf-8", "replace"),
        has_moments=run.selection.all_versions,
    )


def _write_tree(
    run: ExportRun,
    folder: Path,
    *,
    ending_of: Callable[[PageCopy], str],
    content_of: Callable[[PageCopy], bytes],
    has_moments: bool,
) -> None:
    snapshots = Snapshots(run) if has_moments else None
    last: tuple[str, int] | None = None
    with _taken_names() as names, writing(folder / MAPPING) as mapping:
        for page in run.pages():
            version = page.version
            moment: tuple[str, ...] = ()
            if snapshots is not None:
                start = snapshots.start_of(version)
                # A page that changed twice in one crawl: the second time has a folder of its own.
                moment = (_moment(version.seen_us if last == (version.url, start) else start),)
                last = version.url, start
            wanted = mirror_path(version.url, ending=ending_of(page))
            parts = names.take((*moment, *wanted.parts), version.url)
            _write_file(folder, parts, content_of(page), at_us=version.seen_us)
            mapping.write(_mapping_line(version, parts, wanted, is_moved=parts != (*moment, *wanted.parts)))


def _ending(page: PageCopy) -> str:
    return _ENDINGS.get(media_type(page.stored.http.headers, page.body), "")


def _write_file(folder: Path, parts: tuple[str, ...], content: bytes, *, at_us: int) -> None:
    path = folder.joinpath(*parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    with writing(path) as file:
        file.write(content)
    os.utime(path, ns=(at_us * 1000, at_us * 1000))


def _mapping_line(version: StoredVersion, parts: tuple[str, ...], wanted: MirrorPath, *, is_moved: bool) -> bytes:
    fields = {
        "url": version.url,
        "path": "/".join(parts),
        "version": version.number,
        "fetched_at": from_us(version.seen_us).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "renamed": is_moved or wanted.is_renamed,
    }
    return orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)


def _moment(at_us: int) -> str:
    return from_us(at_us).strftime("%Y-%m-%dT%H-%M-%SZ")


LONGEST_NAME = 120
"""Characters of one name; all are ASCII. File systems take 255 bytes."""
LONGEST_PATH = 600
"""Characters of the whole path below the tree; macOS takes 1,024 bytes, Linux 4,096."""
KEPT_OF_LONG = 80

_UNSAFE = re.compile(r"[^A-Za-z0-9._~%=+,@-]")
_ENDING = re.compile(r"(?<=.)\.[A-Za-z0-9]{1,8}\Z")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|\Z)", re.IGNORECASE)
_HTML_ENDINGS = (".html", ".htm", ".xhtml")


class MirrorPath(NamedTuple):
    """Folders and a file name, relative to the tree."""

    parts: tuple[str, ...]
    is_renamed: bool
    """Some name is not the one that the URL has."""


def mirror_path(url: str, *, ending: str) -> MirrorPath:
    """The path of a page; `ending` is that of its media type, such as `.html`."""
    path, question, query = path_of(url).partition("?")
    folders = [_host(url), *path.split("/")[1:]]
    last = folders.pop()
    if _ENDING.search(last) or (question and last):
        stem, own = _split(last, ending)
    else:
        folders += [last] if last else []
        stem, own = "index", ending
    if question:
        stem = f"{stem}@{query}"
    wanted = [*folders, stem + own]
    named = [safe_name(folder) for folder in folders if folder]
    parts = (*named, safe_name(stem, room=LONGEST_NAME - len(own)) + own)
    if sum(map(len, parts)) + len(parts) > LONGEST_PATH:
        parts = _shortened(url, named, own)
    return MirrorPath(parts, list(parts) != wanted)


def another_name(name: str, url: str, count: int = 0) -> str:
    """A name for the same thing where the first is taken: with a digest of the URL before its ending."""
    found = _ENDING.search(name)
    stem, ending = (name[: found.start()], found[0]) if found else (name, "")
    return f"{stem[: LONGEST_NAME - 30]}~{_digest(url)}{f'-{count}' if count else ''}{ending}"


def safe_name(name: str, *, room: int = LONGEST_NAME) -> str:
    """A name that is one on every file system and names nothing else."""
    safe = _UNSAFE.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), name)
    if safe[:1] in (".", "-"):
        safe = f"%{ord(safe[0]):02X}{safe[1:]}"
    if safe.endswith("."):
        safe = f"{safe[:-1]}%2E"
    if _RESERVED.match(safe):
        safe = f"_{safe}"
    return safe if len(safe) <= room else f"{safe[:KEPT_OF_LONG]}~{_digest(name)}"


def _host(url: str) -> str:
    name = site_parts(site_of(url))
    host = name.host.strip("[]")
    return host if name.port == DEFAULT_PORTS.get(name.scheme) else f"{host}_{name.port}"


def _split(last: str, ending: str) -> tuple[str, str]:
    """Stem and ending of a file; a page keeps its own ending inside the stem, so that it opens as a page."""
    found = _ENDING.search(last)
    if found is None:
        return last, ending
    own = found[0]
    is_same = own.lower() == ending or (ending == ".html" and own.lower() in _HTML_ENDINGS)
    return (last[: found.start()], own) if is_same or ending == "" else (last, ending)


def _shortened(url: str, folders: list[str], ending: str) -> tuple[str, ...]:
    """The beginning of the path, and a digest for the rest."""
    return (*folders[:1], f"{folders[1][:KEPT_OF_LONG] if len(folders) > 1 else 'long'}~{_digest(url)}{ending}")


def _digest(text: str) -> str:
    return sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:16]
