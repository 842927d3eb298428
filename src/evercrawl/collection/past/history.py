"""The versions of a page, and its statistics."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from evercrawl.collection.past.stored import StoredPage, read_back, seen_until, stored_page
from evercrawl.model.history import EVERY_VISIT, NEVER_VISITED, PageHistory, PageStatistics, PastVersion
from evercrawl.model.listing import VersionRecord, VisitRecord
from evercrawl.model.report import PastVisit
from evercrawl.model.settings import Settings
from evercrawl.model.time import from_us


def page_history(collection: Path, settings: Settings, url: str) -> PageHistory:
    """Every version of a page with the span in which it came to be, and every visit."""
    stored = stored_page(collection, settings, url)
    until = seen_until(stored.versions, stored.visits)
    return PageHistory(
        url=stored.page.url,
        versions=tuple(
            _past(kept, until[kept.version.number], stored.analyses.get(kept.version.number, {}))
            for kept in stored.versions
        ),
        visits=tuple(_past_visit(visit) for visit in stored.visits),
    )


def _past(kept: VersionRecord, until_us: int, analysis: Mapping[str, Any]) -> PastVersion:
    version = kept.version
    return PastVersion(
        version=version.number,
        seen_at=from_us(kept.seen_us),
        changed_after=None if kept.changed_after_us is None else from_us(kept.changed_after_us),
        seen_until=from_us(until_us),
        change_class=version.change_class,
        size=version.change_size,
        digest=version.digest.hex(),
        status=kept.status,
        title=version.title,
        content_type=version.content_type,
        words=version.words,
        body_bytes=version.body_bytes,
        file=version.file,
        offset=version.offset,
        analysis=analysis,
    )


def _past_visit(visit: VisitRecord) -> PastVisit:
    return PastVisit(
        at=from_us(visit.at_us),
        outcome=visit.outcome,
        reason=visit.reason,
        status=visit.status,
        took_ms=visit.took_ms,
        wire_bytes=visit.wire_bytes,
        version=visit.version or None,
    )


def page_facts(collection: Path, settings: Settings, url: str) -> PageStatistics:
    """The statistics of a page; ConfigError where no version of it is stored."""
    stored = stored_page(collection, settings, url)
    page, newest = stored.page, stored.versions[-1]
    body = read_back(collection, settings, stored.shard, newest).body
    return PageStatistics(
        url=page.url,
        parent=page.parent,
        ascii_count=sum(body),
        last_modified=newest.version.last_modified,
        frequency_of_change=days_between_changes(stored),
        file_path=f"archive/{newest.version.file}",
        offset=newest.version.offset,
        version=page.version,
        changes=page.version - 1,
        visits=page.visits,
        first_seen=from_us(stored.versions[0].seen_us),
        last_visit=None if page.last_us is None else from_us(page.last_us),
        last_change=from_us(newest.seen_us),
    )


def days_between_changes(stored: StoredPage) -> float:
    """The paper's frequency of change: -1 never visited, 0 another one at every visit, else days.

    A page that did not change yet takes at least as long as it was watched.
    """
    page = stored.page
    if page.visits == 0 or page.last_us is None:
        return NEVER_VISITED
    changes = page.version - 1
    if changes and changes == page.visits - 1:
        return EVERY_VISIT
    watched = from_us(page.last_us) - from_us(stored.versions[0].seen_us)
    return round(watched / timedelta(days=1) / max(changes, 1), 3)
