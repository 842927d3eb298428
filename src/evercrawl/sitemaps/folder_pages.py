"""Map the files of a folder to pages, and detect what changed since the last build."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

import orjson

from evercrawl.adapters.system import write_atomically
from evercrawl.core.robots.robots_txt import RobotsTxt, parse_robots
from evercrawl.core.url import canonical, path_of, site_of
from evercrawl.errors import ConfigError, StoreUnavailable
from evercrawl.model.fetch import Headers
from evercrawl.sitemaps.page_content import ContentSummary, read_content

FORMAT = "evercrawl-sitemap-state"
VERSION = 1
NAME_CHARS = 40


class PageEntry(NamedTuple):
    """A page as a build found it."""

    key: str  # The file's path below the folder, or the page's URL.
    fingerprint: str  # Stays the same while the page's source is not modified.
    digest: str
    changed_ms: int  # When the content last changed.
    title: str
    url: str
    excluded: str | None = None  # Why the page is not listed; None if it is.


@dataclass(frozen=True, slots=True)
class BuildState:
    """What one build leaves for the next."""

    source: str = ""  # Identifies the rules of the entries; other rules require reading every page again.
    built_ms: int | None = None  # None before the first build.
    files: tuple[str, ...] = ()  # The files that the build wrote.
    entries: Mapping[str, PageEntry] = field(default_factory=dict)


def state_path(env: Mapping[str, str], target: Path) -> Path:
    """Return the path of the state, in the user's state folder, where no generator empties or server publishes it."""
    home = env.get("XDG_STATE_HOME") or str(Path(env.get("HOME", "~")).expanduser() / ".local" / "state")
    whole = str(target.resolve())
    fingerprint = hashlib.sha256(whole.encode("utf-8", "surrogateescape")).hexdigest()[:12]
    name = "".join(char if char.isalnum() or char in ".-" else "-" for char in target.resolve().name)
    return Path(home) / "evercrawl" / "sitemaps" / f"{name[:NAME_CHARS] or 'site'}-{fingerprint}.jsonl"


def read_state(path: Path) -> BuildState:
    """Return the state of the last build, or an empty one."""
    try:
        lines = path.read_bytes().splitlines()
        head = orjson.loads(lines[0])
        if head["format"] != FORMAT or head["version"] != VERSION:
            raise ValueError(f"version {head.get('version')} of {head.get('format')}")
        entries = {entry.key: entry for entry in (PageEntry(*orjson.loads(line)) for line in lines[1:])}
        return BuildState(head["source"], int(head["built_ms"]), tuple(head["files"]), entries)
    except FileNotFoundError:
        return BuildState()
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise StoreUnavailable(
            f"{path} is not the state of a sitemap build ({error}); choose another with --state, or delete it: "
            "the next build then dates pages by their files' times"
        ) from error


def write_state(path: Path, state: BuildState) -> None:
    """Replace the state atomically."""
    head = {
        "format": FORMAT,
        "version": VERSION,
        "source": state.source,
        "built_ms": state.built_ms,
        "files": state.files,
    }
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnavailable(f"{path.parent} cannot be created: {error.strerror or error}") from error
    lines = (orjson.dumps(row) for row in (head, *map(tuple, state.entries.values())))
    write_atomically(path, b"\n".join(lines) + b"\n")


PAGE_EXTENSIONS = ("html", "htm", "xhtml")
IGNORED = ("404.html", "50x.html", "500.html", "google*.html", "node_modules", ".*")
"""Names of files and folders that are never pages."""
MAX_FILE_BYTES = 32 * 1024 * 1024  # Only this much of a file is read.
MAX_HINT_BYTES = 64 * 1024  # Only this much of a file is searched for the site's URL.
FOLDER_SOURCE = "folder "
INDEX_NAMES = ("index.html", "index.htm", "index.xhtml")

_MEDIA_TYPES = {"html": "text/html", "htm": "text/html", "xhtml": "application/xhtml+xml", "txt": "text/plain"}
_SAFE_PATH_CHARS = "/~!$&'()*+,;=:@-._"
_TITLE_SPACES = str.maketrans("-_", "  ")
_FINE_NS, _COARSE_NS = 50_000_000, 2_000_000_000
"""A file modified this shortly before it was read may change again without a new timestamp: within a kernel tick, or
within a second on coarse file systems."""
_SECOND_NS = 1_000_000_000
ROBOTS_REASON = "robots.txt"


@dataclass(frozen=True, slots=True)
class FolderRules:
    """How files become pages."""

    base_url: str  # URL of the folder, with a trailing slash.
    clean_urls: bool = False  # `about.html` is served as `/about`.
    extensions: tuple[str, ...] = PAGE_EXTENSIONS
    ignore: tuple[str, ...] = ()  # Patterns of names or paths to exclude.
    agent: str = "evercrawl"

    def name(self) -> str:
        """Identify the rules; entries of other rules cannot be reused."""
        return f"{FOLDER_SOURCE}{self.base_url} clean={self.clean_urls:d}"


class PageFile(NamedTuple):
    """A file that is a page."""

    key: str  # Its path below the folder, quoted as in a URL.
    path: str
    mtime_ns: int
    size: int


def parse_base_url(text: str) -> str:
    """Return a canonical URL with a trailing slash; raise ConfigError if it is invalid."""
    found = canonical(text if text.endswith("/") else text + "/")
    if found is None or "?" in found:
        raise ConfigError(f"--base-url {text!r} is not valid; write it like https://example.org/")
    return found


def detect_base_url(folder: Path, state: BuildState) -> str:
    """Find the folder's URL in the last build, robots.txt, a sitemap or a CNAME file; raise ConfigError otherwise."""
    written = (
        state.source.removeprefix(FOLDER_SOURCE).partition(" ")[0] if state.source.startswith(FOLDER_SOURCE) else None
    )
    found = written or _base_url_in_files(folder)
    if found is None:
        raise ConfigError(f"the URL of {folder} is unknown; set it with --base-url URL")
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
    """Return the files that are pages, sorted by path. Symbolic links to folders are not followed."""
    extensions = frozenset(rules.extensions)
    waiting = [""]
    while waiting:
        below = waiting.pop()
        inner: list[str] = []
        for entry in _entries(folder / below if below else folder):
            key = f"{below}/{entry.name}" if below else entry.name
            if any(fnmatch(entry.name, pattern) for pattern in (*IGNORED, *rules.ignore)):
                continue
            if any(fnmatch(key, pattern) for pattern in rules.ignore):
                continue
            if entry.is_dir(follow_symlinks=False):
                inner.append(key)
            elif entry.name.rpartition(".")[2].lower() in extensions and entry.is_file():
                stat = entry.stat()
                url_path = quote(os.fsencode(key), safe=_SAFE_PATH_CHARS)  # Byte by byte if it is not valid text.
                yield PageFile(url_path, entry.path, stat.st_mtime_ns, stat.st_size)
        waiting.extend(reversed(inner))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        raise StoreUnavailable(f"{folder} cannot be read: {error.strerror or error}") from error


def page_url(key: str, rules: FolderRules) -> str:
    """Return the URL of a file. An index file stands for its folder; clean URLs drop the extension."""
    folder, _, name = key.rpartition("/")
    if name in INDEX_NAMES:
        key = f"{folder}/" if folder else ""
    elif rules.clean_urls and name.rpartition(".")[2] in PAGE_EXTENSIONS:
        key = key.rpartition(".")[0]
    return canonical(rules.base_url + key) or rules.base_url + key


def alternative_urls(key: str, rules: FolderRules) -> frozenset[str]:
    """Return all URLs under which servers commonly serve the file."""
    folder, _, name = key.rpartition("/")
    stem = key.rpartition(".")[0]
    paths = {key, stem, f"{stem}/"}
    if name in INDEX_NAMES:
        paths |= {folder, f"{folder}/" if folder else ""}
    return frozenset(canonical(rules.base_url + path) or rules.base_url + path for path in paths)


def folder_entries(
    folder: Path, rules: FolderRules, previous: Mapping[str, PageEntry], *, built_ms: int | None, now_ns: int
) -> Iterator[PageEntry]:
    """Return an entry per page. Files that did not change since the last build at `built_ms` are not read."""
    robots = read_robots(folder, rules)
    for file in find_page_files(folder, rules):
        before = previous.get(file.key)
        entry = before if before is not None and _is_unchanged(before.fingerprint, file) else None
        if entry is None:
            entry = _read(file, rules, before, built_ms=built_ms, now_ns=now_ns)
        yield _apply_robots(entry, robots)


def read_robots(folder: Path, rules: FolderRules) -> RobotsTxt:
    """Return the rules of the site's robots.txt; only the one in the root counts."""
    at_root = path_of(rules.base_url) == "/"
    try:
        body = (folder / "robots.txt").read_bytes() if at_root else b""
    except OSError:
        body = b""
    return parse_robots(body, agent=rules.agent)


def _apply_robots(entry: PageEntry, robots: RobotsTxt) -> PageEntry:
    """Exclude a page that robots.txt disallows, or include it again."""
    allowed = robots.verdict(path_of(entry.url))[0]
    if not allowed:
        return entry._replace(excluded=ROBOTS_REASON) if entry.excluded is None else entry
    return entry._replace(excluded=None) if entry.excluded == ROBOTS_REASON else entry


def _is_unchanged(fingerprint: str, file: PageFile) -> bool:
    """Check that time and size are the same, and that the time was old enough to be reliable."""
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
    title = content.title or unquote(file.key.rpartition("/")[2].rpartition(".")[0]).translate(_TITLE_SPACES)
    return PageEntry(file.key, fingerprint, digest, changed_ms, title, listed, excluded)


def change_time_ms(written_ms: int, built_ms: int | None, now_ms: int) -> int:
    """Return when new content was created: the file's time if it lies between the last build and now, else now.
    An older time (restored or copied with its timestamp) cannot be that of the change."""
    return now_ms if written_ms > now_ms or (built_ms is not None and written_ms < built_ms) else written_ms


def _bytes_of(file: PageFile) -> bytes:
    try:
        with open(file.path, "rb") as opened:
            return opened.read(MAX_FILE_BYTES)
    except OSError as error:
        raise StoreUnavailable(f"{file.path} cannot be read: {error.strerror or error}") from error


def _headers(key: str) -> Headers:
    extension = key.rpartition(".")[2].lower()
    return (("Content-Type", _MEDIA_TYPES.get(extension, "application/octet-stream")),)


def _listing(key: str, url: str, content: ContentSummary, rules: FolderRules) -> tuple[str, str | None]:
    """Return the URL to list and why it is excluded. A canonical link may choose among the file's own URLs."""
    wanted = canonical(content.canonical) if content.canonical else None
    if wanted is not None and wanted != url and wanted in alternative_urls(key, rules):
        url = wanted
    return url, exclusion_reason(url, content, site=site_of(url))


def exclusion_reason(url: str, content: ContentSummary, *, site: str) -> str | None:
    """Return why a page excludes itself from the sitemap, or None."""
    if content.noindex:
        return "noindex"
    wanted = canonical(content.canonical) if content.canonical else None
    if wanted is not None and wanted != url:
        return "canonical elsewhere" if site_of(wanted) == site else "canonical on another site"
    moved = canonical(content.moves_to) if content.moves_to else None
    return "moved" if moved is not None and moved != url else None
