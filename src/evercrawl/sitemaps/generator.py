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
"""Known rows, moment of the last build in ms, now in ns -> a row for each page."""


@dataclass(frozen=True, slots=True)
class SitemapTarget:
    """Where the files go, and how they are written."""

    folder: Path
    base_url: str
    """The address of the folder, with a slash at its end."""
    state: Path
    packed: bool = False
    """Each .xml file gets a .gz beside it, for servers that send such."""
    most_urls: int = MOST_URLS
    most_bytes: int = MOST_BYTES


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What a build found and wrote; URLs are in the order of the sitemap."""

    pages: int
    added: tuple[str, ...]
    changed: tuple[str, ...]
    """Pages whose content differs from the last build's."""
    removed: tuple[str, ...]
    unlisted: tuple[str, ...]
    """Those of the changed that are not in the sitemap: they move their readers on, say."""
    files: tuple[str, ...]
    """All files of the sitemap."""
    written: tuple[str, ...]
    """Those whose bytes are new."""
    left_out: dict[str, int] = field(default_factory=dict)
    """Pages that are not listed, by reason."""
    is_first: bool = False
    seconds: float = 0.0


def build_from_folder(
    folder: Path,
    rules: FolderRules,
    target: SitemapTarget,
    *,
    full: bool = False,
    on_page: OnPage | None = None,
    now_ns: int | None = None,
) -> BuildReport:
    """Sitemaps of a folder of files; `full`: read every file, also those that were not touched."""
    if not folder.is_dir():
        raise ConfigError(f"{folder} is not a folder")

    def rows(known: Mapping[str, PageEntry], built_ms: int | None, now_ns: int) -> Iterator[PageEntry]:
        before = clear_fingerprints(known) if full else known
        return folder_entries(folder, rules, before, built_ms=built_ms, now_ns=now_ns)

    return build_sitemaps(target, rows, source=rules.name(), on_page=on_page, now_ns=now_ns)


def build_sitemaps(
    target: SitemapTarget,
    rows_since: ReadEntries,
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
        known = before.rows if before.source == source else clear_fingerprints(before.rows)
        rows: dict[str, PageEntry] = {}
        for row in rows_since(known, before.built_ms, now_ns):
            rows[row.key] = row
            if on_page is not None:
                on_page(len(rows))
        listed = listed_entries(rows.values())
        files, written = publish_files(target, [_listed_page(row) for row in listed.values()], before.files)
        write_state(target.state, BuildState(source, now_ns // 1_000_000, files, rows))
    news = _compare_builds(before.rows, rows)
    left_out = Counter(row.left_out for row in rows.values() if row.left_out is not None)
    return BuildReport(
        pages=len(listed),
        added=news.added,
        changed=news.changed,
        removed=news.removed,
        unlisted=tuple(url for url in news.changed if url not in listed),
        files=files,
        written=written,
        left_out=dict(left_out),
        is_first=before.built_ms is None,
        seconds=time.monotonic() - began,
    )


def clear_fingerprints(rows: Mapping[str, PageEntry]) -> dict[str, PageEntry]:
    """Rows of other rules: their dates hold where the content is the same, and every page is read anew."""
    return {key: row._replace(mark="0 0 0") for key, row in rows.items()}


def listed_entries(rows: Iterable[PageEntry]) -> dict[str, PageEntry]:
    """The rows to list, by URL and in its order; of two with one URL the first counts."""
    found: dict[str, PageEntry] = {}
    for row in rows:
        if row.left_out is None:
            found.setdefault(row.url, row)
    return dict(sorted(found.items()))


def _listed_page(row: PageEntry) -> SitemapPage:
    return SitemapPage(row.url, from_us(row.changed_ms * 1000), row.title)


class _BuildChanges(NamedTuple):
    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]


def _compare_builds(before: Mapping[str, PageEntry], now: Mapping[str, PageEntry]) -> _BuildChanges:
    """Pages that entered and left the sitemap, and those whose content differs, listed or not."""
    were, are = listed_entries(before.values()), listed_entries(now.values())
    old = {row.url: row.digest for row in before.values()}
    changed = {row.url for row in now.values() if old.get(row.url, row.digest) != row.digest}
    entered = [url for url in are if url not in were]
    left = [url for url in were if url not in are]
    return _BuildChanges(tuple(entered), tuple(sorted(changed.difference(entered, left))), tuple(left))


def publish_files(
    target: SitemapTarget, pages: list[SitemapPage], old_files: Iterable[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Write both sitemaps; gives the names of all files, and of those that are new. Parts come before the
    index that names them, and files that nothing names any more go last.
    """
    if not target.folder.is_dir():
        raise StoreUnavailable(f"the folder {target.folder} does not exist; make it first")
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
    makers = ((extended_files, EXTENDED_STEM), (sitemap_files, STEM))
    for make, stem in makers:
        for file in make(pages, target.base_url, stem=stem, most_urls=target.most_urls, most_bytes=target.most_bytes):
            if target.packed and not file.name.endswith(GZIP_SUFFIX):
                yield SitemapFile(file.name + GZIP_SUFFIX, gzip_bytes(file.data), file.lastmod)
            yield file
