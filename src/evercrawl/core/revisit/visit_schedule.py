"""Decide when a page is visited next, by the optimal policy or by a named rule.
The state of a page is a few bytes, stored with the page. Times are days."""

from __future__ import annotations

from enum import StrEnum
from math import inf
from struct import Struct, error
from typing import NamedTuple, Protocol

from evercrawl.core.revisit.change_announcements import has_announcements
from evercrawl.core.revisit.interval_rules import RULES, IntervalRule, RuleState
from evercrawl.core.revisit.rate_estimate import PageEstimate
from evercrawl.core.revisit.site_model import SiteModel, update_site_model
from evercrawl.core.revisit.visit_update import new_page_estimate
from evercrawl.core.revisit.visit_value import MARGIN, due_at, value_now

OPTIMAL = "optimal"
POLICIES = (OPTIMAL, *RULES)

_ESTIMATE = Struct("<B7d")
_RULE_STATE = Struct("<B4dqqd")
assert _RULE_STATE.size == _ESTIMATE.size
_OPTIMAL_FORM, _RULE_FORM = 1, 2
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


class OptimalSchedule:
    """Visits the most valuable page. A page is due when its value reaches the threshold."""

    name = OPTIMAL

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
        if page is None or page.visited is None or now - page.visited >= level.longest:
            return inf
        escape = model.escape_chance(hub, now=now)
        return value_now(page, model.estimate, now=now, span=level.span, escape=escape)


class RuleSchedule:
    """Follows a rule that only uses the page's own history."""

    def __init__(self, name: str, rule: IntervalRule) -> None:
        self.name = name
        self._rule = rule

    def after_visit(
        self, state: bytes | None, model: SiteModel, *, hub: int, now: float, changed: bool
    ) -> tuple[bytes, SiteModel]:
        return rule_state_bytes(self._rule.after_visit(rule_state_of(state), now=now, changed=changed)), model

    def due(self, state: bytes, model: SiteModel, *, hub: int, now: float, level: BudgetLevel) -> float:
        rule_state = rule_state_of(state)
        shortest = level.span if self.name == "uniform" else level.shortest
        return min(max(rule_state.due, rule_state.visited + shortest), rule_state.visited + level.longest)

    def value(self, state: bytes, model: SiteModel, *, hub: int, now: float, level: BudgetLevel) -> float:
        rule_state = rule_state_of(state)
        if rule_state.due > now and now - rule_state.visited < level.longest:
            return 0.0
        changed_share = 1.0 - model.escape_chance(hub, now=now)
        is_wanted, _ = self._rule.should_visit(rule_state, now=now, changed_share=changed_share)
        return inf if is_wanted else 0.0


def named_schedule(name: str) -> VisitSchedule:
    """Return the policy of that name."""
    return OptimalSchedule() if name == OPTIMAL else RuleSchedule(name, RULES[name]())


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


def mark_cached(state: bytes) -> bytes:
    """Mark a stored state as postponed by a cache header."""
    return state + _CACHE_MARK


def is_marked_cached(state: bytes | None) -> bool:
    """True if a cache header set the next visit."""
    return state is not None and state[_ESTIMATE.size :] == _CACHE_MARK


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
