"""Generate or update a site's sitemaps: detect changed pages, date them and write the files."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evercrawl.adapters.system import exclusive_lock, write_atomically
from evercrawl.core.sitemap.sitemap_reader import LLMS_PATH, write_llms_txt
from evercrawl.core.sitemap.sitemap_writer import MAX_BYTES, MAX_URLS, SitemapFile, gzip_bytes, sitemap_files
from evercrawl.errors import ConfigError, StoreUnavailable
from evercrawl.model.sitemap import SitemapPage
from evercrawl.model.time import from_us
from evercrawl.sitemaps.folder_pages import BuildState, FolderRules, PageEntry, folder_entries, read_state, write_state

STEM, EXTENDED_STEM = "sitemap", "sitemap-extended"
GZIP_SUFFIX = ".gz"

OnPage = Callable[[int], None]
ReadEntries = Callable[[Mapping[str, PageEntry], int | None, int], Iterator[PageEntry]]
"""Take the previous entries, the time of the last build (ms) and the current time (ns); return an entry per page."""


@dataclass(frozen=True, slots=True)
class SitemapTarget:
    """Where to write the files, and how."""

    folder: Path
    base_url: str  # URL of the folder, with a trailing slash.
    state: Path
    compressed: bool = False  # Also write a .gz next to each .xml file, for servers that can send it.
    max_urls: int = MAX_URLS
    max_bytes: int = MAX_BYTES
    llms_txt: bool = False  # Also write llms.txt, unless somebody else wrote one.


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What a build found and wrote; URLs are in sitemap order."""

    pages: int
    added: tuple[str, ...]
    changed: tuple[str, ...]  # Pages whose content differs from the last build.
    removed: tuple[str, ...]
    unlisted: tuple[str, ...]  # Changed pages that are not in the sitemap, such as redirects.
    files: tuple[str, ...]  # All files of the sitemap.
    written: tuple[str, ...]  # Files whose content changed.
    excluded: dict[str, int] = field(default_factory=dict)  # Number of pages not listed, by reason.
    is_first: bool = False
    seconds: float = 0.0


def build_from_folder(
    folder: Path,
    rules: FolderRules,
    target: SitemapTarget,
    *,
    read_all: bool = False,
    on_page: OnPage | None = None,
    now_ns: int | None = None,
) -> BuildReport:
    """Build the sitemaps of a folder of files. `read_all`: also read files that look unchanged."""
    if not folder.is_dir():
        raise ConfigError(f"{folder} is not a folder")

    def entries(previous: Mapping[str, PageEntry], built_ms: int | None, now_ns: int) -> Iterator[PageEntry]:
        before = clear_fingerprints(previous) if read_all else previous
        return folder_entries(folder, rules, before, built_ms=built_ms, now_ns=now_ns)

    return build_sitemaps(target, entries, source=rules.name(), on_page=on_page, now_ns=now_ns)


def build_sitemaps(
    target: SitemapTarget,
    read_entries: ReadEntries,
    *,
    source: str,
    on_page: OnPage | None = None,
    now_ns: int | None = None,
) -> BuildReport:
    """Detect changes since the last build, write the files, then the state, so that a crash loses no change.
    `now_ns` defaults to the current time."""
    began = time.monotonic()
    with exclusive_lock(target.state.with_name(target.state.name + ".lock")):
        before = read_state(target.state)
        now_ns = time.time_ns() if now_ns is None else now_ns
        previous = before.entries if before.source == source else clear_fingerprints(before.entries)
        entries: dict[str, PageEntry] = {}
        for entry in read_entries(previous, before.built_ms, now_ns):
            entries[entry.key] = entry
            if on_page is not None:
                on_page(len(entries))
        listed = listed_entries(entries.values())
        pages = [SitemapPage(one.url, from_us(one.changed_ms * 1000), one.title) for one in listed.values()]
        files, written = publish_files(target, pages, before.files)
        write_state(target.state, BuildState(source, now_ns // 1_000_000, files, entries))
    added, changed, removed = _build_changes(before.entries, entries)
    excluded = Counter(entry.excluded for entry in entries.values() if entry.excluded is not None)
    return BuildReport(
        pages=len(listed),
        added=added,
        changed=changed,
        removed=removed,
        unlisted=tuple(url for url in changed if url not in listed),
        files=files,
        written=written,
        excluded=dict(excluded),
        is_first=before.built_ms is None,
        seconds=time.monotonic() - began,
    )


def clear_fingerprints(entries: Mapping[str, PageEntry]) -> dict[str, PageEntry]:
    """Return the entries without fingerprints, so that every page is read again; dates of equal content stay."""
    return {key: entry._replace(fingerprint="0 0 0") for key, entry in entries.items()}


def listed_entries(entries: Iterable[PageEntry]) -> dict[str, PageEntry]:
    """Return the entries to list, sorted by URL; the first of equal URLs wins."""
    found: dict[str, PageEntry] = {}
    for entry in entries:
        if entry.excluded is None:
            found.setdefault(entry.url, entry)
    return dict(sorted(found.items()))


def _build_changes(before: Mapping[str, PageEntry], now: Mapping[str, PageEntry]) -> Sequence[tuple[str, ...]]:
    """Return the URLs added to the sitemap, all others whose content changed, and those removed."""
    before_listed, now_listed = listed_entries(before.values()), listed_entries(now.values())
    old = {entry.url: entry.digest for entry in before.values()}
    changed = {entry.url for entry in now.values() if old.get(entry.url, entry.digest) != entry.digest}
    added = [url for url in now_listed if url not in before_listed]
    removed = [url for url in before_listed if url not in now_listed]
    return tuple(added), tuple(sorted(changed.difference(added, removed))), tuple(removed)


def publish_files(
    target: SitemapTarget, pages: list[SitemapPage], old_files: Collection[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Write both sitemaps; return the names of all files and of the changed ones.
    Parts are written before the index that names them; obsolete files are deleted last."""
    if not target.folder.is_dir():
        raise StoreUnavailable(f"the folder {target.folder} does not exist; create it first")
    llms_txt = LLMS_PATH.removeprefix("/")
    path = target.folder / llms_txt
    if target.llms_txt and path.exists() and llms_txt not in old_files:
        raise ConfigError(f"{path} was not written by a build; move it away, or do without --llms-txt")
    names, written = [], []
    for file in _files(target, pages):
        names.append(file.name)
        if write_atomically(target.folder / file.name, file.data):
            written.append(file.name)
    for name in set(old_files) - set(names):
        if "/" not in name:
            (target.folder / name).unlink(missing_ok=True)
    return tuple(names), tuple(written)


def _files(target: SitemapTarget, pages: list[SitemapPage]) -> Iterator[SitemapFile]:
    if target.llms_txt:
        yield SitemapFile(LLMS_PATH.removeprefix("/"), write_llms_txt(pages, target.base_url))
    limits = {"max_urls": target.max_urls, "max_bytes": target.max_bytes}
    for extended, stem in ((True, EXTENDED_STEM), (False, STEM)):
        for file in sitemap_files(pages, target.base_url, extended=extended, stem=stem, **limits):
            if target.compressed and not file.name.endswith(GZIP_SUFFIX):
                yield SitemapFile(file.name + GZIP_SUFFIX, gzip_bytes(file.data), file.lastmod)
            yield file
