"""Look at a site before it is crawled: robots.txt, sitemap, feeds, and what a crawl would take.
A few requests of the guarded client, one at a time and within robots.txt and the crawl delay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from evercrawl.adapters.http.client import HttpFetcher
from evercrawl.adapters.http.dns import PRIVATE_HINT
from evercrawl.adapters.system import SystemClock
from evercrawl.cluster.crawl_builder import pace_for
from evercrawl.collection.stored_pages import call_bounded
from evercrawl.core.document.html import parse_document
from evercrawl.core.render_choice import ScriptUse, evidence_in
from evercrawl.core.sign_in.login_form import find_login_form
from evercrawl.core.url import canonical, site_of
from evercrawl.model import __version__
from evercrawl.model.document import Document
from evercrawl.model.fetch import Failed, Fetched, FetchResult, Moved, NotModified
from evercrawl.model.settings import ParseSettings, Settings
from evercrawl.model.user_agent import user_agent
from evercrawl.sitemaps.survey import PoliteClient, RequestSkipped, SitemapSurveyor

MAX_SITEMAP_FILES = 3
MAX_REDIRECTS = 5
LOGIN_STATUSES = (401, 403)
LOGIN_TEXT_CHARS = 500  # A page with a login form and less text than this is a login page.


@dataclass(frozen=True, slots=True)
class SitePreview:
    """What is known about a site before the first crawl."""

    url: str  # Where the page is now.
    problem: str | None = None  # Why the page cannot be fetched.
    title: str | None = None
    robots: str = ""  # What robots.txt says, in words.
    delay_s: float = 1.0  # Time between two requests.
    sitemap_pages: int | None = None  # Pages in the sitemap or feed; None: there is none that could be read.
    is_more_listed: bool = False  # The sitemap has files that were not read.
    feeds: tuple[str, ...] = ()
    section: str = "/"  # The folder of the page.
    site_pages: int = 1  # Known pages of the site: linked or listed.
    section_pages: int = 1
    needs_scripts: bool = False
    needs_login: bool = False

    @property
    def site_s(self) -> float:
        """Return the estimated time for the whole site."""
        return self.site_pages * self.delay_s


async def preview_site(url: str, settings: Settings, *, on_request: Callable[[str], None]) -> SitePreview:
    """Look at the site of a canonical URL."""
    settings = replace(settings, sitemaps=replace(settings.sitemaps, max_files=MAX_SITEMAP_FILES))
    clock = SystemClock()
    fetcher = HttpFetcher(settings, clock, user_agent(settings.identity, __version__))
    try:
        client = PoliteClient(fetcher, clock, settings, pace=pace_for(settings), on_request=on_request)
        return await _preview(url, settings, client)
    finally:
        await fetcher.close()


async def _preview(url: str, settings: Settings, client: PoliteClient) -> SitePreview:
    page, answer = await _fetch_page(client, url)
    robots = await client.robots_for(site_of(page))
    delay_s = max(pace_for(settings).floor.total_seconds(), robots.crawl_delay or 0.0)
    folder = page.removeprefix(site_of(page)).partition("?")[0].rpartition("/")[0] + "/"
    found = SitePreview(page, robots=robots.record.detail, delay_s=delay_s, section=folder)
    if not isinstance(answer, Fetched):
        problem = _problem_of(answer, is_silent=robots.record.status is None)
        is_denied = isinstance(answer, Failed) and answer.status in LOGIN_STATUSES
        return replace(found, problem=problem, needs_login=is_denied)
    document, needs_scripts, has_login = _read_bounded(page, answer, settings)
    known = {page, *(link.url for link in document.links if not link.nofollow and site_of(link.url) == site_of(page))}
    survey = await SitemapSurveyor(client, settings, sample=0).survey_site(page, now=datetime.now(UTC))
    listed = {one for entry in survey.entries if (one := canonical(entry.entry.url)) is not None}
    known |= listed
    is_login = has_login and len(document.text) < LOGIN_TEXT_CHARS
    return replace(
        found,
        title=document.title,
        sitemap_pages=len(listed) or None,
        is_more_listed=len(survey.files) >= MAX_SITEMAP_FILES,
        feeds=document.feeds,
        site_pages=len(known),
        section_pages=sum(one.startswith(site_of(page) + folder) for one in known),
        needs_scripts=needs_scripts,
        needs_login=is_login,
    )


def _problem_of(answer: FetchResult | RequestSkipped, *, is_silent: bool) -> str:
    """Say why a page cannot be fetched, to somebody who uses the interface."""
    if isinstance(answer, (Fetched, Moved, NotModified)):
        return "too many redirects"
    why, hint, _ = answer.detail.partition(f"; {PRIVATE_HINT}")
    if hint:
        return f"{why}; addresses of your own network can only be allowed on the command line, with --allow-private"
    if isinstance(answer, RequestSkipped) and answer.is_forbidden:
        return f"{'the site does not answer' if is_silent else 'robots.txt does not allow this page'}: {why}"
    return why


def _read_bounded(page: str, answer: Fetched, settings: Settings) -> tuple[Document, bool, bool]:
    """Return the document of a page, whether it needs scripts, and whether it has a login form; of a page that takes
    too long, nothing but its URL."""
    arguments = (page, answer, settings.identity.product, settings.parse)
    found, _ = call_bounded("parsing", _read_page, *arguments, size=len(answer.body), limits=settings.parse)
    return found or (Document("utf-8", page), False, False)


def _read_page(page: str, answer: Fetched, agent: str, limits: ParseSettings) -> tuple[Document, bool, bool]:
    document = parse_document(page, answer.headers, answer.body, agent=agent, limits=limits)
    return document, evidence_in(answer).use is ScriptUse.SHELL, find_login_form(answer) is not None


async def _fetch_page(client: PoliteClient, url: str) -> tuple[str, FetchResult | RequestSkipped]:
    """Fetch a page and follow its redirects; return where it is."""
    answer = await client.fetch(url)
    for _ in range(MAX_REDIRECTS):
        if not isinstance(answer, Moved):
            break
        url = canonical(answer.target) or url
        answer = await client.fetch(url)
    return url, answer
