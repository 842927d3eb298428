"""Looking at a collection, also while another process crawls it: status, why, skipped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from evercrawl.adapters.schemes import installed_schemes
from evercrawl.adapters.sqlite.reader import StateReader
from evercrawl.collection.forecast import freshness_of, habits_of, saved_in, steering_of
from evercrawl.core.credit import weight_of
from evercrawl.core.politeness import parse_delay_rules
from evercrawl.core.scope.scope import Scope
from evercrawl.core.traps.user_rules import TrapFilter
from evercrawl.core.url import PAGE_SCHEMES, canonical, key_of, shard_of_site, site_of
from evercrawl.core.visit.links import refusal_key
from evercrawl.model.listing import CreditSummary, PageRecord, VisitRecord
from evercrawl.model.reason import REASON_TEXT, Outcome, Reason
from evercrawl.model.report import ClosedSite, Explanation, PastVisit, SkippedUrl, Status
from evercrawl.model.settings import Settings
from evercrawl.model.site import Site
from evercrawl.model.time import from_us, to_us

MOST_CLOSED_SITES = 20
MOST_DECISIONS = 10
LONG_GAP_MS = 10_000
"""A gap from which on a page that waits for its turn counts as held up by its site."""


def _now() -> datetime:
    return datetime.now(UTC)


def status_of(collection: Path, settings: Settings) -> Status:
    """The counts of a collection, and how fresh it is."""
    reader = StateReader(collection)
    now = _now()
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
        next_due=_next_due(reader),
        by_outcome=_sums((outcome.value, count) for (outcome, _), count in decisions.items()),
        by_reason=_sums((reason.value, count) for (_, reason), count in decisions.items()),
        closed_sites=tuple(_closed_sites(reader, now)),
        archive_files=len(archive),
        archive_bytes=sum(path.stat().st_size for path in archive),
        state_bytes=sum(path.stat().st_size for path in (collection / "state").glob("*.sqlite*")),
        freshness=freshness_of(reader, settings.revisit, now=now),
        saved=saved_in(reader, now_us=to_us(now)),
        steering=steering_of(reader, settings.revisit, pages=totals.pages),
    )


def _next_due(reader: StateReader) -> datetime | None:
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
    """Sites that are left alone for a reason, those that open last first."""
    closed = [site for site in reader.sites() if _is_closed(site, now)]
    closed.sort(key=lambda site: -site.open_us)
    return [
        ClosedSite(site.name, _words(site.closed_reason or ""), from_us(site.open_us), site.pending)
        for site in closed[:MOST_CLOSED_SITES]
    ]


def _is_closed(site: Site, now: datetime) -> bool:
    return site.closed_reason is not None and site.open_us > to_us(now)


def _words(closed_reason: str) -> str:
    return closed_reason.partition(": ")[2] or closed_reason


def _page_name(url: str) -> str | None:
    """The canonical form of a URL that this installation could fetch."""
    return canonical(url, (*PAGE_SCHEMES, *(f"{scheme}://" for scheme in installed_schemes())))


def explain(collection: Path, settings: Settings, url: str) -> Explanation:
    """What is known about a URL: as a page, as a refusal, or what the scope would say."""
    name = _page_name(url)
    reader = StateReader(collection)
    if name is None:
        return _explain_refusal(reader, url) or _unknown(url, settings, None)
    shard = shard_of_site(site_of(name), settings.store.shards)
    if shard in reader.shards():
        with reader.shard(shard) as state:
            page = state.page(key_of(name))
            if page is not None:
                site = state.site_named(page.site)
                slowed = parse_delay_rules(settings.pace.slower).get(page.site)
                found = _explain_page(page, site, state.visits(page.id, MOST_DECISIONS), slowed)
                said = state.analyses(page.id).get(page.version, {})
                found = replace(found, relevance=said.get("relevance"))
                habits = habits_of(reader, state, page, settings.revisit, now=_now())
                return _with_credit(replace(found, habits=habits), state.credit(page.key), settings)
    return _explain_refusal(reader, name) or _unknown(name, settings, name)


def _with_credit(found: Explanation, credit: CreditSummary | None, settings: Settings) -> Explanation:
    """Importance, and the value of a visit as it is weighed by it."""
    if credit is None:
        return found
    weight = weight_of(credit.importance, mean=1.0, influence=settings.credit.influence)
    if found.duplicate_of is not None:
        weight *= settings.duplicates.weight
    habits = found.habits
    if habits is not None and habits.value_days is not None:
        habits = replace(habits, value_days=habits.value_days * weight)
    importance = round(credit.importance, 3)
    return replace(found, habits=habits, credit=round(credit.credit, 3), importance=importance)


def _explain_page(
    page: PageRecord, site: Site | None, visits: list[VisitRecord], slowed: timedelta | None
) -> Explanation:
    outcome, reason, detail = page.outcome, page.reason, page.detail
    if page.visits == 0:
        outcome, reason, detail = Outcome.QUEUED, Reason.WAITING, REASON_TEXT[Reason.WAITING]
    if page.is_queued and page.version == 0 and (kept_by := _kept_waiting(site, _now(), slowed)) is not None:
        outcome, reason, detail = kept_by
    opens = from_us(site.open_us) if site is not None and site.open_us > to_us(_now()) else None
    return Explanation(
        url=page.url,
        known=True,
        outcome=outcome,
        reason=reason,
        detail=detail,
        status=page.status,
        due=from_us(page.due_us) if page.due_us is not None else opens if page.is_queued else None,
        visits=page.visits,
        parent=page.parent,
        depth=page.depth,
        site_opens_at=opens,
        slowed_to_s=None if slowed is None else slowed.total_seconds(),
        decisions=tuple(_past(visit) for visit in visits),
        duplicate_of=page.duplicate_of,
    )


def _kept_waiting(site: Site | None, now: datetime, slowed: timedelta | None) -> tuple[Outcome, Reason, str] | None:
    """What keeps a queued page from being asked for, beside the pages before it; None: nothing does."""
    if site is None or site.open_us <= to_us(now):
        return None
    if site.closed_reason is not None:
        reason = _reason_of(site)
        outcome = Outcome.ERROR if reason in (Reason.DNS, Reason.TLS) else Outcome.DEFERRED
        return outcome, reason, _words(site.closed_reason)
    if site.gap_ms >= LONG_GAP_MS or slowed is not None:
        who = "you slowed this site down: it" if slowed is not None else "this site"
        detail = f"{who} gets one request in {site.gap_ms / 1000:g} s"
        return Outcome.DEFERRED, Reason.THROTTLED, detail
    return None


def _reason_of(site: Site) -> Reason:
    name = (site.closed_reason or "").partition(":")[0]
    return Reason(name) if name in set(Reason) else Reason.SITE_DOWN


def _past(visit: VisitRecord) -> PastVisit:
    return PastVisit(
        at=from_us(visit.at_us),
        outcome=visit.outcome,
        reason=visit.reason,
        status=visit.status,
        took_ms=visit.took_ms,
        wire_bytes=visit.wire_bytes,
        version=visit.version or None,
    )


def _explain_refusal(reader: StateReader, url: str) -> Explanation | None:
    key = refusal_key(url)
    for shard in reader.shards():
        with reader.shard(shard) as state:
            refusal = state.refusal(key)
            if refusal is not None:
                return Explanation(
                    url=refusal.url,
                    known=True,
                    outcome=Outcome.REJECTED,
                    reason=refusal.reason,
                    detail=refusal.detail,
                    parent=refusal.parent,
                )
    return None


def _unknown(url: str, settings: Settings, name: str | None) -> Explanation:
    """Never met; say what the scope would say."""
    if name is None:
        return Explanation(url, known=False, reason=Reason.NOT_A_PAGE_URL, detail=REASON_TEXT[Reason.NOT_A_PAGE_URL])
    scope = Scope(settings.scope, allow_ports=settings.http.allow_ports, schemes=installed_schemes())
    refused = scope.verdict(name, depth=1) or TrapFilter(settings.traps).refusal(
        name, year=_now().year, is_asked_for=scope.is_seed(name)
    )
    if refused is None:
        return Explanation(
            name,
            known=False,
            detail="it is inside the scope; depth, robots.txt and filters of your own may still say no",
        )
    reason, detail = refused
    return Explanation(name, known=False, outcome=Outcome.REJECTED, reason=reason, detail=detail)


def skipped_urls(collection: Path, site: str | None) -> Iterator[SkippedUrl]:
    """Refused URLs, and pages that were refused when their turn came."""
    for refusal in StateReader(collection).refusals():
        if site is None or _is_of(refusal.url, site):
            yield SkippedUrl(refusal.url, refusal.reason, refusal.detail, refusal.parent)
    for page in StateReader(collection).rejected_pages():
        if site is None or _is_of(page.url, site):
            yield SkippedUrl(page.url, page.reason, page.detail, page.parent)


def _is_of(url: str, site: str) -> bool:
    """The URL is of this host or origin."""
    if not url.startswith(("http://", "https://")) or "/" not in url[8:]:
        return False
    origin = site_of(url)
    return site.rstrip("/") in (origin, origin.partition("://")[2])
