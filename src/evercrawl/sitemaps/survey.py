"""Collect the evidence for a sitemap check: its files, a sample of its pages, and pages it may lack."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from xxhash import xxh64_intdigest

from evercrawl.core.document.html import parse_document
from evercrawl.core.document.media_type import HTML_TYPES, sniff_media_type, url_file_type
from evercrawl.core.politeness import HostQueue, Pace, request_end
from evercrawl.core.robots.robots_rules import RobotsRules, compile_robots, redirect_loop_record, robots_record_of
from evercrawl.core.robots.robots_txt import sitemap_urls
from evercrawl.core.sitemap.sitemap_discovery import WELL_KNOWN, SitemapWalk
from evercrawl.core.sitemap.sitemap_reader import read_sitemap, unpack_body
from evercrawl.core.sitemap.sitemap_values import parse_date, parse_milliseconds
from evercrawl.core.url import canonical, registrable_domain, site_of, site_parts
from evercrawl.engine.ports import Clock, Fetcher
from evercrawl.errors import ConfigError
from evercrawl.model.document import Document
from evercrawl.model.fetch import Failed, Fault, Fetched, FetchResult, Moved, Request, header
from evercrawl.model.settings import Settings
from evercrawl.model.site import RobotsRecord, Site
from evercrawl.model.sitemap import Sitemap, SitemapEntry, SitemapLimits, SitemapType
from evercrawl.model.time import from_us, to_us


class RequestSkipped(NamedTuple):
    """A request that was not made, and why."""

    url: str
    detail: str
    is_forbidden: bool  # Whether robots.txt forbids it; otherwise the site's delay is longer than we wait.


class PoliteClient:
    """Fetch pages. Invariant: robots.txt comes first, and every request waits for the crawl delay."""

    def __init__(
        self,
        fetcher: Fetcher,
        clock: Clock,
        settings: Settings,
        *,
        pace: Pace,
        on_request: Callable[[str], None] | None = None,
    ) -> None:
        self._fetcher = fetcher
        self._clock = clock
        self._settings = settings
        self._pace = pace
        self._on_request = on_request
        self._queues: dict[str, HostQueue] = {}
        self.requests = 0

    async def fetch(self, url: str, *, body_limit: int | None = None) -> FetchResult | RequestSkipped:
        """Fetch a canonical URL without following redirects."""
        robots = await self.robots_for(site_of(url))
        verdict = robots.verdict(url)
        if not verdict.allowed:
            return RequestSkipped(url, verdict.detail, is_forbidden=True)
        return await self._send(Request(url, body_limit=body_limit))

    async def robots_for(self, site: str) -> RobotsRules:
        """Return the site's robots.txt rules, fetched once."""
        queue = self._queue(site)
        if queue.robots is None:
            queue.robots = await self._fetch_robots(site)
            queue.apply_crawl_delay(now_us=to_us(self._clock.now()), pace=self._pace)
        return queue.robots

    async def _fetch_robots(self, site: str) -> RobotsRules:
        settings = self._settings.robots
        result = await self._send(Request(f"{site}/robots.txt", body_limit=settings.max_bytes))
        for _ in range(settings.max_redirects):
            if not isinstance(result, Moved):
                break
            result = await self._send(Request(result.target, body_limit=settings.max_bytes))
        now = self._clock.now()
        if isinstance(result, (Moved, RequestSkipped)):
            record = redirect_loop_record(now=now, settings=settings)
        else:
            record = robots_record_of(None, result, now=now, settings=settings)
        return compile_robots(record, agent=self._settings.identity.product)

    async def _send(self, request: Request) -> FetchResult | RequestSkipped:
        queue = self._queue(site_of(request.url))
        now = self._clock.now()
        opens = from_us(queue.site.open_us)
        if opens - now > self._settings.crawl.idle_timeout:
            return RequestSkipped(request.url, queue.site.closed_reason or "the site's crawl delay is too long", False)
        if self._on_request is not None:
            self._on_request(request.url)
        await self._clock.sleep_until(opens)
        self.requests += 1
        result = await self._fetcher.fetch(request)
        self._record_result(queue, result)
        return result

    def _record_result(self, queue: HostQueue, result: FetchResult) -> None:
        now = self._clock.now()
        queue.record_answer(request_end(result, now=now), now_us=to_us(now), pace=self._pace)

    def _queue(self, site: str) -> HostQueue:
        if site not in self._queues:
            domain = registrable_domain(site_parts(site).host)
            self._queues[site] = HostQueue(Site(len(self._queues), site, domain), None, priorities=1)
        return self._queues[site]


MAX_REDIRECTS = 5
MAX_PROBES = 5  # Linked but unlisted pages to fetch, to see whether they exist.
MAX_ENTRIES = 500_000  # Limit of entries over all files.

_DATES = re.compile(rb"<(?:[\w.-]+:)?(lastmod|LAST_UPDATED)\s*>\s*([^<]{1,200})<", re.IGNORECASE)
_SITEMAP_PATH = re.compile(r"sitemap|\.xml(?:\.gz)?$|\.txt$|\.rss$|\.atom$", re.IGNORECASE)
_LIMITS = SitemapLimits(max_bytes=64 * 1024 * 1024, max_entries=200_000)
"""Larger than the protocol's limits, so that violations can be reported."""


class SurveyedFile(NamedTuple):
    """One sitemap file; `failure` says why it could not be read."""

    url: str
    sitemap: Sitemap
    size: int = 0  # Uncompressed bytes.
    unreadable: tuple[str, ...] = ()  # Dates that cannot be parsed.
    failure: str | None = None


class ListedEntry(NamedTuple):
    """An entry and the file that lists it."""

    entry: SitemapEntry
    source: str


class SurveyedPage(NamedTuple):
    """The result of fetching a page."""

    url: str
    kind: str  # `ok`, `dead`, `moved`, `forbidden`, `failed` or `unavailable` (the site's delay is too long).
    detail: str = ""
    at: datetime | None = None
    document: Document | None = None
    last_modified: str | None = None
    date: str | None = None


@dataclass
class SitemapSurvey:
    """The evidence of a check."""

    site: str
    now: datetime
    files: list[SurveyedFile] = field(default_factory=list)
    entries: list[ListedEntry] = field(default_factory=list)
    forbidden: list[str] = field(default_factory=list)  # Listed pages that robots.txt disallows.
    sampled: list[SurveyedPage] = field(default_factory=list)  # The sampled pages.
    candidates: Counter[str] = field(default_factory=Counter)  # Linked but unlisted pages, with the number of links.
    probed: list[SurveyedPage] = field(default_factory=list)  # The candidates that were fetched.
    known: list[str] = field(default_factory=list)  # Indexable pages that a collection has seen.
    requests: int = 0
    unavailable: RobotsRecord | None = None
    """The robots.txt record of a site that cannot be contacted: unreachable, private or forbidden."""


class SitemapSurveyor:
    """Collect a survey; without a client, from local files only."""

    def __init__(self, client: PoliteClient | None, settings: Settings, *, sample: int) -> None:
        self._client = client
        self._settings = settings
        self._sample = sample

    async def survey_site(self, url: str, *, now: datetime) -> SitemapSurvey:
        """Survey a site, or the sitemap at this URL."""
        assert self._client is not None
        survey = SitemapSurvey(site_of(url), now)
        robots = await self._client.robots_for(survey.site)
        if robots.record.policy in ("forbid", "private"):
            survey.unavailable = robots.record
            return survey
        starts = [url]
        if not _SITEMAP_PATH.search(url.partition("?")[0].partition("//")[2].partition("/")[2]):
            starts = [*sitemap_urls(robots.robots, f"{survey.site}/robots.txt")]
            starts = starts or [survey.site + path for path in WELL_KNOWN]
        walk = SitemapWalk(starts, max_files=self._settings.sitemaps.max_files)
        while (address := walk.next()) is not None:
            file = await self._fetch_file(address)
            walk.add_result(address, file.sitemap)
            _add_file(survey, file)
        await self._visit_pages(survey)
        return survey

    async def survey_file(self, path: Path, *, now: datetime) -> SitemapSurvey:
        """Survey a sitemap file; the files of an index are expected next to it."""
        survey = SitemapSurvey("", now)
        pending, known = [path], {path.name}
        while pending:
            file = _read_local(pending.pop(0))
            _add_file(survey, file)
            if file.sitemap.type is SitemapType.INDEX:
                names = [entry.url.rpartition("/")[2] for entry in file.sitemap.entries]
                new_names = [name for name in dict.fromkeys(names) if name and name not in known]
                known.update(new_names)
                pending += [path.parent / name for name in new_names]
        sites = Counter(_site(listed.entry.url) for listed in survey.entries)
        survey.site = sites.most_common(1)[0][0] if sites else ""
        survey.entries = [one._replace(source=f"{survey.site}/{one.source}") for one in survey.entries]
        if self._client is not None and survey.site:
            await self._visit_pages(survey)
        return survey

    async def _fetch_file(self, url: str) -> SurveyedFile:
        result = await self._fetch_following(url, body_limit=_LIMITS.max_bytes)
        if isinstance(result, Fetched):
            return _parse_file(result.body, url, header(result.headers, "content-type"))
        detail = result.detail if isinstance(result, (Failed, RequestSkipped)) else "too many redirects"
        return SurveyedFile(url, Sitemap(SitemapType.UNKNOWN, error=detail), failure=detail)

    async def _fetch_following(self, url: str, *, body_limit: int) -> FetchResult | RequestSkipped:
        assert self._client is not None
        result = await self._client.fetch(canonical(url) or url, body_limit=body_limit)
        for _ in range(MAX_REDIRECTS):
            if isinstance(result, Moved):
                result = await self._client.fetch(result.target, body_limit=body_limit)
        return result

    # Pages

    async def _visit_pages(self, survey: SitemapSurvey) -> None:
        """Fetch the sampled pages, the front page and some unlisted pages."""
        assert self._client is not None
        robots = await self._client.robots_for(survey.site)
        if robots.record.policy in ("forbid", "private"):
            survey.unavailable = robots.record
            return
        own = [one.entry for one in survey.entries if _site(one.entry.url) == survey.site]
        survey.forbidden = [entry.url for entry in own if not robots.verdict(canonical(entry.url) or "").allowed]
        refused = set(survey.forbidden)
        chosen = choose_sample([entry for entry in own if entry.url not in refused], self._sample)
        for entry in chosen:
            survey.sampled.append(await self.visit_page(entry.url))
            if survey.sampled[-1].kind == "unavailable":
                break
        front = f"{survey.site}/"
        pages = [one for one in survey.sampled if one.document is not None]
        if not any(one.url == front for one in pages):
            pages.append(await self.visit_page(front))
        await self._probe_links(survey, pages)
        survey.requests = self._client.requests

    async def _probe_links(self, survey: SitemapSurvey, pages: Iterable[SurveyedPage]) -> None:
        assert self._client is not None
        listed = {canonical(one.entry.url) for one in survey.entries}
        robots = await self._client.robots_for(survey.site)
        for page in pages:
            for target in internal_links(page, survey.site):
                if target not in listed and robots.verdict(target).allowed:
                    survey.candidates[target] += 1
        for url, _ in survey.candidates.most_common(min(MAX_PROBES, self._sample)):
            survey.probed.append(await self.visit_page(url))

    async def visit_page(self, url: str) -> SurveyedPage:
        """Fetch a page."""
        assert self._client is not None
        name = canonical(url)
        if name is None:
            return SurveyedPage(url, "dead", "not a valid URL")
        return self._page_result(url, name, await self._client.fetch(name))

    def _page_result(self, url: str, name: str, result: FetchResult | RequestSkipped) -> SurveyedPage:
        match result:
            case RequestSkipped():
                return SurveyedPage(url, "forbidden" if result.is_forbidden else "unavailable", result.detail)
            case Moved():
                return SurveyedPage(url, "moved", f"{result.status} to {result.target}")
            case Failed(fault=Fault.NOT_FOUND | Fault.GONE | Fault.HTTP_ERROR):
                return SurveyedPage(url, "dead", f"status {result.status}")
            case Failed():
                return SurveyedPage(url, "failed", result.detail)
            case Fetched():
                return self._parse_page(url, name, result)
            case _:
                return SurveyedPage(url, "failed", "unexpected status 304")

    def _parse_page(self, url: str, name: str, result: Fetched) -> SurveyedPage:
        agent, limits = self._settings.identity.product, self._settings.parse
        document = parse_document(name, result.headers, result.body, agent=agent, limits=limits)
        if sniff_media_type(result.headers, result.body) not in HTML_TYPES:
            document = Document(document.encoding, name, robots=document.robots, text=document.text)
        last_modified, date = (header(result.headers, name) for name in ("last-modified", "date"))
        return SurveyedPage(url, "ok", "", result.exchange.began, document, last_modified, date)


def _site(url: str) -> str:
    name = canonical(url)
    return "" if name is None else site_of(name)


def _add_file(survey: SitemapSurvey, file: SurveyedFile) -> None:
    survey.files.append(file)
    if file.sitemap.type is not SitemapType.INDEX:
        room = MAX_ENTRIES - len(survey.entries)
        survey.entries += [ListedEntry(entry, file.url) for entry in file.sitemap.entries[:room]]


def _read_local(path: Path) -> SurveyedFile:
    try:
        return _parse_file(path.read_bytes(), path.name, None)
    except OSError as error:
        detail = f"{path} cannot be read: {error.strerror or error}"
        return SurveyedFile(path.name, Sitemap(SitemapType.UNKNOWN, error=detail), failure=detail)


def _parse_file(body: bytes, url: str, content_type: str | None) -> SurveyedFile:
    sitemap = read_sitemap(body, url, content_type=content_type, limits=_LIMITS)
    data = unpack_body(body, max_bytes=_LIMITS.max_bytes).data
    unreadable = tuple(
        text
        for name, raw in _DATES.findall(data)
        if (text := raw.decode("utf-8", "replace").strip())
        and (parse_date if name.lower() == b"lastmod" else parse_milliseconds)(text) is None
    )
    return SurveyedFile(url, sitemap, len(data), unreadable)


def choose_sample(entries: list[SitemapEntry], most: int) -> list[SitemapEntry]:
    """Choose pages to fetch: half with the newest dates, the rest pseudo-randomly by URL."""
    unique = list({entry.url: entry for entry in entries}.values())
    dated = sorted(
        (entry for entry in unique if entry.lastmod is not None),
        key=lambda entry: (-(entry.lastmod or datetime.min).timestamp(), entry.url),
    )
    newest = dated[: most // 2]
    taken = {entry.url for entry in newest}
    random_entries = sorted(
        (entry for entry in unique if entry.url not in taken),
        key=lambda entry: xxh64_intdigest(entry.url.encode("utf-8", "surrogatepass")),
    )
    return newest + random_entries[: most - len(newest)]


def internal_links(page: SurveyedPage, site: str) -> list[str]:
    """Return the links of a page to pages of the same site that robots may follow."""
    if page.document is None or page.document.robots.nofollow:
        return []
    targets = (canonical(link.url) for link in page.document.links if not link.nofollow)
    return [
        target
        for target in dict.fromkeys(targets)
        if target is not None and site_of(target) == site and "?" not in target and url_file_type(target) is None
    ]


def require_sitemap_file(path: Path) -> Path:
    """Return the path; raise ConfigError if there is no such file."""
    if not path.is_file():
        raise ConfigError(f"{path} is neither a file nor a URL; write it like https://example.org/")
    return path
