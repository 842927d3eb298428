"""The last words between a worker and the crew that started it."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from pathlib import Path

from evercrawl.cluster.totals import create_shared_memory
from evercrawl.cluster.worker_messages import (
    RunOver,
    StopWorker,
    WorkerDone,
    WorkerIdle,
    WorkerTask,
    pack_message,
    read_message,
)
from evercrawl.config import create_collection
from evercrawl.model.settings import Settings

PATIENCE_S = 60


def test_a_worker_that_is_done_can_still_be_spoken_to(tmp_path: Path) -> None:
    """Words that cross its last one must not break the connection, for then the last one might be lost."""
    create_collection(tmp_path / "c", {"scope.seeds": ("http://127.0.0.1:1/",)})
    orders = WorkerTask(tmp_path / "c", Settings(), 0, 1, False, False, os.getcwd())

    async def talk() -> int:
        ours, theirs = socket.socketpair()
        counts = create_shared_memory(1)
        arguments = ("-m", "evercrawl.cluster.worker_process", str(theirs.fileno()), str(counts))
        process = await asyncio.create_subprocess_exec(sys.executable, *arguments, pass_fds=(theirs.fileno(), counts))
        theirs.close()
        reader, writer = await asyncio.open_connection(sock=ours)
        writer.write(pack_message(orders))
        while not isinstance(message := await read_message(reader), WorkerDone):
            assert message is not None, "it ended without a word"
            if isinstance(message, WorkerIdle):
                writer.write(pack_message(RunOver()))
        for _ in range(20):
            writer.write(pack_message(StopWorker(1)))
            await writer.drain()
            await asyncio.sleep(0.01)
        assert process.returncode is None
        writer.close()
        await writer.wait_closed()
        os.close(counts)
        return await process.wait()

    assert asyncio.run(asyncio.wait_for(talk(), PATIENCE_S)) == 0
