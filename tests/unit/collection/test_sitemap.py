"""What a collection knows about the versions of a page, for a sitemap check."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from evercrawl.collection.sitemap import known_versions
from evercrawl.collection.stored_pages import StoredPage
from evercrawl.core.digest import text_digest
from evercrawl.model.listing import VersionRecord, VisitRecord
from evercrawl.model.page import Version
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.time import to_us
from evercrawl.sitemaps.checks import KnownVersion

NOW = datetime(2026, 11, 15, tzinfo=UTC)
DAY = timedelta(days=1)


def version(number: int, seen: datetime, after: datetime | None) -> VersionRecord:
    blank = Version(
        number, b"", b"", text_digest("words"), None, None, None, None, None, 0, 0, None, None, "", 0, 0, b"", None
    )
    return VersionRecord(to_us(seen), None if after is None else to_us(after), 200, blank)


def test_a_version_was_last_seen_at_the_last_visit_that_found_it() -> None:
    visits = [(NOW - DAY, 2), (NOW - 8 * DAY, 2), (NOW - 10 * DAY, 1), (NOW - 30 * DAY, 1)]
    lines = tuple(
        VisitRecord(to_us(at), Outcome.UNCHANGED, Reason.SAME_CONTENT, 200, 1, 1, number) for at, number in visits
    )
    versions = (version(1, NOW - 30 * DAY, None), version(2, NOW - 8 * DAY, NOW - 10 * DAY))
    stored = StoredPage(0, None, versions, lines)  # type: ignore[arg-type]
    digest = text_digest("words")
    assert known_versions(stored) == [
        KnownVersion(None, NOW - 30 * DAY, NOW - 10 * DAY, digest),
        KnownVersion(NOW - 10 * DAY, NOW - 8 * DAY, NOW - DAY, digest),
    ]
