"""One worker process: `python -m evercrawl.cluster.worker_process SOCKET COUNTERS`, started by the supervisor."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
from collections.abc import Callable
from logging.handlers import QueueHandler

from evercrawl.adapters.system import loop_factory
from evercrawl.cluster.crawl_builder import build_crawl, uses_database
from evercrawl.cluster.run_requests import WorkerPart, watch_requests
from evercrawl.cluster.totals import RunTotals, SharedCounters, WorkerReport, worker_report
from evercrawl.cluster.worker_messages import (
    CheckIdle,
    ConfirmLinks,
    DeliverLinks,
    OfferUrl,
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
from evercrawl.engine.crawl import Crawl
from evercrawl.engine.runtime import Ended, StopSignal
from evercrawl.errors import BugFound, EvercrawlError
from evercrawl.model.fetch import FetchResult, Request
from evercrawl.model.page import Candidate, LinkBatch

REPORT_EVERY_S = 0.25


class _SupervisorLogHandler(QueueHandler):
    """Send log records to the supervisor, which writes the log file."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        super().__init__(None)  # type: ignore[arg-type]  # nothing is queued: see enqueue
        self._writer = writer

    def enqueue(self, record: logging.LogRecord) -> None:
        self._writer.write(pack_message(WorkerLogRecord(record)))


class WorkerPeers:
    """Implements `Peers` through the supervisor."""

    def __init__(self, number: int, workers: int, *, counts: SharedCounters, send: Callable[[object], None]) -> None:
        self._number = number
        self._workers = workers
        self._counts = counts
        self._send = send
        self._received = self._checks = 0
        self._is_over = False
        self._last_idle: WorkerIdle | None = None
        self._next_token = 0
        self._answers: dict[int, asyncio.Future[FetchResult]] = {}

    def owns(self, shard: int) -> bool:
        return shard % self._workers == self._number

    def is_first(self) -> bool:
        return self._number == 0

    def may_fetch(self) -> bool:
        return True

    def send_links(self, batch: LinkBatch) -> None:
        self._send(DeliverLinks(batch))

    def polls_outbox(self) -> bool:
        return False

    def confirm_links(self, source: int, target: int, seq: int) -> None:
        self._send(ConfirmLinks(source, target, seq))

    def offer_url(self, candidate: Candidate, shard: int) -> None:
        self._send(OfferUrl(candidate, shard))

    def report_moved_seed(self, seed: str, target: str) -> None:
        self._send(SeedMoved(seed, target))

    def report_spent(self, visits: int, wire_bytes: int) -> tuple[int, int]:
        return self._counts.spent(visits, wire_bytes)

    def report_idle(self, ended: Ended | None) -> bool:
        """Report that this worker is idle; return whether all workers are. None: it is not, although it was asked."""
        idle = WorkerIdle(ended, self._received, self._checks)
        if not self._is_over and idle != self._last_idle:
            self._last_idle = idle
            self._send(idle)
        return self._is_over

    async def fetch_remotely(self, request: Request, shard: int) -> FetchResult:
        token = self._next_token
        self._next_token += 1
        answer: asyncio.Future[FetchResult] = asyncio.get_running_loop().create_future()
        self._answers[token] = answer
        self._send(RemoteFetch(request, shard, self._number, token))
        try:
            return await answer
        finally:
            del self._answers[token]

    async def listen(self, reader: asyncio.StreamReader, crawl: Crawl, stop: StopSignal) -> None:
        """Handle messages until the connection ends, then cancel the run."""
        while (message := await read_message(reader)) is not None:
            match message:
                case RunOver():
                    self._is_over = True
                case CheckIdle():
                    self._checks += 1
                    self.report_idle(crawl.end_if_quiet())
                case StopWorker(stage=stage):
                    stop.finish() if stage == 1 else stop.cancel()
                case WorkerRestarted(number=number):
                    crawl.router.start(crawl.router.resend(lambda shard: shard % self._workers == number))
                case _:
                    self._received += 1
                    self._handle(message, crawl)
            crawl.wake()
        stop.cancel()

    def _handle(self, message: object, crawl: Crawl) -> None:
        match message:
            case DeliverLinks(batch=batch):
                crawl.router.receive(batch)
            case ConfirmLinks(source=source, target=target, seq=seq):
                crawl.router.drop_confirmed(source, target, seq)
            case OfferUrl(candidate=candidate):
                crawl.router.start(crawl.urls.offer(candidate))
            case SeedMoved(seed=seed, target=target):
                crawl.scope.add_moved_seed(seed, target)
            case RemoteFetch():
                crawl.router.start(self._run(message, crawl))
            case RemoteFetchResult(token=token, result=result):
                waiting = self._answers.get(token)
                if waiting is not None and not waiting.done():
                    waiting.set_result(result)

    async def _run(self, request: RemoteFetch, crawl: Crawl) -> None:
        result = await crawl.fetch_for_peer(request.request)
        self._send(RemoteFetchResult(result, request.sender, request.token))


async def _serve(descriptor: int, counts: int) -> None:
    reader, writer = await asyncio.open_connection(sock=socket.socket(fileno=descriptor))
    task = await read_message(reader)
    if not isinstance(task, WorkerTask):
        return
    log = logging.getLogger("evercrawl")
    log.addHandler(_SupervisorLogHandler(writer))
    log.setLevel(logging.INFO)
    try:
        last: object = await _crawl(task, reader, writer, counts)
    except EvercrawlError as error:
        last = WorkerFailed(error)
    except Exception as defect:
        log.exception("a worker failed")
        last = WorkerFailed(BugFound(f"a worker failed: {type(defect).__name__}: {defect}"))
    writer.write(pack_message(last))
    await writer.drain()
    # Keep reading: an unread message would reset the connection and could lose our last message.
    while await read_message(reader) is not None:
        pass
    writer.close()
    await writer.wait_closed()


async def _crawl(
    task: WorkerTask, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, counts: int
) -> WorkerDone:
    if task.settings.scope.plugins:
        sys.path.insert(0, task.plugin_folder)
    if uses_database(task.collection, task.settings.store):
        return await _crawl_in_database(task, reader, writer)
    shared = SharedCounters(counts, workers=task.workers, number=task.number)
    peers = WorkerPeers(
        task.number, task.workers, counts=shared, send=lambda message: writer.write(pack_message(message))
    )
    stop = StopSignal()
    crawl = build_crawl(task.collection, task.settings, stop=stop, forever=task.forever, peers=peers)
    async with crawl:
        listening = asyncio.create_task(peers.listen(reader, crawl, stop))
        await crawl.begin(refresh=task.refresh)
        reporting = asyncio.create_task(_report(lambda: worker_report(crawl), writer))
        try:
            async with watch_requests(crawl, task.collection, WorkerPart(task.number, task.workers)):
                ended = await crawl.run()
        finally:
            reporting.cancel()
            listening.cancel()
    return WorkerDone(ended, worker_report(crawl, with_times=True))


async def _crawl_in_database(
    task: WorkerTask, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> WorkerDone:
    """Join the cluster in the database; the supervisor only gets reports and can stop the worker."""
    from evercrawl.cluster.database_worker import (
        CrawlTask,  # the PostgreSQL driver is an extra
        run_worker,
    )

    stop, totals = StopSignal(), RunTotals()
    listening = asyncio.create_task(_follow_stops(reader, stop))
    reporting = asyncio.create_task(_report(totals.combined_report, writer))
    try:
        ended = await run_worker(
            CrawlTask(task.collection, task.settings, task.refresh, task.forever), totals, stop=stop
        )
    finally:
        reporting.cancel()
        listening.cancel()
        # Two tasks may not read the connection at the same time: the next one waits for the end of this.
        await asyncio.gather(reporting, listening, return_exceptions=True)
    return WorkerDone(ended, totals.combined_report())


async def _follow_stops(reader: asyncio.StreamReader, stop: StopSignal) -> None:
    while (message := await read_message(reader)) is not None:
        if isinstance(message, StopWorker):
            stop.finish() if message.stage == 1 else stop.cancel()
    stop.cancel()


async def _report(report: Callable[[], WorkerReport], writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(pack_message(report()))
        await writer.drain()
        await asyncio.sleep(REPORT_EVERY_S)


def main() -> None:
    """Work until the run is over. Ctrl-C goes to the supervisor, which forwards it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    descriptor, counts = map(int, sys.argv[1:3])
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(_serve(descriptor, counts))


if __name__ == "__main__":
    main()
