"""Explain."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from math import inf, isfinite
from pathlib import Path

from evercrawl.adapters.plugins import installed_schemes
from evercrawl.adapters.sql.state_reader import ShardReader, StateReader
from evercrawl.collection.forecast import budget_level, estimate_of, stored_budget
from evercrawl.collection.status import _now, _words
from evercrawl.core.credit.credit_priority import importance_weight
from evercrawl.core.politeness import parse_delay_rules
from evercrawl.core.revisit.announcements import false_share, has_announcements
from evercrawl.core.revisit.rate_estimate import PageEstimate, SiteEstimate, change_rate
from evercrawl.core.revisit.site_model import SiteModel
from evercrawl.core.revisit.visit_schedule import BudgetLevel, is_marked_cached, named_schedule
from evercrawl.core.revisit.visit_value import MARGIN, probability_current
from evercrawl.core.scope.scope import Scope
from evercrawl.core.traps.user_rules import TrapFilter
from evercrawl.core.url import PAGE_SCHEMES, canonical, key_of, shard_of_site, site_of
from evercrawl.core.visit.links import refusal_key
from evercrawl.engine.revisits import hub_of
from evercrawl.engine.site_state import FRESHNESS
from evercrawl.model.listing import CreditSummary, PageRecord, SampledPage, VisitRecord
from evercrawl.model.reason import REASON_TEXT, Outcome, Reason
from evercrawl.model.report import Announcements, Explanation, PageForecast, PastVisit
from evercrawl.model.settings import RevisitSettings, Settings
from evercrawl.model.site import Site
from evercrawl.model.time import DAY_US, format_days, format_interval, from_us, to_us

MOST_DECISIONS = 10


LONG_GAP_MS = 10_000
"""A gap from which on a page that waits for its turn counts as held up by its site."""


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
                slowed = parse_delay_rules(settings.pace.overrides).get(page.site)
                found = _explain_page(page, site, state.visits(page.id, MOST_DECISIONS), slowed)
                said = state.analyses(page.id).get(page.version, {})
                found = replace(found, relevance=said.get("relevance"))
                habits = page_forecast(reader, state, page, settings.revisit, now=_now())
                return _with_credit(replace(found, habits=habits), state.credit(page.key), settings)
    return _explain_refusal(reader, name) or _unknown(name, settings, name)


def _with_credit(found: Explanation, credit: CreditSummary | None, settings: Settings) -> Explanation:
    """Importance, and the value of a visit as it is weighed by it."""
    if credit is None:
        return found
    weight = importance_weight(credit.importance, mean=1.0, influence=settings.credit.importance_exponent)
    if found.duplicate_of is not None:
        weight *= settings.duplicates.revisit_weight
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
        return Explanation(url, known=False, reason=Reason.INVALID_URL, detail=REASON_TEXT[Reason.INVALID_URL])
    scope = Scope(settings.scope, allow_ports=settings.http.allow_ports, schemes=installed_schemes())
    refused = scope.verdict(name, depth=1) or TrapFilter(settings.traps).refusal(
        name, year=_now().year, is_requested=scope.is_seed(name)
    )
    if refused is None:
        return Explanation(
            name,
            known=False,
            detail="it is inside the scope; depth, robots.txt and filters of your own may still say no",
        )
    reason, detail = refused
    return Explanation(name, known=False, outcome=Outcome.REJECTED, reason=reason, detail=detail)


DIGITS = 4


def page_forecast(
    reader: StateReader, state: ShardReader, page: PageRecord, settings: RevisitSettings, *, now: datetime
) -> PageForecast | None:
    """What was learned about a page; None: it has never been seen."""
    (row,) = state.sampled_pages([page.id]) or (None,)
    if row is None or (row.version == 0 and row.belief is None):
        return None
    outlook = FRESHNESS.read(state.memory(row.site_id, FRESHNESS.name))
    pages = sum(_pages(reader))
    level = budget_level(stored_budget(reader, settings, pages=pages), settings)
    return _habits(page, row, outlook, level, policy=settings.policy, now=now)


def _pages(reader: StateReader) -> list[int]:
    sizes = []
    for shard in reader.shards():
        with reader.shard(shard) as state:
            sizes.append(state.next_id() - 1)
    return sizes


def _habits(
    page: PageRecord, row: SampledPage, outlook: SiteModel, level: BudgetLevel, *, policy: str, now: datetime
) -> PageForecast:
    today, hub = to_us(now) / DAY_US, hub_of(page.url)
    belief = estimate_of(row, outlook)
    a, b = change_rate(belief, outlook.estimate)
    worth = _worth(row, outlook, level, policy=policy, today=today)
    spared = outlook.escape_chance(hub, now=today)
    return PageForecast(
        policy=policy,
        changes_per_day=a / b,
        words=_rate_words(page, a / b),
        visits=page.visits,
        changes=max(page.version - 1, 0),
        chance_current=round(probability_current(belief, outlook.estimate, now=today, spared=spared), DIGITS),
        value_days=round(worth, DIGITS) if isfinite(worth) else None,
        threshold_days=level.threshold,
        next_visit=None if page.due_us is None else from_us(page.due_us),
        next_visit_words=_next_words(page, worth, level, now=now),
        announcements=_announcements(belief, outlook.estimate),
        validators_that_lied=outlook.false_validators,
    )


def _worth(row: SampledPage, outlook: SiteModel, level: BudgetLevel, *, policy: str, today: float) -> float:
    """As the crawl itself weighs it."""
    if row.belief is None:
        return inf
    return named_schedule(policy).value(row.belief, outlook, hub=hub_of(row.url), now=today, level=level)


def _rate_words(page: PageRecord, rate: float) -> str:
    changes, seen = max(page.version - 1, 0), f"seen in {_counted(page.visits, 'visit')}"
    if page.version == 0:
        return f"a redirect, {seen}"
    pace = format_interval(1.0 / rate)
    if page.visits < 2:
        return f"seen once; pages of this site are taken to change about {pace}"
    if not changes:
        return f"no change {seen}; taken to change about {pace}"
    return f"changes about {pace}; {_counted(changes, 'change')} {seen}"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _next_words(page: PageRecord, worth: float, level: BudgetLevel, *, now: datetime) -> str:
    if page.is_queued:
        return "it is in the queue"
    if page.due_us is None:
        return "it is not asked for again unless --refresh is given"
    due, needed = from_us(page.due_us), MARGIN * level.threshold
    if page.tries:
        return f"tried again from {_minute(due)} on, after {_counted(page.tries, 'failure')}"
    if due <= now:
        return "due now; the next run weighs it against the pages that are worth more"
    if is_marked_cached(page.belief):
        return f"not before {_minute(due)}: the server called its last answer fresh for that long"
    if worth < needed:
        lasting = f"now it would bring {format_days(worth)} of a current copy, {format_days(needed)} are asked for"
        return f"not worth a request before {_minute(due)}: {lasting}"
    return f"not before {_minute(due)}: the interval that the last visit set"


def _minute(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def _announcements(belief: PageEstimate, site: SiteEstimate) -> Announcements | None:
    if not site.has_signal and site.polled is None:
        return None
    a, b = change_rate(belief, site)
    return Announcements(
        trusted=has_announcements(site),
        recall=round(site.recall, DIGITS),
        false_share=round(false_share(a / b, site), DIGITS),
        waiting=round(belief.announcements),
        last_poll=None if site.polled is None else from_us(int(site.polled * DAY_US)),
        last_announced=from_us(int(belief.last_announced * DAY_US)) if isfinite(belief.last_announced) else None,
    )
