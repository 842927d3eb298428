"""Stored pages: find a page with its versions, and read the responses back from the archive.
A revisit record has no body; the body is read from the version that stored it first."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from evercrawl.adapters.parse_process import ParseProcesses
from evercrawl.adapters.plugins import InstalledHandlers, installed_schemes
from evercrawl.adapters.sql.commit import CONFIRMING
from evercrawl.adapters.sql.listing_reader import StoredVersion, VersionReader
from evercrawl.adapters.sql.state_reader import StateReader
from evercrawl.adapters.warc.gzip_members import MAX_RECORD_BYTES, decompress_at, decompress_member
from evercrawl.adapters.warc.reader import (
    ArchivedResponse,
    HttpBlock,
    WarcRecord,
    http_parts,
    parse_record,
    read_archive_bytes,
    read_record,
)
from evercrawl.core.change.version_rules import choose_version, is_version_name
from evercrawl.core.document.bounds import truncate_markup
from evercrawl.core.document.encoding import decode_body as decode_text
from evercrawl.core.document.encoding import detect_charset
from evercrawl.core.document.html import decode_style, parse_document
from evercrawl.core.document.media_type import sniff_media_type
from evercrawl.core.http.content_coding import BadCoding, DecodeLimits, decode, decode_body
from evercrawl.core.http.http1 import split_list
from evercrawl.core.url import PAGE_SCHEMES, canonical, key_of, shard_of_site, site_of
from evercrawl.engine.interpret import QUICK_COMPARED_BYTES, QUICK_FIELD_BYTES
from evercrawl.engine.parsing import BUILT_IN_TYPES
from evercrawl.engine.ports import LongCall, ParseTask
from evercrawl.errors import ConfigError, StoreUnavailable
from evercrawl.model.document import USAGE_KEY, Document, UsageTerms, terms_from
from evercrawl.model.fetch import Headers, Truncation
from evercrawl.model.listing import Capture, PageRecord, VersionRecord, VisitRecord
from evercrawl.model.page import OriginalRecord
from evercrawl.model.report import PageContent
from evercrawl.model.settings import ParseSettings, Settings
from evercrawl.model.time import from_us

MAX_VISITS = 10_000


def utc_now() -> datetime:
    """Return the current time."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page, its versions oldest first, and its visits newest first."""

    shard: int
    page: PageRecord
    versions: tuple[VersionRecord, ...]
    visits: tuple[VisitRecord, ...]
    analyses: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)  # Results of analysers, by version.

    def choose(self, which: str | None, *, now: datetime) -> VersionRecord:
        """Return the version that `which` names; None: the newest."""
        if which is None:
            return self.versions[-1]
        marks = [(kept.version.number, from_us(kept.seen_us)) for kept in self.versions]
        return self.versions[choose_version(marks, which, now=now)]


def canonical_page_url(url: str) -> str:
    """Return the canonical form of a URL that this installation can fetch; raise ConfigError if it is invalid."""
    name = canonical(url, (*PAGE_SCHEMES, *(f"{scheme}://" for scheme in installed_schemes())))
    if name is None:
        raise ConfigError(f"{url!r} is not a valid page URL; write it like https://example.org/")
    return name


def load_page(collection: Path, settings: Settings, url: str) -> StoredPage:
    """Return a page with its versions; raise ConfigError if no version is stored."""
    name = canonical_page_url(url)
    found = _look_up(collection, settings, name)
    if found is None or not found.versions:
        raise ConfigError(f"no version of {name} is stored; see why with: evercrawl why {name}")
    return found


def _look_up(collection: Path, settings: Settings, name: str) -> StoredPage | None:
    reader = StateReader(collection)
    shard = shard_of_site(site_of(name), settings.store.shards)
    if shard not in reader.shards():
        return None
    with reader.shard(shard) as state:
        page = state.page(key_of(name))
        if page is None:
            return None
        versions, visits = state.versions(page.id), state.visits(page.id, MAX_VISITS)
        analyses = state.analyses(page.id)
    return StoredPage(shard, page, tuple(versions), tuple(visits), analyses)


def split_version(collection: Path, settings: Settings, text: str) -> tuple[str, str | None]:
    """Split `URL[@VERSION]`; an @ that belongs to the URL of a known page is kept."""
    url, at, which = text.rpartition("@")
    if not at or not url or not is_version_name(which, now=utc_now()):
        return text, None
    if canonical(text) is not None and _look_up(collection, settings, canonical_page_url(text)) is not None:
        return text, None
    return url, which


# Responses


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """The archived response of a version."""

    head: bytes
    headers: Headers
    wire_body: bytes
    body: bytes  # Decoded.


def read_response(collection: Path, settings: Settings, shard: int, kept: VersionRecord) -> StoredResponse:
    """Read the response of a version from the archive."""
    place = kept.version
    folder = collection / "archive"
    record = source = read_record(folder, place.file, place.offset, place.length)
    if record.refers_to is not None:
        with StateReader(collection).shard(shard) as state:
            source = _source(folder, state.original(place.digest), record)
    return _decoded(record, source, settings)


def read_resource(collection: Path, settings: Settings, capture: Capture) -> StoredResponse:
    """Read an asset or a redirect from the archive."""
    folder = collection / "archive"
    record = source = read_record(folder, capture.file, capture.offset, capture.length)
    if record.refers_to is not None:
        with StateReader(collection).shard(shard_of_site(site_of(capture.url), settings.store.shards)) as state:
            source = _source(folder, state.resource_original(capture.digest), record)
    return _decoded(record, source, settings)


def _decoded(record: ArchivedResponse, source: ArchivedResponse, settings: Settings) -> StoredResponse:
    """Return a response with the decoded body of its source, which differs from the record if that is a revisit."""
    limits = DecodeLimits(settings.http.max_decoded_bytes, settings.http.max_compression_ratio)
    body = decode_body(source.headers, source.wire_body, limits=limits)
    return StoredResponse(record.head, record.headers, source.wire_body, body)


def _source(folder: Path, original: OriginalRecord | None, record: ArchivedResponse) -> ArchivedResponse:
    if original is None:
        return record
    return read_record(folder, original.file, original.offset, original.length)


def parse_response(url: str, headers: Headers, body: bytes, settings: Settings) -> Document:
    """Parse the document as a crawl does, with the plugin for its media type if there is one."""
    kind = sniff_media_type(headers, body)
    handler = None if kind in BUILT_IN_TYPES else _handlers().get(kind)
    if handler is not None:
        task = ParseTask(url, headers, body, kind, settings.identity.product, settings.parse)
        return _parse_processes().parse_now(task) or Document("utf-8", url)
    return parse_document(url, headers, body, agent=settings.identity.product, limits=settings.parse)


def seen_until(versions: Sequence[VersionRecord], visits: Sequence[VisitRecord]) -> dict[int, int]:
    """Return the last visit that confirmed each version, in microseconds."""
    until = {kept.version.number: kept.seen_us for kept in versions}
    for visit in visits:
        if visit.outcome in CONFIRMING and visit.version in until:
            until[visit.version] = max(until[visit.version], visit.at_us)
    return until


def page_content(collection: Path, settings: Settings, url: str, at: str | None = None) -> PageContent:
    """Return the version that `at` (or `@...` after the URL) names; default: the newest."""
    if at is None:
        url, at = split_version(collection, settings, url)
    stored = load_page(collection, settings, url)
    kept = stored.choose(at, now=utc_now())
    back = read_response(collection, settings, stored.shard, kept)
    with StateReader(collection).shard(stored.shard) as state:
        text = state.text(stored.page.id, kept.version.number)
    name, analysis = stored.page.url, stored.analyses.get(kept.version.number, {})
    document = parse_response(name, back.headers, back.body, settings)
    return PageContent(
        url=name,
        status=kept.status or 200,
        fetched_at=from_us(kept.seen_us),
        version=kept.version.number,
        title=document.title,
        author=document.author,
        published=document.published,
        modified=document.modified,
        content_type=kept.version.content_type,
        lang=document.lang,
        encoding=document.encoding,
        base_url=document.base_url,
        headers=back.headers,
        text=document.text if text is None else text,
        html=back.body,
        links=document.links,
        raw=back.head + back.wire_body,
        analysis={name: value for name, value in analysis.items() if name != USAGE_KEY},
        usage=terms_from(analysis.get(USAGE_KEY)).summary(),
    )


def version_usage(collection: Path, settings: Settings, url: str, version: int) -> UsageTerms:
    """Return what the publisher said about the use of a version."""
    found = _look_up(collection, settings, canonical_page_url(url))
    return UsageTerms() if found is None else terms_from(found.analyses.get(version, {}).get(USAGE_KEY))


SCREENSHOT_LIMIT = 32 * 1024 * 1024  # Compressed bytes after a rendered document in which its screenshot is expected.


def page_screenshot(collection: Path, settings: Settings, url: str) -> bytes:
    """Return the screenshot of a version (`@...` after the URL; default: the newest), which follows its document in
    the archive; raise ConfigError if it has none."""
    url, at = split_version(collection, settings, url)
    stored = load_page(collection, settings, url)
    return version_screenshot(collection, stored, stored.choose(at, now=utc_now()))


def version_screenshot(collection: Path, stored: StoredPage, kept: VersionRecord) -> bytes:
    """Return the screenshot of a version; raise ConfigError if it has none."""
    place = kept.version
    behind = following_records(collection / "archive", place.file, place.offset + place.length, stored.page.url)
    picture = next((record.block for _, record in behind if record.kind == "resource"), None)
    if picture is None:
        raise ConfigError(
            f"version {place.number} of {stored.page.url} has no screenshot; only rendered pages have one"
        )
    return picture


REQUEST_LIMIT = 256 * 1024  # Compressed bytes after a response in which its request is expected.
_NO_RATIO = 1e9  # No ratio limit: the body was within the limits when it was stored.


class StoredRecord(NamedTuple):
    """An archived response with its body."""

    compressed: bytes  # The record of the version as stored in the archive.
    record: WarcRecord
    http: HttpBlock  # Head of the record; the body comes from the original if the record is a revisit.
    is_revisit: bool


def read_stored_record(archive: Path, reader: VersionReader, version: StoredVersion) -> StoredRecord:
    """Read the response of a version; raise StoreUnavailable if its record is damaged or missing."""
    compressed, record = _record_at(archive, version.file, version.offset, version.length)
    http = _http_of(record, version.file, version.offset)
    if record.kind != "revisit":
        return StoredRecord(compressed, record, http, False)
    original = (reader.original if version.number else reader.resource_original)(version.digest)
    if original is None or original.record_id == version.record_id:
        raise StoreUnavailable(
            f"the archive record in {version.file} at {version.offset} refers to a body that is not stored"
        )
    _, holder = _record_at(archive, original.file, original.offset, original.length)
    body = _http_of(holder, original.file, original.offset).body
    return StoredRecord(compressed, record, http._replace(body=body), True)


def _record_at(archive: Path, file: str, offset: int, length: int) -> tuple[bytes, WarcRecord]:
    packed = read_archive_bytes(archive, file, offset, min(length, MAX_RECORD_BYTES))
    try:
        return packed, parse_record(decompress_member(packed), 0, offset=offset)[0]
    except ValueError as error:
        raise StoreUnavailable(f"the archive record in {file} at {offset} is damaged: {error}") from error


def _http_of(record: WarcRecord, file: str, offset: int) -> HttpBlock:
    try:
        return http_parts(record)
    except ValueError as error:
        raise StoreUnavailable(f"the archive record in {file} at {offset} is damaged: {error}") from error


def following_records(archive: Path, file: str, start: int, url: str) -> Iterator[tuple[bytes, WarcRecord]]:
    """Yield what belongs to a rendered document, compressed and parsed: its screenshot, and the exchange.
    `start`: the end of the document."""
    behind = read_archive_bytes(archive, file, start, SCREENSHOT_LIMIT)
    at = 0
    while at < len(behind):
        try:
            unpacked, end = decompress_at(behind, at)
            record, _ = parse_record(unpacked, 0, offset=0)
        except ValueError:
            return
        target = record.headers.get("warc-target-uri", "").removeprefix("urn:view:").strip("<>")
        if target != url or record.kind not in ("resource", "response", "request"):
            return
        yield behind[at:end], record
        if record.kind == "request":
            return
        at = end


def request_record(archive: Path, version: StoredVersion, response: StoredRecord) -> tuple[bytes, WarcRecord] | None:
    """Return the request of a response, compressed and parsed; it follows the response, if it was stored."""
    try:
        behind = read_archive_bytes(archive, version.file, version.offset + version.length, REQUEST_LIMIT)
        unpacked, end = decompress_at(behind, 0)
        record, _ = parse_record(unpacked, 0, offset=0)
    except (StoreUnavailable, ValueError):
        return None
    own = response.record.headers.get("warc-record-id")
    if record.kind != "request" or record.headers.get("warc-concurrent-to") != own:
        return None
    return behind[:end], record


def decode_stored_body(version: StoredVersion, http: HttpBlock) -> bytes:
    """Return the decoded body, truncated as it was when stored."""
    codings = split_list([value for name, value in http.headers if name.lower() == "content-encoding"])
    room = version.body_bytes if version.truncated else version.body_bytes + 1
    limits = DecodeLimits(max(room, 1), _NO_RATIO)
    complete = version.truncated != Truncation.WIRE
    try:
        body, _ = decode(http.body, codings, limits=limits, complete=complete)
    except BadCoding as error:
        raise StoreUnavailable(f"the body in {version.file} at {version.offset} cannot be decoded: {error}") from error
    return body


@lru_cache(maxsize=1)
def _handlers() -> InstalledHandlers:
    return InstalledHandlers()


@lru_cache(maxsize=1)
def _parse_processes() -> ParseProcesses:
    processes = ParseProcesses()
    atexit.register(processes.close)
    return processes


def call_bounded(
    what: str, function: Callable[..., Any], *arguments: Any, size: int, limits: ParseSettings
) -> tuple[Any, str | None]:
    """Call a function that reads `size` bytes; much in a process with a budget. Return its result, or None and the
    limit."""
    if size <= QUICK_COMPARED_BYTES:
        return function(*arguments), None
    return _parse_processes().call_now(LongCall(what, function, arguments, limits))


def select_bounded(what: str, function: Callable[..., Any], *arguments: Any, chars: int, limits: ParseSettings) -> Any:
    """Return what a function reads in pages of so many characters with selectors; raise StoreUnavailable at a limit."""
    if chars <= QUICK_FIELD_BYTES:
        return function(*arguments)
    found, stopped = _parse_processes().call_now(LongCall(what, function, arguments, limits))
    if stopped is not None:
        raise StoreUnavailable(f"{stopped}; parse.max_cpu_time sets the limit")
    return found


def compare_bounded(
    function: Callable[[str, str], Any], before: str, after: str, *, limits: ParseSettings
) -> tuple[Any, str | None]:
    """Compare two texts; long ones in a process with a budget. Return the result, or None and the limit."""
    return call_bounded("comparing", function, before, after, size=len(before) + len(after), limits=limits)


def decode_css(body: bytes, content_type: str | None) -> str:
    """Return a style sheet as text."""
    return decode_style((("Content-Type", content_type),) if content_type else (), body)


def decode_html(body: bytes, content_type: str | None) -> str:
    """Return the body of a page as text, decoded with its charset, up to where it is too costly to parse."""
    body = truncate_markup(body)
    charset = detect_charset(body, content_type)
    return decode_text(body[charset.bom_bytes :], charset.encoding)
