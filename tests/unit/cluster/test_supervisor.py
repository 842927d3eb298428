"""The supervisor ends a run only when every worker is idle and says so again when asked."""

from __future__ import annotations

import asyncio
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from evercrawl.cluster.supervisor import Supervisor, _WorkerHandle
from evercrawl.cluster.worker_messages import CheckIdle, DeliverLinks, RunOver, WorkerIdle, pack_message
from evercrawl.engine.runtime import Ended, StopSignal
from evercrawl.model.page import LinkBatch
from evercrawl.model.settings import Settings


class Writer:
    """Keeps the messages that the supervisor sends."""

    def __init__(self) -> None:
        self.sent: list[Any] = []

    def write(self, packed: bytes) -> None:
        self.sent.append(pickle.loads(packed[8:]))

    def is_closing(self) -> bool:
        return False


def test_a_worker_that_found_work_by_itself_holds_up_the_end() -> None:
    async def story() -> None:
        supervisor = Supervisor(Path(), Settings(), workers=2, shares=[0.5, 0.5], stop=StopSignal())
        writers, readers = [Writer(), Writer()], [asyncio.StreamReader(), asyncio.StreamReader()]
        process: Any = SimpleNamespace()
        for number, writer in enumerate(writers):
            connection: Any = writer
            supervisor._handles[number] = _WorkerHandle(process, connection)

        async def say(number: int, message: object) -> None:
            readers[number].feed_data(pack_message(message))
            await asyncio.sleep(0.01)

        listening = [asyncio.create_task(supervisor._listen(number, reader)) for number, reader in enumerate(readers)]
        await say(0, WorkerIdle(Ended.CLOSED, received=0, checks=0))
        await say(1, WorkerIdle(Ended.DONE, received=0, checks=0))
        assert [writer.sent for writer in writers] == [[CheckIdle()], [CheckIdle()]]
        await say(1, WorkerIdle(Ended.DONE, received=0, checks=1))
        await say(0, WorkerIdle(None, received=0, checks=1))  # A page has become due.
        batch = LinkBatch(1, 0, 1, b"")
        await say(0, DeliverLinks(batch))
        await say(0, WorkerIdle(Ended.DONE, received=0, checks=1))
        assert writers[1].sent == [CheckIdle(), DeliverLinks(batch)], "the other has not followed the link yet"
        await say(1, WorkerIdle(Ended.DONE, received=1, checks=1))
        assert writers[0].sent == [CheckIdle(), CheckIdle()]
        await say(0, WorkerIdle(Ended.DONE, received=0, checks=2))
        await say(1, WorkerIdle(Ended.DONE, received=1, checks=2))
        assert [writer.sent[-1] for writer in writers] == [RunOver(), RunOver()]
        for reader in readers:
            reader.feed_eof()
        await asyncio.gather(*listening)

    asyncio.run(story())
