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
    SitemapRow,
    StormCrawler,
    frequency_of_change,
    new_fr_max,
    next_threshold,
    pdfc_is_analysed,
    pdfc_is_due,
    pdfc_is_listed,
    pdfc_is_sent,
    to_download,
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


def test_b6_both_comparators() -> None:
    assert pdfc_is_due(PDFC_NEVER_VISITED, last=0.0, now=0.0)
    assert pdfc_is_due(PDFC_EVERY_VISIT, last=0.0, now=0.0)
    assert not pdfc_is_due(5.0, last=0.0, now=5.0)
    assert pdfc_is_due(5.0, last=0.0, now=5.1)
    assert not pdfc_is_sent(b"same", b"same")
    assert pdfc_is_sent(b"old", b"new")
    assert pdfc_is_sent(None, b"new")


def test_b5_new_and_always_changing_pages_stay_out_of_the_old_database_file() -> None:
    listed = {frequency: pdfc_is_listed(frequency) for frequency in (PDFC_NEVER_VISITED, PDFC_EVERY_VISIT, 3.0)}
    assert listed == {PDFC_NEVER_VISITED: False, PDFC_EVERY_VISIT: False, 3.0: True}


def test_b7_a_page_that_always_changes_skips_the_analyser() -> None:
    analysed = {frequency: pdfc_is_analysed(frequency) for frequency in (PDFC_NEVER_VISITED, PDFC_EVERY_VISIT, 3.0)}
    assert analysed == {PDFC_NEVER_VISITED: True, PDFC_EVERY_VISIT: False, 3.0: True}


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


SITE = "http://www.xyz.com/"
FIRST_VISIT = {
    "index": (538, 1308111730000, 1272964276000),
    "about": (235, 1308111730538, 1272964523000),
    "courses": (256, 1308111730773, 1272964705000),
    "courses/btech": (327, 1308111731029, 1272964720000),
    "courses/pharmacy": (423, 1308111731356, 1272964736000),
    "facilities": (498, 1308111731779, 1276682653000),
    "photo_gallery": (890, 1308111732277, 1276683322000),
    "faculty": (348, 1308111733167, 1273576124000),
    "faculty/teaching": (459, 1308111733515, 1308473192000),
    "faculty/nonteaching": (450, 1308111733974, 1273576523000),
    "results": (236, 1308111734424, 1308473495000),
    "placement": (365, 1308111734660, 1308473616000),
    "contact": (287, 1308111735025, 1272964754000),
}
"""Tables 1 and 2: download time, LAST_VISITED, and LAST_UPDATED of the second sitemap."""
NEW_TIMES = {"faculty/teaching": 515, "results": 351, "placement": 360, "alumni": 673}
"""Table 3."""


def _url(name: str) -> str:
    return f"{SITE}{name}.html"


ROWS = [SitemapRow(name, _url(name), row[2]) for name, row in FIRST_VISIT.items()]
ROWS.insert(12, SitemapRow("Our Alumnus", _url("alumni"), 1309334004000))


def test_the_first_visit_downloads_all_thirteen_pages() -> None:
    assert len(to_download([row for row in ROWS if "alumni" not in row.url], {})) == 13


def test_the_second_visit_downloads_exactly_four_of_fourteen() -> None:
    visited = {_url(name): row[1] for name, row in FIRST_VISIT.items()}
    chosen = to_download(ROWS, visited)
    assert chosen == [_url(name) for name in NEW_TIMES]
    assert len(ROWS) == 14


def test_download_times_match_the_paper() -> None:
    visited = {_url(name): row[1] for name, row in FIRST_VISIT.items()}
    times = {_url(name): row[0] for name, row in FIRST_VISIT.items()}
    times |= {_url(name): spent for name, spent in NEW_TIMES.items()}
    assert sum(times.values()) == 6151
    assert sum(times[url] for url in to_download(ROWS, visited)) == 1899
