"""Small pages, visits and versions for tests of stores."""

from __future__ import annotations

from evercrawl.core.url import key_of
from evercrawl.model.page import Baseline, CompletedVisit, NewPage, Refusal, Version
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.site import RobotsRecord, Site

HOUR_US = 3_600_000_000
NOON_US = 1_700_000_000_000_000


def a_site(number: int = 1) -> Site:
    return Site(number, f"https://s{number}.example", f"s{number}.example", open_us=NOON_US, delay_ms=1000)


def a_robots_record() -> RobotsRecord:
    return RobotsRecord(
        NOON_US, NOON_US + HOUR_US, 200, b"user-agent: *\ndisallow: /x\n", '"r1"', None, "obey", "fetched"
    )


def url_of(number: int, site: int = 1) -> str:
    return f"https://s{site}.example/p/{number}"


def a_page(number: int, *, site: int = 1, priority: int = 1, seq: int | None = None) -> NewPage:
    url = url_of(number, site)
    place = number if seq is None else seq
    return NewPage(number, key_of(url), url, site, 2, 0, priority, place, None, NOON_US + number)


def a_version(number: int = 1, *, body: bytes = b"body", etag: str | None = '"v1"') -> Version:
    return Version(
        number=number,
        digest=body.ljust(16, b"."),
        payload_sha1=body.ljust(20, b"+"),
        text_digest=None,
        signature=b"signature",
        content_type="text/html",
        encoding="utf-8",
        title="A title",
        lang="en",
        body_bytes=len(body),
        words=1,
        etag=etag,
        last_modified=None,
        file="s00.warc.gz",
        offset=100 * number,
        length=100,
        record_id=body.rjust(16, b"-"),
        truncated=None,
    )


def a_visit(page: NewPage, *, at_us: int = NOON_US, due_us: int | None = None, **changes: object) -> CompletedVisit:
    visited = CompletedVisit(
        page_id=page.id,
        site_id=page.site_id,
        priority=page.priority,
        seq=page.seq,
        at_us=at_us,
        outcome=Outcome.FETCHED,
        reason=Reason.NEW,
        detail="",
        status=200,
        took_ms=12,
        wire_bytes=345,
        due_us=due_us,
        tries=0,
        interval_s=3600,
    )
    return visited._replace(**changes)  # type: ignore[arg-type]


def a_baseline(body: bytes) -> Baseline:
    return Baseline(
        digest=body.ljust(16, b"d"),
        payload_sha1=b"s" * 20,
        seen_us=NOON_US,
        record_id=b"base".ljust(16, b"r"),
        file="later.warc.gz",
        offset=77,
        length=11,
        snapshot=b"packed",
        memory=b"learned",
    )


def a_refusal(number: int, *, reason: Reason = Reason.OUT_OF_SCOPE) -> Refusal:
    url = url_of(number, site=99)
    return Refusal(key_of(url), url, reason, "another host", url_of(1), NOON_US)
