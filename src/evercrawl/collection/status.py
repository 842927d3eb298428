"""The status of a collection, also while another process crawls it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from evercrawl.adapters.sql.state_reader import StateReader
from evercrawl.collection.forecast import collection_freshness, revisit_status
from evercrawl.model.report import ClosedSite, Savings, SlowedSite, Status
from evercrawl.model.settings import Settings
from evercrawl.model.site import Site
from evercrawl.model.time import from_us, to_us

MAX_CLOSED_SITES = 20
LONG_DELAY_MS = 10_000  # With this delay or a longer one, a queued page counts as throttled.


def status_of(collection: Path, settings: Settings) -> Status:
    """Return the counts of a collection and its freshness."""
    reader = StateReader(collection)
    now = datetime.now(UTC)
    totals = reader.totals(to_us(now))
    decisions = reader.decisions()
    archive = list((collection / "archive").glob("*.warc.gz"))
    return Status(
        path=str(collection),
        pages=totals.pages,
        queued=totals.pending,
        refused=totals.refusals + totals.refusals_dropped,
        sites=totals.sites,
        requests=totals.requests,
        bytes=totals.wire_bytes,
        versions=totals.versions,
        due_now=totals.due_now,
        next_due=next_due(reader),
        by_outcome=_sums((outcome.value, count) for (outcome, _), count in decisions.items()),
        by_reason=_sums((reason.value, count) for (_, reason), count in decisions.items()),
        closed_sites=tuple(_closed_sites(reader, now)),
        slowed_sites=tuple(_slowed_sites(reader, now)),
        archive_files=len(archive),
        archive_bytes=sum(path.stat().st_size for path in archive),
        state_bytes=sum(path.stat().st_size for path in (collection / "state").glob("*.sqlite*")),
        freshness=collection_freshness(reader, settings.revisit, now=now),
        savings=savings(reader, now_us=to_us(now)),
        revisit=revisit_status(reader, settings.revisit, pages=totals.pages),
    )


def next_visit(collection: Path) -> datetime | None:
    """Return when the next page of a collection is due."""
    return next_due(StateReader(collection))


def next_due(reader: StateReader) -> datetime | None:
    """Return when the next page of a collection is due."""
    moments: list[int] = []
    for shard in reader.shards():
        with reader.shard(shard) as state:
            due_us = state.next_due()
            if due_us is not None:
                moments.append(due_us)
    return from_us(min(moments)) if moments else None


def _sums(pairs: Iterator[tuple[str, int]]) -> dict[str, int]:
    sums: dict[str, int] = {}
    for name, count in pairs:
        sums[name] = sums.get(name, 0) + count
    return dict(sorted(sums.items(), key=lambda item: -item[1]))


def _closed_sites(reader: StateReader, now: datetime) -> list[ClosedSite]:
    """Return the sites that are closed for a reason; those that open last come first."""
    closed = [site for site in reader.sites() if _is_closed(site, now)]
    closed.sort(key=lambda site: -site.open_us)
    return [
        ClosedSite(site.name, closed_text(site.closed_reason or ""), from_us(site.open_us), site.pending)
        for site in closed[:MAX_CLOSED_SITES]
    ]


def _slowed_sites(reader: StateReader, now: datetime) -> list[SlowedSite]:
    """Return the sites with queued pages that get requests rarely; the slowest come first."""
    slowed = [site for site in reader.sites() if site.pending and is_slow(site) and not _is_closed(site, now)]
    slowed.sort(key=lambda site: -site.delay_ms)
    return [
        SlowedSite(site.name, slow_text(site), site.delay_ms / 1000, site.pending) for site in slowed[:MAX_CLOSED_SITES]
    ]


def is_slow(site: Site) -> bool:
    """Return whether a site gets requests so rarely that its queued pages count as throttled."""
    return site.delay_ms >= LONG_DELAY_MS


def slow_text(site: Site) -> str:
    """Return why a site gets requests rarely."""
    cause = "after failures in a row" if site.backoff > 1 else "because of its response time or Crawl-delay"
    return f"one request every {site.delay_ms / 1000:g} s {cause}"


def _is_closed(site: Site, now: datetime) -> bool:
    return site.closed_reason is not None and site.open_us > to_us(now)


def closed_text(closed_reason: str) -> str:
    """Return the explanation without the name of the reason."""
    return closed_reason.partition(": ")[2] or closed_reason


def savings(reader: StateReader, *, now_us: int) -> Savings:
    """Count 304 responses, the bytes they saved, and pages that are not due."""
    answers = body_bytes = not_due = 0
    for shard in reader.shards():
        with reader.shard(shard) as state:
            some, size = state.saved_bodies()
            answers, body_bytes = answers + some, body_bytes + size
            not_due += state.not_due(now_us)
    return Savings(answers, body_bytes, not_due)


def check_readable(collection: Path) -> None:
    """Read one row of the state; raise if that fails."""
    reader = StateReader(collection)
    for shard in reader.shards()[:1]:
        with reader.shard(shard) as state:
            state.next_due()
