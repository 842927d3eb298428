"""Prometheus metrics (text format 0.0.4) and health checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from starlette.responses import Response

from evercrawl.collection.runs import LiveRun, live_run
from evercrawl.collection.status import check_readable
from evercrawl.model.report import Status
from evercrawl.web.app_state import AppState
from evercrawl.web.route import BadRequest, Inputs

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
