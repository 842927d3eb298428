"""Export versions as files in folders: the tree of a mirror (time / domain / path), and Markdown.
Everything is in one new folder; its `mapping.jsonl` maps each file to its URL."""

from __future__ import annotations

import os
import re
import sqlite3
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha1
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, NamedTuple

import orjson

from evercrawl.adapters.sql.listing_reader import StoredVersion
from evercrawl.collection.exchange.export_run import MAPPING, ExportRun, open_output, selected_versions
from evercrawl.collection.exchange.markdown import markdown_of
from evercrawl.core.document.media_type import HTML_TYPES
from evercrawl.core.url import DEFAULT_PORTS, path_of, site_of, site_parts
from evercrawl.model.time import from_us, iso_time

PAUSE_US = 60 * 60 * 1_000_000  # A longer pause between stored versions separates two crawls.
_MINUTE_US = 60 * 1_000_000
_ENDINGS = {
    "application/pdf": ".pdf",
    "text/plain": ".txt",
    "text/css": ".css",
    "text/xml": ".xml",
    "application/xml": ".xml",
    "application/json": ".json",
    "image/svg+xml": ".svg",
} | dict.fromkeys(HTML_TYPES, ".html")


class Snapshots:
    """Returns the folder of a version, which is named after the start of the crawl that found it."""

    def __init__(self, run: ExportRun) -> None:
        minutes = _first_of_minutes(run)
        self._last: tuple[str, str] | None = None
        if not run.selection.all_versions:
            # The newest version of each page is one snapshot.
            self._starts = [max(minutes, default=0)]
            return
        self._starts = [
            at for before, at in zip([-PAUSE_US, *minutes], minutes, strict=False) if at - before > PAUSE_US
        ]

    def folder_of(self, version: StoredVersion) -> str:
        """Return the folder of a version, named after the start of its crawl. A page that changed twice in one crawl
        gets a folder of its own for the second version."""
        folder = _moment(self._starts[max(bisect_right(self._starts, version.seen_us) - 1, 0)])
        if version.number and self._last == (version.url, folder):
            return _moment(version.seen_us)
        self._last = version.url, folder
        return folder


def _first_of_minutes(run: ExportRun) -> list[int]:
    """Return the first time in every minute with a stored version, to limit memory."""
    first: dict[int, int] = {}
    for _, version in selected_versions(run.collection, run.selection):
        minute = version.seen_us // _MINUTE_US
        first[minute] = min(version.seen_us, first.get(minute, version.seen_us))
    return sorted(first.values())


class FileNames:
    """The used names, ignoring case, so that any file system can hold the tree."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("pragma journal_mode = off")
        self._db.execute("pragma synchronous = off")
        self._db.execute("create table name (path text primary key, is_folder integer not null) without rowid")
        self._db.execute("begin")
        self.reserve((MAPPING,), MAPPING)

    def reserve(self, parts: tuple[str, ...], url: str) -> tuple[str, ...]:
        """Return the path, with other names where a file or folder with the name exists."""
        folder: tuple[str, ...] = ()
        for part in parts[:-1]:
            folder = self._free((*folder, part), url, as_folder=True)
            self._add(folder, is_folder=True)
        path = self._free((*folder, parts[-1]), url, as_folder=False)
        self._add(path, is_folder=False)
        return path

    def _free(self, path: tuple[str, ...], url: str, *, as_folder: bool) -> tuple[str, ...]:
        """Return the path, with another last name if it is used; folders can be shared, files cannot."""
        free, count = path, 0
        while (taken := self._kind(free)) is not None and not (as_folder and taken):
            free = (*path[:-1], unique_name(path[-1], url, count))
            count += 1
        return free

    def _kind(self, path: tuple[str, ...]) -> bool | None:
        row = self._db.execute("select is_folder from name where path = ?", ("/".join(path).lower(),)).fetchone()
        return None if row is None else bool(row[0])

    def _add(self, path: tuple[str, ...], *, is_folder: bool) -> None:
        self._db.execute("insert or ignore into name values (?, ?)", ("/".join(path).lower(), is_folder))

    def close(self) -> None:
        """Close the file."""
        self._db.close()


class PageTree:
    """Writes files below a folder, none over another, and the list of them."""

    def __init__(self, folder: Path, names: FileNames, mapping: BinaryIO) -> None:
        self._folder = folder
        self._names = names
        self._mapping = mapping

    def add(self, version: StoredVersion, content: bytes, *, ending: str, below: tuple[str, ...] = ()) -> str:
        """Write a file; return its path in the tree."""
        wanted = mirror_path(version.url, ending=ending)
        parts = self._names.reserve((*below, *wanted.parts), version.url)
        path = self._folder.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        with open_output(path) as file:
            file.write(content)
        os.utime(path, ns=(version.seen_us * 1000, version.seen_us * 1000))
        self._mapping.write(_mapping_line(version, parts, wanted, is_moved=parts != (*below, *wanted.parts)))
        return "/".join(parts)

    def add_redirect(self, version: StoredVersion, moved_to: str) -> None:
        """Note a redirect: it has no file."""
        fields = {"url": version.url, "moved_to": moved_to, "fetched_at": iso_time(version.seen_us)}
        self._mapping.write(orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE))


@contextmanager
def page_tree(folder: Path) -> Iterator[PageTree]:
    """Yield an empty tree."""
    with TemporaryDirectory(prefix="evercrawl-") as place, open_output(folder / MAPPING) as mapping:
        names = FileNames(Path(place) / "names.sqlite")
        try:
            yield PageTree(folder, names, mapping)
        finally:
            names.close()


def write_markdown(run: ExportRun, folder: Path) -> None:
    """Write the main text of every page; with all versions, in a folder per crawl."""
    snapshots = Snapshots(run) if run.selection.all_versions else None
    with page_tree(folder) as tree:
        for page in run.pages():
            below = (snapshots.folder_of(page.version),) if snapshots is not None else ()
            tree.add(page.version, markdown_of(page).encode("utf-8", "replace"), ending=".md", below=below)


def file_ending(kind: str) -> str:
    """Return the ending by which programs recognise a media type; empty: that of the URL will do."""
    return _ENDINGS.get(kind, "")


def _mapping_line(version: StoredVersion, parts: tuple[str, ...], wanted: MirrorPath, *, is_moved: bool) -> bytes:
    fields = {
        "url": version.url,
        "path": "/".join(parts),
        "version": version.number or None,
        "fetched_at": iso_time(version.seen_us),
        "renamed": is_moved or wanted.is_renamed,
    }
    return orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)


def _moment(at_us: int) -> str:
    return from_us(at_us).strftime("%Y-%m-%dT%H-%M-%SZ")


MAX_NAME_CHARS = 120  # Characters of one name, all ASCII. File systems allow 255 bytes.
MAX_PATH_CHARS = 600  # Characters of the whole path in the tree. macOS allows 1,024 bytes, Linux 4,096.
SHORTENED_CHARS = 80

_UNSAFE = re.compile(r"[^A-Za-z0-9._~%=+,@-]")
_ENDING = re.compile(r"(?<=.)\.[A-Za-z0-9]{1,8}\Z")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|\Z)", re.IGNORECASE)
_HTML_ENDINGS = (".html", ".htm", ".xhtml")


class MirrorPath(NamedTuple):
    """Folders and a file name, relative to the tree."""

    parts: tuple[str, ...]
    is_renamed: bool  # Some name differs from the URL.


def mirror_path(url: str, *, ending: str) -> MirrorPath:
    """Return the path of a page; `ending` is that of its media type, such as `.html`."""
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
    parts = (*named, safe_name(stem, room=MAX_NAME_CHARS - len(own)) + own)
    if sum(map(len, parts)) + len(parts) > MAX_PATH_CHARS:
        parts = _shorten_path(url, named, own)
    return MirrorPath(parts, list(parts) != wanted)


def unique_name(name: str, url: str, count: int = 0) -> str:
    """Return another name: with a digest of the URL before its extension."""
    found = _ENDING.search(name)
    stem, ending = (name[: found.start()], found[0]) if found else (name, "")
    return f"{stem[: MAX_NAME_CHARS - 30]}~{_digest(url)}{f'-{count}' if count else ''}{ending}"


def safe_name(name: str, *, room: int = MAX_NAME_CHARS) -> str:
    """Return a name that is valid on every file system."""
    safe = _UNSAFE.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), name)
    if safe[:1] in (".", "-"):
        safe = f"%{ord(safe[0]):02X}{safe[1:]}"
    if safe.endswith("."):
        safe = f"{safe[:-1]}%2E"
    if _RESERVED.match(safe):
        safe = f"_{safe}"
    return safe if len(safe) <= room else f"{safe[:SHORTENED_CHARS]}~{_digest(name)}"


def _host(url: str) -> str:
    name = site_parts(site_of(url))
    host = name.host.strip("[]")
    return host if name.port == DEFAULT_PORTS.get(name.scheme) else f"{host}_{name.port}"


def _split(last: str, ending: str) -> tuple[str, str]:
    """Return stem and extension of a file; a page keeps its own extension in the stem, and opens as HTML."""
    found = _ENDING.search(last)
    if found is None:
        return last, ending
    own = found[0]
    is_same = own.lower() == ending or (ending == ".html" and own.lower() in _HTML_ENDINGS)
    return (last[: found.start()], own) if is_same or ending == "" else (last, ending)


def _shorten_path(url: str, folders: list[str], ending: str) -> tuple[str, ...]:
    """Return the start of the path, and a digest for the rest."""
    return (*folders[:1], f"{folders[1][:SHORTENED_CHARS] if len(folders) > 1 else 'long'}~{_digest(url)}{ending}")


def _digest(text: str) -> str:
    return sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:16]
