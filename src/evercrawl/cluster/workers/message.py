"""What workers and the process that started them say to each other, over a pair of sockets."""

from __future__ import annotations

import asyncio
import pickle
from logging import LogRecord
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from evercrawl.cluster.totals import Report
from evercrawl.engine.runtime import Ended
from evercrawl.errors import EvercrawlError
from evercrawl.model.fetch import FetchResult, Request
from evercrawl.model.page import Candidate, LinkBatch
from evercrawl.model.settings import Settings

_LENGTH = Struct("<Q")


class Orders(NamedTuple):
    """The first message that a worker gets."""

    collection: Path
    settings: Settings
    number: int
    workers: int
    refresh: bool
    forever: bool
    plugin_folder: str


class Bring(NamedTuple):
    """Links for a shard of the receiver."""

    parcel: LinkBatch


class Confirm(NamedTuple):
    """Every parcel of `source` up to this one is stored by `target`."""

    source: int
    target: int
    seq: int


class Offer(NamedTuple):
    """A URL that was refused once and belongs now."""

    candidate: Candidate
    shard: int


class Ask(NamedTuple):
    """A request at a site of the receiver, for the worker `sender`."""

    request: Request
    shard: int
    sender: int
    token: int


class Answer(NamedTuple):
    """How the request of that number ended."""

    result: FetchResult
    receiver: int
    token: int


class Adopted(NamedTuple):
    """A seed has moved to another host."""

    seed: str
    target: str


class Quiet(NamedTuple):
    """Nothing is left to do after `heard` messages from others."""

    ended: Ended
    heard: int


class Over(NamedTuple):
    """Nobody has anything left to do."""


class Stop(NamedTuple):
    """The operator ends the run: 1 gently, 2 at once."""

    stage: int


class Reborn(NamedTuple):
    """The worker of this number has died and was started anew."""

    number: int


class Logged(NamedTuple):
    """A line for the log."""

    record: LogRecord


class Done(NamedTuple):
    """The worker has saved everything and ends."""

    ended: Ended
    report: Report


class Broke(NamedTuple):
    """The worker cannot go on."""

    error: EvercrawlError


Routed = Bring | Confirm | Offer | Ask | Answer | Adopted
"""What one worker says to another."""


def packed(message: object) -> bytes:
    """A message as bytes. Both ends are processes that we started: nothing foreign is read."""
    body = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(body)) + body


async def next_message(reader: asyncio.StreamReader) -> object | None:
    """The next message; None: the other end is gone."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        message: object = pickle.loads(await reader.readexactly(length))
        return message
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
