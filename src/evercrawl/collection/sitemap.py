"""Build, check and announce sitemaps, from a collection (its pages, dated by their versions) or a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from evercrawl.adapters.http.client import HttpFetcher
from evercrawl.adapters.http.dialer import JsonPoster
from evercrawl.adapters.sql.listing_reader import StoredVersion, VersionReader
from evercrawl.adapters.system import SystemClock
from evercrawl.cluster.crawl_builder import pace_for
from evercrawl.collection.exchange.export_run import selected_versions
from evercrawl.collection.stored_pages import StoredPage, decode_stored_body, load_page, read_stored_record, seen_until
from evercrawl.collection.urls import parse_page_url
from evercrawl.core.document.media_type import HTML_TYPES
from evercrawl.core.faults import http_date
from evercrawl.core.url import canonical, key_of, site_of
from evercrawl.errors import ConfigError, StoreUnavailable
from evercrawl.model import __version__
from evercrawl.model.listing import PageRecord, VersionRecord, VersionSelection
from evercrawl.model.reason import GONE_REASONS, Outcome, Reason
from evercrawl.model.settings import Settings
from evercrawl.model.time import from_us, to_us
from evercrawl.model.user_agent import user_agent
from evercrawl.sitemaps.checks import WEIGHTS, KnownVersion, SitemapReport, check_sitemap
from evercrawl.sitemaps.folder_pages import (
    PAGE_EXTENSIONS,
    FolderRules,
    PageEntry,
    detect_base_url,
    exclusion_reason,
    parse_base_url,
    read_state,
    state_path,
)
from evercrawl.sitemaps.generator import BuildReport, OnPage, SitemapTarget, build_from_folder, build_sitemaps
from evercrawl.sitemaps.indexnow_client import (
    ENDPOINT,
    IndexNowSubmission,
    create_key,
    read_key,
    submit_urls,
    validate_key,
)
from evercrawl.sitemaps.middleware import STANDARD, create_server
from evercrawl.sitemaps.page_content import read_content
from evercrawl.sitemaps.survey import PoliteClient, SitemapSurvey, SitemapSurveyor, require_sitemap_file

__all__ = [
    "PAGE_EXTENSIONS", "STANDARD", "WEIGHTS", "BuildReport", "FolderRules", "IndexNowSubmission", "OnPage",
    "SitemapReport", "SitemapSurvey", "SitemapTarget", "announce_urls", "build_from_collection", "build_from_folder",
    "check_sitemap", "check_with_collection", "collection_base_url", "create_key", "create_server", "detect_base_url",
    "parse_base_url", "read_key", "read_state", "state_path", "survey_sitemap", "validate_key",
]  # fmt: skip

WEB_SCHEMES = ("http://", "https://")
MAX_SITEMAP_BYTES = 64 * 1024 * 1024
NOISE = "noise"
OK = 200


def build_from_collection(
    collection: Path, settings: Settings, target: SitemapTarget, *, on_page: OnPage | None = None
) -> BuildReport:
    """Build the sitemaps of a collection's pages below the target's URL."""

    def entries(previous: Mapping[str, PageEntry], _: int | None, __: int) -> Iterator[PageEntry]:
        return collection_entries(collection, settings, target.base_url, previous)

    return build_sitemaps(target, entries, source=f"collection {target.base_url}", on_page=on_page)


def collection_base_url(settings: Settings) -> str:
    """Return the URL of the collection's only site; raise ConfigError if it has several or none."""
    sites = {site_of(seed) for seed in settings.scope.seeds}
    if len(sites) != 1:
        names = ", ".join(sorted(sites)) or "none"
        raise ConfigError(f"the collection does not have exactly one site ({names}); choose one with --base-url URL")
    return parse_base_url(sites.pop())


def collection_entries(
    collection: Path, settings: Settings, base_url: str, previous: Mapping[str, PageEntry]
) -> Iterator[PageEntry]:
    """Return an entry for every fetched HTML page below `base_url`."""
    for reader, version in selected_versions(collection, VersionSelection(site=site_of(base_url))):
        kind = (version.content_type or "").partition(";")[0].strip().lower()
        if not version.url.startswith(base_url) or kind not in HTML_TYPES:
            continue
        page = reader.page(key_of(version.url))
        if page is not None:
            yield _entry(reader, collection, settings, version, page, base_url, previous.get(version.url))


def listable_pages(collection: Path, settings: Settings, site: str) -> list[str]:
    """Return the indexable pages of a site that a collection has seen."""
    if not site:
        return []
    entries = collection_entries(collection, settings, parse_base_url(site), {})
    return [entry.url for entry in entries if entry.excluded is None]


def _entry(
    reader: VersionReader,
    collection: Path,
    settings: Settings,
    version: StoredVersion,
    page: PageRecord,
    base_url: str,
    before: PageEntry | None,
) -> PageEntry:
    fingerprint = f"{version.number} {version.digest.hex()}"
    if before is None or before.fingerprint != fingerprint:
        before = _read(reader, collection, settings, version, base_url, before)._replace(fingerprint=fingerprint)
    gone = _unlisted_reason(page, version)
    return before if gone is None else before._replace(excluded=gone)


def _unlisted_reason(page: PageRecord, version: StoredVersion) -> str | None:
    """Return why the last visit excludes the page, or None."""
    if page.moved_to is not None or page.reason is Reason.REDIRECT:
        return "moved"
    if page.reason in GONE_REASONS:
        return "gone"
    if page.outcome is Outcome.REJECTED:
        return "robots.txt" if page.reason is Reason.ROBOTS else str(page.reason)
    if page.duplicate_of is not None:
        return "duplicate"
    return None if version.status in (None, OK) else f"status {version.status}"


def _read(
    reader: VersionReader,
    collection: Path,
    settings: Settings,
    version: StoredVersion,
    base_url: str,
    before: PageEntry | None,
) -> PageEntry:
    url = version.url
    try:
        stored = read_stored_record(collection / "archive", reader, version)
        body = decode_stored_body(version, stored.http)
    except StoreUnavailable:
        return PageEntry(url, "", version.digest.hex(), version.seen_us // 1000, version.title or "", url, "damaged")
    agent = settings.identity.product
    content = read_content(url, stored.http.headers, body, agent=agent, site=base_url)
    digest = content.digest.hex()
    if before is not None and before.digest == digest:
        changed_ms = before.changed_ms
    else:
        changed_ms = version_time_us(reader.versions(version.page_id)) // 1000
    excluded = exclusion_reason(url, content, site=site_of(url))
    return PageEntry(url, "", digest, changed_ms, content.title, url, excluded)


def version_time_us(versions: list[VersionRecord]) -> int:
    """Return when the newest content was created, in microseconds.
    That is Last-Modified if it lies between the last visit with other content and the first visit with this content;
    otherwise the time of that first visit."""
    newest = versions[-1]
    for newest in reversed(versions):
        if newest.version.change_class != NOISE:
            break
    last_modified = http_date(newest.version.last_modified) if newest.version.last_modified else None
    if last_modified is not None and (newest.changed_after_us or 0) < to_us(last_modified) <= newest.seen_us:
        return to_us(last_modified)
    return newest.seen_us


def check_with_collection(survey: SitemapSurvey, collection: Path, settings: Settings) -> SitemapReport:
    """Check a sitemap with the pages and versions that a collection has stored."""
    survey.known = listable_pages(collection, settings, survey.site)

    def history(url: str) -> list[KnownVersion]:
        try:
            return known_versions(load_page(collection, settings, url))
        except ConfigError:
            return []

    return check_sitemap(survey, history)


def known_versions(stored: StoredPage) -> list[KnownVersion]:
    """Return the versions of a stored page, oldest first."""
    until = seen_until(stored.versions, stored.visits)
    return [
        KnownVersion(
            None if kept.changed_after_us is None else from_us(kept.changed_after_us),
            from_us(kept.seen_us),
            from_us(until[kept.version.number]),
            kept.version.text_digest,
        )
        for kept in stored.versions
    ]


async def survey_sitemap(
    subject: str, settings: Settings, *, sample: int, offline: bool, on_request: Callable[[str], None]
) -> SitemapSurvey:
    """Survey a site, a sitemap URL or a sitemap file; `offline`: a file without requests."""
    now = datetime.now(UTC)
    is_file = not subject.lower().startswith(WEB_SCHEMES) and Path(subject).exists()
    if offline:
        return await SitemapSurveyor(None, settings, sample=0).survey_file(require_sitemap_file(Path(subject)), now=now)
    # Read beyond the protocol's limit of 50 MiB, to report files that are too large.
    http = replace(settings.http, max_wire_bytes=MAX_SITEMAP_BYTES, max_decoded_bytes=MAX_SITEMAP_BYTES)
    settings = replace(settings, http=http)
    clock = SystemClock()
    fetcher = HttpFetcher(settings, clock, user_agent(settings.identity, __version__))
    try:
        client = PoliteClient(fetcher, clock, settings, pace=pace_for(settings), on_request=on_request)
        surveyor = SitemapSurveyor(client, settings, sample=sample)
        if is_file:
            return await surveyor.survey_file(require_sitemap_file(Path(subject)), now=now)
        return await surveyor.survey_site(parse_page_url(subject), now=now)
    finally:
        await fetcher.close()


async def announce_urls(
    urls: Sequence[str], settings: Settings, *, key: str, key_location: str | None, endpoint: str | None
) -> list[IndexNowSubmission]:
    """Submit URLs by IndexNow to an endpoint, by default the common one."""
    address = canonical(endpoint or ENDPOINT)
    if address is None:
        raise ConfigError(f"--endpoint {endpoint!r} is not a URL")
    poster = JsonPoster(settings, user_agent(settings.identity, __version__))
    try:
        return await submit_urls(poster, urls, key=key, key_location=key_location, endpoint=address)
    finally:
        await poster.close()
