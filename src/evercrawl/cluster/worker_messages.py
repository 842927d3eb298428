"""What workers and the process that started them say to each other, over a pair of sockets."""

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
    """The first message that a worker gets."""

    collection: Path
    settings: Settings
    number: int
    workers: int
    refresh: bool
    forever: bool
    plugin_folder: str


class DeliverLinks(NamedTuple):
    """Links for a shard of the receiver."""

    parcel: LinkBatch


class ConfirmLinks(NamedTuple):
    """Every parcel of `source` up to this one is stored by `target`."""

    source: int
    target: int
    seq: int


class OfferUrl(NamedTuple):
    """A URL that was refused once and belongs now."""

    candidate: Candidate
    shard: int


class RemoteFetch(NamedTuple):
    """A request at a site of the receiver, for the worker `sender`."""

    request: Request
    shard: int
    sender: int
    token: int


class RemoteFetchResult(NamedTuple):
    """How the request of that number ended."""

    result: FetchResult
    receiver: int
    token: int


class SeedMoved(NamedTuple):
    """A seed has moved to another host."""

    seed: str
    target: str


class WorkerIdle(NamedTuple):
    """Nothing is left to do after `received` messages from others."""

    ended: Ended
    received: int


class RunOver(NamedTuple):
    """Nobody has anything left to do."""


class StopWorker(NamedTuple):
    """The operator ends the run: 1 gently, 2 at once."""

    stage: int


class WorkerRestarted(NamedTuple):
    """The worker of this number has died and was started anew."""

    number: int


class WorkerLogRecord(NamedTuple):
    """A line for the log."""

    record: LogRecord


class WorkerDone(NamedTuple):
    """The worker has saved everything and ends."""

    ended: Ended
    report: WorkerReport


class WorkerFailed(NamedTuple):
    """The worker cannot go on."""

    error: EvercrawlError


PeerMessage = DeliverLinks | ConfirmLinks | OfferUrl | RemoteFetch | RemoteFetchResult | SeedMoved
"""What one worker says to another."""


def pack_message(message: object) -> bytes:
    """A message as bytes. Both ends are processes that we started: nothing foreign is read."""
    body = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(body)) + body


async def read_message(reader: asyncio.StreamReader) -> object | None:
    """The next message; None: the other end is gone."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        message: object = pickle.loads(await reader.readexactly(length))
        return message
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
