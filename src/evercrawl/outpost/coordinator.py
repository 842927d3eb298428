"""The coordinator: a Fetcher that sends requests through outposts where they exist, and makes the others itself.
Only the holder of a site's lease fetches from it. A result is on disk before the agent gets an acknowledgement, a
repeated batch is stored once, and unauthenticated messages have no effect."""

from __future__ import annotations

import asyncio
import logging
import secrets
import socket
import ssl
from collections.abc import Coroutine
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path

from evercrawl.core.url import canonical, site_of
from evercrawl.engine.ports import Clock, Fetcher
from evercrawl.errors import ConfigError
from evercrawl.model.connection_limits import OpenConnections, address_block
from evercrawl.model.fetch import Failed, Fault, FetchResult, Request
from evercrawl.model.sanitize import safe_line
from evercrawl.model.settings import Settings
from evercrawl.model.time import from_us, span_us, to_us
from evercrawl.outpost.answers import decode_exchange, decode_result
from evercrawl.outpost.channel import (
    CHANNEL_ERRORS,
    HANDSHAKE_TIMEOUT_S,
    ByteReader,
    ByteWriter,
    NotAuthentic,
    SecureChannel,
    authenticate_outpost,
    enable_keep_alive,
)
from evercrawl.outpost.coordinator_state import CoordinatorState, OutpostEventLog
from evercrawl.outpost.messages import (
    MAX_VALIDATOR_CHARS,
    Acknowledgement,
    AgentReady,
    FetchJob,
    Goodbye,
    Heartbeat,
    JobBatch,
    JobResult,
    LeaseRenewal,
    ResultBatch,
    Welcome,
    decode_message,
)
from evercrawl.outpost.pairing import FOLDER, coordinator_certificate, server_tls
from evercrawl.outpost.remote_outpost import (
    BatchDecoder,
    FetchDirectly,
    PendingFetch,
    RemoteOutpost,
    SentRequest,
    max_exchange_bytes,
)
from evercrawl.outpost.routing import GrantedLease, SiteRouter, handover_us

log = logging.getLogger("evercrawl")

RESULT_TIMEOUT_S = 900.0  # How long to wait for a result from a live outpost.
RESULT_LIFETIME = timedelta(minutes=15)  # How long to use a result left by a crash before its page is fetched again.
COMMIT_GRACE = timedelta(minutes=1)
MAX_CONNECTIONS = 256
MAX_STRANGERS_PER_ADDRESS = 64  # Connections of one address block that have not authenticated.
MAX_UNCLAIMED = 4096  # Results of earlier runs to keep until their pages are visited.
MAX_REASON_CHARS = 200
STRANGER_LOG_INTERVAL = timedelta(seconds=10)
FINAL_READ_S = 0.05  # How long to read remaining messages before a connected outpost counts as lost.
BATCH_DELAY_S = 0.01  # How long to collect jobs before they are sent together.


def _sendable(validator: str | None) -> str | None:
    is_sendable = validator is not None and len(validator) <= MAX_VALIDATOR_CHARS and validator.isprintable()
    return validator if is_sendable else None


class Coordinator:
    """Implements `Fetcher`. Invariant: while an outpost has a lease, only the outpost fetches from its sites."""

    def __init__(self, collection: Path, settings: Settings, clock: Clock, *, direct: Fetcher) -> None:
        self.run = secrets.token_hex(6)
        self.state = CoordinatorState(collection)
        self._direct = direct
        self._settings = settings
        self._clock = clock
        self._event_log = OutpostEventLog(collection / FOLDER)
        self._numbers = count(1)
        self._remotes: dict[str, RemoteOutpost] = {}
        self._router = SiteRouter({})
        self._lease_us = span_us(settings.outposts.lease_timeout)
        self._max_delay_us = span_us(max(settings.pace.max_delay, settings.robots.max_crawl_delay))
        self._handover_us = handover_us(self._lease_us, self._max_delay_us)
        self._tasks: set[asyncio.Task[None]] = set()
        self._connections: OpenConnections[ByteWriter] = OpenConnections(
            limit=MAX_CONNECTIONS, limit_per_address=MAX_STRANGERS_PER_ADDRESS
        )
        self._next_stranger_us = 0
        self._server: asyncio.Server | None = None
        now_us = self._now_us()
        oldest_us = now_us - span_us(RESULT_LIFETIME)
        self.state.delete_results_before(before_us=oldest_us)
        self._unclaimed = self.state.result_urls()
        self._handed_over: dict[str, int] = {}
        self._began_us = now_us
        self._load_outposts()

    def _now_us(self) -> int:
        return to_us(self._clock.now())

    def _load_outposts(self) -> None:
        """Read the paired outposts and the unused codes, including those added since the start."""
        now_us = self._now_us()
        rows = [*self.state.outposts(), *self.state.unused_codes(now_us=now_us)]
        for row in rows:
            if row.id not in self._remotes:
                # A clock that was set back must not extend a lease.
                grace_us = self._began_us + span_us(self._settings.outposts.start_timeout)
                until_us = max(min(row.until_us, now_us + self._lease_us), grace_us)
                self._remotes[row.id] = RemoteOutpost(row, GrantedLease(self._lease_us, until_us), row.acknowledged)
        for outpost_id in set(self._remotes) - {row.id for row in rows}:
            self._remove(self._remotes.pop(outpost_id))
        self._router = SiteRouter({row.id: row.routes for row in rows})

    def _remove(self, remote: RemoteOutpost) -> None:
        """Drop an unpaired outpost; its pending fetches are made directly."""
        self._release_pending(remote)
        if remote.channel is not None:
            remote.channel.close()
            remote.detach(remote.channel)

    # Fetching

    async def fetch(self, request: Request) -> FetchResult:
        """Return the result of a request, through an outpost or directly."""
        stored = self._stored_result(request)
        if stored is not None:
            return stored
        outpost = self._router.outpost_of(site_of(request.url))
        if outpost is None:
            return await self._direct.fetch(request)
        return await self._fetch_remotely(self._remotes[outpost], request)

    async def _fetch_remotely(self, remote: RemoteOutpost, request: Request) -> FetchResult:
        pending = PendingFetch(next(self._numbers), request, asyncio.get_running_loop().create_future())
        if remote.channel is not None and remote.lease.until_us < self._now_us() + self._lease_us // 2:
            self._renew(remote)  # an idle outpost sends no heartbeats
        remote.add(pending)
        try:
            result = await self._wait_for_result(pending, remote)
        finally:
            remote.remove(pending)
            pending.future.cancel()
        if not isinstance(result, FetchDirectly):
            return result
        await asyncio.sleep(min(result.delay_us, self._max_delay_us) / 1_000_000)
        return await self._direct.fetch(request)

    async def _wait_for_result(self, pending: PendingFetch, remote: RemoteOutpost) -> FetchResult | FetchDirectly:
        """Return the outpost's result, or FetchDirectly once its lease is over."""
        deadline_us = self._now_us() + int(RESULT_TIMEOUT_S * 1_000_000)
        final_read_us = 0
        while not pending.future.done():
            now_us, free_us = self._now_us(), remote.lease.free_at_us(self._handover_us)
            if now_us >= deadline_us:
                detail = "the outpost did not answer in time"
                return Failed(pending.request.url, Fault.INCOMPLETE, detail, timedelta(seconds=RESULT_TIMEOUT_S))
            if now_us < free_us:
                wait_us = min(free_us, deadline_us) - now_us
                await asyncio.wait([pending.future], timeout=max(wait_us, 1000) / 1_000_000)
            elif remote.channel is not None and final_read_us != free_us:
                final_read_us = free_us
                await asyncio.sleep(FINAL_READ_S)
            else:
                self._lease_expired(remote)
                return FetchDirectly()
        return pending.future.result()

    def _lease_expired(self, remote: RemoteOutpost) -> None:
        """Close the connection of an outpost whose lease is over."""
        if remote.channel is not None:
            self._log_event("lost", remote, reason="its lease expired")
            remote.channel.close()
            remote.detach(remote.channel)

    def _stored_result(self, request: Request) -> FetchResult | None:
        """Return a result that was delivered for an interrupted visit, instead of fetching again."""
        if request.url not in self._unclaimed:
            return None
        self._unclaimed.discard(request.url)
        oldest_us = self._now_us() - span_us(RESULT_LIFETIME)
        row = self.state.take_result(request.url, not_before_us=oldest_us)
        if row is None:
            return None
        message = decode_message(row.item)
        assert isinstance(message, ResultBatch)
        (item,) = message.items
        exchange = None
        if item.blob:
            limit = max_exchange_bytes(self._settings.http)
            exchange, _ = decode_exchange(item, None, began=from_us(row.began_us), max_bytes=limit)
        return decode_result(item, request, exchange, http=self._settings.http)

    async def close(self) -> None:
        """Close all connections. By now the engine has committed all results."""
        if self._server is not None:
            self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.state.delete_results(set(self._handed_over) - self._unclaimed)
        self.state.close()
        await self._direct.close()

    # Connections

    def listen(self, address: str, collection: Path) -> None:
        """Bind the address now (raise ConfigError if that fails) and serve once the loop runs."""
        path, _ = coordinator_certificate(collection)
        host, _, port = address.rpartition(":")
        try:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            bound = socket.create_server((host.strip("[]"), int(port)), family=family)
        except (OSError, ValueError) as error:
            raise ConfigError(f"outposts.listen {address!r} cannot be used: {error}; write HOST:PORT") from error
        self._start(self._listen(bound, server_tls(path)))

    async def _listen(self, bound: socket.socket, tls: ssl.SSLContext) -> None:
        self._server = await asyncio.start_server(
            self._accept, sock=bound, ssl=tls, ssl_handshake_timeout=HANDSHAKE_TIMEOUT_S
        )
        self._event_log.emit("listening", at=self._clock.now(), address=bound.getsockname()[:2])

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = writer.get_extra_info("peername")
        for closed in self._connections.add(writer, address_block(peer[0] if peer else "-"), deadline=0):
            closed.close()  # Strangers make room for each other; outposts stay.
        enable_keep_alive(writer.get_extra_info("socket"))
        self._start(self.serve(reader, writer))

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("bug while serving an outpost", exc_info=error)

    async def serve(self, reader: ByteReader, writer: ByteWriter) -> None:
        """Serve one connection. Errors of the peer end only this connection."""
        channel, remote = SecureChannel(reader, writer), None
        try:
            remote = await self._accept_outpost(channel)
            self._connections.prove(writer, is_known=True)
            async with asyncio.TaskGroup() as group:
                sending = group.create_task(self._send_jobs(remote, channel))
                await self._handle_messages(remote, channel)
                sending.cancel()
        except* CHANNEL_ERRORS as errors:
            self._log_end(remote, errors)
        finally:
            channel.close()
            self._connections.remove(writer)
            if remote is not None:
                self.state.count(remote.row.id, remote.new_traffic() if remote.channel is channel else {})
                remote.detach(channel)

    def _log_end(self, remote: RemoteOutpost | None, errors: BaseExceptionGroup[BaseException]) -> None:
        error: BaseException = errors
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        refused = isinstance(error, (NotAuthentic, ValueError))
        name = remote.row.name if remote is not None else None
        kind = "refused" if refused else "disconnected"
        if remote is not None or (refused and self._may_log_stranger()):
            reason = safe_line(f"{type(error).__name__}: {error}", longest=MAX_REASON_CHARS)
            self._event_log.emit(kind, at=self._clock.now(), outpost=name, reason=reason)

    def _may_log_stranger(self) -> bool:
        """Return whether to log a peer that did not authenticate; most of them are not, or they could fill the log."""
        now_us = self._now_us()
        if now_us < self._next_stranger_us:
            return False
        self._next_stranger_us = now_us + span_us(STRANGER_LOG_INTERVAL)
        return True

    async def _accept_outpost(self, channel: SecureChannel) -> RemoteOutpost:
        row = await authenticate_outpost(channel, self.state, now_us=self._now_us())
        self._load_outposts()
        remote = self._remotes[row.id]
        if remote.lease.free_at_us(self._handover_us) <= self._now_us():
            self._log_event("lease_resumed", remote)
        remote.attach(channel)
        # A result that was left behind was fetched in the last lease before this connection.
        remote.earliest_us = max(row.paired_us, row.until_us - self._lease_us) - span_us(RESULT_LIFETIME)
        self._renew(remote)
        await channel.send(Welcome(self.run, remote.row.name, remote.acknowledged, self._lease_us))
        self._log_event("connected", remote)
        return remote

    def _renew(self, remote: RemoteOutpost) -> None:
        now_us = self._now_us()
        remote.lease.renew(now_us)
        self.state.save_lease(remote.row.id, seen_us=now_us, until_us=remote.lease.until_us)

    async def _send_jobs(self, remote: RemoteOutpost, channel: SecureChannel) -> None:
        """Send jobs while the outpost has capacity."""
        while True:
            await remote.has_work.wait()
            await asyncio.sleep(BATCH_DELAY_S)
            remote.has_work.clear()
            if remote.channel is not channel:
                return
            fetches = remote.next_fetches(self._now_us())
            if fetches:
                await channel.send(JobBatch(tuple(self._job(pending) for pending in fetches)))

    def _job(self, pending: PendingFetch) -> FetchJob:
        url, resend = pending.request.url, self._settings.outposts.resend_interval
        etag, last_modified = map(_sendable, (pending.request.etag, pending.request.last_modified))
        wanted = (url, etag, last_modified, pending.request.body_limit)
        resend_us = None if resend is None else span_us(resend)
        conditions = pending.request.conditions
        return FetchJob(pending.number, *wanted, *self.state.exchange_digests(url), resend_us, conditions)

    async def _handle_messages(self, remote: RemoteOutpost, channel: SecureChannel) -> None:
        while True:
            message = await channel.receive()
            if remote.channel is not channel:
                return
            if not self.state.is_paired(remote.row.id):
                self._load_outposts()
                raise NotAuthentic("the outpost was unpaired")
            match message:
                case Heartbeat(number):
                    self._renew(remote)
                    self.state.count(remote.row.id, remote.new_traffic())
                    await channel.send(LeaseRenewal(number, self._lease_us))
                case ResultBatch():
                    self._store_batch(remote, message)
                    await channel.send(Acknowledgement(message.batch))
                case AgentReady(running, capacity):
                    remote.mark_ready(running, capacity)
                case Goodbye():
                    remote.lease.until_us = min(remote.lease.until_us, self._now_us() - self._handover_us)
                    self.state.save_lease(remote.row.id, seen_us=self._now_us(), until_us=remote.lease.until_us)
                    self._release_pending(remote)
                    return
                case _:
                    raise ValueError(f"unexpected message from an outpost: {type(message).__name__}")

    def _release_pending(self, remote: RemoteOutpost) -> None:
        """Let the crawler make the fetches of an outpost that has left."""
        for pending in [*remote.queue, *remote.assigned.values()]:
            if not pending.future.done():
                pending.future.set_result(FetchDirectly())

    # Results

    def _store_batch(self, remote: RemoteOutpost, message: ResultBatch) -> None:
        """Store a new batch, then hand its results to the waiting fetches."""
        if message.batch <= remote.acknowledged:
            return
        now = self._clock.now()
        request_of = partial(self._request_of, remote)
        decoder = BatchDecoder(now, self._settings.http, request_of=request_of, exchange_of=self.state.exchange)
        for item in message.items:
            decoder.add(item)
        counts = dict(decoder.counts)
        for name, value in remote.new_traffic().items():
            counts[name] = counts.get(name, 0) + value
        self.state.store_batch(
            remote.row.id,
            message.batch,
            results=decoder.stored,
            exchanges=decoder.exchanges,
            counts=counts,
            now_us=to_us(now),
        )
        remote.acknowledged = message.batch
        self._resolve(remote, decoder)
        self._delete_committed(to_us(now - COMMIT_GRACE))
        self.state.evict_exchanges(self._settings.outposts.cache_bytes)
        self._log_event("batch_stored", remote, batch=message.batch, **counts)

    def _request_of(self, remote: RemoteOutpost, item: JobResult) -> SentRequest | None:
        is_of_run = item.run is None or item.run == self.run
        known = remote.sent_requests.pop(item.number, None) if is_of_run else None
        if known is not None:
            return known
        url, now_us = item.url, self._now_us()
        if url is None or canonical(url) != url or self._router.outpost_of(site_of(url)) != remote.row.id:
            return None
        if now_us - item.age_us < remote.earliest_us or len(self._unclaimed) >= MAX_UNCLAIMED:
            return None
        return SentRequest(Request(url), remote.earliest_us)

    def _resolve(self, remote: RemoteOutpost, decoder: BatchDecoder) -> None:
        for number, url, result in decoder.results:
            pending = remote.assigned.pop(number, None) if number is not None else None
            if pending is not None and not pending.future.done():
                pending.future.set_result(result)
                if not isinstance(result, FetchDirectly):
                    self._handed_over[url] = self._now_us()
            elif not isinstance(result, FetchDirectly):
                self._unclaimed.add(url)
        remote.has_work.set()

    def _delete_committed(self, before_us: int) -> None:
        """Delete results that the engine has committed by now."""
        old = [url for url, at_us in self._handed_over.items() if at_us < before_us and url not in self._unclaimed]
        self.state.delete_results(old)
        for url in old:
            del self._handed_over[url]

    def _log_event(self, kind: str, remote: RemoteOutpost, **fields: object) -> None:
        self._event_log.emit(kind, at=self._clock.now(), outpost=remote.row.name, **fields)
