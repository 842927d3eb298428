"""The last words between a worker and the crew that started it."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from pathlib import Path

from evercrawl.cluster.workers.counts import shared_memory
from evercrawl.cluster.workers.message import Done, Orders, Over, Quiet, Stop, next_message, packed
from evercrawl.config import create_collection
from evercrawl.model.settings import Settings

PATIENCE_S = 60


def test_a_worker_that_is_done_can_still_be_spoken_to(tmp_path: Path) -> None:
    """Words that cross its last one must not break the connection, for then the last one might be lost."""
    create_collection(tmp_path / "c", {"scope.seeds": ("http://127.0.0.1:1/",)})
    orders = Orders(tmp_path / "c", Settings(), 0, 1, False, False, os.getcwd())

    async def talk() -> int:
        ours, theirs = socket.socketpair()
        counts = shared_memory(1)
        arguments = ("-m", "evercrawl.cluster.workers.worker", str(theirs.fileno()), str(counts))
        process = await asyncio.create_subprocess_exec(sys.executable, *arguments, pass_fds=(theirs.fileno(), counts))
        theirs.close()
        reader, writer = await asyncio.open_connection(sock=ours)
        writer.write(packed(orders))
        while not isinstance(message := await next_message(reader), Done):
            assert message is not None, "it ended without a word"
            if isinstance(message, Quiet):
                writer.write(packed(Over()))
        for _ in range(20):
            writer.write(packed(Stop(1)))
            await writer.drain()
            await asyncio.sleep(0.01)
        assert process.returncode is None
        writer.close()
        await writer.wait_closed()
        os.close(counts)
        return await process.wait()

    assert asyncio.run(asyncio.wait_for(talk(), PATIENCE_S)) == 0
