"""Home: a Fetcher that asks sites through the outpost that stands there, and itself where there is none.

Whoever holds the lease of a site asks it. A result is on disk before the outpost hears that it was taken; a
batch that comes twice is taken once; what no key of ours has sealed has no effect.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import socket
import ssl
from collections.abc import Coroutine
from datetime import timedelta
from itertools import count
from pathlib import Path

from evercrawl.core.url import canonical, site_of
from evercrawl.engine.ports import Clock, Fetcher
from evercrawl.errors import ConfigError
from evercrawl.model.fetch import Failed, Fault, FetchResult, Request
from evercrawl.model.settings import Settings
from evercrawl.model.time import from_us, span_us, to_us
from evercrawl.outpost.answers import decode_exchange, decode_result
from evercrawl.outpost.channel import (
    CHANNEL_ERRORS,
    ByteReader,
    ByteWriter,
    NotAuthentic,
    SecureChannel,
    authenticate_outpost,
    enable_keep_alive,
)
from evercrawl.outpost.coordinator_state import CoordinatorState, OutpostEventLog
from evercrawl.outpost.messages import (
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
    max_exchange_bytes,
)
from evercrawl.outpost.routing import GrantedLease, SiteRouter, handover_us

log = logging.getLogger("evercrawl")

ANSWER_LIMIT_S = 900.0
"""An outpost that lives and does not answer for so long is given up for this page."""
INTAKE_LIFETIME = timedelta(minutes=15)
"""A result that a crash of home left behind is used for so long; then its page is asked for anew."""
COMMITTED_AFTER = timedelta(minutes=1)
MOST_CONNECTIONS = 256
HEAR_OUT_S = 0.05
"""Before a connected outpost counts as lost, home reads for so long what it may have said in time."""
GATHER_S = 0.01
"""Jobs are gathered for so long before they go out together."""


class Coordinator:
    """Implements `Fetcher`.

    Invariant: a request goes to its site through the outpost while that has a lease, and directly only when
    the lease and the gap behind it are over.
    """

    def __init__(self, collection: Path, settings: Settings, clock: Clock, *, direct: Fetcher) -> None:
        self.run = secrets.token_hex(6)
        self.book = CoordinatorState(collection)
        self._direct = direct
        self._settings = settings
        self._clock = clock
        self._events = OutpostEventLog(collection / FOLDER)
        self._numbers = count(1)
        self._posts: dict[str, RemoteOutpost] = {}
        self._director = SiteRouter({})
        self._lease_us = span_us(settings.outposts.lease)
        self._longest_rest_us = span_us(max(settings.pace.longest, settings.robots.crawl_delay_cap))
        self._handover_us = handover_us(self._lease_us, self._longest_rest_us)
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        now_us = self._now_us()
        oldest_us = now_us - span_us(INTAKE_LIFETIME)
        self.book.forget_intake(before_us=oldest_us)
        self._orphans = self.book.intake_urls()
        self._handed: dict[str, int] = {}
        self._began_us = now_us
        self._learn_outposts()

    def _now_us(self) -> int:
        return to_us(self._clock.now())

    def _learn_outposts(self) -> None:
        """Read who is paired, also since the start, and who is expected to be."""
        now_us = self._now_us()
        rows = [*self.book.outposts(), *self.book.expected(now_us=now_us)]
        for row in rows:
            if row.id not in self._posts:
                # A clock that was set back must not make a lease longer than leases are.
                grace_us = self._began_us + span_us(self._settings.outposts.wait)
                until_us = max(min(row.until_us, now_us + self._lease_us), grace_us)
                self._posts[row.id] = RemoteOutpost(row, GrantedLease(self._lease_us, until_us), row.taken)
        for gone in set(self._posts) - {row.id for row in rows}:
            self._dismiss(self._posts.pop(gone))
        self._director = SiteRouter({row.id: row.routes for row in rows})

    def _dismiss(self, post: RemoteOutpost) -> None:
        """The outpost was unpaired: whoever waits for it asks directly."""
        self._wake(post)
        if post.link is not None:
            post.link.close()
            post.went_down(post.link)

    # Fetching

    async def fetch(self, request: Request) -> FetchResult:
        """How the request ended, whoever made it."""
        left = self._left_over(request)
        if left is not None:
            return left
        outpost = self._director.outpost_of(site_of(request.url))
        if outpost is None:
            return await self._direct.fetch(request)
        return await self._through(self._posts[outpost], request)

    async def _through(self, post: RemoteOutpost, request: Request) -> FetchResult:
        ask = PendingFetch(next(self._numbers), request, asyncio.get_running_loop().create_future())
        if post.link is not None and post.grant.until_us < self._now_us() + self._lease_us // 2:
            self._renew(post)  # an idle outpost is silent: from now on it is waited for
        post.add(ask)
        try:
            result = await self._answer_to(ask, post)
        finally:
            post.remove(ask)
            ask.answer.cancel()
        if not isinstance(result, FetchDirectly):
            return result
        await asyncio.sleep(min(result.rest_us, self._longest_rest_us) / 1_000_000)
        return await self._direct.fetch(request)

    async def _answer_to(self, ask: PendingFetch, post: RemoteOutpost) -> FetchResult | FetchDirectly:
        """What the outpost brought; Directly as soon as its lease is over."""
        deadline_us = self._now_us() + int(ANSWER_LIMIT_S * 1_000_000)
        heard_out_us = 0
        while not ask.answer.done():
            now_us, free_us = self._now_us(), post.grant.free_at_us(self._handover_us)
            if now_us >= deadline_us:
                detail = "the outpost gave no answer in time"
                return Failed(ask.request.url, Fault.INCOMPLETE, detail, timedelta(seconds=ANSWER_LIMIT_S))
            if now_us < free_us:
                wait_us = min(free_us, deadline_us) - now_us
                await asyncio.wait([ask.answer], timeout=max(wait_us, 1000) / 1_000_000)
            elif post.link is not None and heard_out_us != free_us:
                heard_out_us = free_us
                await asyncio.sleep(HEAR_OUT_S)
            else:
                self._lost(post)
                return FetchDirectly()
        return ask.answer.result()

    def _lost(self, post: RemoteOutpost) -> None:
        """The lease is over: whatever connection there is, it is not trusted to know that."""
        if post.link is not None:
            self._say("lost", post, reason="its lease ran out")
            post.link.close()
            post.went_down(post.link)

    def _left_over(self, request: Request) -> FetchResult | None:
        """What an outpost delivered for a page whose visit was broken off: used, not asked for again."""
        if request.url not in self._orphans:
            return None
        self._orphans.discard(request.url)
        oldest_us = self._now_us() - span_us(INTAKE_LIFETIME)
        row = self.book.left_over(request.url, not_before_us=oldest_us)
        if row is None:
            return None
        message = decode_message(row.item)
        assert isinstance(message, ResultBatch)
        (item,) = message.items
        exchange = None
        if item.blob:
            most = max_exchange_bytes(self._settings.http)
            exchange, _ = decode_exchange(item, None, began=from_us(row.began_us), most_bytes=most)
        return decode_result(item, request, exchange, http=self._settings.http)

    async def close(self) -> None:
        """Let go of every connection; everything that was handed to the engine is committed by now."""
        if self._server is not None:
            self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.book.forget_results(set(self._handed) - self._orphans)
        self.book.close()
        await self._direct.close()

    # Connections

    def listen(self, address: str, collection: Path) -> None:
        """Bind the address now (ConfigError where that fails), and serve as soon as the loop runs."""
        path, _ = coordinator_certificate(collection)
        host, _, port = address.rpartition(":")
        try:
            bound = socket.create_server((host.strip("[]"), int(port)), family=_family(host))
        except (OSError, ValueError) as error:
            raise ConfigError(f"outposts.listen {address!r} cannot be used: {error}; give HOST:PORT") from error
        self._start(self._listen(bound, server_tls(path)))

    async def _listen(self, bound: socket.socket, tls: ssl.SSLContext) -> None:
        self._server = await asyncio.start_server(self._accept, sock=bound, ssl=tls)
        self._events.emit("listening", at=self._clock.now(), address=bound.getsockname()[:2])

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._tasks) > MOST_CONNECTIONS:
            writer.close()
        else:
            enable_keep_alive(writer.get_extra_info("socket"))
            self._start(self.serve(reader, writer))

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("defect while serving an outpost", exc_info=error)

    async def serve(self, reader: ByteReader, writer: ByteWriter) -> None:
        """One connection, until it ends; an error of the other side ends this connection and nothing else."""
        link, post = SecureChannel(reader, writer), None
        try:
            post = await self._welcome(link)
            async with asyncio.TaskGroup() as group:
                feeding = group.create_task(self._feed(post, link))
                await self._listen_to(post, link)
                feeding.cancel()
        except* CHANNEL_ERRORS as errors:
            self._ended(post, errors)
        finally:
            link.close()
            if post is not None:
                self.book.count(post.row.id, post.uncounted() if post.link is link else {})
                post.went_down(link)

    def _ended(self, post: RemoteOutpost | None, errors: BaseExceptionGroup[BaseException]) -> None:
        error: BaseException = errors
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        refused = isinstance(error, (NotAuthentic, ValueError))
        name = post.row.called if post is not None else None
        kind = "refused" if refused else "disconnected"
        if refused or post is not None:
            reason = f"{type(error).__name__}: {error}"
            self._events.emit(kind, at=self._clock.now(), outpost=name, reason=reason)

    async def _welcome(self, link: SecureChannel) -> RemoteOutpost:
        row = await authenticate_outpost(link, self.book, now_us=self._now_us())
        self._learn_outposts()
        post = self._posts[row.id]
        if post.grant.free_at_us(self._handover_us) <= self._now_us():
            self._say("took_over", post)
        post.came_up(link)
        self._renew(post)
        await link.send(Welcome(self.run, post.row.called, post.taken, self._lease_us))
        self._say("connected", post)
        return post

    def _renew(self, post: RemoteOutpost) -> None:
        now_us = self._now_us()
        post.grant.renew(now_us)
        self.book.granted(post.row.id, seen_us=now_us, until_us=post.grant.until_us)

    async def _feed(self, post: RemoteOutpost, link: SecureChannel) -> None:
        """Hand out jobs as the outpost has room for them."""
        while True:
            await post.more.wait()
            await asyncio.sleep(GATHER_S)
            post.more.clear()
            if post.link is not link:
                return
            asks = post.next_asks()
            if asks:
                await link.send(JobBatch(tuple(self._job(ask) for ask in asks)))

    def _job(self, ask: PendingFetch) -> FetchJob:
        request, resend = ask.request, self._settings.outposts.resend
        return FetchJob(
            ask.number,
            request.url,
            request.etag,
            request.last_modified,
            request.body_limit,
            *self.book.held_marks(request.url),
            None if resend is None else span_us(resend),
        )

    async def _listen_to(self, post: RemoteOutpost, link: SecureChannel) -> None:
        while True:
            message = await link.receive()
            if post.link is not link:
                return
            if not self.book.is_paired(post.row.id):
                self._learn_outposts()
                raise NotAuthentic("the outpost was unpaired")
            match message:
                case Heartbeat(number):
                    self._renew(post)
                    self.book.count(post.row.id, post.uncounted())
                    await link.send(LeaseRenewal(number, self._lease_us))
                case ResultBatch():
                    self._take(post, message)
                    await link.send(Acknowledgement(message.batch))
                case AgentReady(running, room):
                    post.became_ready(running, room)
                case Goodbye():
                    post.grant.until_us = min(post.grant.until_us, self._now_us() - self._handover_us)
                    self.book.granted(post.row.id, seen_us=self._now_us(), until_us=post.grant.until_us)
                    self._wake(post)
                    return
                case _:
                    raise ValueError(f"an outpost does not say {type(message).__name__}")

    def _wake(self, post: RemoteOutpost) -> None:
        """Nobody waits any longer for an outpost that has left: the crawler asks itself."""
        for ask in [*post.waiting, *post.given.values()]:
            if not ask.answer.done():
                ask.answer.set_result(FetchDirectly())

    # Taking in

    def _take(self, post: RemoteOutpost, message: ResultBatch) -> None:
        """A batch, once: first to disk, then to whoever waits for it."""
        if message.batch <= post.taken:
            return
        now = self._clock.now()
        receipt = BatchDecoder(
            now, self._settings.http, request_of=lambda item: self._request_of(post, item), held_of=self.book.held
        )
        for item in message.items:
            receipt.add(item)
        counts = dict(receipt.counts)
        for name, value in post.uncounted().items():
            counts[name] = counts.get(name, 0) + value
        self.book.take(
            post.row.id, message.batch, results=receipt.intake, held=receipt.held, counts=counts, now_us=to_us(now)
        )
        post.taken = message.batch
        self._hand_over(post, receipt)
        self._forget_committed(to_us(now - COMMITTED_AFTER))
        self.book.shrink(self._settings.outposts.held_bytes)
        self._say("intake", post, batch=message.batch, **counts)

    def _request_of(self, post: RemoteOutpost, item: JobResult) -> tuple[int | None, Request] | None:
        is_of_run = item.run is None or item.run == self.run
        known = post.handed_out.pop(item.number, None) if is_of_run else None
        if known is not None:
            return item.number, known
        url = item.url
        if url is None or canonical(url) != url or self._director.outpost_of(site_of(url)) != post.row.id:
            return None
        return None, Request(url)

    def _hand_over(self, post: RemoteOutpost, receipt: BatchDecoder) -> None:
        for number, url, result in receipt.results:
            ask = post.given.pop(number, None) if number is not None else None
            if ask is not None and not ask.answer.done():
                ask.answer.set_result(result)
                if not isinstance(result, FetchDirectly):
                    self._handed[url] = self._now_us()
            elif not isinstance(result, FetchDirectly):
                self._orphans.add(url)
        post.more.set()

    def _forget_committed(self, before_us: int) -> None:
        """What was handed to the engine so long ago is committed."""
        old = [url for url, at_us in self._handed.items() if at_us < before_us and url not in self._orphans]
        self.book.forget_results(old)
        for url in old:
            del self._handed[url]

    def _say(self, kind: str, post: RemoteOutpost, **fields: object) -> None:
        self._events.emit(kind, at=self._clock.now(), outpost=post.row.called, **fields)


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET
