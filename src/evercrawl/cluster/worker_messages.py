"""Messages between workers and their supervisor, over a socket pair."""

from __future__ import annotations

import asyncio
import pickle
from logging import LogRecord
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from evercrawl.cluster.totals import WorkerReport
from evercrawl.engine.runtime import Ended
from evercrawl.errors import EvercrawlError
from evercrawl.model.fetch import FetchResult, Request
from evercrawl.model.page import Candidate, LinkBatch
from evercrawl.model.settings import Settings

_LENGTH = Struct("<Q")


class WorkerTask(NamedTuple):
    """The first message to a worker."""

    collection: Path
    settings: Settings
    number: int
    workers: int
    refresh: bool
    forever: bool
    plugin_folder: str


class DeliverLinks(NamedTuple):
    """Links for a shard of the receiver."""

    batch: LinkBatch


class ConfirmLinks(NamedTuple):
    """`target` has stored every batch of `source` up to this one."""

    source: int
    target: int
    seq: int


class OfferUrl(NamedTuple):
    """A URL that was refused before and is now in scope."""

    candidate: Candidate
    shard: int


class RemoteFetch(NamedTuple):
    """A request to a site of the receiver, for the worker `sender`."""

    request: Request
    shard: int
    sender: int
    token: int


class RemoteFetchResult(NamedTuple):
    """The result of a remote fetch."""

    result: FetchResult
    receiver: int
    token: int


class SeedMoved(NamedTuple):
    """A seed has moved to another host."""

    seed: str
    target: str


class WorkerIdle(NamedTuple):
    """The worker is idle after `received` messages from others and `checks` checks; it is not if `ended` is None."""

    ended: Ended | None
    received: int
    checks: int


class CheckIdle(NamedTuple):
    """Every worker is asked whether it is still idle: a page may have become due since it said so."""


class RunOver(NamedTuple):
    """All workers are idle."""


class StopWorker(NamedTuple):
    """The operator stops the run: stage 1 gracefully, stage 2 immediately."""

    stage: int


class WorkerRestarted(NamedTuple):
    """A worker died and was restarted."""

    number: int


class WorkerLogRecord(NamedTuple):
    """A record for the log."""

    record: LogRecord


class WorkerDone(NamedTuple):
    """The worker has saved everything and ends."""

    ended: Ended
    report: WorkerReport


class WorkerFailed(NamedTuple):
    """The worker ends with an error."""

    error: EvercrawlError


PeerMessage = DeliverLinks | ConfirmLinks | OfferUrl | RemoteFetch | RemoteFetchResult | SeedMoved
"""Messages that one worker sends to another."""


def pack_message(message: object) -> bytes:
    """Serialise a message. Both ends are our own processes, so pickle is safe here."""
    body = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(body)) + body


async def read_message(reader: asyncio.StreamReader) -> object | None:
    """Return the next message, or None at the end of the connection."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        message: object = pickle.loads(await reader.readexactly(length))
        return message
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
