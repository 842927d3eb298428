"""A small web with two months of history, made in virtual time by the real engine, store and archive.

The pictures of the docs and the tests of the interface look at it: three sites whose pages are edited and
vanish, at moments that a seed decides.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from random import Random

import evercrawl
from evercrawl.adapters.sqlite.sqlite_database import SqliteStore
from evercrawl.adapters.warc.warc_records import WarcInfo
from evercrawl.adapters.warc.writer import WarcArchive
from evercrawl.cluster.crawl_builder import assemble_crawl
from evercrawl.cluster.totals import run_summary
from evercrawl.collection.runs import RUNS_FILE
from evercrawl.config import create_collection
from evercrawl.core.http.content_coding import DecodeLimits
from evercrawl.core.http.http1 import ResponseHead
from evercrawl.core.http.message import RawResponse, constant_headers, fetch_result, request_bytes
from evercrawl.core.url import path_of, site_of
from evercrawl.engine.runtime import StopSignal
from evercrawl.model.fetch import Exchange, FetchResult, Headers, Request
from evercrawl.model.run import Summary
from evercrawl.model.settings import Settings
from evercrawl.testing.sim_world import MemoryNear
from evercrawl.testing.virtual_time import SimClock, run

DAYS = 62
SITES = ("https://council.example", "https://harbour.example", "https://gazette.example")
SEEDS = tuple(f"{site}/" for site in SITES)
TOPICS = {
    SITES[0]: (
        "Waste collection", "Parking permits", "School places", "Planning notices", "Budget", "Library hours",
        "Street lighting", "Allotments", "Council tax", "Elections",
    ),
    SITES[1]: (
        "Tide tables", "Ferry times", "Berths", "Pilotage", "Notices to mariners", "Fuel dock", "Lighthouse",
        "Fish market", "Sailing school", "Dredging",
    ),
    SITES[2]: (
        "Front page", "Bridge reopens", "Storm warning", "Choir festival", "Old mill sold", "Rail strike",
        "Harvest", "New mayor", "Museum night", "Bakery turns 100",
    ),
}  # fmt: skip
FACTS = (
    "The office is open from {a} to {b} on weekdays.",
    "The fee rises to {a} crowns on the first of the month.",
    "Residents are asked to register before the {a}th.",
    "About {a}0 people took part, {b} more than last year.",
    "Work on the quay takes {a} weeks longer than planned.",
    "Line {a} runs every {b} minutes until further notice.",
    "The committee meets again on day {a} of the month at {b} o'clock.",
    "Visitors need a ticket; children under {a} go free.",
)
CALM = (
    "This page is kept by the office and is meant for everyone who lives here or comes to visit.",
    "If something is unclear, write to us or come by; we answer within a few days.",
    "Older notices are kept in the archive, in the order in which they were published.",
)

HOSTILE_HEADERS = (("X-Note", "<script>window.pwned = 'header'</script>"), ("Set-Cookie", "stolen=1; Path=/"))


HOSTILE_ROBOTS = b"# <script>window.pwned = 'robots'</script>\n"
KINDS = {".svg": "image/svg+xml", ".xml": "application/rss+xml", ".pdf": "application/pdf"}


def kind_of(path: str) -> str:
    """The type of a page by its ending; most are HTML."""
    return next((kind for end, kind in KINDS.items() if path.endswith(end)), "text/html; charset=utf-8")


class StoryWeb:
    """The Fetcher of this web: what a page says depends on the moment at which it is asked."""

    def __init__(self, clock: SimClock, begin: datetime, extra: dict[str, Callable[[int], str]] | None = None) -> None:
        self.clock = clock
        self.begin = begin
        self.extra = extra or {}

    async def fetch(self, request: Request) -> FetchResult:
        began = self.clock.now()
        await asyncio.sleep(0.04 + Random(f"{request.url}{began - self.begin}").random() * 0.25)
        status, body, kind = self.answer(request.url, (began - self.begin).days)
        etag = f'"{hash_of(body)}"'
        if status == 200 and request.etag == etag:
            status, body = 304, b""
        own = HOSTILE_HEADERS if request.url in self.extra else ()
        headers: Headers = (
            *own,
            ("Date", format_datetime(began, usegmt=True)),
            ("Content-Type", kind),
            ("ETag", etag),
            ("Content-Length", str(len(body))),
        )
        return self._concluded(request, status, headers, body, began)

    def _concluded(self, request: Request, status: int, headers: Headers, body: bytes, began: datetime) -> FetchResult:
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
        raw = f"HTTP/1.1 {status} X\r\n{lines}\r\n".encode("latin-1")
        head = request_bytes(request, constant_headers("evercrawl", None))
        exchange = Exchange(head, raw, body, "198.51.100.7", began, self.clock.now() - began)
        answer = RawResponse(ResponseHead(status, 1, headers, {}, raw), exchange, is_cut=False)
        return fetch_result(request, answer, limits=DecodeLimits(10_000_000, 200.0))

    async def close(self) -> None:
        """Nothing is held open."""

    def answer(self, url: str, day: int) -> tuple[int, bytes, str]:
        """Status, body and type of a page on a day."""
        site, path = site_of(url), path_of(url)
        if url in self.extra:
            return 200, self.extra[url](day).encode("utf-8", "surrogatepass"), kind_of(path)
        if path == "/robots.txt":
            note = HOSTILE_ROBOTS if self.extra else b""
            return 200, note + b"User-agent: *\nDisallow: /private/\nCrawl-delay: 2\n", "text/plain"
        if path == "/":
            return 200, home(site, day, list(self.extra)).encode(), "text/html; charset=utf-8"
        number = path.removeprefix("/page/")
        if site not in TOPICS or not number.isdigit() or int(number) >= len(TOPICS[site]) * 3:
            return 404, b"<title>Not found</title>no such page", "text/html"
        if int(number) == 17 and day > 40:
            return 410, b"<title>Gone</title>gone", "text/html"
        return 200, page(site, int(number), day).encode(), "text/html; charset=utf-8"


def hash_of(body: bytes) -> str:
    return f"{sum((at + 1) * byte for at, byte in enumerate(body)):x}"


def title_of(site: str, number: int) -> str:
    topics = TOPICS[site]
    part = ("", ", in detail", ", archive")[number // len(topics)]
    return topics[number % len(topics)] + part


def home(site: str, day: int, extra: list[str]) -> str:
    count = len(TOPICS[site]) * 3
    links = "".join(f'<li><a href="/page/{n}">{title_of(site, n)}</a></li>' for n in range(count))
    links += "".join(f'<li><a href="{url}">extra</a></li>' for url in extra if url.startswith(site))
    name = site.removeprefix("https://").partition(".")[0].title()
    news = fact(Random(f"{site}{day // 9}"))
    return (
        f"<!doctype html><html lang=en><head><title>{name}</title></head>"
        f"<body><header><h1>{name}</h1></header>"
        f"<main><p>{CALM[0]}</p><p>News: {news}</p><ul>{links}</ul></main>"
        "<footer><a href='/private/staff'>staff</a> <a href='/logo.png'>logo</a> "
        "<a href='https://elsewhere.example/'>partner</a></footer></body></html>"
    )


def fact(chance: Random) -> str:
    return chance.choice(FACTS).format(a=chance.randint(2, 12), b=chance.randint(13, 45))


def page(site: str, number: int, day: int) -> str:
    """A page whose facts are edited: the low numbers every few days, the high ones hardly ever."""
    pace = 3 + number * 2
    chance = Random(f"{site}{number}")
    offset = chance.randint(0, pace)
    editions = [(day + offset + place * 3) // (pace * (1 + place)) for place in range(4)]
    facts = [fact(Random(f"{site}{number}{place}{edition}")) for place, edition in enumerate(editions)]
    body = "".join(f"<p>{text}</p>" for text in (CALM[0], facts[0], facts[1], CALM[1], facts[2], facts[3], CALM[2]))
    title = title_of(site, number)
    legal = "All rights reserved." if day < 30 else "All rights reserved. New: our privacy notice."
    return (
        f"<!doctype html><html lang=en><head><title>{title}</title></head>"
        f"<body><nav><a href='/'>Home</a></nav>"
        f"<main><h1>{title}</h1>{body}</main><footer>{legal}</footer></body></html>"
    )


def create_history(
    collection: Path,
    *,
    end: datetime | None = None,
    days: int = DAYS,
    extra: dict[str, Callable[[int], str]] | None = None,
    web: type[StoryWeb] = StoryWeb,
    seeds: Sequence[str] = SEEDS,
    runs: Sequence[float] = (1 / 6,) * 6,
) -> Path:
    """Fill a new collection with the history of so many days that end now, in runs that take parts of this time.

    When each page is visited depends on the hour of the end; the last run begins with a visit to every page.
    """
    end = end or datetime.now(UTC).replace(microsecond=0)
    begin = end - timedelta(days=days)
    create_collection(collection, {"scope.seeds": tuple(seeds), "identity.contact": "ops@example.org"})
    base = Settings()
    settings = replace(
        base,
        scope=replace(base.scope, seeds=tuple(seeds)),
        identity=replace(base.identity, contact="ops@example.org"),
        crawl=replace(base.crawl, max_pages=None),
        store=replace(base.store, durability="process"),  # A disk is not synced in virtual time.
        revisit=replace(base.revisit, max_interval=timedelta(days=14)),
    )
    for place, part in enumerate(runs):
        clock = SimClock(begin + timedelta(days=days * sum(runs[:place])))
        fetcher, span = web(clock, begin, extra), timedelta(days=days * part)
        summary, began, ended = run(_watch(collection, settings, clock, fetcher, span, refresh=place == len(runs) - 1))
        _note(collection, summary, began, ended)
    opened = evercrawl.open(collection)
    opened.rebuild_index()
    opened.rebuild_graph()
    return collection


async def _watch(
    collection: Path, settings: Settings, clock: SimClock, fetcher: StoryWeb, span: timedelta, *, refresh: bool
) -> tuple[Summary, datetime, datetime]:
    stop = StopSignal()
    began = clock.now()
    crawl = assemble_crawl(
        settings,
        clock=clock,
        fetcher=fetcher,
        store=SqliteStore(collection, settings.store),
        open_archive=lambda shard: WarcArchive(
            collection / "archive", shard, settings=settings.archive, clock=clock, info=WarcInfo("evercrawl")
        ),
        open_near=lambda _: MemoryNear(),
        stop=stop,
        forever=True,
    )
    timer = asyncio.get_running_loop().call_later(span.total_seconds(), stop.finish)
    async with crawl:
        await crawl.begin(refresh=refresh)
        ended = await crawl.run()
    timer.cancel()
    return run_summary(crawl, collection, ended), began, clock.now()


def _note(collection: Path, summary: Summary, began: datetime, ended: datetime) -> None:
    fields = {"began": began, "ended": ended, "forever": True, "summary": asdict(summary)}
    with (collection / RUNS_FILE).open("a") as file:
        file.write(json.dumps(fields, default=lambda moment: moment.isoformat()) + "\n")
