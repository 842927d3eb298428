"""The agent of an outpost: connect to the coordinator, run its jobs, and deliver what changed.
The agent opens no port and runs no code that it receives: a job is a URL and a digest. Results stay on disk until the
coordinator acknowledges them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from random import Random

from evercrawl.engine.ports import Clock
from evercrawl.model.fetch import FetchResult
from evercrawl.model.sanitize import safe_line
from evercrawl.model.time import span_us, to_us
from evercrawl.outpost.agent_state import AgentState, QueuedResult
from evercrawl.outpost.answers import unfetched_result
from evercrawl.outpost.channel import CHANNEL_ERRORS, Credentials, SecureChannel, authenticate_agent
from evercrawl.outpost.fetcher import Declined, FetchBlocked, LeaseExpired, OutpostFetcher, compare_answer
from evercrawl.outpost.messages import (
    MAX_RESULTS,
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
from evercrawl.outpost.routing import HEARTBEATS_PER_LEASE, HeldLease

log = logging.getLogger("evercrawl")

FIRST_RETRY_S, MAX_RETRY_S = 0.25, 3.0
WELCOME_TIMEOUT_S = 10.0
BATCH_DELAY_S = 0.25
"""How long to collect results before a batch is sent. First and last results go out immediately."""
LEASE_TIMEOUT_S = 30.0
MAX_BATCH_BYTES = 4 * 1024 * 1024
MAX_CONCURRENT_JOBS = 64  # Jobs at the same time, one per site.
MIN_LEASE_US, MAX_LEASE_US = 100_000, 24 * 3_600_000_000  # Leases that a coordinator can grant.
MAX_NOTICE_CHARS = 200

Connect = Callable[[], Awaitable[SecureChannel]]  # Open a connection to the coordinator and check its certificate.


class OutpostAgent:
    """The agent's process. Invariant: a result leaves the disk only after the coordinator has stored it."""

    def __init__(
        self,
        connect: Connect,
        credentials: Credentials,
        *,
        fetcher: OutpostFetcher,
        state: AgentState,
        clock: Clock,
        random: Random,
        notify: Callable[[str], None] = log.info,
    ) -> None:
        """`notify` receives a message for the owner whenever the connection state changes."""
        self._notify = notify
        self._last_notice = ""
        self._connect = connect
        self._credentials = credentials
        self._fetcher = fetcher
        self._state = state
        self._clock = clock
        self._random = random
        self._lease = HeldLease()
        self._jobs: dict[tuple[str, int], asyncio.Task[None]] = {}
        self._started: set[tuple[str, int]] = set()
        """Jobs whose request is in progress; only these survive the end of the connection."""
        self._results_ready = asyncio.Event()
        self._send_now = asyncio.Event()
        self._has_jobs = asyncio.Event()
        self._lease_renewed = asyncio.Event()
        self._stopping = asyncio.Event()
        self._run = ""
        self._current_jobs: set[tuple[str, int]] = set()
        self._retry_s = FIRST_RETRY_S
        self.channel: SecureChannel | None = None
        self.is_known = asyncio.Event()
        """Set once the coordinator has accepted the agent."""

    async def run(self) -> None:
        """Work until `stop` is called."""
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            while not self._stopping.is_set():
                session = asyncio.create_task(self._session())
                await asyncio.wait([session, stopping], return_when=asyncio.FIRST_COMPLETED)
                if not session.done():
                    await self._shut_down(session)
                    return
                session.result()
                await self._pause(stopping)
        finally:
            stopping.cancel()

    def stop(self) -> None:
        """Start no more requests, deliver all results, then end."""
        self._stopping.set()

    async def _pause(self, stopping: asyncio.Task[bool]) -> None:
        wait_s = self._retry_s * (0.5 + self._random.random())
        self._retry_s = min(self._retry_s * 2, MAX_RETRY_S)
        await asyncio.wait([stopping], timeout=wait_s)

    # Connection

    async def _session(self) -> None:
        channel: SecureChannel | None = None
        try:
            channel = await self._connect()
            await authenticate_agent(channel, self._credentials)
            async with asyncio.timeout(WELCOME_TIMEOUT_S):
                welcome = await channel.receive()
            if not isinstance(welcome, Welcome):
                raise ValueError("the coordinator did not send a welcome")
            _check_lease(welcome.lease_us)
            await self._exchange_messages(channel, welcome)
        except* CHANNEL_ERRORS as errors:
            self._report(_describe_failure(errors, was_reached=channel is not None, was_known=self.channel is not None))
        finally:
            self.channel = None
            if channel is not None:
                channel.close()
            await self._cancel_unstarted()

    def _report(self, text: str) -> None:
        text = safe_line(text, longest=MAX_NOTICE_CHARS)  # The coordinator writes parts of it.
        if text != self._last_notice:
            self._last_notice = text
            self._notify(text)

    async def _cancel_unstarted(self) -> None:
        """Cancel jobs not yet started: the coordinator may have reassigned their sites."""
        dropped = [task for key, task in self._jobs.items() if key not in self._started]
        for task in dropped:
            task.cancel()
        await asyncio.gather(*dropped, return_exceptions=True)

    async def _exchange_messages(self, channel: SecureChannel, welcome: Welcome) -> None:
        self._start_session(welcome)
        await self._resend_batches(channel)
        # No await since the outbox was last read, so every job is either delivered or still running.
        running = tuple(number for run, number in self._jobs if run == welcome.run)
        async with asyncio.TaskGroup() as group:
            group.create_task(self._send_heartbeats(channel, welcome.lease_us))
            group.create_task(self._send_results(channel))
            await channel.send(AgentReady(running, MAX_CONCURRENT_JOBS))
            self.channel = channel
            while True:
                self._handle(await channel.receive())

    def _start_session(self, welcome: Welcome) -> None:
        self._retry_s = FIRST_RETRY_S
        self._report(f"connected to home as {welcome.name}")
        self._run = welcome.run
        self._current_jobs.clear()
        self._state.acknowledge(welcome.acknowledged)
        if self._credentials.code_key is not None:
            self._state.delete("code_key")
            self._credentials = self._credentials._replace(code_key=None)
        self.is_known.set()

    def _handle(self, message: object) -> None:
        match message:
            case LeaseRenewal(number, lease_us):
                _check_lease(lease_us)
                self._lease.renew_from(number, lease_us)
                self._lease_renewed.set()
            case Acknowledgement(batch):
                self._state.acknowledge(batch)
            case JobBatch(jobs):
                for job in jobs:
                    self._start_job(job)
            case _:
                raise ValueError(f"unexpected message from the coordinator: {type(message).__name__}")

    async def _send_heartbeats(self, channel: SecureChannel, lease_us: int) -> None:
        """Renew the lease while there are jobs; an idle agent sends nothing."""
        while True:
            await self._has_jobs.wait()
            await channel.send(Heartbeat(self._lease.heartbeat(self._now_us())))
            await asyncio.sleep(lease_us / HEARTBEATS_PER_LEASE / 1_000_000)
            if not self._jobs:
                self._has_jobs.clear()

    # Results

    async def _resend_batches(self, channel: SecureChannel) -> None:
        """Send all unacknowledged batches again under their old numbers, then everything else."""
        for batch, queued in self._state.batches().items():
            await channel.send(self._result_batch(batch, queued))
        await self._send_unbatched(channel)

    async def _send_unbatched(self, channel: SecureChannel) -> None:
        while queued := self._state.unbatched(limit=MAX_RESULTS, max_bytes=MAX_BATCH_BYTES):
            await channel.send(self._result_batch(self._state.create_batch(queued), queued))

    async def _send_results(self, channel: SecureChannel) -> None:
        while True:
            await self._send_unbatched(channel)
            self._results_ready.clear()
            await self._results_ready.wait()
            await self._wait_for_more()

    async def _wait_for_more(self) -> None:
        try:
            async with asyncio.timeout(BATCH_DELAY_S):
                await self._send_now.wait()
        except TimeoutError:
            pass
        self._send_now.clear()

    def _result_batch(self, batch: int, queued: list[QueuedResult]) -> ResultBatch:
        return ResultBatch(batch, tuple(self._prepare_result(one) for one in queued))

    def _prepare_result(self, queued: QueuedResult) -> JobResult:
        """Add the age, and the run and URL if the coordinator may have forgotten the job."""
        message = decode_message(queued.item)
        assert isinstance(message, ResultBatch)
        (item,) = message.items
        item = item._replace(age_us=max(0, self._now_us() - queued.began_us))
        key = queued.run, queued.number
        if key in self._current_jobs:
            self._current_jobs.discard(key)
            return item
        return item._replace(run=queued.run, url=queued.url)

    # Jobs

    def _start_job(self, job: FetchJob) -> None:
        if len(self._jobs) >= 2 * MAX_CONCURRENT_JOBS:
            raise ValueError("the coordinator sent more jobs than fit")
        key = self._run, job.number
        self._current_jobs.add(key)
        if key in self._jobs or self._stopping.is_set():
            return
        task = asyncio.create_task(self._run_job(job, self._run))
        self._jobs[key] = task
        self._has_jobs.set()
        task.add_done_callback(lambda done: self._job_ended(key, done))

    def _job_ended(self, key: tuple[str, int], task: asyncio.Task[None]) -> None:
        self._jobs.pop(key, None)
        self._started.discard(key)
        if not self._jobs:
            self._send_now.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("bug in a job", exc_info=error)

    async def _run_job(self, job: FetchJob, run: str) -> None:
        began_us = self._now_us()
        history, shared, result = None, None, None
        try:
            result = await self._fetch(job, (run, job.number))
        except TimeoutError:
            item = unfetched_result(job, ResultKind.DECLINED, "no lease was granted in time")
        except LeaseExpired as expired:
            item = unfetched_result(job, ResultKind.DECLINED, str(expired), delay_us=expired.delay_after_us)
        except Declined as error:
            item = unfetched_result(job, ResultKind.DECLINED, str(error))
        except FetchBlocked as error:
            item = unfetched_result(job, ResultKind.WITHHELD, str(error))
        else:
            item, history, shared = compare_answer(
                job, result, state=self._state, fetcher=self._fetcher, now_us=self._now_us()
            )
            began_us = self._start_us(result)
        now_us = self._now_us()
        queued = QueuedResult(0, run, job.number, job.url, began_us, encode_message(ResultBatch(0, (item,))))
        self._state.add_result(queued, history=history, shared=shared, now_us=now_us)
        self._results_ready.set()
        if item.kind is ResultKind.FIRST:
            self._send_now.set()

    async def _fetch(self, job: FetchJob, key: tuple[str, int]) -> FetchResult:
        """Fetch within a lease; raise TimeoutError or LeaseExpired if no lease lasts long enough.
        If the lease expires before the request is sent, wait for the next one: the coordinator may only be slow."""
        last_s = asyncio.get_running_loop().time() + LEASE_TIMEOUT_S
        delay_us = 0
        while True:
            async with asyncio.timeout_at(last_s):
                await self._wait_for_lease(delay_us)
            try:
                return await self._fetcher.fetch(job, self._lease, on_start=lambda: self._started.add(key))
            except LeaseExpired as expired:
                if expired.was_sent:
                    raise
                delay_us = expired.delay_us

    async def _wait_for_lease(self, delay_us: int) -> None:
        """Wait until the lease covers a request; a job may arrive before its lease."""
        while self._lease.remaining_us(self._now_us(), delay_us) <= 0:
            self._lease_renewed.clear()
            await self._lease_renewed.wait()

    def _start_us(self, result: FetchResult) -> int:
        if result.exchange is not None:
            return to_us(result.exchange.began)
        took = getattr(result, "took", timedelta(0))
        return self._now_us() - span_us(took)

    def _now_us(self) -> int:
        return to_us(self._clock.now())

    # Shutdown

    async def _shut_down(self, session: asyncio.Task[None]) -> None:
        """Let running requests finish, deliver their results and give up the lease."""
        timeout_s = 10.0
        if self._jobs:
            await asyncio.wait(list(self._jobs.values()), timeout=timeout_s)
        cancelled = [task for task in self._jobs.values() if not task.done()]
        for task in cancelled:
            task.cancel()
        await asyncio.gather(*cancelled, return_exceptions=True)
        channel = self.channel
        try:
            async with asyncio.timeout(timeout_s):
                while channel is not None and self.channel is channel and not self._state.is_delivered():
                    self._results_ready.set()
                    await asyncio.sleep(0.01)
                if channel is not None and self.channel is channel and not cancelled:
                    await channel.send(Goodbye())
        except CHANNEL_ERRORS as error:
            log.info("could not send goodbye to the coordinator: %s", error)
        session.cancel()
        await asyncio.gather(session, return_exceptions=True)


def _check_lease(lease_us: int) -> None:
    """Raise ValueError for a lease that would make the agent busy, or never end."""
    if not MIN_LEASE_US <= lease_us <= MAX_LEASE_US:
        raise ValueError(f"the coordinator grants a lease of {lease_us} microseconds")


def _describe_failure(errors: BaseExceptionGroup[BaseException], *, was_reached: bool, was_known: bool) -> str:
    """Explain to the owner why there is no connection."""
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if was_known:
        return "lost the connection to home; reconnecting"
    if was_reached and isinstance(error, (EOFError, ConnectionError)):
        return "home rejects this outpost: the code may be used or expired, or the outpost was unpaired; retrying"
    return f"cannot reach home, retrying: {error or type(error).__name__}"
