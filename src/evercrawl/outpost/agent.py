"""An outpost at work: it calls home, does the jobs that it gets, compares, and delivers what is new.

It opens no port and runs no code that it is sent: a job is a URL and a digest. Without home it does nothing
but try to reach it; results wait on disk until home has said that it took them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from random import Random

from evercrawl.engine.ports import Clock
from evercrawl.model.fetch import FetchResult
from evercrawl.model.time import span_us, to_us
from evercrawl.outpost.agent_state import AgentState, QueuedResult
from evercrawl.outpost.answers import unfetched_result
from evercrawl.outpost.channel import CHANNEL_ERRORS, Credentials, SecureChannel, authenticate_agent
from evercrawl.outpost.fetcher import Declined, FetchBlocked, LeaseExpired, OutpostFetcher, compare_answer
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
    ResultKind,
    Welcome,
    decode_message,
    encode_message,
)
from evercrawl.outpost.routing import BEATS_PER_LEASE, HeldLease

log = logging.getLogger("evercrawl")

FIRST_RETRY_S, LONGEST_RETRY_S = 0.25, 3.0
WELCOME_TIMEOUT_S = 10.0
GATHER_S = 0.25
"""Results are gathered for so long, or until no job is left, before they go out together; what home does not
hold goes at once.
"""
LEASE_TIMEOUT_S = 30.0
MAX_BATCH_RESULTS = 256
MAX_BATCH_BYTES = 4 * 1024 * 1024
MAX_CONCURRENT_JOBS = 64
"""Jobs at a time: one for each site."""

Connect = Callable[[], Awaitable[SecureChannel]]
"""A new connection to home, whose certificate is the one that we know."""


class OutpostAgent:
    """The outpost's process.

    Invariant: a result leaves the disk only when home has said that it is on home's.
    """

    def __init__(
        self,
        dial: Connect,
        who: Credentials,
        *,
        hand: OutpostFetcher,
        book: AgentState,
        clock: Clock,
        random: Random,
        say: Callable[[str], None] = log.info,
    ) -> None:
        """`say` tells the owner how things stand, whenever that changes."""
        self._say = say
        self._said = ""
        self._dial = dial
        self._who = who
        self._hand = hand
        self._book = book
        self._clock = clock
        self._random = random
        self._tenure = HeldLease()
        self._jobs: dict[tuple[str, int], asyncio.Task[None]] = {}
        self._begun: set[tuple[str, int]] = set()
        """Jobs whose request is under way: only they outlive the connection on which they came."""
        self._news = asyncio.Event()
        self._urgent = asyncio.Event()
        self._busy = asyncio.Event()
        self._leased = asyncio.Event()
        self._stopping = asyncio.Event()
        self._run = ""
        self._same_connection: set[tuple[str, int]] = set()
        self._retry_s = FIRST_RETRY_S
        self.link: SecureChannel | None = None
        self.is_known = asyncio.Event()
        """Home has welcomed us at least once."""

    async def run(self) -> None:
        """Until `stop` is called."""
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            while not self._stopping.is_set():
                session = asyncio.create_task(self._session())
                await asyncio.wait([session, stopping], return_when=asyncio.FIRST_COMPLETED)
                if not session.done():
                    await self._leave(session)
                    return
                session.result()
                await self._pause(stopping)
        finally:
            stopping.cancel()

    def stop(self) -> None:
        """End soon: no new requests, deliver what is there, say good-bye."""
        self._stopping.set()

    async def _pause(self, stopping: asyncio.Task[bool]) -> None:
        wait_s = self._retry_s * (0.5 + self._random.random())
        self._retry_s = min(self._retry_s * 2, LONGEST_RETRY_S)
        await asyncio.wait([stopping], timeout=wait_s)

    # One connection

    async def _session(self) -> None:
        link: SecureChannel | None = None
        try:
            link = await self._dial()
            await authenticate_agent(link, self._who)
            async with asyncio.timeout(WELCOME_TIMEOUT_S):
                welcome = await link.receive()
            if not isinstance(welcome, Welcome):
                raise ValueError("home did not say welcome")
            await self._talk(link, welcome)
        except* CHANNEL_ERRORS as errors:
            self._tell(_describe_failure(errors, was_reached=link is not None, was_known=self.link is not None))
        finally:
            self.link = None
            if link is not None:
                link.close()
            await self._drop_unbegun()

    def _tell(self, words: str) -> None:
        if words != self._said:
            self._said = words
            self._say(words)

    async def _drop_unbegun(self) -> None:
        """Home may have given these sites to somebody else by now: it says again what it wants."""
        dropped = [task for key, task in self._jobs.items() if key not in self._begun]
        for task in dropped:
            task.cancel()
        await asyncio.gather(*dropped, return_exceptions=True)

    async def _talk(self, link: SecureChannel, welcome: Welcome) -> None:
        self._welcomed(welcome)
        await self._deliver_old(link)
        # No await from the last look at the outbox to here: a job is delivered, or still running.
        running = tuple(number for run, number in self._jobs if run == welcome.run)
        async with asyncio.TaskGroup() as group:
            group.create_task(self._beat(link, welcome.lease_us))
            group.create_task(self._deliver(link))
            await link.send(AgentReady(running, MAX_CONCURRENT_JOBS))
            self.link = link
            while True:
                self._hear(await link.receive())

    def _welcomed(self, welcome: Welcome) -> None:
        self._retry_s = FIRST_RETRY_S
        self._tell(f"connected to home as {welcome.name}")
        self._run = welcome.run
        self._same_connection.clear()
        self._book.taken(welcome.taken)
        if self._who.code_key is not None:
            self._book.forget("code_key")
            self._who = self._who._replace(code_key=None)
        self.is_known.set()

    def _hear(self, message: object) -> None:
        match message:
            case LeaseRenewal(number, lease_us):
                self._tenure.answered(number, lease_us)
                self._leased.set()
            case Acknowledgement(batch):
                self._book.taken(batch)
            case JobBatch(jobs):
                for job in jobs:
                    self._begin(job)
            case _:
                raise ValueError(f"home does not say {type(message).__name__}")

    async def _beat(self, link: SecureChannel, lease_us: int) -> None:
        """Renew the lease while there is something to do; an idle outpost says nothing."""
        while True:
            await self._busy.wait()
            await link.send(Heartbeat(self._tenure.beat(self._now_us())))
            await asyncio.sleep(lease_us / BEATS_PER_LEASE / 1_000_000)
            if not self._jobs:
                self._busy.clear()

    # Delivering

    async def _deliver_old(self, link: SecureChannel) -> None:
        """Everything from before, also what home may have and did not confirm: under its old numbers."""
        for batch, waiting in self._book.batches().items():
            await link.send(self._parcel(batch, waiting))
        await self._deliver_unsent(link)

    async def _deliver_unsent(self, link: SecureChannel) -> None:
        while waiting := self._book.unsent(most=MAX_BATCH_RESULTS, most_bytes=MAX_BATCH_BYTES):
            await link.send(self._parcel(self._book.bind(waiting), waiting))

    async def _deliver(self, link: SecureChannel) -> None:
        while True:
            await self._deliver_unsent(link)
            self._news.clear()
            await self._news.wait()
            await self._gather()

    async def _gather(self) -> None:
        try:
            async with asyncio.timeout(GATHER_S):
                await self._urgent.wait()
        except TimeoutError:
            pass
        self._urgent.clear()

    def _parcel(self, batch: int, waiting: list[QueuedResult]) -> ResultBatch:
        return ResultBatch(batch, tuple(self._dated(one) for one in waiting))

    def _dated(self, waiting: QueuedResult) -> JobResult:
        """The item with its age; with its run and URL where home may have forgotten the job."""
        message = decode_message(waiting.item)
        assert isinstance(message, ResultBatch)
        (item,) = message.items
        item = item._replace(age_us=max(0, self._now_us() - waiting.began_us))
        key = waiting.run, waiting.number
        if key in self._same_connection:
            self._same_connection.discard(key)
            return item
        return item._replace(run=waiting.run, url=waiting.url)

    # Jobs

    def _begin(self, job: FetchJob) -> None:
        key = self._run, job.number
        self._same_connection.add(key)
        if key in self._jobs or self._stopping.is_set():
            return
        task = asyncio.create_task(self._do(job, self._run))
        self._jobs[key] = task
        self._busy.set()
        task.add_done_callback(lambda done: self._ended(key, done))

    def _ended(self, key: tuple[str, int], task: asyncio.Task[None]) -> None:
        self._jobs.pop(key, None)
        self._begun.discard(key)
        if not self._jobs:
            self._urgent.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("defect in a job", exc_info=error)

    async def _do(self, job: FetchJob, run: str) -> None:
        began_us = self._now_us()
        habit, held, result = None, None, None
        try:
            result = await self._fetch(job, (run, job.number))
        except TimeoutError:
            item = unfetched_result(job, ResultKind.NOT_MINE, "no lease came")
        except LeaseExpired as over:
            item = unfetched_result(job, ResultKind.NOT_MINE, str(over), rest_us=over.rest_us)
        except Declined as why:
            item = unfetched_result(job, ResultKind.NOT_MINE, str(why))
        except FetchBlocked as why:
            item = unfetched_result(job, ResultKind.WITHHELD, str(why))
        else:
            item, habit, held = compare_answer(job, result, book=self._book, hand=self._hand, now_us=self._now_us())
            began_us = self._began_us(result)
        now_us = self._now_us()
        waiting = QueuedResult(0, run, job.number, job.url, began_us, encode_message(ResultBatch(0, (item,))))
        self._book.keep(waiting, habit=habit, held=held, now_us=now_us)
        self._news.set()
        if item.verdict is ResultKind.AT_ONCE:
            self._urgent.set()

    async def _fetch(self, job: FetchJob, key: tuple[str, int]) -> FetchResult:
        """How the request ended; TimeoutError or LeaseOver where no lease lasted long enough to make it.

        A lease that runs out before the request is made is waited for again: home may only be slow.
        """
        last_s = asyncio.get_running_loop().time() + LEASE_TIMEOUT_S
        gap_us = 0
        while True:
            async with asyncio.timeout_at(last_s):
                await self._have_lease(gap_us)
            try:
                return await self._hand.fetch(job, self._tenure, on_start=lambda: self._begun.add(key))
            except LeaseExpired as over:
                if over.was_asked:
                    raise
                gap_us = over.gap_us

    async def _have_lease(self, gap_us: int) -> None:
        """A job may come before the lease to do it."""
        while self._tenure.time_left_us(self._now_us(), gap_us) <= 0:
            self._leased.clear()
            await self._leased.wait()

    def _began_us(self, result: FetchResult) -> int:
        if result.exchange is not None:
            return to_us(result.exchange.began)
        took = getattr(result, "took", timedelta(0))
        return self._now_us() - span_us(took)

    def _now_us(self) -> int:
        return to_us(self._clock.now())

    # The end

    async def _leave(self, session: asyncio.Task[None]) -> None:
        """Let requests under way end, deliver, and give the sites back."""
        patience_s = 10.0
        if self._jobs:
            await asyncio.wait(list(self._jobs.values()), timeout=patience_s)
        broken_off = [task for task in self._jobs.values() if not task.done()]
        for task in broken_off:
            task.cancel()
        await asyncio.gather(*broken_off, return_exceptions=True)
        link = self.link
        try:
            async with asyncio.timeout(patience_s):
                while link is not None and self.link is link and not self._book.is_delivered():
                    self._news.set()
                    await asyncio.sleep(0.01)
                if link is not None and self.link is link and not broken_off:
                    await link.send(Goodbye())
        except CHANNEL_ERRORS as error:
            log.info("home did not hear our good-bye: %s", error)
        session.cancel()
        await asyncio.gather(session, return_exceptions=True)


def _describe_failure(errors: BaseExceptionGroup[BaseException], *, was_reached: bool, was_known: bool) -> str:
    """Why there is no connection, in words for the outpost's owner."""
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if was_known:
        return "the connection to home ended; trying again"
    if was_reached and isinstance(error, (EOFError, ConnectionError)):
        return "home refuses us: is the code used up or expired, or were we unpaired? Trying again"
    return f"home cannot be reached, trying again: {error or type(error).__name__}"
