"""Every policy: its stored state, due times and visit values."""

from __future__ import annotations

from math import inf

import pytest

from evercrawl.core.revisit.rate_estimate import PageEstimate, SiteEstimate
from evercrawl.core.revisit.visit_schedule import (
    POLICIES,
    BudgetLevel,
    SiteModel,
    WaitCause,
    changed_share,
    is_marked_cached,
    mark_cached,
    named_schedule,
    page_estimate_bytes,
    page_estimate_of,
    rule_state_bytes,
    rule_state_of,
    schedule_of,
    site_model_bytes,
    site_model_of,
    update_site_model,
    wait_cause,
)
from evercrawl.core.revisit.visit_update import new_page_estimate
from evercrawl.model.settings import RevisitSettings

LEVEL = BudgetLevel(threshold=0.25, span=5.0, shortest=1 / 24, longest=60.0)
HUB = 7


def visited(name: str, changes: list[bool], *, every: float = 1.0) -> tuple[bytes, SiteModel, float]:
    """Return the state after a first visit and one more per entry."""
    schedule, model, now = named_schedule(name), SiteModel(), 100.0
    state, model = schedule.after_visit(None, model, hub=HUB, now=now, changed=False)
    for changed in changes:
        now += every
        state, model = schedule.after_visit(state, model, hub=HUB, now=now, changed=changed)
    return state, model, now


@pytest.mark.parametrize("name", POLICIES)
def test_a_due_time_is_within_its_bounds(name: str):
    for changes in ([], [True] * 8, [False] * 8, [True, False] * 4):
        state, model, now = visited(name, changes)
        due = named_schedule(name).due(state, model, hub=HUB, now=now, level=LEVEL)
        assert now + LEVEL.shortest <= due + 1e-9
        assert due <= now + LEVEL.longest + 1e-9


@pytest.mark.parametrize("name", POLICIES)
def test_every_page_is_visited_again(name: str):
    state, model, now = visited(name, [True] * 12, every=0.05)
    later = now + LEVEL.longest + 1
    assert named_schedule(name).value(state, model, hub=HUB, now=later, level=LEVEL) == inf


@pytest.mark.parametrize("name", POLICIES)
def test_a_visit_of_the_future_does_not_keep_a_page_from_being_visited(name: str):
    state, model, now = visited(name, [False, True])
    assert named_schedule(name).value(state, model, hub=HUB, now=now - 365.0, level=LEVEL) == inf


def test_a_change_brings_the_next_visit_forward():
    schedule = named_schedule("optimal")
    dues = []
    for changes in ([True] * 6, [False] * 6):
        state, model, now = visited("optimal", changes)
        dues.append(schedule.due(state, model, hub=HUB, now=now, level=LEVEL) - now)
    assert dues[0] < 3 < dues[1]


def test_page_reaches_the_threshold_at_its_due_time():
    schedule = named_schedule("optimal")
    state, model, now = visited("optimal", [True, False, False, True])
    due = schedule.due(state, model, hub=HUB, now=now, level=LEVEL)
    at_due = schedule.value(state, model, hub=HUB, now=due, level=LEVEL)
    assert schedule.value(state, model, hub=HUB, now=now + (due - now) / 3, level=LEVEL) < at_due
    assert 0.5 * LEVEL.threshold < at_due < 2 * LEVEL.threshold


def test_states_round_trip_within_a_policy():
    page = new_page_estimate(SiteModel().estimate, now=3.5, has_copy=True)._replace(a=0.3, announcements=2.0)
    assert page_estimate_of(page_estimate_bytes(page)) == page
    state, _, _ = visited("nutch", [True, False])
    assert rule_state_bytes(rule_state_of(state)) == state
    assert page_estimate_of(state) is None
    assert rule_state_of(page_estimate_bytes(page)).visits == 0
    assert page_estimate_of(b"broken") is None


def test_site_model_round_trips():
    model, page = SiteModel(), new_page_estimate(SiteModel().estimate, now=0.0, has_copy=True)
    for day in range(1, 90):
        model, page = update_site_model(model, page, hub=day % 3, now=float(day), changed=day % 5 == 0)
    again = site_model_of(site_model_bytes(model))
    assert again == model
    assert model.estimate.a != SiteModel().estimate.a, "the prior was learned"
    assert site_model_of(b"broken") == SiteModel()
    assert site_model_of(b"[9, {}, [], [], 0]") == SiteModel()


POLLED = SiteModel(SiteEstimate(polled=10.0, recall=0.9, has_signal=True))
SILENT = SiteModel(SiteEstimate())


def state(visited: float = 9.0, announcements: float = 0.0) -> bytes:
    return page_estimate_bytes(PageEstimate(visited=visited, announcements=announcements))


@pytest.mark.parametrize(
    ("kept", "model", "cause"),
    [
        (state(), POLLED, WaitCause.SITEMAP),
        (mark_cached(state()), POLLED, WaitCause.SITEMAP),
        (state(announcements=1.0), POLLED, WaitCause.MODEL),
        (state(visited=11.0), POLLED, WaitCause.MODEL),
        (state(), SILENT, WaitCause.MODEL),
        (state(), SiteModel(SiteEstimate(polled=10.0, recall=0.2, has_signal=True)), WaitCause.MODEL),
        (state(), SiteModel(SiteEstimate(polled=10.0, recall=0.9)), WaitCause.MODEL),
        (mark_cached(state()), SILENT, WaitCause.CACHE),
        (None, SILENT, WaitCause.MODEL),
    ],
)
def test_wait_cause(kept: bytes | None, model: SiteModel, cause: WaitCause):
    assert wait_cause(kept, model) is cause


def test_failures_and_missing_pages_come_first():
    assert wait_cause(mark_cached(state()), POLLED, tries=2) is WaitCause.FAILED
    assert wait_cause(state(), POLLED, is_gone=True, tries=2) is WaitCause.GONE


@pytest.mark.parametrize("name", POLICIES)
def test_cache_mark_does_not_change_the_state(name: str):
    kept, _ = named_schedule(name).after_visit(None, SILENT, hub=1, now=3.0, changed=False)
    marked = mark_cached(kept)
    assert is_marked_cached(marked)
    assert not is_marked_cached(kept)
    assert page_estimate_of(marked) == page_estimate_of(kept)
    assert rule_state_of(marked) == rule_state_of(kept)


def test_a_dated_page_is_news_once_for_paper_sitemap():
    schedule = named_schedule("paper-sitemap")
    dated = SiteModel(has_dated_sitemap=True)
    state, _ = schedule.after_visit(None, dated, hub=0, now=10.0, changed=False)
    assert schedule.take_turn(state, dated, now=11.5, level=LEVEL, changed_share=0.0)[0] is False
    announced, _ = schedule.announce(state, dated, at=10.5)
    assert announced is not None
    assert schedule.take_turn(announced, dated, now=11.5, level=LEVEL, changed_share=0.0) == (True, None)
    assert schedule.announce(announced, dated, at=10.5)[0] is None
    assert schedule.announce(state, dated, at=9.0)[0] is None
    visited, counted = schedule.after_visit(announced, dated, hub=0, now=12.0, changed=True)
    assert (counted.estimate.changes_found, counted.estimate.changes_announced) == (1, 1)
    assert schedule.take_turn(visited, dated, now=13.5, level=LEVEL, changed_share=0.0)[0] is False


def test_paper_selective_counts_known_links_only():
    rule = named_schedule("paper-selective")

    def state(*findings: bool) -> bytes:
        found: bytes | None = None
        for day, changed in enumerate(findings):
            found, _ = rule.after_visit(found, SILENT, hub=0, now=float(day), changed=changed)
        assert found is not None
        return found

    page = state(False, False)
    changed, same, once = state(False, True), state(False, False), state(False)
    assert changed_share(page, [changed, changed, same, same, same]) == 0.4
    assert changed_share(page, [changed, same, once, None]) == 0.5, "new and unvisited pages are unknown"
    assert changed_share(page, []) == 0.0
    may_pass, after = rule.take_turn(page, SILENT, now=2.5, level=LEVEL, changed_share=0.4)
    assert may_pass
    assert rule_state_of(after).threshold == pytest.approx(0.48)
    may_pass, after = rule.take_turn(page, SILENT, now=2.5, level=LEVEL, changed_share=0.39)
    assert not may_pass
    assert rule_state_of(after).due == 3.5


def test_the_settings_of_paper_selective_count():
    settings = RevisitSettings(policy="paper-selective", selective_threshold=0.2, selective_step=0.1)
    schedule = schedule_of(settings)
    state: bytes | None = None
    for day in range(2):
        state, _ = schedule.after_visit(state, SILENT, hub=0, now=float(day), changed=False)
    assert state is not None
    may_pass, after = schedule.take_turn(state, SILENT, now=2.5, level=LEVEL, changed_share=0.25)
    assert may_pass
    assert rule_state_of(after).threshold == pytest.approx(0.2 * 1.025)
