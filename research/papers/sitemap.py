"""Paper C's experiment with the production crawler: tables 1 to 4, and the time that a sitemap saves.

The paper counts the download times of pages and nothing else: one page after the other, without gaps,
robots.txt and sitemap for nothing, and the sitemap's word is believed. So does this run, and then the sums
are the paper's to the millisecond.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from evercrawl.cluster.crawl_builder import assemble_crawl
from evercrawl.core.sitemap.sitemap_reader import read_sitemap
from evercrawl.model.settings import Settings
from evercrawl.model.time import from_us, to_us
from evercrawl.testing.memory_archive import MemoryArchive, MemoryNear
from evercrawl.testing.store import MemoryStore
from evercrawl.testing.virtual_time import SimClock, run
from research.papers.college import (
    EXTENDED,
    FIRST_VISIT_MS,
    ORIGIN,
    PAGES,
    SECOND_VISIT_MS,
    UPDATED,
    College,
    CollegePage,
    Download,
)

PAPER_MS = {"full": 6151, "extended": 1899}
"""Milliseconds of the second visit: everything again, and what the extended sitemap names."""
TOLERANCE_MS = 0
"""Of the two sums and of each page's time. LAST_VISITED may differ by the length of the visit: the paper
downloads in the sitemap's order, the crawler in its own.
"""
TRUSTING = timedelta(days=7)
"""A visit must bring so much of a current copy: pages of which the sitemap says nothing are left alone, as
the paper's crawler does. With our default a sitemap is trusted only as far as it has proved true.
"""
SMALL_MS = min(page.second_ms for page in PAGES)
"""What an answer that the paper does not count may cost: as much as the site's fastest page."""


class Way(NamedTuple):
    """One way to keep the copy of the site current."""

    label: str
    sitemap: str = "none"
    validators: bool = False
    worth: timedelta = TRUSTING


WAYS = {
    "full": Way("every page again (the paper's old approach)"),
    "extended": Way("extended sitemap (the paper's proposal)", "extended"),
    "standard": Way("ordinary sitemap with lastmod", "standard"),
    "validators": Way("no sitemap, but ETags", validators=True),
    "cautious": Way("extended sitemap, not trusted yet: default settings", "extended", worth=Settings().revisit.worth),
}
_PATHS = frozenset(page.path for page in PAGES)


class TableRow(NamedTuple):
    """A row of one of the tables, the paper's figures and ours; None: the table has no such column."""

    anchor_text: str
    url: str
    paper_download_ms: int | None = None
    download_ms: int | None = None
    paper_last_visited_ms: int | None = None
    last_visited_ms: int | None = None
    paper_last_updated_ms: int | None = None
    last_updated_ms: int | None = None


class Second(NamedTuple):
    """The second visit in one way of working."""

    name: str
    label: str
    pages: int
    downloaded: tuple[str, ...]
    """URLs of pages whose body came, in order."""
    requests: int
    """Sitemap, robots.txt and 304 included."""
    body_bytes: int
    ms: int
    """The time of page downloads, which is what the paper adds up."""
    counted_ms: int
    """With SMALL_MS for each answer that the paper does not count."""
    paper_ms: int | None


@dataclass(frozen=True, slots=True)
class SitemapExperiment:
    """Everything that the paper shows, as it came out."""

    seconds: tuple[Second, ...]
    tables: tuple[tuple[TableRow, ...], ...]
    """Table 1 to table 4."""

    @property
    def matches(self) -> bool:
        """The sums, the pages and the tables are the paper's, within the tolerances."""
        sums = {one.name: one.ms for one in self.seconds}
        close = all(abs(sums[name] - ms) <= TOLERANCE_MS for name, ms in PAPER_MS.items())
        return close and all(_agrees(row) for table in self.tables for row in table)


def _agrees(row: TableRow) -> bool:
    if row.paper_download_ms != row.download_ms or row.paper_last_updated_ms != row.last_updated_ms:
        return False
    if row.paper_last_visited_ms is None or row.last_visited_ms is None:
        return row.paper_last_visited_ms is row.last_visited_ms
    return abs(row.paper_last_visited_ms - row.last_visited_ms) < PAPER_MS["full"]


def run_sitemap() -> SitemapExperiment:
    """Both visits in every way of working; the tables are those of the extended sitemap."""
    runs = {name: _visits(way) for name, way in WAYS.items()}
    first, second, college = runs["extended"]
    table_1 = _visited_table([page for page in PAGES if page.first_ms is not None], _bodies(first), _FIRST)
    table_3 = _visited_table(list(UPDATED), _bodies(second), _SECOND)
    return SitemapExperiment(
        seconds=tuple(_second(name, downloads) for name, (_, downloads, _) in runs.items()),
        tables=(table_1, _sitemap_table(college), table_3, _record(table_1, table_3)),
    )


def _visits(way: Way) -> tuple[list[Download], list[Download], College]:
    college = College(sitemap=way.sitemap, validators=way.validators)
    world = _World(college, way)
    world.visit(FIRST_VISIT_MS, refresh=False)
    first, college.downloads = college.downloads, []
    world.visit(SECOND_VISIT_MS, refresh=way.sitemap == "none")
    return first, college.downloads, college


class _World:
    """The production crawl over the paper's site: one request at a time, no gap between two."""

    def __init__(self, college: College, way: Way) -> None:
        base = Settings()
        self._college = college
        self._store = MemoryStore(1)
        self._archive = MemoryArchive(0, keeps_bodies=True)
        self._settings = replace(
            base,
            identity=replace(base.identity, contact="mailto:lab@example.org"),
            scope=replace(base.scope, seeds=(PAGES[0].url,)),
            pace=replace(base.pace, mode="own", own_concurrency=1),
            store=replace(base.store, shards=1),
            signals=replace(base.signals, enabled=way.sitemap != "none", probe_after=1),
            revisit=replace(base.revisit, worth=way.worth, audit=0.0),
        )

    def visit(self, at_ms: int, *, refresh: bool) -> None:
        """One run of the crawler, begun at this moment."""
        run(self._run(from_us(at_ms * 1000), refresh=refresh))

    async def _run(self, start: datetime, *, refresh: bool) -> None:
        clock = SimClock(start)
        self._college.use_clock(clock)
        crawl = assemble_crawl(
            self._settings,
            clock=clock,
            fetcher=self._college,
            store=self._store,
            open_archive=lambda _: self._archive,
            open_near=lambda _: MemoryNear(),
        )
        async with crawl:
            await crawl.begin(refresh=refresh)
            await crawl.run()


def _bodies(downloads: list[Download]) -> list[Download]:
    return [one for one in downloads if one.path in _PATHS and one.status == 200]


def _second(name: str, downloads: list[Download]) -> Second:
    bodies = _bodies(downloads)
    ms = sum(one.took_ms for one in bodies)
    return Second(
        name=name,
        label=WAYS[name].label,
        pages=len(PAGES),
        downloaded=tuple(ORIGIN + one.path for one in bodies),
        requests=len(downloads),
        body_bytes=sum(one.body_bytes for one in downloads),
        ms=ms,
        counted_ms=ms + SMALL_MS * (len(downloads) - len(bodies)),
        paper_ms=PAPER_MS.get(name),
    )


class _Visit(NamedTuple):
    """When the paper's visit began, and which of a page's two times it took."""

    began_ms: int
    is_second: bool


_FIRST, _SECOND = _Visit(FIRST_VISIT_MS, is_second=False), _Visit(SECOND_VISIT_MS, is_second=True)


def _visited_table(pages: list[CollegePage], downloads: list[Download], visit: _Visit) -> tuple[TableRow, ...]:
    """Tables 1 and 3. In the paper each page is visited when the one before it has come."""
    ours = {one.path: one for one in downloads}
    rows = []
    at_ms = visit.began_ms
    for page in pages:
        took = page.second_ms if visit.is_second else page.first_ms
        seen = ours.pop(page.path, None)
        rows.append(
            TableRow(
                page.anchor_text,
                page.url,
                paper_download_ms=took,
                download_ms=None if seen is None else seen.took_ms,
                paper_last_visited_ms=at_ms,
                last_visited_ms=None if seen is None else seen.sent_ms,
            )
        )
        at_ms += took or 0
    rows += [
        TableRow("", ORIGIN + one.path, download_ms=one.took_ms, last_visited_ms=one.sent_ms) for one in ours.values()
    ]
    return tuple(rows)


def _sitemap_table(college: College) -> tuple[TableRow, ...]:
    """Table 2: what the crawler's reader finds in what the owner's writer wrote."""
    written = college.sitemap_at(SECOND_VISIT_MS, is_extended=True) or b""
    entries = {entry.url: entry for entry in read_sitemap(written, ORIGIN + EXTENDED).entries}
    rows = []
    for page in PAGES:
        entry = entries.get(page.url)
        ours = None if entry is None or entry.lastmod is None else to_us(entry.lastmod) // 1000
        text = page.anchor_text if entry is None else entry.text or ""
        rows.append(TableRow(text, page.url, paper_last_updated_ms=page.updated_ms, last_updated_ms=ours))
    return tuple(rows)


def _record(first: tuple[TableRow, ...], second: tuple[TableRow, ...]) -> tuple[TableRow, ...]:
    """Table 4: the record of all pages after the second visit."""
    rows = {row.url: row for row in first} | {row.url: row for row in second}
    return tuple(row._replace(paper_download_ms=None, download_ms=None) for row in rows.values())
