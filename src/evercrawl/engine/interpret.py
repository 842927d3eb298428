"""What an answer means: parse it, judge it, and find out where it leads."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from evercrawl.core.digest import payload_sha1
from evercrawl.core.document.bounds import describe_truncation
from evercrawl.core.document.html import parse_document
from evercrawl.core.document.media_type import sniff_media_type
from evercrawl.core.faults import retry_after, site_wait
from evercrawl.core.frontier import Visit
from evercrawl.core.scope.scope import Scope
from evercrawl.core.sentiment.field_analysers import FieldValue
from evercrawl.core.visit.links import FoundLinks, add_url, links_of_document
from evercrawl.core.visit.outcome import (
    VisitOutcome,
    judge_failed,
    judge_fetched,
    judge_moved,
    judge_not_modified,
    judge_refused,
)
from evercrawl.engine.comparison import Compared, Past, compared, met, rest, sight_of
from evercrawl.engine.runtime import Runtime
from evercrawl.model.change import NO_CHANGE
from evercrawl.model.document import Document
from evercrawl.model.fetch import Failed, Fetched, FetchResult, Moved, NotModified, Request, header
from evercrawl.model.page import OriginalRecord, Page
from evercrawl.model.reason import Reason
from evercrawl.model.time import to_us

BUILT_IN_TYPES = frozenset(("text/html", "application/xhtml+xml", "text/plain"))


@dataclass(slots=True)
class VisitResult:
    """What a visit saw, before it is written down."""

    result: FetchResult
    judgement: VisitOutcome
    offers: FoundLinks
    document: Document | None = None
    digest: bytes | None = None
    sha1: bytes | None = None
    original: OriginalRecord | None = None
    """Where these bytes (or, for 304, those of the version before) are stored already."""
    text_before: str | None = None
    """Main text of the version before, where this is a new version of a page that had one."""
    compared: Compared | None = None
    """How the content differs from the last sight of the page; None: the first sight, or the same bytes."""
    analysis: dict[str, FieldValue] = field(default_factory=dict)
    """What analysers say about the document."""
    signature: bytes | None = None
    """Of the main text; None: not asked for yet, or there is no text."""
    text_digest: bytes | None = None
    """The same."""
    duplicate_of: int | None = None
    """Page (in the same shard) that says the same."""


def request_for(page: Page, *, conditional: bool = True) -> Request:
    """The request for a page: with validators only when we hold the content that they stand for."""
    if page.version == 0 or not conditional:
        return Request(page.url)
    return Request(page.url, etag=page.etag, last_modified=page.last_modified)


def scope_refusal(page: Page, scope: Scope, *, now: datetime) -> VisitOutcome | None:
    """The scope is looked at again when a page's turn comes near: it may have changed since it was found."""
    is_seed = scope.is_seed(page.url)
    refused = scope.verdict(page.url, depth=page.depth, hops=page.hops, is_seed=is_seed)
    return None if refused is None else judge_refused(page, *refused, now=now)


def robots_refusal(turn: Visit, *, now: datetime) -> VisitOutcome | None:
    """robots.txt is looked at again before each request."""
    page, gate = turn.page, turn.queue.robots
    if gate is None:
        return judge_refused(page, Reason.ROBOTS_UNREACHABLE, "robots.txt was not read", now=now)
    verdict = gate.verdict(page.url)
    if verdict.allowed:
        return None
    return judge_refused(page, verdict.reason or Reason.ROBOTS, verdict.detail, now=now)


def parse(result: Fetched, around: Runtime, *, wants_snapshot: bool = False) -> Document | None:
    """The document in an answer; None where no handler knows its media type."""
    kind = sniff_media_type(result.headers, result.body)
    if kind in BUILT_IN_TYPES:
        wants_all = bool(around.settings.scope.fetch_types or around.analysers or around.focus)
        limits = around.settings.parse
        return parse_document(
            result.url,
            result.headers,
            result.body,
            agent=around.agent,
            limits=limits,
            all_details=wants_all,
            wants_snapshot=wants_snapshot,
            wants_outline=around.settings.search.enabled,
        )
    handler = around.handler_of(kind)
    return handler.parse(result.url, result.headers, result.body) if handler is not None else None


def interpret_fetched(
    page: Page, result: Fetched, original: OriginalRecord | None, around: Runtime, *, digest: bytes, past: Past
) -> VisitResult:
    """Parse a body, hold it against the page's past, and judge it."""
    now = around.clock.now()
    document = parse(result, around, wants_snapshot=past.wants_snapshot(page))
    found = _compared(page, result, document, past, around)
    is_copy = original is not None and original.page_id != page.id and not past.is_same
    judgement = judge_fetched(
        page,
        result,
        change=NO_CHANGE if past.is_same else found.change if found is not None else None,
        copy_of=original.url if is_copy and original is not None else None,
    )
    offers = FoundLinks()
    if document is not None:
        left_out = describe_truncation(
            len(result.body), unread=document.unread, links=len(document.links), most_links=around.settings.parse.max_links
        )
        if left_out:
            judgement = judgement._replace(detail=f"{judgement.detail}; {left_out}")
        offers = links_of_document(
            document,
            page,
            scope=around.scope,
            popular=around.popular,
            most_hops=around.settings.http.max_redirects,
            now_us=to_us(now),
        )
    sha1 = payload_sha1(result.exchange.wire_body)
    return VisitResult(
        result,
        judgement,
        offers,
        document=document,
        digest=digest,
        sha1=sha1,
        original=original or _sight(page, past),
        text_before=past.text,
        compared=found,
        duplicate_of=original.page_id if is_copy and original is not None else None,
    )


def _compared(page: Page, result: Fetched, document: Document | None, past: Past, around: Runtime) -> Compared | None:
    if page.version == 0:
        met(page, document, past)
        return None
    if past.is_same:
        rest(past.look, past.notes)
        return None
    detector = around.settings.change.detector
    return compared(page, document, result.body, past, detector=detector, now=around.clock.now())


def _sight(page: Page, past: Past) -> OriginalRecord | None:
    """Where these bytes lie when the last visit brought them, whether or not a version holds them."""
    return sight_of(page, past.look) if past.is_same and past.look is not None else None


def interpret_moved(
    page: Page, result: Moved, around: Runtime, *, loops: bool, forbidden: tuple[Reason, str] | None
) -> VisitResult:
    """Judge a redirect; its target becomes a candidate when scope, robots.txt and the number of hops allow
    it.
    """
    now = around.clock.now()
    offers = FoundLinks()
    if page.depth == 0:
        around.adopt(page.url, result.target)
    refused = forbidden or add_url(
        offers, result.target, depth=page.depth, hops=page.hops + 1, parent=page, scope=around.scope, now_us=to_us(now)
    )
    judgement = judge_moved(page, result, refused=refused, loops=loops, most_hops=around.settings.http.max_redirects)
    if judgement.reason is not Reason.REDIRECT:
        offers.candidates.clear()
    return VisitResult(result, judgement, offers)


def interpret_not_modified(result: NotModified, original: OriginalRecord | None) -> VisitResult:
    """The version before is still the newest."""
    return VisitResult(result, judge_not_modified(), FoundLinks(), original=original)


def interpret_failed(page: Page, result: Failed, around: Runtime) -> VisitResult:
    """No content, and a rule for what follows."""
    now = around.clock.now()
    judgement = judge_failed(page, result, asked=asked_wait(result, now=now), now=now)
    return VisitResult(result, judgement, FoundLinks())


def asked_wait(result: Failed, *, now: datetime) -> timedelta | None:
    """How long the server asks us to stay away."""
    return retry_after(header(result.headers, "retry-after"), now=now)


def site_pause(result: FetchResult, *, failures: int, now: datetime) -> timedelta | None:
    """How long the whole site is closed after this answer; None: no longer than its gap."""
    if not isinstance(result, Failed):
        return None
    return site_wait(result, failures=failures, asked=asked_wait(result, now=now))
