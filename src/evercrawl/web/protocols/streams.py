"""What happens, as it happens: visits from the log of every shard, as lines of JSON or server-sent events."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from heapq import merge
from itertools import islice
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from evercrawl.adapters.sql.listing_reader import each_listing, open_listing
from evercrawl.adapters.sql.state_reader import shards_of
from evercrawl.adapters.sqlite.store import shard_path
from evercrawl.collection.runs import live_run
from evercrawl.collection.site_list import busiest_sites, newest_visits
from evercrawl.collection.visit_log import heritrix_line, iterate_visits
from evercrawl.model.listing import VisitLogRow, VisitRow
from evercrawl.web.app_state import AppState
from evercrawl.web.format import json_line, to_plain
from evercrawl.web.pages.site_pages import known_site
from evercrawl.web.route import BadRequest, Inputs, Parameter

MOST_AT_A_TIME = 500
LOOK_EVERY_S = 1.0
LONGEST_STREAM_S = 3600.0
MOST_STREAMS = 200
SAMPLES = 90
SHOWN_VISITS = 25
LANES_SHOWN = 10
EVENT_PARAMETERS = (
    Parameter(
        "after", "Only behind this place: `place` of an event. Default: from the beginning; `now`: only new ones."
    ),
    Parameter(
        "follow", "Wait for what comes; a client that accepts text/event-stream always does.", "bool", default=False
    ),
    Parameter("limit", "End after so many events.", "integer", default=10_000, minimum=1, maximum=1_000_000),
)
_PLACE = re.compile(r"(\d{1,4}-\d{1,15})(_\d{1,4}-\d{1,15})*", re.ASCII)
Lines = dict[int, int]


def position_text(lines: Lines) -> str:
    """How far every shard's log was read, as one word."""
    return "_".join(f"{shard}-{line}" for shard, line in sorted(lines.items()))


def parse_position(word: str) -> Lines:
    """The same back; BadRequest where it is none."""
    if not word:
        return {}
    if not _PLACE.fullmatch(word):
        raise BadRequest("after is not a place of the stream")
    return {int(shard): int(line) for shard, line in (part.split("-") for part in word.split("_"))}


def end_position(collection: Path) -> Lines:
    """The newest line of every shard's log."""
    return {shard: reader.last_line() for shard, reader in each_listing(collection)}


def read_events(collection: Path, lines: Lines, mtimes: dict[int, int]) -> list[tuple[int, VisitRow]]:
    """The next visits in the order of time, each with its shard; files that did not change are not opened."""
    found: list[list[tuple[int, int, VisitRow]]] = []
    for shard in shards_of(collection):
        changed = _changed_ns(collection, shard)
        if mtimes.get(shard) == changed:
            continue
        with open_listing(collection, shard) as reader:
            visits = reader.next_visits(lines.get(shard, 0), MOST_AT_A_TIME)
        if len(visits) < MOST_AT_A_TIME:
            mtimes[shard] = changed
        found.append([(visit.at_us, shard, visit) for visit in visits])
    return [(shard, visit) for _, shard, visit in merge(*found, key=lambda row: row[:2])]


def _changed_ns(collection: Path, shard: int) -> int:
    path = shard_path(collection, shard)
    newest = 0
    for file in (path, path.with_name(path.name + "-wal")):
        try:
            newest = max(newest, file.stat().st_mtime_ns)
        except OSError:
            continue
    return newest


class EventStream:
    """The stream of the API."""

    def __init__(self, state: AppState) -> None:
        self.state = state
        self.open = 0

    async def __call__(self, request: Request, values: dict[str, Any]) -> Response:
        is_sse = "text/event-stream" in request.headers.get("accept", "")
        after = request.headers.get("last-event-id") or values["after"] or ""
        lines = await run_in_threadpool(end_position, self.state.path) if after == "now" else parse_position(after)
        if self.open >= MOST_STREAMS:
            raise BadRequest("too many streams are open", 503)
        stream = self._stream(lines, follow=is_sse or values["follow"], most=values["limit"], is_sse=is_sse)
        kind = "text/event-stream" if is_sse else "application/x-ndjson"
        return StreamingResponse(stream, media_type=kind, headers={"X-Accel-Buffering": "no"})

    async def _stream(self, lines: Lines, *, follow: bool, most: int, is_sse: bool) -> AsyncIterator[bytes]:
        self.open += 1
        mtimes: dict[int, int] = {}
        end = asyncio.get_running_loop().time() + LONGEST_STREAM_S
        try:
            while most > 0 and asyncio.get_running_loop().time() < end and not self.state.is_stopping:
                visits = await run_in_threadpool(read_events, self.state.path, lines, mtimes)
                for shard, visit in visits[:most]:
                    lines[shard] = visit.line
                    place = position_text(lines)
                    line = json_line({"event": "visit", **to_plain(visit), "place": place})
                    yield f"event: visit\nid: {place}\ndata: ".encode() + line + b"\n" if is_sse else line
                most -= len(visits)
                if not visits:
                    if not follow:
                        return
                    if is_sse:
                        yield b": still here\n\n"
                    await asyncio.sleep(LOOK_EVERY_S)
        finally:
            self.open -= 1


class LiveStream:
    """What the live page shows, computed once a second however many look at it."""

    def __init__(self, state: AppState) -> None:
        self.state = state
        self._listeners: set[asyncio.Queue[bytes]] = set()
        self._task: asyncio.Task[None] | None = None
        self._rates: list[float] = []
        self._before: tuple[float, int] | None = None

    async def __call__(self, request: Request) -> Response:
        if len(self._listeners) >= MOST_STREAMS:
            raise BadRequest("too many streams are open", 503)
        return StreamingResponse(self._beats(), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})

    async def _beats(self) -> AsyncIterator[bytes]:
        queue: asyncio.Queue[bytes] = asyncio.Queue(maxsize=2)
        self._listeners.add(queue)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._beat())
        try:
            while not self.state.is_stopping:
                try:
                    beat = await asyncio.wait_for(queue.get(), LOOK_EVERY_S)
                except TimeoutError:
                    continue
                yield b"event: live\ndata: " + beat + b"\n"
        finally:
            self._listeners.discard(queue)

    async def _beat(self) -> None:
        while self._listeners and not self.state.is_stopping:
            line = await run_in_threadpool(self._now)
            for queue in self._listeners:
                if not queue.full():
                    queue.put_nowait(line)
            await asyncio.sleep(LOOK_EVERY_S)

    def _now(self) -> bytes:
        run = live_run(self.state.path, now=self.state.now())
        if run is not None:
            at, requests = run.at.timestamp(), run.progress.requests
            if self._before is not None and at > self._before[0]:
                rate = max(0.0, (requests - self._before[1]) / (at - self._before[0]))
                self._rates = [*self._rates, round(rate, 2)][-SAMPLES:]
            self._before = (at, requests)
        visits = newest_visits(self.state.path, SHOWN_VISITS)
        lanes = self.state.remembered("lanes", lambda: busiest_sites(self.state.path, LANES_SHOWN), least_s=1)
        told = {"run": run, "rates": self._rates, "visits": visits, "lanes": lanes or []}
        return json_line({**told, "child": self.state.crawl.pid})


LINES_AT_A_TIME = 200
"""Lines that go out together."""
LOG_RANGE = (
    Parameter("since", "From when on: 7d, 2026-11-01. To go on: the moment of the last line.", "time"),
    Parameter("until", "Up to when.", "time"),
    Parameter("limit", "End after so many lines.", "integer", default=1_000_000, minimum=1, maximum=10_000_000),
)
LOG_PARAMETERS = (Parameter("site", "Only of this site."), *LOG_RANGE)


def crawl_log(state: AppState, inputs: Inputs) -> Response:
    """The lines that were inputs for, as a file."""
    return log_file(state, inputs.values)


def log_file(state: AppState, values: Mapping[str, Any], *, for_owner: bool = False) -> Response:
    """The log as a download; owners of a site do not learn which pages of others lead to theirs."""
    site = values["site"] and known_site(state, values["site"])[1].name
    visits = iterate_visits(state.path, state.settings, site=site, since=values["since"], until=values["until"])
    lines = _lines(state, islice(visits, values["limit"]), site if for_owner else None)
    headers = {"Content-Disposition": 'attachment; filename="crawl.log"', "X-Accel-Buffering": "no"}
    return StreamingResponse(lines, media_type="text/plain", headers=headers)


def _lines(state: AppState, visits: Iterator[VisitLogRow], only_site: str | None) -> Iterator[bytes]:
    while not state.is_stopping and (some := list(islice(visits, LINES_AT_A_TIME))):
        yield "".join(_line(visit, only_site) for visit in some).encode()


def _line(visit: VisitLogRow, only_site: str | None) -> str:
    is_told = only_site is None or (visit.parent or "").startswith(f"{only_site}/")
    return heritrix_line(visit, with_parent=is_told) + "\n"
