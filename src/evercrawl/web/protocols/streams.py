"""Streams of visits: NDJSON, server-sent events, crawl.log, and the live page."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from itertools import islice
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from evercrawl.collection.runs import LiveRun, check_readable, live_run
from evercrawl.collection.site_list import newest_visits
from evercrawl.collection.visit_log import LogPosition, end_position, heritrix_line, iterate_visits, read_events
from evercrawl.model.listing import VisitLogRow
from evercrawl.model.report import Status
from evercrawl.web.app_state import AppState
from evercrawl.web.format import json_line, to_plain
from evercrawl.web.pages.overview import crawl_state
from evercrawl.web.pages.site_pages import known_site
from evercrawl.web.route import BadRequest, Inputs, Parameter

POLL_EVERY_S = 1.0
MAX_STREAM_S = 3600.0
MAX_STREAMS = 200
SAMPLES = 90
SHOWN_VISITS = 25
EVENT_PARAMETERS = (
    Parameter(
        "after", "Only events after this `position` of an event. Default: from the beginning; `now`: only new ones."
    ),
    Parameter("follow", "Wait for new events. Always on for text/event-stream.", "bool", default=False),
    Parameter("limit", "Maximum number of events.", "integer", default=10_000, minimum=1, maximum=1_000_000),
)
_POSITION = re.compile(r"(\d{1,4}-\d{1,15})(_\d{1,4}-\d{1,15})*", re.ASCII)


def position_text(lines: LogPosition) -> str:
    """Return a position in the logs of all shards as text."""
    return "_".join(f"{shard}-{line}" for shard, line in sorted(lines.items()))


def parse_position(text: str) -> LogPosition:
    """Parse a position; raise BadRequest if it is not valid."""
    if not text:
        return {}
    if not _POSITION.fullmatch(text):
        raise BadRequest("after is not a position of the stream")
    return {int(shard): int(line) for shard, line in (part.split("-") for part in text.split("_"))}


class EventStream:
    """The stream of visits for programs."""

    def __init__(self, state: AppState) -> None:
        self.state = state
        self.open = 0

    async def __call__(self, request: Request, values: dict[str, Any]) -> Response:
        is_sse = "text/event-stream" in request.headers.get("accept", "")
        after = request.headers.get("last-event-id") or values["after"] or ""
        lines = await run_in_threadpool(end_position, self.state.path) if after == "now" else parse_position(after)
        if self.open >= MAX_STREAMS:
            raise BadRequest("too many open streams; try again later", 503)
        stream = self._stream(lines, follow=is_sse or values["follow"], limit=values["limit"], is_sse=is_sse)
        kind = "text/event-stream" if is_sse else "application/x-ndjson"
        return StreamingResponse(stream, media_type=kind, headers={"X-Accel-Buffering": "no"})

    async def _stream(self, lines: LogPosition, *, follow: bool, limit: int, is_sse: bool) -> AsyncIterator[bytes]:
        self.open += 1
        mtimes: dict[int, int] = {}
        end = asyncio.get_running_loop().time() + MAX_STREAM_S
        try:
            while limit > 0 and asyncio.get_running_loop().time() < end and not self.state.is_stopping:
                visits = await run_in_threadpool(read_events, self.state.path, lines, mtimes)
                for shard, visit in visits[:limit]:
                    lines[shard] = visit.line
                    position = position_text(lines)
                    line = json_line({"event": "visit", **to_plain(visit), "position": position})
                    yield f"event: visit\nid: {position}\ndata: ".encode() + line + b"\n" if is_sse else line
                limit -= len(visits)
                if not visits:
                    if not follow:
                        return
                    if is_sse:
                        yield b": keep-alive\n\n"
                    await asyncio.sleep(POLL_EVERY_S)
        finally:
            self.open -= 1


class LiveStream:
    """The data of the live page, computed once per second for all listeners."""

    def __init__(self, state: AppState) -> None:
        self.state = state
        self._listeners: set[asyncio.Queue[bytes]] = set()
        self._task: asyncio.Task[None] | None = None
        self._rates: list[float] = []
        self._before: tuple[float, int] | None = None

    async def __call__(self, request: Request) -> Response:
        if len(self._listeners) >= MAX_STREAMS:
            raise BadRequest("too many open streams; try again later", 503)
        return StreamingResponse(self._updates(), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})

    async def _updates(self) -> AsyncIterator[bytes]:
        queue: asyncio.Queue[bytes] = asyncio.Queue(maxsize=2)
        self._listeners.add(queue)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._publish())
        try:
            while not self.state.is_stopping:
                try:
                    update = await asyncio.wait_for(queue.get(), POLL_EVERY_S)
                except TimeoutError:
                    continue
                yield b"event: live\ndata: " + update + b"\n"
        finally:
            self._listeners.discard(queue)

    async def _publish(self) -> None:
        while self._listeners and not self.state.is_stopping:
            line = await run_in_threadpool(self._current)
            for queue in self._listeners:
                if not queue.full():
                    queue.put_nowait(line)
            await asyncio.sleep(POLL_EVERY_S)

    def _current(self) -> bytes:
        run = live_run(self.state.path, now=self.state.now())
        if run is not None:
            at, requests = run.at.timestamp(), run.progress.requests
            if self._before is not None and at > self._before[0]:
                rate = max(0.0, (requests - self._before[1]) / (at - self._before[0]))
                self._rates = [*self._rates, round(rate, 2)][-SAMPLES:]
            self._before = (at, requests)
        visits = newest_visits(self.state.path, SHOWN_VISITS)
        return json_line({**crawl_state(self.state), "rates": self._rates, "visits": visits})


LINES_AT_A_TIME = 200  # Lines per chunk of the response.
LOG_RANGE = (
    Parameter("since", "Visits since then: 7d, 2026-11-01. To continue: the time of the last line.", "time"),
    Parameter("until", "Visits until then.", "time"),
    Parameter("limit", "Maximum number of lines.", "integer", default=1_000_000, minimum=1, maximum=10_000_000),
)
LOG_PARAMETERS = (Parameter("site", "Only visits to this site."), *LOG_RANGE)


def crawl_log(state: AppState, inputs: Inputs) -> Response:
    """Return the requested lines as a file."""
    return log_file(state, inputs.values)


def log_file(state: AppState, values: Mapping[str, Any], *, for_owner: bool = False) -> Response:
    """Return the log as a download; site owners do not see which other sites link to theirs."""
    site = values["site"] and known_site(state, values["site"])[1].name
    visits = iterate_visits(state.path, state.settings, site=site, since=values["since"], until=values["until"])
    lines = _lines(state, islice(visits, values["limit"]), site if for_owner else None)
    headers = {"Content-Disposition": 'attachment; filename="crawl.log"', "X-Accel-Buffering": "no"}
    return StreamingResponse(lines, media_type="text/plain", headers=headers)


def _lines(state: AppState, visits: Iterator[VisitLogRow], only_site: str | None) -> Iterator[bytes]:
    while not state.is_stopping and (some := list(islice(visits, LINES_AT_A_TIME))):
        yield "".join(_line(visit, only_site) for visit in some).encode()


def _line(visit: VisitLogRow, only_site: str | None) -> str:
    with_parent = only_site is None or (visit.parent or "").startswith(f"{only_site}/")
    return heritrix_line(visit, with_parent=with_parent) + "\n"


METRICS: Mapping[str, tuple[str, str]] = {
    "evercrawl_pages": ("gauge", "Known pages."),
    "evercrawl_pages_queued": ("gauge", "Pages in the queue."),
    "evercrawl_pages_due": ("gauge", "Pages outside the queue whose due time has passed."),
    "evercrawl_sites": ("gauge", "Known sites."),
    "evercrawl_versions": ("gauge", "Stored versions."),
    "evercrawl_requests_total": ("counter", "Requests sent."),
    "evercrawl_wire_bytes_total": ("counter", "Bytes received on the wire."),
    "evercrawl_urls": ("gauge", "URLs by reason of the last decision."),
    "evercrawl_archive_bytes": ("gauge", "Size of the WARC files."),
    "evercrawl_state_bytes": ("gauge", "Size of the state files."),
    "evercrawl_freshness_ratio": ("gauge", "Estimated share of pages whose copy is current."),
    "evercrawl_run_up": ("gauge", "1 while a crawl runs."),
    "evercrawl_run_requests": ("gauge", "Requests of the running crawl."),
    "evercrawl_run_in_flight": ("gauge", "Requests in flight of the running crawl."),
    "evercrawl_run_errors": ("gauge", "Errors of the running crawl."),
}
"""Type and help text of every metric."""
FIRST_WAIT_S = 8.0  # For the first status of a large collection; Prometheus waits for ten seconds by default.


def metrics(state: AppState, inputs: Inputs) -> Response:
    """Return all metrics."""
    status = state.cached("status", lambda: state.collection.status(), min_age_s=3, wait_s=FIRST_WAIT_S)
    samples = list(_samples(status, live_run(state.path, now=state.now())))
    lines: list[str] = []
    for name, (kind, text) in METRICS.items():
        own = [line for known, line in samples if known == name]
        if own:
            lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}", *own]
    return Response("\n".join(lines) + "\n", media_type="text/plain; version=0.0.4; charset=utf-8")


def _samples(status: Status | None, run: LiveRun | None) -> Iterator[tuple[str, str]]:
    if status is not None:
        yield _sample("evercrawl_pages", status.pages)
        yield _sample("evercrawl_pages_queued", status.queued)
        yield _sample("evercrawl_pages_due", status.due_now)
        yield _sample("evercrawl_sites", status.sites)
        yield _sample("evercrawl_versions", status.versions)
        yield _sample("evercrawl_requests_total", status.requests)
        yield _sample("evercrawl_wire_bytes_total", status.bytes)
        yield _sample("evercrawl_archive_bytes", status.archive_bytes)
        yield _sample("evercrawl_state_bytes", status.state_bytes)
        for reason, count in status.by_reason.items():
            yield _sample("evercrawl_urls", count, f'{{reason="{reason}"}}')
        if status.freshness is not None:
            yield _sample("evercrawl_freshness_ratio", round(status.freshness.freshness, 4))
    yield _sample("evercrawl_run_up", int(run is not None))
    if run is not None:
        yield _sample("evercrawl_run_requests", run.progress.requests)
        yield _sample("evercrawl_run_in_flight", run.progress.in_flight)
        yield _sample("evercrawl_run_errors", run.progress.errors)


def _sample(name: str, value: float, labels: str = "") -> tuple[str, str]:
    return name, f"{name}{labels} {value}"


def healthz(state: AppState, inputs: Inputs) -> Response:
    """Return that the process responds."""
    return Response("ok\n", media_type="text/plain")


def readyz(state: AppState, inputs: Inputs) -> Response:
    """Return whether the collection can be read."""
    try:
        check_readable(state.path)
    except Exception as error:
        raise BadRequest("the collection cannot be read", 503) from error
    return Response("ready\n", media_type="text/plain")
