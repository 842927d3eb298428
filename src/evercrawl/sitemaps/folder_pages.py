"""A site as a folder of files: which file is which page, and what became of each since the last build."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

from evercrawl.core.robots.robots_txt import RobotsTxt, parse_robots
from evercrawl.core.url import canonical, path_of, site_of
from evercrawl.errors import ConfigError, StoreUnavailable
from evercrawl.model.fetch import Headers
from evercrawl.sitemaps.build_state import BuildState, PageEntry
from evercrawl.sitemaps.page_content import PageContent, read_content

PAGE_EXTENSIONS = ("html", "htm", "xhtml")
IGNORED = ("404.html", "50x.html", "500.html", "google*.html", "node_modules", ".*")
"""Names of files and folders that are never pages of a site."""
MAX_FILE_BYTES = 32 * 1024 * 1024
"""Of one file; what lies behind is not looked at."""
MAX_HINT_BYTES = 64 * 1024
"""Bytes of a file that are searched for the site's address."""
FOLDER_SOURCE = "folder "
INDEX_NAMES = ("index.html", "index.htm", "index.xhtml")

_MEDIA_TYPES = {"html": "text/html", "htm": "text/html", "xhtml": "application/xhtml+xml", "txt": "text/plain"}
_SAFE_PATH_CHARS = "/~!$&'()*+,;=:@-._"
_FINE_NS, _COARSE_NS = 50_000_000, 2_000_000_000
"""A file changed so shortly before it was read may be changed again without another time: the kernel's
tick, and file systems that know whole seconds only.
"""
_SECOND_NS = 1_000_000_000


ROBOTS_REASON = "robots.txt"


@dataclass(frozen=True, slots=True)
class FolderRules:
    """How files become pages."""

    base_url: str
    """The address of the folder, with a slash at its end."""
    clean_urls: bool = False
    """`about.html` is served as `/about`."""
    extensions: tuple[str, ...] = PAGE_EXTENSIONS
    ignore: tuple[str, ...] = ()
    """Patterns of names, or of paths below the folder, that are left out."""
    agent: str = "evercrawl"

    def name(self) -> str:
        """What the entries of these rules have in common; a entry of others cannot be taken over."""
        return f"{FOLDER_SOURCE}{self.base_url} clean={self.clean_urls:d}"


class PageFile(NamedTuple):
    """A file that is a page."""

    key: str
    """Its path below the folder, as a URL has it."""
    path: str
    mtime_ns: int
    size: int


def parse_base_url(text: str) -> str:
    """The address of a site's folder, with a slash at its end; ConfigError where it is none."""
    found = canonical(text if text.endswith("/") else text + "/")
    if found is None or "?" in found:
        raise ConfigError(f"--base-url {text!r} cannot be used; write it like https://example.org/")
    return found


def detect_base_url(folder: Path, state: BuildState) -> str:
    """The address that a folder is served under, as the last build, its robots.txt, a sitemap that is there
    or a CNAME file says it; ConfigError where nothing does.
    """
    written = (
        state.source.removeprefix(FOLDER_SOURCE).partition(" ")[0] if state.source.startswith(FOLDER_SOURCE) else None
    )
    found = written or _base_url_in_files(folder)
    if found is None:
        raise ConfigError(f"under which address is {folder} served? Say so with --base-url URL")
    return parse_base_url(found)


def _base_url_in_files(folder: Path) -> str | None:
    for line in _read_start(folder / "robots.txt").splitlines():
        field, _, value = line.partition(":")
        if field.strip().lower() == "sitemap" and (name := canonical(value.strip())) is not None:
            return site_of(name)
    first = re.search("<loc>([^<]+)", _read_start(folder / "sitemap.xml"))
    if first is not None and (name := canonical(first[1].strip())) is not None:
        return site_of(name)
    host = _read_start(folder / "CNAME").strip()
    return f"https://{host}/" if host and canonical(f"https://{host}/") else None


def _read_start(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(MAX_HINT_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def find_page_files(folder: Path, rules: FolderRules) -> Iterator[PageFile]:
    """Every page's file, in order of its path. Folders behind symbolic links are not entered."""
    extensions = frozenset(rules.extensions)
    waiting = [""]
    while waiting:
        below = waiting.pop()
        inner: list[str] = []
        for entry in _entries(folder / below if below else folder):
            key = f"{below}/{entry.name}" if below else entry.name
            if _is_ignored(entry.name, key, rules.ignore):
                continue
            if entry.is_dir(follow_symlinks=False):
                inner.append(key)
            elif entry.name.rpartition(".")[2].lower() in extensions and entry.is_file():
                stat = entry.stat()
                yield PageFile(_quoted(key), entry.path, stat.st_mtime_ns, stat.st_size)
        waiting.extend(reversed(inner))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        raise StoreUnavailable(f"{folder} cannot be read: {error.strerror or error}") from error


def _is_ignored(name: str, key: str, patterns: tuple[str, ...]) -> bool:
    if any(fnmatch(name, pattern) for pattern in IGNORED):
        return True
    return any(fnmatch(name, pattern) or fnmatch(key, pattern) for pattern in patterns)


def _quoted(path: str) -> str:
    """The path as a URL has it; names that are no text are taken byte by byte."""
    return quote(os.fsencode(path), safe=_SAFE_PATH_CHARS)


def page_url(key: str, rules: FolderRules) -> str:
    """The URL of a file: an index stands for its folder; with clean URLs the extension is left out."""
    folder, _, name = key.rpartition("/")
    if name in INDEX_NAMES:
        key = f"{folder}/" if folder else ""
    elif rules.clean_urls and name.rpartition(".")[2] in PAGE_EXTENSIONS:
        key = key.rpartition(".")[0]
    return canonical(rules.base_url + key) or rules.base_url + key


def alternative_urls(key: str, rules: FolderRules) -> frozenset[str]:
    """Every URL under which servers commonly give the file."""
    folder, _, name = key.rpartition("/")
    stem = key.rpartition(".")[0]
    paths = {key, stem, f"{stem}/"}
    if name in INDEX_NAMES:
        paths |= {folder, f"{folder}/" if folder else ""}
    return frozenset(canonical(rules.base_url + path) or rules.base_url + path for path in paths)


def folder_entries(
    folder: Path, rules: FolderRules, previous: Mapping[str, PageEntry], *, built_ms: int | None, now_ns: int
) -> Iterator[PageEntry]:
    """A entry for every page; `previous` are those of the last build at `built_ms`, and files that were not
    touched since are not read.
    """
    robots = read_robots(folder, rules)
    for file in find_page_files(folder, rules):
        before = previous.get(file.key)
        entry = before if before is not None and _is_unchanged(before.fingerprint, file) else None
        if entry is None:
            entry = _read(file, rules, before, built_ms=built_ms, now_ns=now_ns)
        yield _apply_robots(entry, robots)


def read_robots(folder: Path, rules: FolderRules) -> RobotsTxt:
    """The rules that the site's robots.txt has for everybody; only the root's counts."""
    at_root = path_of(rules.base_url) == "/"
    try:
        body = (folder / "robots.txt").read_bytes() if at_root else b""
    except OSError:
        body = b""
    return parse_robots(body, agent=rules.agent)


def _apply_robots(entry: PageEntry, robots: RobotsTxt) -> PageEntry:
    """The entry as the present robots.txt has it: a page that may not be asked for is not listed."""
    allowed = robots.verdict(path_of(entry.url))[0]
    if not allowed:
        return entry._replace(excluded=ROBOTS_REASON) if entry.excluded is None else entry
    return entry._replace(excluded=None) if entry.excluded == ROBOTS_REASON else entry


def _is_unchanged(fingerprint: str, file: PageFile) -> bool:
    """Time and size are those of the last content, and the time was old enough then to be trusted."""
    mtime, size, read = map(int, fingerprint.split())
    if (mtime, size) != (file.mtime_ns, file.size):
        return False
    window = _COARSE_NS if mtime % _SECOND_NS == 0 else _FINE_NS
    return mtime + window < read


def _read(
    file: PageFile, rules: FolderRules, before: PageEntry | None, *, built_ms: int | None, now_ns: int
) -> PageEntry:
    url = page_url(file.key, rules)
    content = read_content(url, _headers(file.key), _bytes_of(file), agent=rules.agent, site=rules.base_url)
    digest = content.digest.hex()
    listed, excluded = _listing(file.key, url, content, rules)
    if before is not None and before.digest == digest:
        changed_ms = before.changed_ms
    else:
        changed_ms = change_time_ms(file.mtime_ns // 1_000_000, built_ms, now_ns // 1_000_000)
    fingerprint = f"{file.mtime_ns} {file.size} {now_ns}"
    return PageEntry(file.key, fingerprint, digest, changed_ms, content.title or _title_from_name(file.key), listed, excluded)


def change_time_ms(written_ms: int, built_ms: int | None, now_ms: int) -> int:
    """When a content that the last build did not see came to be.

    The file's time where it can be true: before now and, if there was a build, after it. A file's time that
    is older than the last build (restored, copied with its time) cannot be that of the change: it is now.
    """
    if written_ms > now_ms or (built_ms is not None and written_ms < built_ms):
        return now_ms
    return written_ms


def _bytes_of(file: PageFile) -> bytes:
    try:
        with open(file.path, "rb") as opened:
            return opened.read(MAX_FILE_BYTES)
    except OSError as error:
        raise StoreUnavailable(f"{file.path} cannot be read: {error.strerror or error}") from error


def _headers(key: str) -> Headers:
    extension = key.rpartition(".")[2].lower()
    return (("Content-Type", _MEDIA_TYPES.get(extension, "application/octet-stream")),)


def _title_from_name(key: str) -> str:
    """A page without title is called after its file."""
    return unquote(key.rpartition("/")[2].rpartition(".")[0]).replace("-", " ").replace("_", " ")


def _listing(key: str, url: str, content: PageContent, rules: FolderRules) -> tuple[str, str | None]:
    """The URL to list, and why it is not listed; a page may call itself by another of its own URLs."""
    wanted = canonical(content.canonical) if content.canonical else None
    if wanted is not None and wanted != url and wanted in alternative_urls(key, rules):
        url = wanted
    return url, exclusion_reason(url, content, site=site_of(url))


def exclusion_reason(url: str, content: PageContent, *, site: str) -> str | None:
    """What the page itself says against being listed; None: nothing."""
    if content.noindex:
        return "noindex"
    wanted = canonical(content.canonical) if content.canonical else None
    if wanted is not None and wanted != url:
        return "canonical elsewhere" if site_of(wanted) == site else "canonical on another site"
    moved = canonical(content.moves_to) if content.moves_to else None
    return "moved" if moved is not None and moved != url else None
