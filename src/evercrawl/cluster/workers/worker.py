"""One worker: `python -m evercrawl.cluster.workers.worker SOCKET COUNTS`, started by `crew` with both descriptors."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
from collections.abc import Callable
from logging.handlers import QueueHandler

from evercrawl.adapters.system import reduce_gc_frequency
from evercrawl.cluster.build import build_crawl, is_in_database
from evercrawl.cluster.totals import MergedRun, Report, report_of
from evercrawl.cluster.visit_requests import WorkerPart, heeding
from evercrawl.cluster.workers.counts import SharedCounts
from evercrawl.cluster.workers.link import Link
from evercrawl.cluster.workers.message import Broke, Done, Logged, Orders, Stop, next_message, packed
from evercrawl.engine.runtime import StopSignal
from evercrawl.errors import BugFound, EvercrawlError

REPORT_EVERY_S = 0.25


class _Told(QueueHandler):
    """Log records go to the process that has the log file."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        super().__init__(None)  # type: ignore[arg-type]  # nothing is queued: see enqueue
        self._writer = writer

    def enqueue(self, record: logging.LogRecord) -> None:
        self._writer.write(packed(Logged(record)))


async def _serve(descriptor: int, counts: int) -> None:
    reader, writer = await asyncio.open_connection(sock=socket.socket(fileno=descriptor))
    orders = await next_message(reader)
    if not isinstance(orders, Orders):
        return
    log = logging.getLogger("evercrawl")
    log.addHandler(_Told(writer))
    log.setLevel(logging.INFO)
    try:
        last: object = await _crawl(orders, reader, writer, counts)
    except EvercrawlError as error:
        last = Broke(error)
    except Exception as defect:
        log.exception("a worker broke")
        last = Broke(BugFound(f"a worker broke: {type(defect).__name__}: {defect}"))
    writer.write(packed(last))
    await writer.drain()
    # A word of the crew that finds nobody would break the connection, and our last one might be lost with it.
    while await next_message(reader) is not None:
        pass
    writer.close()
    await writer.wait_closed()


async def _crawl(orders: Orders, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, counts: int) -> Done:
    if orders.settings.scope.plugins:
        sys.path.insert(0, orders.plugin_folder)
    if is_in_database(orders.collection, orders.settings.store):
        return await _as_member(orders, reader, writer)
    shared = SharedCounts(counts, workers=orders.workers, number=orders.number)
    link = Link(orders.number, orders.workers, counts=shared, send=lambda message: writer.write(packed(message)))
    stop = StopSignal()
    crawl = build_crawl(orders.collection, orders.settings, stop=stop, forever=orders.forever, neighbours=link)
    async with crawl:
        listening = asyncio.create_task(link.listen(reader, crawl, stop))
        await crawl.begin(refresh=orders.refresh)
        reporting = asyncio.create_task(_report(lambda: report_of(crawl), writer))
        try:
            async with heeding(crawl, orders.collection, WorkerPart(orders.number, orders.workers)):
                ended = await crawl.run()
        finally:
            reporting.cancel()
            listening.cancel()
    return Done(ended, report_of(crawl, with_times=True))


async def _as_member(orders: Orders, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Done:
    """The database holds the workers together; who started us only hears how it goes, and may stop us."""
    from evercrawl.cluster.ground import Task  # the database's library is an extra
    from evercrawl.cluster.run import work

    stop, facts = StopSignal(), MergedRun()
    listening = asyncio.create_task(_obey(reader, stop))
    reporting = asyncio.create_task(_report(facts.together, writer))
    try:
        task = Task(orders.collection, orders.settings, orders.refresh, orders.forever)
        ended = await work(task, facts, stop=stop)
    finally:
        reporting.cancel()
        listening.cancel()
    return Done(ended, facts.together())


async def _obey(reader: asyncio.StreamReader, stop: StopSignal) -> None:
    while (message := await next_message(reader)) is not None:
        if isinstance(message, Stop):
            stop.finish() if message.stage == 1 else stop.cancel()
    stop.cancel()


async def _report(report: Callable[[], Report], writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(packed(report()))
        await writer.drain()
        await asyncio.sleep(REPORT_EVERY_S)


def main() -> None:
    """Serve until the run is over. Ctrl-C is for the process that started us, which passes it on."""
    import uvloop

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    descriptor, counts = map(int, sys.argv[1:3])
    reduce_gc_frequency()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(descriptor, counts))


if __name__ == "__main__":
    main()
