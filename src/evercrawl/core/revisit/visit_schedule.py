"""When is a page visited next? One signature for the default and for every rule by name.

What a schedule knows about a page is a few bytes that the store keeps with the page. Times are days.
"""

from __future__ import annotations

from enum import StrEnum
from math import inf
from struct import Struct, error
from typing import NamedTuple, Protocol

from evercrawl.core.revisit.announcements import has_announcements
from evercrawl.core.revisit.interval_rules import RULES, IntervalRule, RuleState
from evercrawl.core.revisit.rate_estimate import PageEstimate
from evercrawl.core.revisit.site_model import SiteModel, update_site_model
from evercrawl.core.revisit.visit_update import new_page_estimate
from evercrawl.core.revisit.visit_value import MARGIN, due_at, value_now

OPTIMAL = "optimal"
POLICIES = (OPTIMAL, *RULES)

_BELIEF = Struct("<B7d")
_MEMORY = Struct("<B4dqqd")
assert _MEMORY.size == _BELIEF.size
_OPTIMAL_FORM, _RULE_FORM = 1, 2
_CACHE_MARK = b"c"
"""Stands behind a stored state where a cache hint, not the schedule, set the next visit."""
_NEVER = -1e9


class BudgetLevel(NamedTuple):
    """What the budget allows at the moment."""

    threshold: float
    """Days of a current copy that a visit must bring."""
    span: float
    """Mean days between two visits to a page."""
    shortest: float
    longest: float
    """Bounds of every interval, in days."""


class VisitSchedule(Protocol):
    """A policy. `state` is None before the first visit."""

    name: str

    def after_visit(
        self, state: bytes | None, model: SiteModel, *, hub: int, now: float, changed: bool
    ) -> tuple[bytes, SiteModel]:
        """Page and site after a visit; the first one counts as unchanged."""
        ...

    def due(self, state: bytes, model: SiteModel, *, hub: int, now: float, level: BudgetLevel) -> float:
        """The moment of the next visit as things stand, within the level's bounds."""
        ...

    def value(self, state: bytes, model: SiteModel, *, hub: int, now: float, level: BudgetLevel) -> float:
        """What a visit now would bring; infinite where the rule asks for it."""
        ...


class OptimalSchedule:
    """The page whose visit brings most; due when that reaches the threshold."""

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
        moment = due_at(
            page,
            model.estimate,
            threshold=MARGIN * level.threshold,
            span=level.span,
            longest=level.longest,
            spared=model.escape_chance(hub, now=now),
        )
        return max(moment, page.visited + level.shortest)

    def value(self, state: bytes, model: SiteModel, *, hub: int, now: float, level: BudgetLevel) -> float:
        page = page_estimate_of(state)
        if page is None or page.visited is None or now - page.visited >= level.longest:
            return inf
        escape = model.escape_chance(hub, now=now)
        return value_now(page, model.estimate, now=now, span=level.span, spared=escape)


class RuleSchedule:
    """A rule that looks at nothing but the page's own past."""

    def __init__(self, name: str, rule: IntervalRule) -> None:
        self.name = name
        self._rule = rule

    def after_visit(
        self, state: bytes | None, model: SiteModel, *, hub: int, now: float, changed: bool
    ) -> tuple[bytes, SiteModel]:
        return rule_state_bytes(self._rule.after_visit(rule_state_of(state), now=now, changed=changed)), model

    def due(self, state: bytes, model: SiteModel, *, hub: int, now: float, level: BudgetLevel) -> float:
        memory = rule_state_of(state)
        shortest = level.span if self.name == "uniform" else level.shortest
        return min(max(memory.due, memory.visited + shortest), memory.visited + level.longest)

    def value(self, state: bytes, model: SiteModel, *, hub: int, now: float, level: BudgetLevel) -> float:
        memory = rule_state_of(state)
        if memory.due > now and now - memory.visited < level.longest:
            return 0.0
        around = 1.0 - model.escape_chance(hub, now=now)
        is_wanted, _ = self._rule.should_visit(memory, now=now, around=around)
        return inf if is_wanted else 0.0


def named_schedule(name: str) -> VisitSchedule:
    """The policy of that name."""
    return OptimalSchedule() if name == OPTIMAL else RuleSchedule(name, RULES[name]())


def page_estimate_bytes(page: PageEstimate) -> bytes:
    """The stored form of what is believed of a page; its weight is not part of it."""
    visited = _NEVER if page.visited is None else page.visited
    return _BELIEF.pack(
        _OPTIMAL_FORM, page.a, page.b, visited, page.announcements, page.announced_evidence, page.silent_change, max(page.last_announced, _NEVER)
    )


def page_estimate_of(state: bytes | None) -> PageEstimate | None:
    """What was stored; None: nothing, or another policy's."""
    try:
        form, a, b, visited, notices, credit, silent, announced = _BELIEF.unpack_from(state or b"")
    except error:
        return None
    if form != _OPTIMAL_FORM:
        return None
    return PageEstimate(
        a,
        b,
        None if visited <= _NEVER else visited,
        notices,
        credit,
        silent,
        -inf if announced <= _NEVER else announced,
    )


def rule_state_bytes(memory: RuleState) -> bytes:
    """The stored form of a rule's memory."""
    return _MEMORY.pack(_RULE_FORM, *memory)


def rule_state_of(state: bytes | None) -> RuleState:
    """What was stored; empty where there is nothing, or another policy's."""
    try:
        form, *fields = _MEMORY.unpack_from(state or b"")
    except error:
        return RuleState()
    return RuleState(*fields) if form == _RULE_FORM else RuleState()


def mark_cached(state: bytes) -> bytes:
    """The stored form of a page whose next visit a cache hint has put off."""
    return state + _CACHE_MARK


def is_marked_cached(state: bytes | None) -> bool:
    """Did a cache hint set the next visit?"""
    return state is not None and state[_BELIEF.size :] == _CACHE_MARK


LEAST_RECALL = 0.5
"""A site that announces fewer of its changes is not what a page is left alone for."""


class WaitCause(StrEnum):
    """The cause for which a page that we know is left alone."""

    SITEMAP = "sitemap"
    """Its site tells what changes, was asked after our visit, and did not name the page."""
    CACHE = "cache"
    """The server called its last answer fresh for longer than the schedule would have waited."""
    MODEL = "model"
    """A visit would bring less than the budget asks for."""
    FAILED = "failed"
    """The last visits failed; it is tried again later."""
    GONE = "gone"
    """It has vanished, or is not asked for again."""


def wait_cause(state: bytes | None, model: SiteModel, *, is_gone: bool = False, tries: int = 0) -> WaitCause:
    """The cause for which a page that is not due is not asked for; `state` is what its schedule stored."""
    if is_gone:
        return WaitCause.GONE
    if tries:
        return WaitCause.FAILED
    if _is_silent(state, model):
        return WaitCause.SITEMAP
    return WaitCause.CACHE if is_marked_cached(state) else WaitCause.MODEL


def _is_silent(state: bytes | None, model: SiteModel) -> bool:
    """Has the site, whose word counts, been asked since our visit and not named the page?"""
    page, site = page_estimate_of(state), model.estimate
    if page is None or page.visited is None or not has_announcements(site) or site.recall < LEAST_RECALL:
        return False
    return site.polled is not None and site.polled > page.visited and page.announcements < 1.0
