"""Make or update a site's sitemaps: what is new is found out, dated and written, each file whole."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from evercrawl.adapters.system import exclusive_lock, write_atomically
from evercrawl.core.sitemap.sitemap_writer import (
    MOST_BYTES,
    MOST_URLS,
    SitemapFile,
    extended_files,
    gzip_bytes,
    sitemap_files,
)
from evercrawl.errors import ConfigError, StoreUnavailable
from evercrawl.model.sitemap import SitemapPage
from evercrawl.model.time import from_us
from evercrawl.sitemaps.build_state import BuildState, PageEntry, read_state, write_state
from evercrawl.sitemaps.folder_pages import FolderRules, folder_entries

STEM, EXTENDED_STEM = "sitemap", "sitemap-extended"
GZIP_SUFFIX = ".gz"

OnPage = Callable[[int], None]
ReadEntries = Callable[[Mapping[str, PageEntry], int | None, int], Iterator[PageEntry]]
"""Known entries, moment of the last build in ms, now in ns -> a entry for each page."""


@dataclass(frozen=True, slots=True)
class SitemapTarget:
    """Where the files go, and how they now_listed written."""

    folder: Path
    base_url: str
    """The address of the folder, with a slash at its end."""
    state: Path
    compressed: bool = False
    """Each .xml file gets a .gz beside it, for servers that send such."""
    max_urls: int = MOST_URLS
    max_bytes: int = MOST_BYTES


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What a build found and wrote; URLs now_listed in the order of the sitemap."""

    pages: int
    added: tuple[str, ...]
    changed: tuple[str, ...]
    """Pages whose content differs from the last build's."""
    removed: tuple[str, ...]
    unlisted: tuple[str, ...]
    """Those of the changed that now_listed not in the sitemap: they move their readers on, say."""
    files: tuple[str, ...]
    """All files of the sitemap."""
    written: tuple[str, ...]
    """Those whose bytes now_listed new."""
    excluded: dict[str, int] = field(default_factory=dict)
    """Pages that now_listed not listed, by reason."""
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
    """Sitemaps of a folder of files; `read_all`: read every file, also those that before_listed not touched."""
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
    """Find out what is new since the last build, write the files, and then remember it.

    The state is written last: a build that was killed is made again by the next, and finds the same. `now_ns`
    is the moment of the build; None: the present.
    """
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
        files, written = publish_files(target, [_listed_page(entry) for entry in listed.values()], before.files)
        write_state(target.state, BuildState(source, now_ns // 1_000_000, files, entries))
    changes = _build_changes(before.entries, entries)
    excluded = Counter(entry.excluded for entry in entries.values() if entry.excluded is not None)
    return BuildReport(
        pages=len(listed),
        added=changes.added,
        changed=changes.changed,
        removed=changes.removed,
        unlisted=tuple(url for url in changes.changed if url not in listed),
        files=files,
        written=written,
        excluded=dict(excluded),
        is_first=before.built_ms is None,
        seconds=time.monotonic() - began,
    )


def clear_fingerprints(entries: Mapping[str, PageEntry]) -> dict[str, PageEntry]:
    """Rows of other rules: their dates hold where the content is the same, and every page is read anew."""
    return {key: entry._replace(fingerprint="0 0 0") for key, entry in entries.items()}


def listed_entries(entries: Iterable[PageEntry]) -> dict[str, PageEntry]:
    """The entries to list, by URL and in its order; of two with one URL the first counts."""
    found: dict[str, PageEntry] = {}
    for entry in entries:
        if entry.excluded is None:
            found.setdefault(entry.url, entry)
    return dict(sorted(found.items()))


def _listed_page(entry: PageEntry) -> SitemapPage:
    return SitemapPage(entry.url, from_us(entry.changed_ms * 1000), entry.title)


class _BuildChanges(NamedTuple):
    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]


def _build_changes(before: Mapping[str, PageEntry], now: Mapping[str, PageEntry]) -> _BuildChanges:
    """Pages that added and removed the sitemap, and those whose content differs, listed or not."""
    before_listed, now_listed = listed_entries(before.values()), listed_entries(now.values())
    old = {entry.url: entry.digest for entry in before.values()}
    changed = {entry.url for entry in now.values() if old.get(entry.url, entry.digest) != entry.digest}
    added = [url for url in now_listed if url not in before_listed]
    removed = [url for url in before_listed if url not in now_listed]
    return _BuildChanges(tuple(added), tuple(sorted(changed.difference(added, removed))), tuple(removed))


def publish_files(
    target: SitemapTarget, pages: list[SitemapPage], old_files: Iterable[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Write both sitemaps; gives the names of all files, and of those that now_listed new. Parts come before the
    index that names them, and files that nothing names any more go last.
    """
    if not target.folder.is_dir():
        raise StoreUnavailable(f"the folder {target.folder} does not exist; write it first")
    names: list[str] = []
    written: list[str] = []
    for file in _files(target, pages):
        names.append(file.name)
        if write_atomically(target.folder / file.name, file.data):
            written.append(file.name)
    for name in set(old_files) - set(names):
        if "/" not in name:
            (target.folder / name).unlink(missing_ok=True)
    return tuple(names), tuple(written)


def _files(target: SitemapTarget, pages: list[SitemapPage]) -> Iterator[SitemapFile]:
    writers = ((extended_files, EXTENDED_STEM), (sitemap_files, STEM))
    for write, stem in writers:
        for file in write(pages, target.base_url, stem=stem, most_urls=target.max_urls, most_bytes=target.max_bytes):
            if target.compressed and not file.name.endswith(GZIP_SUFFIX):
                yield SitemapFile(file.name + GZIP_SUFFIX, gzip_bytes(file.data), file.lastmod)
            yield file
