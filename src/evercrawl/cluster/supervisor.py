"""Start the worker processes of a run, forward their messages, and detect when all of them are idle."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from evercrawl.adapters.sql.state_reader import StateReader
from evercrawl.cluster.totals import (
    PROGRESS_EVERY_S,
    RunTotals,
    WorkerReport,
    combined_end,
    create_shared_memory,
    report_progress,
    run_summary,
)
from evercrawl.cluster.worker_messages import (
    CheckIdle,
    ConfirmLinks,
    DeliverLinks,
    OfferUrl,
    PeerMessage,
    RemoteFetch,
    RemoteFetchResult,
    RunOver,
    SeedMoved,
    StopWorker,
    WorkerDone,
    WorkerFailed,
    WorkerIdle,
    WorkerLogRecord,
    WorkerRestarted,
    WorkerTask,
    pack_message,
    read_message,
)
from evercrawl.engine.runtime import Ended, StopSignal
from evercrawl.errors import EvercrawlError, WorkerLost
from evercrawl.model.fetch import Failed, Fault
from evercrawl.model.run import Progress, Summary
from evercrawl.model.settings import Settings
from evercrawl.model.time import to_us

MAX_DEATHS = 5  # Worker deaths in one run before it is aborted.

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _WorkerHandle:
    """A worker as its supervisor sees it."""

    process: asyncio.subprocess.Process
    writer: asyncio.StreamWriter
    forwarded: int = 0
    checks: int = 0
    idle: WorkerIdle | None = None
    ended: Ended | None = None

    @property
    def is_idle(self) -> bool:
        """Whether the worker has ended or was idle after the last message sent to it."""
        if self.ended is not None:
            return True
        return self.idle is not None and self.idle.ended is not None and self.idle.received == self.forwarded

    def send(self, message: object) -> None:
        if self.ended is None and not self.writer.is_closing():
            self.writer.write(pack_message(message))


class Supervisor:
    """The workers of one run. A dead worker is restarted; its shards first wait out their crawl delays."""

    def __init__(
        self,
        collection: Path,
        settings: Settings,
        *,
        workers: int,
        shares: Sequence[float],
        stop: StopSignal,
        refresh: bool = False,
        forever: bool = False,
        keep_open: Sequence[int] = (),
    ) -> None:
        """`shares`: each worker's part of the budget. `keep_open`: descriptors that workers inherit, such as the
        collection's lock."""
        self.totals = RunTotals()
        self._workers = workers
        self._stop = stop
        self._counts = create_shared_memory(workers)
        self._keep_open = (*keep_open, self._counts)
        self._handles: dict[int, _WorkerHandle] = {}
        self._open_requests: dict[tuple[int, int], int] = {}
        """Sender and token of a remote fetch, and the worker that runs it."""
        self._checked: tuple[int, ...] | None = None
        """What was forwarded to each worker when all were last asked whether they are still idle; None: one was not."""
        self._deaths = 0
        self._failure: EvercrawlError | None = None
        self._tasks = [
            WorkerTask(
                collection,
                _worker_settings(settings, workers=workers, share=shares[number]),
                number,
                workers,
                refresh,
                forever,
                os.getcwd(),
            )
            for number in range(workers)
        ]

    async def run(self) -> Ended:
        """Run until every worker has ended; raise the first error of a worker."""
        stop_forwarder: asyncio.Task[None] | None = None
        try:
            # Connect to every worker before the first one sends a message to another.
            readers = await asyncio.gather(*(self._start_process(task.number) for task in self._tasks))
            for task in self._tasks:
                self._send_task(task)
            stop_forwarder = asyncio.create_task(self._forward_stops())
            await asyncio.gather(*map(self._run_worker, self._tasks, readers))
        finally:
            if stop_forwarder is not None:
                stop_forwarder.cancel()
            await self._close_all()
            os.close(self._counts)
        if self._failure is not None:
            raise self._failure
        return combined_end([handle.ended for handle in self._handles.values() if handle.ended is not None])

    async def _run_worker(self, task: WorkerTask, reader: asyncio.StreamReader) -> None:
        """Run one worker and restart it when it dies."""
        while not await self._listen(task.number, reader):
            await self._worker_died(task.number)
            if self._stop.stage or self._failure is not None:
                return
            task = task._replace(refresh=False)
            reader = await self._start_process(task.number)
            self._send_task(task)
            self._announce_restart(task.number)

    async def _start_process(self, number: int) -> asyncio.StreamReader:
        """Start a worker process, which waits for its task."""
        ours, theirs = socket.socketpair()
        with theirs:
            arguments = ("-P", "-m", "evercrawl.cluster.worker_process", str(theirs.fileno()), str(self._counts))
            process = await asyncio.create_subprocess_exec(
                sys.executable, *arguments, pass_fds=(theirs.fileno(), *self._keep_open)
            )
        reader, writer = await asyncio.open_connection(sock=ours)
        self._handles[number] = _WorkerHandle(process, writer)
        return reader

    def _send_task(self, task: WorkerTask) -> None:
        handle = self._handles[task.number]
        handle.send(task)
        if self._stop.stage:
            handle.send(StopWorker(self._stop.stage))

    def _announce_restart(self, number: int) -> None:
        for other, handle in self._handles.items():
            if other != number:
                handle.idle = self._checked = None
                handle.send(WorkerRestarted(number))

    async def _listen(self, number: int, reader: asyncio.StreamReader) -> bool:
        """Handle a worker's messages; return True if it ended properly."""
        handle = self._handles[number]
        while (message := await read_message(reader)) is not None:
            match message:
                case WorkerReport():
                    self.totals.update(number, message)
                case WorkerIdle():
                    handle.idle = message
                    self._checked = None if message.ended is None else self._checked
                case WorkerLogRecord(record=record):
                    logging.getLogger(record.name).handle(record)
                case WorkerDone(ended=ended, report=report):
                    self.totals.update(number, report)
                    handle.ended = ended
                    self._fail_requests_to(number)
                case WorkerFailed(error=error):
                    self._fail(error)
                    handle.ended = Ended.INTERRUPTED
                case _:
                    assert isinstance(message, PeerMessage)
                    self._route(number, message)
            self._end_if_all_idle()
            if handle.ended is not None:
                handle.writer.close()
                return True
        return False

    def _route(self, sender: int, message: PeerMessage) -> None:
        if isinstance(message, SeedMoved):
            for number in self._handles:
                if number != sender:
                    self._forward(number, message)
            return
        self._forward(self._receiver(message), message)

    def _receiver(self, message: PeerMessage) -> int:
        match message:
            case DeliverLinks(batch=batch):
                return batch.target % self._workers
            case ConfirmLinks(source=source):
                return source % self._workers
            case OfferUrl(shard=shard):
                return shard % self._workers
            case RemoteFetch(shard=shard, sender=sender, token=token):
                receiver = shard % self._workers
                self._open_requests[sender, token] = receiver
                return receiver
            case RemoteFetchResult(receiver=receiver, token=token):
                self._open_requests.pop((receiver, token), None)
                return receiver
        raise AssertionError(message)

    def _forward(self, number: int, message: PeerMessage) -> None:
        handle = self._handles.get(number)
        if handle is None or handle.ended is not None:
            if isinstance(message, RemoteFetch):
                self._refuse(message.sender, message.token)
            return
        handle.forwarded += 1
        handle.send(message)

    def _fail_requests_to(self, number: int) -> None:
        """Fail the remote fetches of a worker that is gone."""
        for (sender, token), receiver in list(self._open_requests.items()):
            if receiver == number:
                self._refuse(sender, token)

    def _refuse(self, sender: int, token: int) -> None:
        failed = Failed("", Fault.INTERNAL, "the worker that owns the site has ended", timedelta(0))
        self._open_requests.pop((sender, token), None)
        self._forward(sender, RemoteFetchResult(failed, sender, token))

    def _end_if_all_idle(self) -> None:
        """End the run when all workers are idle and still say so when asked: meanwhile a page may have become due."""
        handles = self._handles.values()
        if len(handles) < self._workers or not all(handle.is_idle for handle in handles):
            return
        forwarded = tuple(handle.forwarded for handle in handles)
        if self._checked != forwarded:
            self._checked = forwarded
            for handle in handles:
                handle.checks += 1
                handle.send(CheckIdle())
        elif all(handle.ended or (handle.idle and handle.idle.checks == handle.checks) for handle in handles):
            self._broadcast(RunOver())

    async def _worker_died(self, number: int) -> None:
        handle = self._handles[number]
        code = await handle.process.wait()
        handle.writer.close()
        self.totals.worker_died(number)
        self._fail_requests_to(number)
        self._deaths += 1
        reason = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        log.warning("worker %d ended %s unexpectedly", number + 1, reason)
        if self._deaths > MAX_DEATHS:
            self._fail(
                WorkerLost(
                    f"workers died {self._deaths} times, the last {reason}; all saved data is safe:"
                    " check the system's memory limits, use fewer --workers, and run the command again"
                )
            )

    def _fail(self, error: EvercrawlError) -> None:
        """Remember the first error and stop all workers; they save their work."""
        if self._failure is None:
            self._failure = error
            self._broadcast(StopWorker(1))

    async def _forward_stops(self) -> None:
        while True:
            await self._stop.wait_for_stage()
            self._broadcast(StopWorker(self._stop.stage))

    def _broadcast(self, message: object) -> None:
        for handle in self._handles.values():
            handle.send(message)

    async def _close_all(self) -> None:
        """Close all connections, which makes workers save and end, and wait for them."""
        for handle in self._handles.values():
            handle.writer.close()
        for handle in self._handles.values():
            with suppress(ProcessLookupError):
                await handle.process.wait()


def _worker_settings(settings: Settings, *, workers: int, share: float) -> Settings:
    """Return the settings of one worker: its part of budget, connections and memory."""
    crawl, store, revisit = settings.crawl, settings.store, settings.revisit
    return replace(
        settings,
        crawl=replace(crawl, concurrency=max(1, math.ceil(crawl.concurrency / workers))),
        store=replace(store, cache_bytes=store.cache_bytes // workers),
        revisit=replace(revisit, budget=None if revisit.budget is None else revisit.budget * share),
    )


async def run_workers(
    collection: Path,
    settings: Settings,
    *,
    refresh: bool,
    forever: bool,
    stop: StopSignal,
    on_progress: Callable[[Progress], None] | None,
    lock: int,
) -> Summary:
    """Run `crawl.workers` processes; `lock` is held until the last of them has ended."""
    workers = min(settings.crawl.workers, settings.store.shards)
    supervisor = Supervisor(
        collection,
        settings,
        workers=workers,
        shares=budget_shares(StateReader(collection), workers),
        stop=stop,
        refresh=refresh,
        forever=forever,
        keep_open=(lock,),
    )
    async with report_progress(supervisor.totals, on_progress, every_s=PROGRESS_EVERY_S):
        ended = await supervisor.run()
    return run_summary(supervisor.totals, collection, ended)


def budget_shares(reader: StateReader, workers: int) -> list[float]:
    """Return each worker's share of the budget: half divided equally, half by the pages it owns."""
    pages, now_us = [0] * workers, to_us(datetime.now(UTC))
    for number in reader.shards():
        with reader.shard(number) as shard:
            pages[number % workers] += shard.totals(now_us).pages
    known = sum(pages)
    if not known:
        return [1.0 / workers] * workers
    return [0.5 / workers + 0.5 * own / known for own in pages]
