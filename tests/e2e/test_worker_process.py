"""Messages between a worker process and its supervisor at the end of a run."""

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

TIMEOUT_S = 60


def test_a_finished_worker_still_accepts_messages(tmp_path: Path) -> None:
    """Messages that cross the worker's last one must not reset the connection, or the last one may be lost."""
    create_collection(tmp_path / "c", {"scope.seeds": ("http://127.0.0.1:1/",)})
    task = WorkerTask(tmp_path / "c", Settings(), 0, 1, False, False, os.getcwd())

    async def talk() -> int:
        ours, theirs = socket.socketpair()
        counts = create_shared_memory(1)
        arguments = ("-m", "evercrawl.cluster.worker_process", str(theirs.fileno()), str(counts))
        process = await asyncio.create_subprocess_exec(sys.executable, *arguments, pass_fds=(theirs.fileno(), counts))
        theirs.close()
        reader, writer = await asyncio.open_connection(sock=ours)
        writer.write(pack_message(task))
        while not isinstance(message := await read_message(reader), WorkerDone):
            assert message is not None, "the worker ended unexpectedly"
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

    assert asyncio.run(asyncio.wait_for(talk(), TIMEOUT_S)) == 0
