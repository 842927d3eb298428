"""Decide when a page is visited next, by the optimal policy or by a named rule.
The state of a page is a few bytes, stored with the page. Times are days."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from math import inf
from struct import Struct, error
from typing import NamedTuple, Protocol

import orjson
from xxhash import xxh32_intdigest

from evercrawl.core.revisit.change_announcements import after_announcement, count_finding, has_announcements
from evercrawl.core.revisit.interval_rules import (
    RULES,
    IntervalRule,
    PaperSelective,
    RuleState,
    has_changed_since,
    is_black_box,
)
from evercrawl.core.revisit.rate_estimate import BulkChange, PageEstimate, SiteEstimate, change_rate, with_prior
from evercrawl.core.revisit.visit_update import after_visit, escape_chances, new_page_estimate
from evercrawl.core.revisit.visit_value import MARGIN, due_at, value_now
from evercrawl.model.settings import RevisitSettings

MAX_HUBS = 64  # Directories kept per site: those visited last.
PRIOR_MEMORY_DAYS = 3000.0  # Page-days after which the past counts half.
TRUSTED_DAYS = 50.0  # Page-days before the learned prior replaces the general one.
_FORM = 1


class PriorMoments(NamedTuple):
    """Moments of the observed change rates, weighted by days."""

    days: float = 0.0
    mean: float = 0.0
    square: float = 0.0


class SiteModel(NamedTuple):
    """Everything that the revisit policy keeps about one site."""

    estimate: SiteEstimate = SiteEstimate()
    hubs: dict[int, BulkChange] = {}  # noqa: RUF012 - a value; every change makes a new one
    moments: PriorMoments = PriorMoments()
    false_validators: int = 0  # Validators that did not change although the content did.
    has_dated_sitemap: bool = False  # The site's sitemap says when pages changed.

    def escape_chance(self, hub: int, *, now: float) -> float:
        """Return the probability that a page of this directory escaped a current bulk change."""
        sums = self.hubs.get(hub, BulkChange())
        return escape_chances(self.estimate, sums, now=max(now, sums.at)).both


def update_site_model(
    model: SiteModel, page: PageEstimate, *, hub: int, now: float, changed: bool
) -> tuple[SiteModel, PageEstimate]:
    """Return site and page after a visit. The first visit teaches nothing."""
    tau = now - page.visited if page.visited is not None else 0.0
    update = after_visit(page, model.estimate, model.hubs.get(hub, BulkChange()), now=now, changed=changed)
    if tau <= 0.0:
        return model, update.page
    hubs = model.hubs.copy()
    hubs.pop(hub, None)  # The directory visited last is the last one.
    hubs[hub] = update.hub
    if len(hubs) > MAX_HUBS:
        hubs = dict(list(hubs.items())[-MAX_HUBS:])
    sums = _with_rate(model.moments, *change_rate(update.page, update.site), days=tau)
    return model._replace(estimate=_with_learned_prior(update.site, sums), hubs=hubs, moments=sums), update.page


def _with_rate(sums: PriorMoments, a: float, b: float, *, days: float) -> PriorMoments:
    kept = 0.5 if sums.days > PRIOR_MEMORY_DAYS else 1.0
    mean = a / b
    return PriorMoments(
        sums.days * kept + days, sums.mean * kept + days * mean, sums.square * kept + days * (mean / b + mean * mean)
    )


def _with_learned_prior(site: SiteEstimate, sums: PriorMoments) -> SiteEstimate:
    """Return the site with the mean and variance of the observed rates (empirical Bayes)."""
    if sums.days < TRUSTED_DAYS:
        return site
    mean = sums.mean / sums.days
    return with_prior(site, mean=mean, variance=sums.square / sums.days - mean * mean)


def site_model_bytes(model: SiteModel) -> bytes:
    """Return the stored form."""
    estimate = model.estimate._asdict() | {"site_change": list(model.estimate.site_change)}
    hubs = [[key, *sums] for key, sums in model.hubs.items()]
    return orjson.dumps([_FORM, estimate, hubs, list(model.moments), *model[3:]])


def site_model_of(stored: bytes) -> SiteModel:
    """Read the stored form; empty if it cannot be read."""
    try:
        form, fields, hubs, sums, *rest = orjson.loads(stored)
        if form != _FORM:
            return SiteModel()
        known = {name: value for name, value in fields.items() if name in SiteEstimate._fields}
        estimate = SiteEstimate(**(known | {"site_change": BulkChange(*fields["site_change"])}))
        return SiteModel(estimate, {key: BulkChange(*each) for key, *each in hubs}, PriorMoments(*sums), *rest)
    except (ValueError, TypeError, KeyError):
        return SiteModel()


def hub_of(url: str) -> int:
    """Return the directory of a page as a number."""
    return xxh32_intdigest(url.partition("?")[0].rpartition("/")[0].encode("utf-8", "surrogatepass"))


OPTIMAL = "optimal"
POLICIES = (OPTIMAL, *RULES)

_ESTIMATE = Struct("<B7d")
_RULE_STATE = Struct("<B4dqq2d")
_OPTIMAL_FORM, _RULE_FORM = 1, 2
_SIZES = {_OPTIMAL_FORM: _ESTIMATE.size, _RULE_FORM: _RULE_STATE.size}
_CACHE_MARK = b"c"  # Suffix of a stored state whose next visit a cache header postponed.
_NEVER = -1e9


class BudgetLevel(NamedTuple):
    """What the budget currently allows."""

    threshold: float  # Days of a current copy that a visit must gain.
    span: float  # Mean days between two visits to a page.
    shortest: float
    longest: float  # Bounds of every interval, in days.


class VisitSchedule(Protocol):
    """A revisit policy. `state` is None before the first visit."""

    name: str
    needs_links: bool  # `take_turn` needs the share of changed links.
    needs_sitemaps: bool  # Sitemaps are read before anything else.

    def after_visit(
        self, state: bytes | None, model: SiteModel, *, hub: int, now: float, changed: bool
    ) -> tuple[bytes, SiteModel]:
        """Return page and site after a visit. The first one counts as unchanged."""
        ...

    def due(self, state: bytes, model: SiteModel, *, hub: int, now: float, level: BudgetLevel) -> float:
        """Return the time of the next visit, within the level's bounds."""
        ...

    def value(self, state: bytes, model: SiteModel, *, hub: int, now: float, level: BudgetLevel) -> float:
        """Return the value of a visit now; infinite if the rule requires it."""
        ...

    def take_turn(
        self, state: bytes, model: SiteModel, *, now: float, level: BudgetLevel, changed_share: float
    ) -> tuple[bool, bytes | None]:
        """Return whether a rule lets a due page pass, and its new state, which has the next turn of a refused page.
        No state: as before."""
        ...

    def announce(self, state: bytes, model: SiteModel, *, at: float) -> tuple[bytes | None, SiteModel]:
        """Return page and site after a sitemap dated the page; no state if that is nothing new."""
        ...


class OptimalSchedule:
    """Visits the most valuable page. A page is due when its value reaches the threshold."""

    name = OPTIMAL
    needs_links = False
    needs_sitemaps = False

    def after_visit(
        self, state: bytes | None, model: SiteModel, *, hub: int, now: float, changed: bool
    ) -> tuple[bytes, SiteModel]:
        page = page_estimate_of(state)
        if page is None:
            return page_estimate_bytes(new_page_estimate(model.estimate, now=now, has_copy=True)), model
        model, page = update_site_model(model, page, hub=hub, now=now, changed=changed)
        return page_estimate_bytes(page), model

    def due(self, state: bytes, model: SiteModel, *, hub: int, now: float, level: BudgetLevel) -> float:
        page = page_estimate_of(state)
        if page is None or page.visited is None:
            return now
        least, escape = MARGIN * level.threshold, model.escape_chance(hub, now=now)
        moment = due_at(page, model.estimate, threshold=least, span=level.span, longest=level.longest, escape=escape)
        return max(moment, page.visited + level.shortest)

    def value(self, state: bytes, model: SiteModel, *, hub: int, now: float, level: BudgetLevel) -> float:
        page = page_estimate_of(state)
        if page is None or page.visited is None or not 0.0 <= now - page.visited < level.longest:
            return inf  # A visit in the future: the clock was set back since.
        escape = model.escape_chance(hub, now=now)
        return value_now(page, model.estimate, now=now, span=level.span, escape=escape)

    def take_turn(
        self, state: bytes, model: SiteModel, *, now: float, level: BudgetLevel, changed_share: float
    ) -> tuple[bool, bytes | None]:
        return True, None

    def announce(self, state: bytes, model: SiteModel, *, at: float) -> tuple[bytes | None, SiteModel]:
        page = page_estimate_of(state)
        if page is None:
            return None, model
        after, site = after_announcement(page, model.estimate, announced_at=at)
        is_news = after.announcements > page.announcements
        return page_estimate_bytes(after) if is_news else None, model._replace(estimate=site)


class RuleSchedule:
    """Follows a rule that uses the page's own history, its links or its sitemap."""

    def __init__(self, name: str, rule: IntervalRule) -> None:
        self.name = name
        self.needs_links = rule.needs_links
        self.needs_sitemaps = rule.needs_sitemaps
        self._rule = rule

    def after_visit(
        self, state: bytes | None, model: SiteModel, *, hub: int, now: float, changed: bool
    ) -> tuple[bytes, SiteModel]:
        before = rule_state_of(state)
        if self.needs_sitemaps and before.visits:
            is_announced = before.announced > before.visited
            days = max(now - before.visited, 0.0)
            found = count_finding(model.estimate, announced=is_announced, changed=changed, days=days)
            model = model._replace(estimate=found)
        return rule_state_bytes(self._rule.after_visit(before, now=now, changed=changed)), model

    def due(self, state: bytes, model: SiteModel, *, hub: int, now: float, level: BudgetLevel) -> float:
        rule_state = rule_state_of(state)
        shortest = level.span if self.name == "uniform" else level.shortest
        return min(max(rule_state.due, rule_state.visited + shortest), rule_state.visited + level.longest)

    def value(self, state: bytes, model: SiteModel, *, hub: int, now: float, level: BudgetLevel) -> float:
        rule_state = rule_state_of(state)
        if rule_state.visited > now:
            return inf
        if rule_state.due > now and now - rule_state.visited < level.longest:
            return 0.0
        is_wanted, _ = self._rule.should_visit(rule_state, now=now, has_sitemap=model.has_dated_sitemap)
        return inf if is_wanted or self.needs_links else 0.0

    def take_turn(
        self, state: bytes, model: SiteModel, *, now: float, level: BudgetLevel, changed_share: float
    ) -> tuple[bool, bytes | None]:
        before = rule_state_of(state)
        if before.due > now or now - before.visited >= level.longest:
            return True, None
        is_wanted, after = self._rule.should_visit(
            before, now=now, changed_share=changed_share, has_sitemap=model.has_dated_sitemap
        )
        return is_wanted, rule_state_bytes(after) if after != before else None

    def announce(self, state: bytes, model: SiteModel, *, at: float) -> tuple[bytes | None, SiteModel]:
        before = rule_state_of(state)
        after = self._rule.after_announcement(before, updated=at)
        is_news = after.announced > max(before.announced, before.visited)
        return rule_state_bytes(after) if is_news else None, model


def named_schedule(name: str) -> VisitSchedule:
    """Return the policy of that name."""
    return OptimalSchedule() if name == OPTIMAL else RuleSchedule(name, RULES[name]())


def schedule_of(settings: RevisitSettings) -> VisitSchedule:
    """Return the policy that the settings name, with its own settings."""
    if settings.policy == "paper-selective":
        rule = PaperSelective(settings.selective_threshold, settings.selective_step)
        return RuleSchedule(settings.policy, rule)
    return named_schedule(settings.policy)


def changed_share(state: bytes | None, linked: Iterable[bytes | None]) -> float:
    """Return the share of the pages that a page links to that changed since its visit; unknown pages do not count."""
    visited = rule_state_of(state).visited
    known = [rule_state for each in linked if (rule_state := rule_state_of(each)).visits > 1]
    return sum(has_changed_since(each, visited) for each in known) / len(known) if known else 0.0


def page_estimate_bytes(page: PageEstimate) -> bytes:
    """Return the stored form of a page's estimate, without its weight."""
    visited = _NEVER if page.visited is None else page.visited
    last_announced = max(page.last_announced, _NEVER)
    return _ESTIMATE.pack(_OPTIMAL_FORM, page.a, page.b, visited, *page[3:6], last_announced)


def page_estimate_of(state: bytes | None) -> PageEstimate | None:
    """Read a stored estimate; None if there is none of this policy."""
    try:
        form, a, b, visited, announcements, evidence, silent, announced = _ESTIMATE.unpack_from(state or b"")
    except error:
        return None
    if form != _OPTIMAL_FORM:
        return None
    last_announced = -inf if announced <= _NEVER else announced
    return PageEstimate(a, b, None if visited <= _NEVER else visited, announcements, evidence, silent, last_announced)


def rule_state_bytes(rule_state: RuleState) -> bytes:
    """Return the stored form of a rule's state."""
    return _RULE_STATE.pack(_RULE_FORM, *rule_state)


def rule_state_of(state: bytes | None) -> RuleState:
    """Read a stored rule state; empty if there is none of this policy."""
    try:
        form, *fields = _RULE_STATE.unpack_from(state or b"")
    except error:
        return RuleState()
    return RuleState(*fields) if form == _RULE_FORM else RuleState()


def rule_text(name: str, state: bytes | None) -> str:
    """Return in words what a paper's rule says about a page; empty if there is nothing to add."""
    rule_state = rule_state_of(state)
    if not rule_state.visits:
        return ""
    match name:
        case "paper-adaptive":
            return f"fr_max is {int(rule_state.interval)}: one visit in that many daily rounds"
        case "paper-selective" if is_black_box(rule_state):
            return "a black box: new, or changed at its last visit; visited at its next turn"
        case "paper-selective":
            return f"unchanged; visited when {rule_state.threshold:.0%} of its links have changed"
        case "paper-pdfc":
            return f"F = {rule_state.interval:.3g} days"
        case "paper-sitemap" if rule_state.announced > rule_state.visited:
            return "LAST_UPDATED is later than LAST_VISITED: visited at its next turn"
        case "paper-sitemap":
            return "LAST_UPDATED is not later than LAST_VISITED"
    return ""


def mark_cached(state: bytes) -> bytes:
    """Mark a stored state as postponed by a cache header."""
    return state + _CACHE_MARK


def is_marked_cached(state: bytes | None) -> bool:
    """True if a cache header set the next visit."""
    return state is not None and state[_SIZES.get(state[0] if state else 0, 0) :] == _CACHE_MARK


MIN_RECALL = 0.5  # Minimum recall for trusting the silence of a site.


class WaitCause(StrEnum):
    """Why a known page is not visited now."""

    SITEMAP = "sitemap"  # The site announces its changes, was polled after our visit, and did not name the page.
    CACHE = "cache"  # The server declared its answer fresh beyond the scheduled visit.
    MODEL = "model"  # A visit would gain less than the budget requires.
    FAILED = "failed"  # The last visits failed; it is retried later.
    GONE = "gone"  # The page is gone or no longer requested.


def wait_cause(state: bytes | None, model: SiteModel, *, is_gone: bool = False, tries: int = 0) -> WaitCause:
    """Return why a page is not due; `state` is what its schedule stored."""
    if is_gone:
        return WaitCause.GONE
    if tries:
        return WaitCause.FAILED
    if _is_silent(state, model):
        return WaitCause.SITEMAP
    return WaitCause.CACHE if is_marked_cached(state) else WaitCause.MODEL


def _is_silent(state: bytes | None, model: SiteModel) -> bool:
    """True if a trusted site was polled since our visit and did not name the page."""
    page, site = page_estimate_of(state), model.estimate
    if page is None or page.visited is None or not has_announcements(site) or site.recall < MIN_RECALL:
        return False
    return site.polled is not None and site.polled > page.visited and page.announcements < 1.0
