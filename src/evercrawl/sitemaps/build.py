"""Make or update a site's sitemaps: what is new is found out, dated and written, each file whole."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from evercrawl.adapters.system import exclusive_lock, write_atomically
from evercrawl.core.sitemap.write import MOST_BYTES, MOST_URLS, SitemapFile, extended_files, gzipped, sitemap_files
from evercrawl.errors import ConfigError, StoreUnavailable
from evercrawl.model.sitemap import SitemapPage
from evercrawl.model.time import from_us
from evercrawl.sitemaps.folder import FolderRules, rows_of_folder
from evercrawl.sitemaps.state import BuildState, Row, read_state, write_state

STEM, EXTENDED_STEM = "sitemap", "sitemap-extended"
PACKED = ".gz"

OnPage = Callable[[int], None]
RowsSince = Callable[[Mapping[str, Row], int | None, int], Iterator[Row]]
"""Known rows, moment of the last build in ms, now in ns -> a row for each page."""


@dataclass(frozen=True, slots=True)
class Target:
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
    target: Target,
    *,
    full: bool = False,
    on_page: OnPage | None = None,
    now_ns: int | None = None,
) -> BuildReport:
    """Sitemaps of a folder of files; `full`: read every file, also those that were not touched."""
    if not folder.is_dir():
        raise ConfigError(f"{folder} is not a folder")

    def rows(known: Mapping[str, Row], built_ms: int | None, now_ns: int) -> Iterator[Row]:
        before = unmarked(known) if full else known
        return rows_of_folder(folder, rules, before, built_ms=built_ms, now_ns=now_ns)

    return build(target, rows, source=rules.name(), on_page=on_page, now_ns=now_ns)


def build(
    target: Target, rows_since: RowsSince, *, source: str, on_page: OnPage | None = None, now_ns: int | None = None
) -> BuildReport:
    """Find out what is new since the last build, write the files, and then remember it.

    The state is written last: a build that was killed is made again by the next, and finds the same. `now_ns`
    is the moment of the build; None: the present.
    """
    began = time.monotonic()
    with exclusive_lock(target.state.with_name(target.state.name + ".lock")):
        before = read_state(target.state)
        now_ns = time.time_ns() if now_ns is None else now_ns
        known = before.rows if before.source == source else unmarked(before.rows)
        rows: dict[str, Row] = {}
        for row in rows_since(known, before.built_ms, now_ns):
            rows[row.key] = row
            if on_page is not None:
                on_page(len(rows))
        listed = listed_rows(rows.values())
        files, written = publish(target, [_listed_page(row) for row in listed.values()], before.files)
        write_state(target.state, BuildState(source, now_ns // 1_000_000, files, rows))
    news = _compared(before.rows, rows)
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


def unmarked(rows: Mapping[str, Row]) -> dict[str, Row]:
    """Rows of other rules: their dates hold where the content is the same, and every page is read anew."""
    return {key: row._replace(mark="0 0 0") for key, row in rows.items()}


def listed_rows(rows: Iterable[Row]) -> dict[str, Row]:
    """The rows to list, by URL and in its order; of two with one URL the first counts."""
    found: dict[str, Row] = {}
    for row in rows:
        if row.left_out is None:
            found.setdefault(row.url, row)
    return dict(sorted(found.items()))


def _listed_page(row: Row) -> SitemapPage:
    return SitemapPage(row.url, from_us(row.changed_ms * 1000), row.title)


class _News(NamedTuple):
    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]


def _compared(before: Mapping[str, Row], now: Mapping[str, Row]) -> _News:
    """Pages that entered and left the sitemap, and those whose content differs, listed or not."""
    were, are = listed_rows(before.values()), listed_rows(now.values())
    old = {row.url: row.digest for row in before.values()}
    changed = {row.url for row in now.values() if old.get(row.url, row.digest) != row.digest}
    entered = [url for url in are if url not in were]
    left = [url for url in were if url not in are]
    return _News(tuple(entered), tuple(sorted(changed.difference(entered, left))), tuple(left))


def publish(
    target: Target, pages: list[SitemapPage], old_files: Iterable[str]
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


def _files(target: Target, pages: list[SitemapPage]) -> Iterator[SitemapFile]:
    makers = ((extended_files, EXTENDED_STEM), (sitemap_files, STEM))
    for make, stem in makers:
        for file in make(pages, target.base_url, stem=stem, most_urls=target.most_urls, most_bytes=target.most_bytes):
            if target.packed and not file.name.endswith(PACKED):
                yield SitemapFile(file.name + PACKED, gzipped(file.data), file.lastmod)
            yield file
