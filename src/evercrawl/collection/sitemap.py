"""A site as a collection has it: every page that was seen and is still there, dated by its versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from evercrawl.adapters.sql.listing_reader import StoredVersion, VersionReader
from evercrawl.collection.exchange.export_run import Selection, selected_versions
from evercrawl.collection.stored_pages import decode_answer, read_stored_record
from evercrawl.core.document.media_type import HTML_TYPES
from evercrawl.core.faults import http_date
from evercrawl.core.url import key_of, site_of
from evercrawl.errors import ConfigError, StoreUnavailable
from evercrawl.model.listing import PageRecord, VersionRecord
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.settings import Settings
from evercrawl.model.time import to_us
from evercrawl.sitemaps.build_state import PageEntry
from evercrawl.sitemaps.folder_pages import exclusion_reason, parse_base_url
from evercrawl.sitemaps.generator import BuildReport, OnPage, SitemapTarget, build_sitemaps
from evercrawl.sitemaps.page_content import read_content

NOISE = "noise"
OK = 200
_GONE = frozenset((Reason.NOT_FOUND, Reason.GONE))


def build_from_collection(
    collection: Path, settings: Settings, target: SitemapTarget, *, on_page: OnPage | None = None
) -> BuildReport:
    """Sitemaps of the pages of a collection that lie below the target's address."""

    def entries(previous: Mapping[str, PageEntry], _: int | None, __: int) -> Iterator[PageEntry]:
        return collection_entries(collection, settings, target.base_url, previous)

    return build_sitemaps(target, entries, source=f"collection {target.base_url}", on_page=on_page)


def collection_base_url(settings: Settings) -> str:
    """The address of the one site that a collection is about; ConfigError where there are several."""
    sites = {site_of(seed) for seed in settings.scope.seeds}
    if len(sites) != 1:
        names = ", ".join(sorted(sites)) or "none"
        raise ConfigError(f"the collection has not one site but {names}; say which with --base-url URL")
    return parse_base_url(sites.pop())


def collection_entries(
    collection: Path, settings: Settings, base_url: str, previous: Mapping[str, PageEntry]
) -> Iterator[PageEntry]:
    """A entry for every HTML page below `base_url` that was fetched."""
    for reader, version in selected_versions(collection, Selection(site=site_of(base_url))):
        kind = (version.content_type or "").partition(";")[0].strip().lower()
        if not version.url.startswith(base_url) or kind not in HTML_TYPES:
            continue
        page = reader.page(key_of(version.url))
        if page is not None:
            yield _entry(reader, collection, settings, version, page, base_url, previous.get(version.url))


def listable_pages(collection: Path, settings: Settings, site: str) -> list[str]:
    """The pages of a site that a collection has seen and that want to be listed."""
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
    """What the last visit says against listing the page; None: nothing."""
    if page.moved_to is not None or page.reason is Reason.REDIRECT:
        return "moved"
    if page.reason in _GONE:
        return "gone"
    if page.outcome is Outcome.REJECTED:
        return "robots.txt" if page.reason is Reason.ROBOTS else str(page.reason)
    if page.duplicate_of is not None:
        return "the same as another page"
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
        body = decode_answer(version, stored.http)
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
    """When the newest content came to be, in microseconds: as Last-Modified says where that is possible, that
    is between the last visit which saw another content and the first which saw this; else that first visit.
    """
    newest = versions[-1]
    for newest in reversed(versions):
        if newest.version.change_class != NOISE:
            break
    said = http_date(newest.version.last_modified) if newest.version.last_modified else None
    if said is not None and (newest.changed_after_us or 0) < to_us(said) <= newest.seen_us:
        return to_us(said)
    return newest.seen_us
