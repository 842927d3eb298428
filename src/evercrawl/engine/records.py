"""Writing down what a visit saw: archive record, version, outcome. Nothing here waits."""

from __future__ import annotations

import json
from datetime import datetime
from typing import assert_never

from evercrawl.core.digest import text_digest
from evercrawl.core.document.compression import outline_of, pack_outline, pack_text
from evercrawl.core.duplicates.minhash import text_signature
from evercrawl.core.http.message import trusted_last_modified
from evercrawl.core.visit.outcome import VisitOutcome
from evercrawl.engine.interpret import VisitResult
from evercrawl.engine.ports import Archive, Stored
from evercrawl.model.fetch import Failed, Fault, Fetched, FetchResult, Moved, NotModified, Truncation, header
from evercrawl.model.page import Baseline, CompletedVisit, PackedText, Page, Version
from evercrawl.model.reason import Outcome
from evercrawl.model.time import to_us

MOST_CONTENT_TYPE_CHARS = 200
BROKEN_OFF = {
    Fault.TIMEOUT: "time",
    Fault.RESET: "disconnect",
    Fault.INCOMPLETE: "disconnect",
    Fault.HEADERS_TOO_LARGE: "length",
    Fault.INVALID_HTTP: "unspecified",
}
"""What WARC-Truncated says of an answer that was not read to its end (WARC 1.1 section 5.13)."""
STILL_TRUE = frozenset((Outcome.UNCHANGED, Outcome.DEFERRED, Outcome.ERROR))
"""Outcomes after which a page is still the duplicate that it was."""


def archive_answer(page: Page, seen: VisitResult, archive: Archive) -> Stored | None:
    """Write the exchange to the archive, as a revisit where the bytes are there already."""
    result = seen.result
    if result.exchange is None:
        return None
    match result:
        case NotModified():
            return archive.append(page.url, result.exchange, revisit=seen.original, not_modified=True)
        case Fetched(truncated=truncated):
            original = seen.original
            same_bytes = original is not None and original.payload_sha1 == seen.sha1
            return archive.append(
                page.url,
                result.exchange,
                truncated=Truncation.WIRE if truncated is Truncation.WIRE else None,
                payload_sha1=seen.sha1,
                revisit=original if same_bytes else None,
            )
        case Moved():
            return archive.append(page.url, result.exchange)
        case Failed(fault=fault):
            return archive.append(page.url, result.exchange, truncated=BROKEN_OFF.get(fault))
        case unknown:
            assert_never(unknown)


def version_of(page: Page, seen: VisitResult, stored: Stored) -> Version | None:
    """The new version that this visit found; None: there is none."""
    result = seen.result
    if not (isinstance(result, Fetched) and seen.judgement.is_new_version):
        return None
    if seen.digest is None or seen.sha1 is None:
        return None
    document = seen.document
    text = document.text if document is not None else ""
    content_type = header(result.headers, "content-type")
    change = seen.compared.change if seen.compared is not None else None
    return Version(
        number=page.version + 1,
        digest=seen.digest,
        payload_sha1=seen.sha1,
        text_digest=seen.text_digest or (text_digest(text) if document is not None else None),
        signature=seen.signature or (text_signature(text) if text else None),
        content_type=content_type[:MOST_CONTENT_TYPE_CHARS] if content_type else None,
        encoding=document.encoding if document is not None else None,
        title=document.title if document is not None else None,
        lang=document.lang if document is not None else None,
        body_bytes=len(result.body),
        words=text.count(" ") + 1 if text else 0,
        etag=header(result.headers, "etag"),
        last_modified=trusted_last_modified(result.headers, seen_at=result.exchange.began),
        file=stored.file,
        offset=stored.offset,
        length=stored.length,
        record_id=stored.record_id,
        truncated=result.truncated,
        change_class=change.kind.value if change is not None else None,
        change_size=round(change.size, 4) if change is not None else None,
        text=_packed(page, seen.text_before, text) if document is not None else None,
        analysis=json.dumps(seen.analysis, ensure_ascii=False) if seen.analysis else None,
    )


def _packed(page: Page, before: str | None, text: str) -> PackedText:
    return pack_text(text, page.version + 1, None if before is None else (page.version, before))


def visited_of(
    page: Page,
    judgement: VisitOutcome,
    *,
    now: datetime,
    seen: VisitResult | None = None,
    stored: Stored | None = None,
    belief: bytes | None = None,
    spent: int = 0,
) -> CompletedVisit:
    """The row that a visit writes."""
    result = seen.result if seen is not None else None
    exchange = result.exchange if result is not None else None
    # Only an answer that stands for the page's content may say by what to recognise it.
    headers = result.headers if isinstance(result, (Fetched, NotModified)) else ()
    at_us = to_us(exchange.began if exchange is not None else now)
    return CompletedVisit(
        page_id=page.id,
        site_id=page.site_id,
        band=page.band,
        seq=page.seq,
        at_us=at_us,
        outcome=judgement.outcome,
        reason=judgement.reason,
        detail=judgement.detail,
        status=status_of(result),
        took_ms=int(exchange.took.total_seconds() * 1000) if exchange is not None else 0,
        wire_bytes=len(exchange.wire_body) if exchange is not None else 0,
        due_us=judgement.due_us,
        tries=judgement.tries,
        interval_s=judgement.interval_s,
        version=version_of(page, seen, stored) if seen is not None and stored is not None else None,
        etag=header(headers, "etag"),
        last_modified=trusted_last_modified(headers, seen_at=now),
        moved_to=result.target if isinstance(result, Moved) else None,
        duplicate_of=_twin(page, judgement, seen),
        digest=seen.digest if seen is not None else None,
        look=_look(seen, stored, at_us=at_us) if seen is not None and stored is not None else None,
        change=seen.compared.change if seen is not None and seen.compared is not None else None,
        belief=belief,
        outline=_outline(seen, is_new=seen.judgement.is_new_version) if seen is not None else None,
        spent=spent,
    )


def _outline(seen: VisitResult, *, is_new: bool) -> bytes | None:
    """What the page leads to, where that may differ from before; also edits of a template move links."""
    if seen.document is None or not (is_new or seen.compared is not None):
        return None
    return pack_outline(outline_of(seen.document))


def _twin(page: Page, judgement: VisitOutcome, seen: VisitResult | None) -> int | None:
    """The page that this one repeats: found now, or known before and nothing has changed since."""
    if judgement.outcome is Outcome.DUPLICATE and seen is not None:
        return seen.duplicate_of
    was_judged = seen is not None and isinstance(seen.result, Fetched)
    return page.duplicate_of if judgement.outcome in STILL_TRUE and not was_judged else None


def _look(seen: VisitResult, stored: Stored, *, at_us: int) -> Baseline | None:
    found = seen.compared
    if found is None or found.snapshot is None or seen.digest is None or seen.sha1 is None:
        return None
    place = (stored.record_id, stored.file, stored.offset, stored.length)
    return Baseline(seen.digest, seen.sha1, at_us, *place, found.snapshot, found.memory)


def status_of(result: FetchResult | None) -> int | None:
    """The HTTP status of an answer; None: there was none."""
    match result:
        case None:
            return None
        case NotModified():
            return 304
        case Fetched(status=status) | Moved(status=status) | Failed(status=status):
            return status
        case unknown:
            assert_never(unknown)
