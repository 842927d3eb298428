"""Rerun of the sitemap paper's experiment with the production crawler: tables 1 to 4, and the time saved.

Like the paper, it counts only page downloads, one after the other without delays, and ignores robots.txt and sitemap
requests. With the policy `paper-sitemap` the sums then equal the paper's to the millisecond. The paper's own example of
a date is wrong: 15/06/2011 9:52:10 AM in India is 1308111730000, the first LAST_VISITED of table 1, and not
1331007730000, which is in March 2012.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from evercrawl.cluster.crawl_builder import assemble_crawl
from evercrawl.core.sitemap.sitemap_reader import read_sitemap
from evercrawl.model.settings import Settings
from evercrawl.model.time import from_us, to_us
from evercrawl.testing.sim_world import MemoryArchive, MemoryNear
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
"""Milliseconds of the second visit: all pages, and the pages that the extended sitemap lists as changed."""
TOLERANCE_MS = 0
"""For the sums and each page's time. LAST_VISITED may differ by the length of a visit, because the paper downloads in
the sitemap's order and the crawler in its own.
"""
PAPER_SAVED_MS = 4252
"""What the paper's visit with the extended sitemap saves."""
SMALL_MS = min(page.second_ms for page in PAGES)
"""Assumed cost of a request that the paper does not count: as much as the site's fastest page."""


class Strategy(NamedTuple):
    """One strategy to keep the copy of the site up to date."""

    label: str
    sitemap: str = "none"
    validators: bool = False
    policy: str = "paper-sitemap"


STRATEGIES = {
    "full": Strategy("every page again (the paper's old approach)"),
    "extended": Strategy("extended sitemap (the paper's proposal)", "extended"),
    "standard": Strategy("ordinary sitemap with lastmod", "standard"),
    "validators": Strategy("no sitemap, but ETags", validators=True),
    "cautious": Strategy("extended sitemap, not trusted yet: optimal", "extended", policy="optimal"),
}
_PATHS = frozenset(page.path for page in PAGES)


class TableRow(NamedTuple):
    """A row of a table with the paper's figures and ours; None if the table has no such column."""

    anchor_text: str
    url: str
    paper_download_ms: int | None = None
    download_ms: int | None = None
    paper_last_visited_ms: int | None = None
    last_visited_ms: int | None = None
    paper_last_updated_ms: int | None = None
    last_updated_ms: int | None = None


class SecondVisit(NamedTuple):
    """The second visit with one strategy."""

    name: str
    label: str
    pages: int
    downloaded: tuple[str, ...]
    """URLs of downloaded pages, in order."""
    requests: int
    """Including sitemap, robots.txt and 304."""
    body_bytes: int
    ms: int
    """Time of page downloads, as the paper sums it."""
    counted_ms: int
    """Plus SMALL_MS for each request that the paper does not count."""
    paper_ms: int | None


@dataclass(frozen=True, slots=True)
class SitemapExperiment:
    """Everything that the paper shows, as reproduced."""

    seconds: tuple[SecondVisit, ...]
    tables: tuple[tuple[TableRow, ...], ...]
    """Table 1 to table 4."""

    @property
    def saved_ms(self) -> int:
        """Milliseconds that the extended sitemap saves at the second visit."""
        sums = {one.name: one.ms for one in self.seconds}
        return sums["full"] - sums["extended"]

    @property
    def matches(self) -> bool:
        """Whether sums, pages and tables equal the paper's within the tolerances."""
        sums = {one.name: one.ms for one in self.seconds}
        close = all(abs(sums[name] - ms) <= TOLERANCE_MS for name, ms in PAPER_MS.items())
        close = close and self.saved_ms == PAPER_SAVED_MS
        return close and all(_agrees(row) for table in self.tables for row in table)


def _agrees(row: TableRow) -> bool:
    if row.paper_download_ms != row.download_ms or row.paper_last_updated_ms != row.last_updated_ms:
        return False
    if row.paper_last_visited_ms is None or row.last_visited_ms is None:
        return row.paper_last_visited_ms is row.last_visited_ms
    return abs(row.paper_last_visited_ms - row.last_visited_ms) < PAPER_MS["full"]


def run_sitemap() -> SitemapExperiment:
    """Run both visits with every strategy; the tables are those of the extended sitemap."""
    runs = {name: _visits(way) for name, way in STRATEGIES.items()}
    first, second, college = runs["extended"]
    table_1 = _visited_table([page for page in PAGES if page.first_ms is not None], _bodies(first), _FIRST)
    table_3 = _visited_table(list(UPDATED), _bodies(second), _SECOND)
    return SitemapExperiment(
        seconds=tuple(_second(name, downloads) for name, (_, downloads, _) in runs.items()),
        tables=(table_1, _sitemap_table(college), table_3, _record(table_1, table_3)),
    )


def _visits(way: Strategy) -> tuple[list[Download], list[Download], College]:
    college = College(sitemap=way.sitemap, validators=way.validators)
    world = _Crawler(college, way)
    world.visit(FIRST_VISIT_MS, refresh=False)
    first, college.downloads = college.downloads, []
    world.visit(SECOND_VISIT_MS, refresh=way.sitemap == "none")
    return first, college.downloads, college


class _Crawler:
    """The production crawler on the paper's site: one request at a time, without delays."""

    def __init__(self, college: College, way: Strategy) -> None:
        base = Settings()
        self._college = college
        self._store = MemoryStore(1)
        self._archive = MemoryArchive(0, keeps_bodies=True)
        self._settings = replace(
            base,
            identity=replace(base.identity, contact="mailto:lab@example.org"),
            scope=replace(base.scope, seeds=(PAGES[0].url,)),
            pace=replace(base.pace, mode="unlimited", unlimited_concurrency=1),
            store=replace(base.store, shards=1),
            sitemaps=replace(base.sitemaps, enabled=way.sitemap != "none", extended="always"),
            revisit=replace(base.revisit, policy=way.policy, unconditional_share=0.0),
        )

    def visit(self, at_ms: int, *, refresh: bool) -> None:
        """Run the crawler once, starting at this moment."""
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


def _second(name: str, downloads: list[Download]) -> SecondVisit:
    bodies = _bodies(downloads)
    ms = sum(one.took_ms for one in bodies)
    return SecondVisit(
        name=name,
        label=STRATEGIES[name].label,
        pages=len(PAGES),
        downloaded=tuple(ORIGIN + one.path for one in bodies),
        requests=len(downloads),
        body_bytes=sum(one.body_bytes for one in downloads),
        ms=ms,
        counted_ms=ms + SMALL_MS * (len(downloads) - len(bodies)),
        paper_ms=PAPER_MS.get(name),
    )


class _Visit(NamedTuple):
    """When the paper's visit began, and which of a page's two download times applies."""

    began_ms: int
    is_second: bool


_FIRST, _SECOND = _Visit(FIRST_VISIT_MS, is_second=False), _Visit(SECOND_VISIT_MS, is_second=True)


def _visited_table(pages: list[CollegePage], downloads: list[Download], visit: _Visit) -> tuple[TableRow, ...]:
    """Return table 1 or 3. In the paper a page is visited when the previous one has been downloaded."""
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
    """Return table 2: the sitemap as our writer writes it and our reader reads it."""
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
    """Return table 4: all pages after the second visit."""
    rows = {row.url: row for row in first} | {row.url: row for row in second}
    return tuple(row._replace(paper_download_ms=None, download_ms=None) for row in rows.values())
