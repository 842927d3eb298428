"""Assets and redirects. `StoredAssets` holds those of one shard's sites; they are requested again only if a page that
needs them has changed and the stored copy is no longer fresh. `CompletePages` reads each new version of a page again
and fetches what it needs to look right; an interrupted page is left to the next run."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any, NamedTuple

from evercrawl.core.digest import content_digest, payload_sha1
from evercrawl.core.document.html import is_manifest, is_style, manifest_assets, page_assets, style_assets
from evercrawl.core.faults import FAULT_RULES, Blame
from evercrawl.core.http.content_coding import BadCoding, DecodeLimits, decode_body
from evercrawl.core.http.message import trusted_last_modified
from evercrawl.core.robots.robots_rules import RobotsRules
from evercrawl.core.scope.scope import Scope
from evercrawl.core.url import key_of
from evercrawl.engine.commits import CommitBuffer
from evercrawl.engine.ports import Archive, ShardStore, Stored
from evercrawl.engine.runtime import BackgroundTasks
from evercrawl.model.fetch import (
    Exchange,
    Failed,
    Fault,
    Fetched,
    FetchResult,
    Headers,
    Moved,
    NotModified,
    Request,
    Truncation,
    header,
)
from evercrawl.model.page import Batch, OriginalRecord, PageToComplete, Refusal, Resource
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.settings import Settings
from evercrawl.model.site import Site
from evercrawl.model.time import from_us, span_us, to_us

FOREVER_US = 2**62
PART_TYPES = ("text/javascript", "application/javascript", "text/css", "font/", "image/", "application/wasm")
"""What a page loads that is the same for other pages."""
MAX_FRESH = timedelta(days=365)  # A longer `max-age` is cut.
LONGEST_REQUEST = timedelta(hours=1)  # More than any request takes.
MAX_CONTENT_TYPE_CHARS = 200
MAX_WAIT = timedelta(seconds=5)  # How long an asset waits for a site that is closed.
_MAX_AGE = re.compile(r"(?:^|[\s,])max-age\s*=\s*\"?(\d{1,10})", re.IGNORECASE | re.ASCII)
_IMMUTABLE = re.compile(r"(?:^|[\s,])immutable\b", re.IGNORECASE)


class StoredAssets:
    """Reads and writes the resources of one shard. What is not committed yet counts as stored."""

    def __init__(self, store: ShardStore, archive: Archive, buffer: CommitBuffer, *, settings: Settings) -> None:
        self._store = store
        self.archive = archive
        self._buffer = buffer
        self._settings = settings
        self._newest: dict[bytes, Resource] = {}
        self._originals: dict[bytes, OriginalRecord] = {}
        """By digest; like the newest ones until they are committed."""

    def forget_committed(self) -> None:
        """Forget what the store knows by now."""
        waiting = {resource.key for resource in self._buffer.batch.resources}
        self._newest = {key: one for key, one in self._newest.items() if key in waiting}
        digests = {one.digest for one in self._newest.values()}
        self._originals = {digest: one for digest, one in self._originals.items() if digest in digests}

    async def newest(self, url: str) -> Resource | None:
        """Return what is stored for a URL."""
        key = key_of(url)
        return self._newest.get(key) or await self._store.resource(key)

    async def answer(self, request: Request, *, now: datetime) -> FetchResult | None:
        """Return the stored answer to a request for an asset; None: it has to be requested.
        Only redirects and styles are read back, since others lead nowhere."""
        known = await self.newest(request.url)
        if known is None or known.fresh_until_us <= to_us(now):
            return None
        exchange = Exchange(b"", b"", b"", None, from_us(known.seen_us), timedelta(0))
        if known.moved_to is not None:
            return Moved(request.url, known.status, known.moved_to, (), exchange)
        headers: Headers = (("Content-Type", known.content_type),) if known.content_type else ()
        if known.status >= 400:
            return Failed(request.url, Fault.NOT_FOUND, "", timedelta(0), known.status, headers)
        if not is_style(headers, known.url):
            return NotModified(request.url, headers, exchange)
        body = await self._body(known)
        return None if body is None else Fetched(request.url, known.status, headers, body, exchange)

    async def stored_part(self, known: Resource, *, at: datetime) -> Fetched | None:
        """Return the stored content of a script, style, font or image; None: it is another kind, or cannot be read."""
        kind = (known.content_type or "").lower()
        if known.status != HTTPStatus.OK or not kind.startswith(PART_TYPES):
            return None
        body = await self._body(known)
        exchange = Exchange(b"", b"", b"", None, at, timedelta(0))
        return None if body is None else Fetched(known.url, known.status, (("Content-Type", kind),), body, exchange)

    def is_fresh_part(self, known: Resource, *, now: datetime) -> bool:
        """Return whether the browser may have the stored copy. A script can hold the content of its page, so only the
        server may say that it is still fresh: `assets.refresh` is for what gives pages their looks."""
        has_content = "script" in (known.content_type or "").lower()
        is_declared = known.fresh_until_us > known.last_us + span_us(self._settings.assets.refresh + LONGEST_REQUEST)
        return known.fresh_until_us > to_us(now) and (is_declared or not has_content)

    async def _body(self, known: Resource) -> bytes | None:
        if known.key in self._newest:
            await self._buffer.commit()
        original = await self._store.resource_original(known.digest)
        record = self.archive.read(original) if original is not None else None
        if record is None:
            return None
        http = self._settings.http
        try:
            return decode_body(*record, limits=DecodeLimits(http.max_decoded_bytes, http.max_compression_ratio))
        except BadCoding:
            return None

    def refuse(self, url: str, robots: RobotsRules | None, *, now: datetime) -> Failed | None:
        """Return why an asset may not be requested, and note it; None: it may."""
        verdict = robots.verdict(url) if robots is not None else None
        if verdict is None or verdict.allowed:
            return None
        self._note_refusal(url, verdict.reason or Reason.ROBOTS, verdict.detail, now=now)
        return Failed(url, Fault.WITHHELD, verdict.detail, timedelta(0))

    def _note_refusal(self, url: str, reason: Reason, detail: str, *, now: datetime) -> None:
        self._buffer.batch.refusals.append(Refusal(key_of(url), url, reason, detail, None, to_us(now), 0))
        self._buffer.touch()

    async def write(
        self, url: str, answer: FetchResult, known: Resource | None, *, now: datetime, name: str | None = None
    ) -> None:
        """Store an answer; its content under another URL if it has a `name`."""
        match answer:
            case Fetched():
                await self._write_content(url, answer, now=now, name=name or url)
            case NotModified() if known is not None:
                original = self._originals.get(known.digest) or await self._store.resource_original(known.digest)
                self.archive.append(url, answer.exchange, revisit=original, not_modified=True)
                fresh_us = self._fresh_until(answer.headers, now=now)
                self._add(known._replace(last_us=to_us(now), fresh_until_us=fresh_us))
            case Moved():
                self.write_redirect(url, answer, self.archive.append(url, answer.exchange), now=now)
            case Failed(exchange=exchange) if exchange is not None:
                stored = self.archive.append(url, exchange)
                if answer.status is not None and FAULT_RULES[answer.fault].blame is Blame.PAGE:
                    row = _resource(url, answer.status, answer.headers, exchange, stored, now=now)
                    self._add(row._replace(fresh_until_us=self._fresh_until(answer.headers, now=now)))
            case Failed(fault=fault, detail=detail) if FAULT_RULES[fault].outcome is Outcome.REJECTED:
                self._note_refusal(url, FAULT_RULES[fault].reason, detail, now=now)

    async def _write_content(self, url: str, answer: Fetched, *, now: datetime, name: str) -> None:
        digest, sha1 = content_digest(answer.body), payload_sha1(answer.exchange.wire_body)
        original = self._originals.get(digest) or await self._store.resource_original(digest)
        revisit = original if original is not None and original.payload_sha1 == sha1 else None
        is_cut = answer.truncated is Truncation.WIRE
        stored = self.archive.append(
            url, answer.exchange, truncated=Truncation.WIRE if is_cut else None, payload_sha1=sha1, revisit=revisit
        )
        row = _resource(name, answer.status, answer.headers, answer.exchange, stored, now=now)._replace(
            digest=digest,
            payload_sha1=sha1,
            body_bytes=len(answer.body),
            fresh_until_us=self._fresh_until(answer.headers, now=now),
            truncated=answer.truncated,
            refers_to=revisit.record_id if revisit is not None else None,
        )
        if revisit is None:
            place = (row.record_id, sha1, row.file, row.offset, row.length)
            self._originals[digest] = OriginalRecord(0, url, row.seen_us, *place)
        self._add(row)

    def write_redirect(self, url: str, answer: Moved, stored: Stored, *, now: datetime) -> None:
        """Store where a URL redirects to."""
        fresh_us = self._fresh_until(answer.headers, now=now)
        self._add(redirect_row(url, answer, stored, now=now)._replace(fresh_until_us=fresh_us))

    def _add(self, row: Resource) -> None:
        self._newest[row.key] = row
        self._buffer.batch.resources.append(row)
        self._buffer.touch()

    def _fresh_until(self, headers: Headers, *, now: datetime) -> int:
        """Return until when a copy need not be requested again (RFC 9111 section 5.2.2.1, RFC 8246)."""
        control = header(headers, "cache-control") or ""
        if _IMMUTABLE.search(control):
            return FOREVER_US
        age = _MAX_AGE.search(control)
        span = min(timedelta(seconds=int(age[1])), MAX_FRESH) if age else timedelta(0)
        return to_us(now) + span_us(max(span, self._settings.assets.refresh))


def redirect_row(url: str, answer: Moved, stored: Stored, *, now: datetime) -> Resource:
    """Return the row of a redirect."""
    row = _resource(url, answer.status, answer.headers, answer.exchange, stored, now=now)
    return row._replace(digest=content_digest(f"{answer.status} {answer.target}".encode()), moved_to=answer.target)


def _resource(
    url: str, status: int, headers: Headers, exchange: Exchange, stored: Stored, *, now: datetime
) -> Resource:
    """Return the row of an answer without content."""
    at_us = to_us(exchange.began)
    content_type = header(headers, "content-type")
    return Resource(
        key=key_of(url),
        digest=content_digest(b"%d" % status),
        url=url,
        seen_us=at_us,
        last_us=at_us,
        fresh_until_us=at_us,
        status=status,
        moved_to=None,
        payload_sha1=payload_sha1(exchange.wire_body),
        content_type=content_type[:MAX_CONTENT_TYPE_CHARS] if content_type else None,
        body_bytes=0,
        etag=header(headers, "etag"),
        last_modified=trusted_last_modified(headers, seen_at=now),
        file=stored.file,
        offset=stored.offset,
        length=stored.length,
        record_id=stored.record_id,
        truncated=None,
        refers_to=None,
    )


def is_closed_for_assets(site: Site, *, now_us: int) -> bool:
    """Return whether a site is closed for so long that no page should wait for its assets."""
    return site.closed_reason is not None and site.open_us > now_us + span_us(MAX_WAIT)


def closed_answer(url: str, site: Site) -> Failed:
    """Return the answer for an asset of a closed site."""
    return Failed(url, Fault.CONNECT, site.closed_reason or "the site is closed", timedelta(0))


def with_validators(request: Request, known: Resource | None) -> Request:
    """Return a conditional request if content of the URL is stored."""
    if known is None or known.moved_to is not None or known.status >= 300:
        return request
    return replace(request, etag=known.etag, last_modified=known.last_modified)


# Pages

MAX_PAGES = 8  # Pages of a shard that are completed at the same time.
PAGES_AT_A_TIME = 500
MAX_REMEMBERED = 50_000  # Assets that this run has dealt with.
MARK_BYTES = 8
MAX_STEPS = 10  # Redirects and imports in a row that lead to an asset.
RETRIED = frozenset((Blame.SILENCE, Blame.ERROR, Blame.THROTTLE))
"""Faults after which the page counts as incomplete, so that the next run tries again."""


def asset_marks(joined: bytes) -> Iterator[bytes]:
    """Yield the marks of a page's assets."""
    return (joined[at : at + MARK_BYTES] for at in range(0, len(joined), MARK_BYTES))


def asset_mark(key: bytes) -> bytes:
    """Return the part of an asset's key by which pages name it."""
    return key[-MARK_BYTES:]


class _Asset(NamedTuple):
    """What is known about an asset: whether it is settled, and what it leads to."""

    is_settled: bool
    leads_to: tuple[str, ...] = ()


class CompletePages:
    """Fetches the assets of one shard's pages; they may be on sites of other shards."""

    def __init__(
        self,
        store: ShardStore,
        archive: Archive,
        buffer: CommitBuffer,
        *,
        fetch: Callable[[Request], Awaitable[FetchResult]],
        scope: Scope,
        settings: Settings,
        tasks: BackgroundTasks,
    ) -> None:
        self.tasks = tasks
        self._store = store
        self._archive = archive
        self._buffer = buffer
        self._fetch = fetch
        self._scope = scope
        self._settings = settings
        self._waiting: deque[PageToComplete] = deque()
        self._new: deque[int] = deque()
        self._last_id: int | None = 0 if settings.assets.enabled else None
        """The last page that was read from the store; None: all were."""
        self._known: dict[str, asyncio.Future[_Asset]] = {}

    @property
    def is_busy(self) -> bool:
        """Whether some page is or may be incomplete."""
        return bool(self.tasks or self._waiting or self._new) or self._last_id is not None

    def add_committed(self, batch: Batch) -> None:
        """Note that there are pages with a new version."""
        if self._settings.assets.enabled:
            self._new += [visit.page_id for visit in batch.visited if visit.version is not None]

    async def start_due(self) -> None:
        """Start to complete the next pages."""
        for _ in range(min(len(self._new), MAX_PAGES)):
            page = await self._store.duplicate_candidate(self._new.popleft())
            if page is not None:
                self._waiting.append(PageToComplete(page.page_id, page.url, page.version))
        if self._last_id is not None and not self._waiting:
            found = await self._store.pages_without_assets(self._last_id, PAGES_AT_A_TIME)
            self._last_id = found[-1].page_id if found else None
            self._waiting.extend(found)
        while self._waiting and len(self.tasks) < MAX_PAGES:
            self.tasks.start(self._complete(self._waiting.popleft()))

    async def _complete(self, page: PageToComplete) -> None:
        urls = await self._read(page)
        most, done, is_complete = self._settings.assets.max_per_page, dict.fromkeys(urls), True
        for _ in range(MAX_STEPS):
            portion = urls[: max(0, most)]
            most -= len(portion)
            assets = await asyncio.gather(*(self._asset(url) for url in portion))
            is_complete = is_complete and all(asset.is_settled for asset in assets)
            new = dict.fromkeys(url for asset in assets for url in asset.leads_to if url not in done)
            done |= new
            urls = tuple(new)
            if not urls:
                break
        marks = b"".join(asset_mark(key_of(url)) for url in done)
        self._buffer.batch.completed[page.page_id] = page.number if is_complete else 0, marks
        self._buffer.touch()

    async def _read(self, page: PageToComplete) -> tuple[str, ...]:
        """Return the assets that the newest version names."""
        place = await self._store.version_original(page.page_id)
        record = self._archive.read(place) if place is not None else None
        if record is None:
            return ()
        http = self._settings.http
        try:
            body = decode_body(*record, limits=DecodeLimits(http.max_decoded_bytes, http.max_compression_ratio))
        except BadCoding:
            return ()
        return page_assets(page.url, record[0], body)

    async def _asset(self, url: str) -> _Asset:
        """Return an asset; it is fetched once in a run, whichever pages need it."""
        known = self._known.get(url)
        if known is None:
            if len(self._known) >= MAX_REMEMBERED:
                self._forget_oldest()
            known = self._known[url] = asyncio.ensure_future(self._fetch_asset(url))
        return await asyncio.shield(known)

    def _forget_oldest(self) -> None:
        for url in [url for url, asset in self._known.items() if asset.done()][: MAX_REMEMBERED // 10]:
            del self._known[url]

    async def _fetch_asset(self, url: str) -> _Asset:
        if self._scope.listed_refusal(url) is not None:
            return _Asset(True)
        return _found(url, await self._fetch(Request(url, body_limit=self._settings.assets.max_bytes, is_asset=True)))

    def all_tasks(self) -> list[asyncio.Future[Any]]:
        """Return everything that is under way."""
        return [*self.tasks, *(asset for asset in self._known.values() if not asset.done())]


def _found(url: str, answer: FetchResult) -> _Asset:
    match answer:
        case Moved(target=target):
            return _Asset(True, (target,))
        case Fetched(headers=headers, body=body) if is_style(headers, url):
            return _Asset(True, style_assets(url, headers, body))
        case Fetched(headers=headers, body=body) if is_manifest(headers, url):
            return _Asset(True, manifest_assets(url, body))
        case Failed(fault=fault):
            return _Asset(fault not in (Fault.INTERNAL, Fault.LOCAL) and FAULT_RULES[fault].blame not in RETRIED)
        case _:
            return _Asset(True)
