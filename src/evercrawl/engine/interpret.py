"""What an answer contains: the parsed document, its links, and how it differs from the last visit. All of it pure;
only documents that take long to parse are waited for."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple, assert_never

from evercrawl.core.change.change_history import PageChangeHistory, SiteChangeHistory
from evercrawl.core.change.detectors import DEFAULT_DETECTOR, FetchedContent, bytes_change, detect_change, text_change
from evercrawl.core.change.held_changes import has_to_wait
from evercrawl.core.change.learning import classify_visit, learn_page
from evercrawl.core.change.review import correct_change
from evercrawl.core.change.snapshot import unpack_snapshot
from evercrawl.core.document.html import parse_document
from evercrawl.core.document.media_type import sniff_media_type
from evercrawl.core.duplicates.url_seen import UrlCache
from evercrawl.core.faults import retry_after
from evercrawl.core.fields.reading import FieldComparison, compare_page_fields, repair_missing
from evercrawl.core.fields.selectors import PagePart
from evercrawl.core.sitemap.sitemap_reader import read_sitemap, unpack_body
from evercrawl.core.visit.links import FoundLinks, add_url, links_of_document, numbered_neighbours, parent_urls
from evercrawl.engine.decision import Comparison, Past, Policy
from evercrawl.engine.parsing import BUILT_IN_TYPES, parse_task
from evercrawl.engine.ports import LongCall, ParseTask
from evercrawl.model.document import Document, Link
from evercrawl.model.fetch import Failed, Fetched, FetchResult, Headers, Moved, NotModified, RenderNote, header
from evercrawl.model.fields import FieldRule
from evercrawl.model.page import Baseline, OriginalRecord, Page
from evercrawl.model.sitemap import Sitemap, SitemapType

QUICK_BYTES = 512 * 1024  # Pages up to this size take less than half a second.
QUICK_COMPARED_BYTES = 128 * 1024  # Both versions together; hostile ones of this size take about a second.
QUICK_FIELD_BYTES = 16 * 1024  # The same for fields: selectors take time that grows faster than the page.
MAX_FIRST_PAGES = 30  # First visits per site that teach what its pages have in common.


async def parse(answer: Fetched, policy: Policy, *, wants_snapshot: bool = False) -> Document | None:
    """Return the document in an answer; None: no handler knows its media type."""
    task = task_of(answer, policy, wants_snapshot=wants_snapshot)
    if policy.parser is not None and _may_take_long(task, policy):
        document = await policy.parser.parse(task)
    else:
        document = parse_task(task, policy.handler_of)
    if document is None or answer.rendering is None:
        return document
    return _with_history(document, answer.rendering)


async def parse_bounded(url: str, headers: Headers, body: bytes, policy: Policy) -> Document | None:
    """Return the document of a stored page with its snapshot; one that may take long is parsed in a process."""
    kind = sniff_media_type(headers, body)
    task = ParseTask(url, headers, body, kind, policy.agent, policy.settings.parse, wants_snapshot=True)
    if kind not in BUILT_IN_TYPES:
        return parse_document(url, headers, body, agent=policy.agent, limits=policy.settings.parse, wants_snapshot=True)
    if policy.parser is not None and len(body) > QUICK_BYTES:
        return await policy.parser.parse(task)
    return parse_task(task, policy.handler_of)


def task_of(answer: Fetched, policy: Policy, *, wants_snapshot: bool = False) -> ParseTask:
    """Return what is to be parsed of an answer."""
    return ParseTask(
        answer.url,
        answer.headers,
        answer.body,
        sniff_media_type(answer.headers, answer.body),
        policy.agent,
        policy.settings.parse,
        all_details=bool(policy.scope.selection(answer.url).wants_files or policy.analysers or policy.is_focused),
        wants_snapshot=wants_snapshot,
        wants_outline=policy.settings.search.enabled,
    )


def _may_take_long(task: ParseTask, policy: Policy) -> bool:
    if len(task.body) > QUICK_BYTES:
        return True
    return task.kind not in BUILT_IN_TYPES and policy.handler_of(task.kind) is not None


async def read_sitemap_bounded(answer: Fetched, policy: Policy) -> Sitemap:
    """Return the sitemap in an answer; one that may take long is read in a process."""
    kind = header(answer.headers, "content-type")
    is_short = len(unpack_body(answer.body, max_bytes=QUICK_BYTES).data) < QUICK_BYTES
    if policy.parser is None or is_short:
        return read_sitemap(answer.body, answer.url, content_type=kind)
    read = partial(read_sitemap, content_type=kind)
    found, stopped = await policy.parser.call(
        LongCall("reading a sitemap", read, (answer.body, answer.url), policy.settings.parse)
    )
    return found if stopped is None else Sitemap(SitemapType.UNKNOWN, error=stopped)


def _with_history(document: Document, note: RenderNote) -> Document:
    """Return the document with the URLs that its scripts put into the history as links."""
    known = {link.url for link in document.links}
    more = tuple(Link(url, "", False) for url in dict.fromkeys(note.links) if url not in known)
    return replace(document, links=(*document.links, *more)) if more else document


# Links


def links_in(page: Page, document: Document | None, *, popular: UrlCache, now_us: int, policy: Policy) -> FoundLinks:
    """Return the links of a page that were not seen recently, and the URLs that its own URL suggests."""
    found = FoundLinks()
    if document is not None:
        redirects = policy.settings.http.max_redirects
        found = links_of_document(
            document, page, scope=policy.scope, popular=popular, most_hops=redirects, now_us=now_us
        )
    for url in discovered_urls(page, policy):
        add_url(found, url, depth=page.depth + 1, hops=0, parent=page, scope=policy.scope, now_us=now_us)
    return found


def discovered_urls(page: Page, policy: Policy) -> list[str]:
    """Return the folders above a page and its numbered neighbours, where the settings ask for them.
    Only a page that exists suggests others, and only at its first visit."""
    settings = policy.settings.discovery
    if page.version or not (settings.parent_folders or settings.neighbour_numbers):
        return []
    return [*parent_urls(page.url, settings.parent_folders), *numbered_neighbours(page.url, settings.neighbour_numbers)]


def redirect_target(page: Page, answer: Moved, *, now_us: int, policy: Policy) -> FoundLinks:
    """Return the target of a redirect as a link, accepted or refused by the scope."""
    found = FoundLinks()
    add_url(found, answer.target, depth=page.depth, hops=page.hops + 1, parent=page, scope=policy.scope, now_us=now_us)
    return found


# Change


def wants_snapshot(page: Page, past: Past, site: SiteChangeHistory) -> bool:
    """Return whether the snapshot of an answer is needed."""
    return not past.is_same if page.version else site.pages < MAX_FIRST_PAGES


class CompareTask(NamedTuple):
    """An answer to compare with the last visit."""

    page: Page
    document: Document | None
    body: bytes
    past: Past
    site: SiteChangeHistory
    now: datetime
    detector: str


def compare(
    page: Page,
    document: Document | None,
    body: bytes,
    past: Past,
    site: SiteChangeHistory,
    *,
    now: datetime,
    policy: Policy,
) -> Comparison:
    """Return how an answer differs from the last visit, and what that teaches about the site."""
    task = CompareTask(page, document, body, past, site, now, policy.settings.change.detector)
    return _with_corrections(compare_task(task), page, policy)


async def compare_long(task: CompareTask, policy: Policy) -> tuple[Document | None, Comparison]:
    """Compare without blocking the event loop; return the content's document and comparison.
    At a limit the bytes decide, the document says so, and the next visit compares with this one."""
    assert policy.parser is not None, "without processes everything is compared at once"
    needs_body = task.detector != DEFAULT_DETECTOR
    slim = None if task.document is None else replace(task.document, links=(), embeds=(), alternates=())
    sent = task._replace(document=slim, body=task.body if needs_body else b"")
    call = LongCall("comparing", compare_task, (sent,), policy.settings.parse)
    found, stopped = await policy.parser.call(call)
    if stopped is None:
        return task.document, _with_corrections(found, task.page, policy)._replace(site_before=task.site, is_long=True)
    document = task.document and replace(task.document, stopped=stopped)
    snapshot = None if task.document is None else task.document.snapshot
    memory = page_memory(task.past.baseline).to_bytes()
    return document, Comparison(bytes_change(), snapshot, memory, is_long=True)


async def read_fields_bounded(
    before: PagePart | None, after: PagePart, rules: tuple[FieldRule, ...], policy: Policy
) -> tuple[FieldComparison | None, str | None]:
    """Return the fields of a page, compared with those of the version before, or None and the limit that was reached:
    the user's expressions may take long on a large page."""
    size = len(after.markup) + (len(before.markup) if before is not None else 0)
    if policy.parser is None or size <= QUICK_FIELD_BYTES:
        return compare_page_fields(before, after, rules), None
    call = LongCall("reading fields", compare_page_fields, (before, after, rules), policy.settings.parse)
    found: FieldComparison | None
    found, stopped = await policy.parser.call(call)
    return found, stopped


async def repair_fields_bounded(
    found: FieldComparison, earlier: PagePart, after: PagePart, rules: tuple[FieldRule, ...], policy: Policy
) -> FieldComparison:
    """Return the fields of a page with those found again that were missing; as they are if that takes too long."""
    if policy.parser is None or len(earlier.markup) + len(after.markup) <= QUICK_FIELD_BYTES:
        return repair_missing(found, earlier, after, rules)
    call = LongCall("repairing fields", repair_missing, (found, earlier, after, rules), policy.settings.parse)
    repaired: FieldComparison | None
    repaired, stopped = await policy.parser.call(call)
    return found._replace(missing=frozenset()) if repaired is None or stopped else repaired


def takes_long(task: CompareTask) -> bool:
    """Return whether comparing may take more than a second."""
    before = task.past.snapshot
    chars = sum(map(len, before.texts)) if before is not None else len(task.past.text or "")
    return len(task.body) + chars > QUICK_COMPARED_BYTES


def _with_corrections(found: Comparison, page: Page, policy: Policy) -> Comparison:
    if found.site is None:
        return found
    return found._replace(change=correct_change(found.change, page.url, policy.corrections()))


def compare_task(task: CompareTask) -> Comparison:
    """Compare, without the user's corrections."""
    page, document, body, past, site, now, detector = task
    if document is None or document.stopped or document.snapshot is None or detector != DEFAULT_DETECTOR:
        # Beginnings that are alike say nothing about the rest, so that the bytes decide.
        text = document.text if document is not None and not document.stopped else None
        change = detect_change(detector, FetchedContent(past.body, past.text), FetchedContent(body, text), now=now)
        if document is not None and document.is_list:
            change = replace(change, edits=tuple(edit._replace(is_entry=True) for edit in change.edits))
        return Comparison(change)
    after = unpack_snapshot(document.snapshot)
    memory = page_memory(past.baseline)
    if past.snapshot is None or after is None:
        change = text_change(past.text, document.text, now=now)
        return Comparison(change, document.snapshot, memory.to_bytes())
    change, memory, site_after, held = classify_visit(
        past.snapshot, after, memory, site, now=now, page_url=page.url, visit=page.visits + 1
    )
    waits = has_to_wait(change, held, site_after)
    return Comparison(change, document.snapshot, memory.to_bytes(), site_after, site, held if waits else None)


def page_memory(baseline: Baseline | None) -> PageChangeHistory:
    """Return what is known about the changes of one page."""
    return PageChangeHistory() if baseline is None else PageChangeHistory.from_bytes(baseline.memory)


def after_first_visit(page: Page, document: Document | None, site: SiteChangeHistory) -> SiteChangeHistory | None:
    """Return the site's memory after the first visit to a page; None: as before."""
    packed = document.snapshot if document is not None else None
    snapshot = unpack_snapshot(packed) if packed is not None else None
    return None if snapshot is None else learn_page(snapshot, site, page_url=page.url)


def after_unchanged_visit(baseline: Baseline | None, site: SiteChangeHistory) -> SiteChangeHistory:
    """Return the site's memory after a visit that found a page as it was."""
    return site.after_unchanged(page_memory(baseline))


def original_of(page: Page, baseline: Baseline) -> OriginalRecord:
    """Return the last visit of a page as something that a revisit record can refer to."""
    place = (baseline.record_id, baseline.payload_sha1, baseline.file, baseline.offset, baseline.length)
    return OriginalRecord(page.id, page.url, baseline.seen_us, *place)


# Faults


def requested_wait(answer: Failed, *, now: datetime) -> timedelta | None:
    """Return how long the server asks us to stay away."""
    return retry_after(header(answer.headers, "retry-after"), now=now)


def status_of(answer: FetchResult | None) -> int | None:
    """Return the HTTP status of an answer; None: there was none."""
    match answer:
        case None:
            return None
        case NotModified():
            return 304
        case Fetched(status=status) | Moved(status=status) | Failed(status=status):
            return status
        case unknown:
            assert_never(unknown)
