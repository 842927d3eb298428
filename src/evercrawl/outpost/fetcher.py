"""Fetch for an outpost: politely, one request at a time per site, robots.txt first (B9).
The agent enforces the owner's hosts and rate, robots.txt, the crawl delay and the lease with the crawler's own rules,
whatever the coordinator requests."""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from mimetypes import guess_type
from pathlib import Path
from urllib.parse import unquote

from evercrawl.core.http.content_coding import DecodeLimits
from evercrawl.core.http.http1 import ReadLimits, parse_response_head
from evercrawl.core.http.message import RawResponse, constant_headers, fetch_result, request_bytes
from evercrawl.core.politeness import HostQueue, Pace, request_end
from evercrawl.core.robots.robots_rules import compile_robots, robots_record_of
from evercrawl.core.url import canonical, path_of, site_of, site_parts
from evercrawl.engine.ports import Clock, Fetcher
from evercrawl.model.fetch import Exchange, Failed, Fault, Fetched, FetchResult, Moved, Request
from evercrawl.model.settings import HttpSettings, Settings
from evercrawl.model.site import Site
from evercrawl.model.time import from_us, span_us, to_us
from evercrawl.outpost.agent_state import AgentState
from evercrawl.outpost.answers import (
    ChangeHistory,
    SharedExchange,
    classify_answer,
    encode_answer,
    failure_result,
    join_exchange,
    next_history,
    unfetched_result,
    wire_digest,
)
from evercrawl.outpost.messages import FetchJob, JobResult, ResultKind
from evercrawl.outpost.routing import HeldLease, is_allowed

MAX_CONCURRENT_FETCHES = 4  # Bodies in memory at the same time.
MAX_SITES = 256  # Sites to keep in memory; the others are in the state file.
ComparedAnswer = tuple[JobResult, ChangeHistory | None, SharedExchange | None]
"""The result to send, the page's new history, and the new shared exchange. None means unchanged."""
INDEX = "index.html"


class Declined(Exception):
    """The outpost will not fetch this URL; the crawler may."""


class FetchBlocked(Exception):
    """robots.txt forbids the URL, or the site is backing off."""


class LeaseExpired(Exception):
    """The site may not be contacted until the coordinator renews the lease."""

    def __init__(self, delay_us: int, *, was_sent: bool) -> None:
        """`delay_us` is the site's crawl delay, which has to fit into the lease."""
        super().__init__("the lease expired")
        self.delay_us = delay_us
        self.was_sent = was_sent
        self.delay_after_us = delay_us if was_sent else 0
        """The delay the coordinator has to keep before its own request."""


@dataclass
class _SiteSlot:
    """A site and the lock for requests to it."""

    host: HostQueue
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class OutpostFetcher:
    """Fetch from sites. Invariant: each request has a lease, permission and its crawl delay, one at a time per site."""

    def __init__(
        self,
        transport: Fetcher,
        state: AgentState,
        clock: Clock,
        *,
        settings: Settings,
        pace: Pace,
        allow: tuple[str, ...],
        rate_gap: timedelta,
        after_crash: bool,
    ) -> None:
        """`rate_gap` is the owner's minimum time between any two requests of this outpost."""
        self._transport = transport
        self._state = state
        self._clock = clock
        self._settings = settings
        self._pace = pace
        self._allow = allow
        self._rate_gap_us = span_us(rate_gap)
        self._rate_open_us = 0
        self._crashed_at_us = to_us(clock.now()) if after_crash else None
        self._slots: OrderedDict[str, _SiteSlot] = OrderedDict()
        self._fetch_slots = asyncio.Semaphore(MAX_CONCURRENT_FETCHES)
        self.requests = 0

    async def fetch(self, job: FetchJob, lease: HeldLease, *, on_start: Callable[[], None]) -> FetchResult:
        """Fetch a page; raise Declined, FetchBlocked or LeaseExpired if the request was not made or not completed.
        `on_start` is called when the request itself is sent."""
        if canonical(job.url) != job.url or not is_allowed(site_of(job.url), self._allow):
            raise Declined("the outpost's owner does not allow this host")
        site = site_of(job.url)
        slot = self._slot(site)
        async with slot.lock:
            is_robots = job.url == f"{site}/robots.txt"
            if not is_robots:
                await self._ensure_robots(slot.host, lease)
                self._check_robots(slot.host, job.url)
            request = Request(job.url, job.etag, job.last_modified, job.body_limit, job.conditions)
            result = await self._request(slot.host, request, lease, on_start)
            if is_robots:
                self._update_robots(slot.host, result)
            return result

    def _slot(self, name: str) -> _SiteSlot:
        slot = self._slots.get(name)
        if slot is None:
            slot = self._slots[name] = _SiteSlot(self._open_host(name))
            for old in list(self._slots):
                if len(self._slots) <= MAX_SITES:
                    break
                if not self._slots[old].lock.locked() and old != name:
                    del self._slots[old]
        self._slots.move_to_end(name)
        return slot

    def _open_host(self, name: str) -> HostQueue:
        site = self._state.site(name) or Site(0, name, "")
        if self._crashed_at_us is not None:
            # The last requests before the crash are unknown, so wait one full crawl delay.
            delay_us = max(span_us(self._pace.floor), site.delay_ms * 1000)
            site = site._replace(open_us=max(site.open_us, self._crashed_at_us + delay_us))
        robots = None
        if site.robots is not None:
            robots = compile_robots(site.robots, agent=self._settings.identity.product)
        return HostQueue(site, robots, priorities=1)

    # robots.txt

    async def _ensure_robots(self, host: HostQueue, lease: HeldLease) -> None:
        if host.needs_robots(to_us(self._clock.now())):
            limit = self._settings.robots.max_bytes
            request = Request(f"{host.site.name}/robots.txt", body_limit=limit)
            try:
                self._update_robots(host, await self._request(host, request, lease))
            except Declined:
                return  # a folder without robots.txt: the coordinator's copy applies

    def _update_robots(self, host: HostQueue, result: FetchResult) -> None:
        if isinstance(result, Moved):
            return  # the coordinator follows redirects
        before, now = host.site.robots, self._clock.now()
        record = robots_record_of(before, result, now=now, settings=self._settings.robots)
        host.robots = compile_robots(record, agent=self._settings.identity.product)
        host.site = host.site._replace(robots=record)
        host.apply_crawl_delay(now_us=to_us(now), pace=self._pace)
        self._state.save_site(host.site)

    def _check_robots(self, host: HostQueue, url: str) -> None:
        if host.robots is not None:
            verdict = host.robots.verdict(url)
            if not verdict.allowed:
                raise FetchBlocked(f"robots.txt as read by the outpost: {verdict.detail}")

    # Requests

    async def _request(
        self, host: HostQueue, request: Request, lease: HeldLease, on_start: Callable[[], None] | None = None
    ) -> FetchResult:
        while True:
            await self._wait_until_open(host, lease)
            async with self._fetch_slots:
                if self._opens_us(host) <= to_us(self._clock.now()):
                    if self._seconds_left(host, lease) <= 0:
                        raise LeaseExpired(self.delay_us(host), was_sent=False)
                    if on_start is not None:
                        on_start()
                    return await self._send(host, request, lease)

    async def _send(self, host: HostQueue, request: Request, lease: HeldLease) -> FetchResult:
        self.requests += 1
        self._rate_open_us = to_us(self._clock.now()) + self._rate_gap_us
        try:
            result = await self._fetch_within_lease(host, lease, self._transport.fetch(request))
        except LeaseExpired:
            self._record_result(host, Failed(request.url, Fault.INTERNAL, "the lease expired", timedelta(0)))
            raise
        except asyncio.CancelledError:
            self._record_result(host, Failed(request.url, Fault.INTERNAL, "cancelled", timedelta(0)))
            raise
        self._record_result(host, result)
        return result

    async def _fetch_within_lease(
        self, host: HostQueue, lease: HeldLease, request: Coroutine[None, None, FetchResult]
    ) -> FetchResult:
        """Return the result of a request; cancel it and raise LeaseExpired if the lease runs out."""
        fetching = asyncio.create_task(request)
        try:
            while (seconds := self._seconds_left(host, lease)) > 0:
                await asyncio.wait([fetching], timeout=seconds)
                if fetching.done():
                    return fetching.result()
            raise LeaseExpired(self.delay_us(host), was_sent=True)
        finally:
            fetching.cancel()
            await asyncio.gather(fetching, return_exceptions=True)

    async def _wait_until_open(self, host: HostQueue, lease: HeldLease) -> None:
        while (opens_us := self._opens_us(host)) > (now_us := to_us(self._clock.now())):
            if opens_us > now_us + lease.lease_us:
                raise FetchBlocked(f"the site is backing off: {host.site.closed_reason or 'the rate limit is reached'}")
            await self._clock.sleep_until(from_us(opens_us))

    def _opens_us(self, host: HostQueue) -> int:
        return max(host.site.open_us, self._rate_open_us)

    def _seconds_left(self, host: HostQueue, lease: HeldLease) -> float:
        return lease.remaining_us(to_us(self._clock.now()), self.delay_us(host)) / 1_000_000

    def site_delay_us(self, site: str) -> int:
        """Return a site's crawl delay in microseconds."""
        return self.delay_us(self._slot(site).host)

    def delay_us(self, host: HostQueue) -> int:
        """Return how long to wait after a response of the site."""
        return max(host.site.delay_ms * 1000, span_us(self._pace.floor))

    def _record_result(self, host: HostQueue, result: FetchResult) -> None:
        now = self._clock.now()
        host.record_answer(request_end(result, now=now), now_us=to_us(now), pace=self._pace)
        self._state.save_site(host.site)


def compare_answer(
    job: FetchJob, result: FetchResult, *, state: AgentState, fetcher: OutpostFetcher, now_us: int
) -> ComparedAnswer:
    """Compare an answer with what the coordinator holds and with the page's history."""
    if isinstance(result, Failed) and result.exchange is None:
        return failure_result(job, result), None, None
    exchange = result.exchange
    assert exchange is not None
    base = state.exchange(job.url)
    if not isinstance(result, Fetched):
        return encode_answer(job, result, exchange, kind=ResultKind.FIRST, shared=base), None, None
    if result.truncated is None:
        return _compare_body(job, result, exchange, base, history=state.history(job.url), now_us=now_us)
    if job.body_limit is not None:
        return encode_answer(job, result, exchange, kind=ResultKind.FIRST, shared=base), None, None
    delay_us = fetcher.site_delay_us(site_of(job.url))
    why = "larger than the outpost's limit"
    return unfetched_result(job, ResultKind.DECLINED, why, delay_us=delay_us), None, None


def _compare_body(
    job: FetchJob,
    result: Fetched,
    exchange: Exchange,
    base: SharedExchange | None,
    *,
    history: ChangeHistory,
    now_us: int,
) -> ComparedAnswer:
    digest = wire_digest(exchange.wire_body)
    kind = classify_answer(
        digest, known_digest=job.known_digest, history=history, now_us=now_us, resend_us=job.resend_us
    )
    item = encode_answer(job, result, exchange, kind=kind, shared=base)
    is_sent = kind in (ResultKind.FIRST, ResultKind.CHANGED)
    history = next_history(history, digest, now_us=now_us, sent=is_sent)
    if kind is ResultKind.WITHHELD:
        return item, history, None
    return (
        item,
        history,
        SharedExchange(digest, join_exchange(exchange.request_head, exchange.response_head, exchange.wire_body)),
    )


class FolderFetcher:
    """Serve the files of a folder as a plain web server would (`outpost run --read DIR`), without requests.
    A subfolder named after the host takes precedence. Anything but a file is declined, so the crawler fetches it."""

    def __init__(self, folder: Path, clock: Clock, *, http: HttpSettings, user_agent: str) -> None:
        self._folder = folder.resolve(strict=True)
        self._clock = clock
        self._http = http
        self._constant = constant_headers(user_agent, None, accept_encoding="identity")

    async def fetch(self, request: Request) -> FetchResult:
        """Return the file's content; raise Declined if there is no such file."""
        began = self._clock.now()
        path = self._file_of(request.url)
        try:
            with path.open("rb") as file:
                changed = datetime.fromtimestamp(os.fstat(file.fileno()).st_mtime, UTC).replace(microsecond=0)
                body = file.read(self._http.max_wire_bytes + 1)
        except OSError as error:
            raise Declined(f"cannot read the file: {error.strerror}") from error
        date = format_datetime(changed, usegmt=True)
        is_same = request.last_modified == date
        raw = _response_head(304 if is_same else 200, date, path, len(body), now=began)
        limit = self._http.max_wire_bytes
        took = max(self._clock.now() - began, timedelta(microseconds=1))
        sent = b"" if is_same else body[:limit]
        request_head = request_bytes(request, self._constant)
        exchange = Exchange(request_head, raw, sent, None, began, took)
        head = parse_response_head(raw, ReadLimits(self._http.max_header_bytes, self._http.max_headers, limit))
        limits = DecodeLimits(self._http.max_decoded_bytes, self._http.max_compression_ratio)
        return fetch_result(request, RawResponse(head, exchange, is_cut=len(body) > limit), limits=limits)

    async def close(self) -> None:
        """Do nothing: no file is kept open."""

    def _file_of(self, url: str) -> Path:
        """Return the file of a URL; never one outside the folder, whatever symbolic links and dots it contains."""
        path, _, query = path_of(url).partition("?")
        own = self._folder / site_parts(site_of(url)).host
        base = own if own.is_dir() else self._folder
        name = unquote(path).lstrip("/")
        if query or "\0" in name:
            raise Declined("not a file: the URL has a query")
        try:
            found = (base / name).resolve()
            found = found / INDEX if found.is_dir() else found
            is_inside = found.resolve().is_relative_to(base.resolve())
        except OSError as error:
            raise Declined("not a file") from error
        if not is_inside or not found.is_file() or any(part.startswith(".") for part in Path(name).parts):
            raise Declined("not a file in the site's folder")
        return found


def _response_head(status: int, date: str, path: Path, size: int, *, now: datetime) -> bytes:
    phrase = "OK" if status == 200 else "Not Modified"
    kind = guess_type(path.name)[0] or "application/octet-stream"
    lines = [
        f"HTTP/1.1 {status} {phrase}",
        f"Date: {format_datetime(now.replace(microsecond=0), usegmt=True)}",
        f"Last-Modified: {date}",
    ]
    if status == 200:
        lines += [f"Content-Type: {kind}", f"Content-Length: {size}"]
    return "".join(f"{line}\r\n" for line in [*lines, ""]).encode("latin-1")
