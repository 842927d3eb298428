"""The papers' worked examples, and the defaults of other crawlers."""

from __future__ import annotations

import pytest

from evercrawl.core.revisit.interval_rules import (
    NUTCH_MAX_WAIT_DAYS,
    PDFC_EVERY_VISIT,
    PDFC_NEVER_VISITED,
    RULES,
    STORMCRAWLER_MAX_DAYS,
    IntervalRule,
    Nutch,
    PaperAdaptive,
    PaperPdfc,
    PaperSelective,
    PaperSitemap,
    RuleState,
    StormCrawler,
    frequency_of_change,
    new_fr_max,
    next_threshold,
)


def _visited(rule: IntervalRule, found: list[tuple[float, bool]]) -> RuleState:
    memory = RuleState()
    for now, changed in found:
        memory = rule.after_visit(memory, now=now, changed=changed)
    return memory


def test_a9_the_worked_example() -> None:
    assert new_fr_max(3, records=45, counter=10, limit=20) == 2


def test_a9_without_a_change_the_frequency_falls() -> None:
    assert new_fr_max(3, records=45, counter=0, limit=20) == 11
    assert new_fr_max(3, records=5, counter=0, limit=20) == 4


def test_a9_a_page_that_always_changes_is_crawled_every_day() -> None:
    memory = _visited(PaperAdaptive(), [(float(day), True) for day in range(30)])
    assert memory.due == 30.0


def test_a10_the_threshold_starts_at_forty_percent_and_moves_with_what_was_seen() -> None:
    assert RuleState().threshold == 0.4
    assert next_threshold(0.4, share=0.8) > 0.4 > next_threshold(0.4, share=0.1)


def test_a10_an_unchanged_page_is_crawled_when_enough_of_its_links_changed() -> None:
    rule = PaperSelective()
    unchanged = _visited(rule, [(0.0, False), (1.0, False)])
    assert not rule.should_visit(unchanged, now=2.0, changed_share=0.39)[0]
    assert rule.should_visit(unchanged, now=2.0, changed_share=0.41)[0]


def test_a10_a_changed_or_unknown_page_is_a_black_box_and_is_crawled() -> None:
    rule = PaperSelective()
    assert rule.should_visit(_visited(rule, [(0.0, False)]), now=1.0, changed_share=0.0)[0]
    assert rule.should_visit(_visited(rule, [(0.0, False), (1.0, True)]), now=2.0, changed_share=0.0)[0]


def test_a10_no_page_is_lost() -> None:
    rule = PaperSelective()
    memory = _visited(rule, [(0.0, False), (1.0, False)])
    for turn in range(2, 20):
        wanted, memory = rule.should_visit(memory, now=float(turn), changed_share=0.0)
        if wanted:
            return
    raise AssertionError("the page was never visited again")


def test_b3_the_three_cases() -> None:
    assert frequency_of_change(RuleState(), now=0.0) == PDFC_NEVER_VISITED
    always = _visited(PaperPdfc(), [(0.0, False), (1.0, True), (2.0, True)])
    assert frequency_of_change(always, now=2.0) == PDFC_EVERY_VISIT
    assert always.due == 3.0
    resting = _visited(PaperPdfc(), [(0.0, False), (1.0, True), (6.0, False)])
    assert frequency_of_change(resting, now=6.0) == 5.0
    assert resting.due == 11.0


def test_a10_the_threshold_moves_in_proportion_and_within_bounds() -> None:
    assert next_threshold(0.4, share=0.4) == pytest.approx(0.48)
    assert next_threshold(0.4, share=0.2) == pytest.approx(0.24)
    assert next_threshold(0.4, share=0.0) == pytest.approx(0.2)
    assert next_threshold(0.4, share=0.2, step=0.1) == pytest.approx(0.4 * 0.92)
    assert next_threshold(0.4, share=0.4, step=0.0) == 0.4
    assert next_threshold(0.9, share=1.0) == 1.0


def test_a10_a_steady_share_of_changed_links_leads_to_regular_visits() -> None:
    rule, visits = PaperSelective(), 0
    memory = _visited(rule, [(0.0, False), (1.0, False)])
    for turn in range(2, 42):
        wanted, memory = rule.should_visit(memory, now=float(turn), changed_share=0.2)
        if wanted:
            visits += 1
            memory = rule.after_visit(memory, now=float(turn), changed=False)
    assert 10 < visits < 35


def test_c3_only_a_later_date_leads_to_a_visit() -> None:
    rule = PaperSitemap()
    memory = _visited(rule, [(10.0, False)])
    old = rule.after_announcement(memory, updated=9.0)
    new = rule.after_announcement(old, updated=12.0)
    assert not rule.should_visit(old, now=15.0, has_sitemap=True)[0]
    assert rule.should_visit(new, now=15.0, has_sitemap=True)[0]
    assert not rule.should_visit(rule.after_visit(new, now=15.0, changed=True), now=16.0, has_sitemap=True)[0]
    assert rule.should_visit(memory, now=15.0, has_sitemap=False)[0], "without a sitemap, everything is crawled"
    assert new.due == 11.0, "the page is due at once"


def test_nutch_changes_its_interval_by_its_rates() -> None:
    first = _visited(Nutch(), [(0.0, False)])
    assert first.due == 30.0
    assert _visited(Nutch(), [(0.0, False), (30.0, True)]).interval == pytest.approx(24.0)
    rested = _visited(Nutch(), [(0.0, False), (30.0, False)])
    assert rested.interval == pytest.approx(42.0)
    assert rested.due == pytest.approx(30.0 - 0.3 * 30.0 + 42.0)


def test_nutch_waits_at_most_ninety_days() -> None:
    memory, now = RuleState(), 0.0
    for _ in range(30):
        memory = Nutch().after_visit(memory, now=now, changed=False)
        assert 0.0 <= memory.due - now <= NUTCH_MAX_WAIT_DAYS
        now = max(memory.due, now + 1.0)


def test_stormcrawler_halves_towards_an_hour_and_grows_to_two_weeks() -> None:
    changed = _visited(StormCrawler(), [(0.0, False), (1.0, True)])
    assert changed.interval == pytest.approx(0.5 + 0.5 / 24.0)
    rested = _visited(StormCrawler(), [(float(n), False) for n in range(20)])
    assert rested.interval == STORMCRAWLER_MAX_DAYS


@pytest.mark.parametrize("name", sorted(RULES))
def test_no_rule_is_due_before_its_visit(name: str) -> None:
    rule = RULES[name]()
    memory = RuleState()
    for n in range(40):
        memory = rule.after_visit(memory, now=float(n), changed=n % 3 == 0)
        assert memory.due >= n
