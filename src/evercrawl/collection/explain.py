"""Why a URL was or was not visited, how often its page changes, and when its next visit is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from math import inf, isfinite
from pathlib import Path

from evercrawl.adapters.plugins import installed_schemes
from evercrawl.adapters.sql.state_reader import ShardReader, StateReader
from evercrawl.cluster.crawl_builder import scope_of
from evercrawl.collection.current_rules import CurrentRules, of_page, of_refusal
from evercrawl.collection.forecast import estimate_of, stored_budget
from evercrawl.collection.runs import closed_text, is_slow
from evercrawl.core.credit.ledger import importance_weight
from evercrawl.core.politeness import parse_delay_rules
from evercrawl.core.revisit.change_announcements import announced_share, has_announcements
from evercrawl.core.revisit.rate_estimate import PageEstimate, SiteEstimate, change_rate
from evercrawl.core.revisit.request_budget import budget_level
from evercrawl.core.revisit.user_schedule import describe_schedule
from evercrawl.core.revisit.visit_schedule import (
    BudgetLevel,
    SiteModel,
    hub_of,
    is_marked_cached,
    named_schedule,
    rule_text,
)
from evercrawl.core.revisit.visit_value import MARGIN, probability_current
from evercrawl.core.traps.user_rules import TrapFilter
from evercrawl.core.url import PAGE_SCHEMES, canonical, key_of, shard_of_site, site_of
from evercrawl.core.visit.links import refusal_key
from evercrawl.engine.assets import asset_mark, asset_marks
from evercrawl.engine.site_state import FRESHNESS
from evercrawl.model.document import USAGE_KEY, terms_from
from evercrawl.model.listing import CreditSummary, PageRecord, SampledPage, VisitRecord
from evercrawl.model.page import Resource
from evercrawl.model.reason import REASON_TEXT, Outcome, Reason, RefusalReason
from evercrawl.model.report import Announcements, Explanation, PageForecast, PastVisit
from evercrawl.model.settings import RevisitSettings, Settings
from evercrawl.model.site import Site
from evercrawl.model.time import DAY_US, format_interval, from_us, to_us

MAX_DECISIONS = 10
MAX_USERS = 3  # Pages that are named as users of an asset.
DIGITS = 4


def _canonical_url(url: str) -> str | None:
    """Return the canonical form of a URL that this installation can fetch."""
    return canonical(url, (*PAGE_SCHEMES, *(f"{scheme}://" for scheme in installed_schemes())))


def explain(collection: Path, settings: Settings, url: str) -> Explanation:
    """Return the decision about a page or a rejected URL; for an unknown URL, what the scope says."""
    name = _canonical_url(url)
    reader = StateReader(collection)
    if name is None:
        return _explain_refusal(reader, url, None) or _unknown(url, settings, None)
    rules = CurrentRules(collection, settings)
    shard = shard_of_site(site_of(name), settings.store.shards)
    if shard in reader.shards():
        with reader.shard(shard) as state:
            page = state.page(key_of(name))
            if page is not None:
                site = state.site_named(page.site)
                override = parse_delay_rules(settings.pace.overrides).get(page.site)
                found = _explain_page(page, site, state.visits(page.id, MAX_DECISIONS), override)
                analysis = state.analyses(page.id).get(page.version, {})
                forecast = page_forecast(reader, state, page, settings.revisit, now=datetime.now(UTC))
                found = replace(found, relevance=analysis.get("relevance"), forecast=forecast)
                found = replace(found, usage=terms_from(analysis.get(USAGE_KEY)).summary())
                found = _with_credit(found, state.credit(page.key), settings)
                found = _with_index_limit(found, state.text(page.id, page.version), settings.search.max_text_chars)
                own = rules.schedule(name)
                if own is not None:
                    found = replace(found, schedule=f"{describe_schedule(own[1])}, set for {own[0]}")
                return _as_of_today(found, page, rules.refusal(of_page(page)))
            contents = state.resources_of(key_of(name))
        if contents:
            return _explain_resource(reader, contents)
    return _explain_refusal(reader, name, rules) or _unknown(name, settings, name)


def _with_index_limit(found: Explanation, text: str | None, most: int) -> Explanation:
    """Say if search finds only the beginning of the newest version."""
    if text is None or len(text) <= most:
        return found
    note = f"search finds only the first {most:,} of {len(text):,} characters (search.max_text_chars)"
    return replace(found, detail=f"{found.detail}; {note}" if found.detail else note)


def _explain_resource(reader: StateReader, contents: list[Resource]) -> Explanation:
    """Explain a redirect or an asset: what it is, when it was fetched, and which pages use it."""
    newest = contents[0]
    pages = list(islice(_users_of(reader, newest.key), MAX_USERS + 1))
    used = f"used by {', '.join(pages[:MAX_USERS])}{' and others' if len(pages) > MAX_USERS else ''}" if pages else ""
    if newest.moved_to is not None:
        what = f"redirects to {newest.moved_to}"
    else:
        what = f"an asset, not a page: {newest.content_type or 'unknown type'}, {newest.body_bytes:,} bytes"
    times = (
        f"fetched {from_us(newest.seen_us):%Y-%m-%d %H:%M} UTC, checked {from_us(newest.last_us):%Y-%m-%d %H:%M} UTC"
    )
    versions = f"{len(contents)} contents are stored" if len(contents) > 1 else ""
    is_error = newest.status >= 400
    return Explanation(
        newest.url,
        known=True,
        outcome=Outcome.ERROR if is_error else Outcome.FETCHED,
        reason=Reason.REDIRECT if newest.moved_to is not None else Reason.HTTP_ERROR if is_error else Reason.NEW,
        detail="; ".join(filter(None, (what, used, times, versions))),
        status=newest.status,
        parent=pages[0] if pages else None,
    )


def _users_of(reader: StateReader, key: bytes) -> Iterator[str]:
    """Yield the pages that use an asset, each once."""
    mark, last = asset_mark(key), ""
    for shard in reader.shards():
        with reader.shard(shard) as state:
            for url, marks in state.asset_uses():
                if mark in marks and url != last and mark in asset_marks(marks):
                    yield url
                    last = url


def _as_of_today(found: Explanation, page: PageRecord, refused: RefusalReason | None) -> Explanation:
    """Replace the stored decision where the settings or robots.txt say something else today."""
    if refused is not None:
        reason, detail = refused
        return replace(found, outcome=Outcome.REJECTED, reason=reason, detail=detail)
    if page.outcome is Outcome.REJECTED and not page.is_queued:
        detail = f"was rejected ({page.reason}), but is allowed now; the next run visits it"
        return replace(found, outcome=Outcome.QUEUED, reason=Reason.WAITING, detail=detail)
    return found


def _with_credit(found: Explanation, credit: CreditSummary | None, settings: Settings) -> Explanation:
    """Add the importance of the page, and weight the value of a visit by it."""
    if credit is None:
        return found
    weight = importance_weight(credit.importance, mean=1.0, influence=settings.credit.importance_exponent)
    if found.duplicate_of is not None:
        weight *= settings.duplicates.revisit_weight
    forecast = found.forecast
    if forecast is not None and forecast.value_days is not None:
        forecast = replace(forecast, value_days=forecast.value_days * weight)
    importance = round(credit.importance, 3)
    return replace(found, forecast=forecast, credit=round(credit.credit, 3), importance=importance)


def _explain_page(
    page: PageRecord, site: Site | None, visits: list[VisitRecord], override: timedelta | None
) -> Explanation:
    now = datetime.now(UTC)
    outcome, reason, detail = page.outcome, page.reason, page.detail
    if page.visits == 0:
        outcome, reason, detail = Outcome.QUEUED, Reason.WAITING, REASON_TEXT[Reason.WAITING]
    if page.is_queued and page.version == 0 and (cause := _delay_cause(site, now, override)) is not None:
        outcome, reason, detail = cause
    opens = from_us(site.open_us) if site is not None and site.open_us > to_us(now) else None
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
        site_closed=closed_text(site.closed_reason) if opens and site is not None and site.closed_reason else None,
        delay_override_s=None if override is None else override.total_seconds(),
        decisions=tuple(past_visit(visit) for visit in visits),
        duplicate_of=page.duplicate_of,
    )


def _delay_cause(site: Site | None, now: datetime, override: timedelta | None) -> tuple[Outcome, Reason, str] | None:
    """Return why the site of a queued page cannot be visited now; None: it can."""
    if site is None or site.open_us <= to_us(now):
        return None
    if site.closed_reason is not None:
        reason = _closed_reason(site)
        outcome = Outcome.ERROR if reason in (Reason.DNS, Reason.TLS) else Outcome.DEFERRED
        return outcome, reason, closed_text(site.closed_reason)
    if is_slow(site) or override is not None:
        who = "you slowed this site down: it" if override is not None else "this site"
        detail = f"{who} gets one request every {site.delay_ms / 1000:g} s"
        return Outcome.DEFERRED, Reason.THROTTLED, detail
    return None


def _closed_reason(site: Site) -> Reason:
    name = (site.closed_reason or "").partition(":")[0]
    return Reason(name) if name in set(Reason) else Reason.SITE_DOWN


def past_visit(visit: VisitRecord) -> PastVisit:
    """Return a stored visit as it is shown."""
    return PastVisit(
        at=from_us(visit.at_us),
        outcome=visit.outcome,
        reason=visit.reason,
        status=visit.status,
        took_ms=visit.took_ms,
        wire_bytes=visit.wire_bytes,
        version=visit.version or None,
    )


def _explain_refusal(reader: StateReader, url: str, rules: CurrentRules | None) -> Explanation | None:
    key = refusal_key(url)
    for shard in reader.shards():
        with reader.shard(shard) as state:
            refusal = state.refusal(key)
        if refusal is not None:
            stored = (refusal.reason, refusal.detail)
            refused = stored if rules is None else rules.refusal(of_refusal(refusal))
            if refused is None:
                detail = f"was rejected ({refusal.reason}), but is allowed now; the next run adds it to the queue"
                return Explanation(
                    refusal.url, known=True, outcome=Outcome.QUEUED, reason=Reason.WAITING, detail=detail
                )
            reason, detail = refused
            return Explanation(
                refusal.url, True, outcome=Outcome.REJECTED, reason=reason, detail=detail, parent=refusal.parent
            )
    return None


def _unknown(url: str, settings: Settings, name: str | None) -> Explanation:
    """Explain a URL that was never found: say what scope and trap rules decide."""
    if name is None:
        return Explanation(url, known=False, reason=Reason.INVALID_URL, detail=REASON_TEXT[Reason.INVALID_URL])
    scope = scope_of(settings, installed_schemes())
    refused = scope.verdict(name, depth=1) or TrapFilter(settings.traps).refusal(
        name, year=datetime.now(UTC).year, is_requested=scope.is_seed(name)
    )
    if refused is None:
        return Explanation(
            name,
            known=False,
            detail="in scope, but not found yet; depth, robots.txt and your filters may still reject it",
        )
    reason, detail = refused
    return Explanation(name, known=False, outcome=Outcome.REJECTED, reason=reason, detail=detail)


def page_forecast(
    reader: StateReader, state: ShardReader, page: PageRecord, settings: RevisitSettings, *, now: datetime
) -> PageForecast | None:
    """Return how a page changes and when it is visited next; None: it was never fetched."""
    (row,) = state.sampled_pages([page.id]) or (None,)
    if row is None or (row.version == 0 and row.rate_estimate is None):
        return None
    model = FRESHNESS.read(state.site_state(row.site_id, FRESHNESS.name))
    pages = 0 if settings.budget is None else _count_pages(reader)  # Without a budget their number says nothing.
    level = budget_level(stored_budget(reader, settings, pages=pages), settings)
    return _forecast(page, row, model, level, policy=settings.policy, now=now)


def _count_pages(reader: StateReader) -> int:
    count = 0
    for shard in reader.shards():
        with reader.shard(shard) as state:
            count += state.next_id() - 1
    return count


def _forecast(
    page: PageRecord, row: SampledPage, model: SiteModel, level: BudgetLevel, *, policy: str, now: datetime
) -> PageForecast:
    today, hub = to_us(now) / DAY_US, hub_of(page.url)
    estimate = estimate_of(row, model)
    a, b = change_rate(estimate, model.estimate)
    value = _visit_value(row, model, level, policy=policy, today=today)
    escape = model.escape_chance(hub, now=today)
    return PageForecast(
        policy=policy,
        changes_per_day=a / b,
        rate_text=_rate_text(page, a / b),
        visits=page.visits,
        changes=max(page.version - 1, 0),
        probability_current=round(probability_current(estimate, model.estimate, now=today, escape=escape), DIGITS),
        value_days=round(value, DIGITS) if isfinite(value) else None,
        threshold_days=level.threshold,
        next_visit=None if page.due_us is None else from_us(page.due_us),
        next_visit_text=_next_visit_text(page, value, level, now=now),
        announcements=_announcements(estimate, model.estimate),
        false_validators=model.false_validators,
        rule_text=rule_text(policy, page.rate_estimate),
    )


def _visit_value(row: SampledPage, model: SiteModel, level: BudgetLevel, *, policy: str, today: float) -> float:
    """Return the value of a visit, computed as the crawl does."""
    if row.rate_estimate is None:
        return inf
    return named_schedule(policy).value(row.rate_estimate, model, hub=hub_of(row.url), now=today, level=level)


FEW_VISITS = 4  # With fewer, the rate is mostly that of the site.


def _rate_text(page: PageRecord, rate: float) -> str:
    changes, seen = max(page.version - 1, 0), f"seen in {_plural(page.visits, 'visit')}"
    if page.version == 0:
        return f"a redirect, {seen}"
    pace = format_interval(1.0 / rate)
    if page.visits < 2:
        return f"seen once; pages of this site are assumed to change about {pace}"
    if not changes:
        return f"no change {seen}; assumed to change about {pace}"
    if page.visits < FEW_VISITS:
        return f"{_plural(changes, 'change')} {seen}; until more is known, assumed to change about {pace}"
    return f"changes about {pace}; {_plural(changes, 'change')} {seen}"


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _next_visit_text(page: PageRecord, value: float, level: BudgetLevel, *, now: datetime) -> str:
    if page.is_queued:
        return "in the queue"
    if page.due_us is None:
        return "not visited again without --refresh"
    due, needed = from_us(page.due_us), MARGIN * level.threshold
    if page.tries:
        return f"tried again at {_minute(due)}, after {_plural(page.tries, 'failure')}"
    if due <= now:
        return "due now; the next run visits more valuable pages first"
    if is_marked_cached(page.rate_estimate):
        return f"not before {_minute(due)}: the server marked the last response as fresh until then"
    if value < needed:
        return f"not before {_minute(due)}: a change is unlikely until then"
    return f"not before {_minute(due)}: the interval set by the last visit"


def _minute(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def _announcements(estimate: PageEstimate, site: SiteEstimate) -> Announcements | None:
    if not site.has_signal and site.polled is None:
        return None
    share, checked = announced_share(site), site.announcements_checked
    return Announcements(
        trusted=has_announcements(site) or checked > 0,
        recall=None if share is None else round(share, DIGITS),
        false_share=round(site.announcements_false / checked, DIGITS) if checked else None,
        changes_found=site.changes_found,
        changes_announced=site.changes_announced,
        checked=checked,
        false=site.announcements_false,
        pending=round(estimate.announcements),
        last_poll=None if site.polled is None else from_us(int(site.polled * DAY_US)),
        last_announced=from_us(int(estimate.last_announced * DAY_US)) if isfinite(estimate.last_announced) else None,
    )
