"""The change history that is replayed: from a trace file, or from the versions of a collection."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from itertools import groupby, pairwise
from pathlib import Path

from xxhash import xxh64_intdigest

from evercrawl.adapters.sqlite.reader import ROWS_AT_A_TIME, StateReader
from evercrawl.engine.revisits import hub_of
from evercrawl.errors import ConfigError
from evercrawl.lab.trace import Trace, TracePage, read_trace
from evercrawl.model.listing import VersionMoment
from evercrawl.model.reason import Reason
from evercrawl.model.time import DAY_US

LEAST_DAYS = 2.0
"""A shorter history says nothing: decisions are made every six hours, and a quarter is warm-up."""
_VANISHED = frozenset({Reason.NOT_FOUND, Reason.GONE})
_UNREADABLE = (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError, StopIteration)


def trace_in(file: Path, *, most_pages: int) -> Trace:
    """The trace of a file; ConfigError where it cannot be read as one."""
    try:
        trace = read_trace(file, most_pages=most_pages)
    except FileNotFoundError:
        raise ConfigError(f"there is no trace {file}") from None
    except _UNREADABLE as error:
        raise ConfigError(
            f"{file} is not a trace that can be read ({type(error).__name__}: {error}); the first line must "
            "be a header with site, start and end, each further line a page with hub, birth, death and "
            "changes_delta"
        ) from error
    return _checked(trace, str(file))


def trace_of(collection: Path, *, most_pages: int) -> Trace:
    """The history of a collection: a page lives from when it was found, and changed somewhere between the
    last visit that saw the old version and the first that saw the new one.
    """
    reader = StateReader(collection)
    stride = max(1, -(-reader.totals(0).pages // most_pages))
    pages = [moments for shard in reader.shards() for moments in _histories(reader, shard, stride)]
    start = min((moments[0].found_us for moments in pages), default=0)
    end = max((moments[0].last_us or 0 for moments in pages), default=0)
    lives = tuple(_life(moments, start) for moments in pages)
    return _checked(Trace(collection.name, (end - start) / DAY_US, lives), str(collection))


def _checked(trace: Trace, name: str) -> Trace:
    if trace.days < LEAST_DAYS or not trace.pages:
        raise ConfigError(
            f"{name} covers {max(trace.days, 0.0):.1f} days of {len(trace.pages)} pages; a replay needs "
            f"{LEAST_DAYS:g} days or more"
        )
    return trace


def _histories(reader: StateReader, shard: int, stride: int) -> Iterator[list[VersionMoment]]:
    """The versions of every so many-th page, in portions."""
    with reader.shard(shard) as state:
        for after in range(0, state.next_id(), ROWS_AT_A_TIME):
            rows = state.histories(after, after + ROWS_AT_A_TIME)
            for number, moments in groupby(rows, key=lambda row: row.page_id):
                if number % stride == 0:
                    yield list(moments)


def _life(moments: list[VersionMoment], start_us: int) -> TracePage:
    first = moments[0]
    death = None
    if first.reason in _VANISHED and first.last_us is not None:
        death = (first.last_us - start_us) / DAY_US
    changes = [_changed_at(before, after) for before, after in pairwise(moments)]
    days = sorted((at - start_us) / DAY_US for at in changes)
    return TracePage(hub_of(first.url), (first.found_us - start_us) / DAY_US, death, tuple(days))


def _changed_at(before: VersionMoment, after: VersionMoment) -> float:
    """A moment of the span in which the page changed, the same at every call."""
    early = after.changed_after_us if after.changed_after_us is not None else before.seen_us
    draw = xxh64_intdigest(after.url.encode("utf-8", "surrogatepass"), seed=after.number) / 2**64
    return early + draw * max(after.seen_us - early, 0)
