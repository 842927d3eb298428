"""Patterns are open, throttled, blocked and unblocked."""

from __future__ import annotations

from evercrawl.core.traps.not_found import ProbeAnswer, ProbeOutcome
from evercrawl.core.traps.novelty import NewText
from evercrawl.core.traps.pattern_probe import after_probe, next_probe
from evercrawl.core.traps.pattern_stats import MIN_PARAMETER_REQUESTS, PatternState
from evercrawl.core.traps.trap_state import (
    MAX_PATTERNS,
    TrapState,
    VisitObservation,
    record_visit,
    trap_state_bytes,
    trap_state_of,
)
from evercrawl.core.traps.trap_verdict import (
    MIN_PROBES,
    PROBE_ONE_IN,
    TrapAction,
    check_link,
    check_queued,
    trap_reports,
)

SITE = "http://a.test"
NEW, OLD = NewText(1.0, 1.0), NewText(0.0, 0.0)


def _visits(site: TrapState, start: int, count: int, *, new: NewText, duplicate: bool = False) -> TrapState:
    for number in range(start, start + count):
        links = (f"{SITE}/cal?d={number + 1}",)
        site = record_visit(site, VisitObservation(f"{SITE}/cal?d={number}", 200, new, duplicate, new_links=links))
    return site


def test_productive_pattern_is_open() -> None:
    site = _visits(TrapState(), 0, 200, new=NEW)
    assert check_queued(site, f"{SITE}/cal?d=999").action is TrapAction.ALLOW
    assert trap_reports(site) == []


def test_endless_unproductive_pattern_is_blocked_with_evidence() -> None:
    site = _visits(TrapState(), 0, 40, new=OLD)
    ruled = check_link(site, f"{SITE}/cal?d=1001")
    assert ruled.action is TrapAction.BLOCK
    assert "requests" in ruled.evidence
    assert "without a new word" in ruled.evidence
    assert {one.state for one in trap_reports(site)} >= {"blocked"}
    assert check_link(site, f"{SITE}/news/1").action is TrapAction.ALLOW


def test_finite_unproductive_pattern_is_throttled() -> None:
    site = TrapState()
    for number in range(100):
        site = record_visit(site, VisitObservation(f"{SITE}/tag/{number}", 200, OLD))
    assert check_queued(site, f"{SITE}/tag/100").action is TrapAction.THROTTLE


def test_copies_by_parameter_are_blocked_but_copies_by_path_are_finished() -> None:
    site = TrapState()
    for number in range(40):
        site = record_visit(site, VisitObservation(f"{SITE}/view?print={number}", 200, OLD, duplicate=True))
        site = record_visit(site, VisitObservation(f"{SITE}/da/{number}", 200, OLD, duplicate=True))
    assert site.patterns["/view?print="].state is PatternState.BLOCKED
    assert site.patterns["/da/{n}"].state is PatternState.THROTTLED


def test_dead_links_are_not_a_trap() -> None:
    site = TrapState()
    for number in range(400):
        links = [f"{SITE}/missing/{number}-{way}" for way in range(3)]
        site = record_visit(site, VisitObservation(f"{SITE}/real/{number}", 200, NEW, new_links=links))
        site = record_visit(site, VisitObservation(f"{SITE}/missing/{number}-0", 404))
    assert all(record.state is not PatternState.BLOCKED for record in site.patterns.values())
    assert not site.wasted


def test_path_is_finished_if_the_site_knows_its_urls() -> None:
    """Every page of a manual links to the next one, in another version with hardly a new word."""
    site = TrapState()
    for number in range(500):
        after = [f"{SITE}/v2/page{number + 1}.html"]
        site = record_visit(site, VisitObservation(f"{SITE}/v2/page{number}.html", 200, OLD, new_links=after))
        if number == 100:
            site = after_probe(site, "/v2/{word}.html", (ProbeAnswer(404), ProbeAnswer(404)))
    assert all(record.state is not PatternState.BLOCKED for record in site.patterns.values())


def test_growing_chain_is_probed_a_second_time() -> None:
    site = TrapState()
    for number in range(120):
        after = [f"{SITE}/like/{number % 3}/{number + 1}"]
        site = record_visit(site, VisitObservation(f"{SITE}/like/{number % 3}/{number}", 200, OLD, new_links=after))
        if number == 20:
            site = after_probe(site, "/like/{n}/{n}", (ProbeAnswer(404), ProbeAnswer(404)))
    assert site.patterns["/like/{n}/{n}"].state is PatternState.THROTTLED
    assert next_probe(site, seed=1) is not None
    goes_on = ProbeAnswer(200, "little", links=2, new_links=1, same_shape_links=1)
    assert (
        after_probe(site, "/like/{n}/{n}", (goes_on, goes_on)).patterns["/like/{n}/{n}"].probe_outcome
        is ProbeOutcome.SAME
    )
    again = after_probe(site, "/like/{n}/{n}", (ProbeAnswer(404), ProbeAnswer(404)))
    assert next_probe(again, seed=1) is None


def test_redirects_to_known_pages_are_blocked_once_they_dominate() -> None:
    site = TrapState()
    for number in range(200):
        site = record_visit(site, VisitObservation(f"{SITE}/post/{number}/reply", 302, OLD, redirects_back=True))
    assert check_link(site, f"{SITE}/post/999/reply").action is TrapAction.BLOCK
    found = VisitObservation(f"{SITE}/post/7/reply", 302, OLD, new_links=[f"{SITE}/page/1"])
    assert check_link(record_visit(site, found), f"{SITE}/post/999/reply").action is not TrapAction.BLOCK


def test_longer_paths_to_known_pages_are_blocked_once_they_dominate() -> None:
    site = TrapState()
    for number in range(400):
        path = "/".join(("current", "latest")[number >> bit & 1] for bit in range(7))
        more = [f"{SITE}/maps/{path}/b{number}x", f"{SITE}/maps/{path}/c{number}x"]
        seen = VisitObservation(f"{SITE}/maps/{path}/a", 200, OLD, True, f"{SITE}/maps/a", new_links=more)
        site = record_visit(site, seen)
    assert site.is_overspent
    assert check_link(site, f"{SITE}/maps/{path}/a/b/c/d").action is TrapAction.BLOCK


def test_near_copies_with_new_numbers_are_blocked_only_if_they_grow() -> None:
    site = TrapState()
    for number in range(100):
        site = record_visit(site, VisitObservation(f"{SITE}/data/{number}", 200, NewText(0.4, 0.0), duplicate=True))
    assert site.patterns["/data/{n}"].state is PatternState.THROTTLED


def test_a_few_requests_to_a_blocked_pattern_continue_and_can_unblock_it() -> None:
    site, visits = TrapState(), 0
    while check_link(site, f"{SITE}/cal?d=1001").action is not TrapAction.BLOCK:
        site, visits = _visits(site, visits, 1, new=OLD), visits + 1
    assert visits <= MIN_PARAMETER_REQUESTS
    probe = check_queued(site, f"{SITE}/cal?d=5000")
    assert probe.action is TrapAction.ALLOW
    assert probe.is_probe
    spent = _visits(site, 100, MIN_PROBES + 2, new=OLD)
    assert check_queued(spent, f"{SITE}/cal?d=5000").action is TrapAction.BLOCK
    healed = _visits(site, 200, 8, new=NEW)
    assert check_queued(healed, f"{SITE}/cal?d=5000") == check_queued(TrapState(), f"{SITE}/cal?d=5000")


def test_some_links_to_a_blocked_pattern_stay_queued() -> None:
    site = _visits(TrapState(), 0, 60, new=OLD)
    offers = [check_link(site, f"{SITE}/cal?d={number}") for number in range(1000, 3000)]
    kept = sum(ruled.action is TrapAction.THROTTLE and ruled.is_probe for ruled in offers)
    assert 0.5 < kept * PROBE_ONE_IN / len(offers) < 2


def test_the_narrowest_pattern_gets_the_blame() -> None:
    site = TrapState()
    for number in range(80):
        site = record_visit(site, VisitObservation(f"{SITE}/list?page={number}", 200, NEW))
        site = record_visit(site, VisitObservation(f"{SITE}/list?page={number}&sort=up", 200, OLD, duplicate=True))
        site = record_visit(site, VisitObservation(f"{SITE}/list?page={number}&sort=down", 200, OLD, duplicate=True))
    assert check_queued(site, f"{SITE}/list?page=99").action is TrapAction.ALLOW
    assert site.patterns["/list?sort="].state is PatternState.BLOCKED
    assert site.patterns["/list?page="].state is PatternState.OPEN


def test_server_errors_are_ignored() -> None:
    site = TrapState()
    for status in (500, 503, 429, 408, 0):
        assert record_visit(site, VisitObservation(f"{SITE}/x", status)) is site


def test_memory_is_bounded() -> None:
    site = _visits(TrapState(), 0, 60, new=OLD)
    for number in range(1500):
        site = record_visit(site, VisitObservation(f"{SITE}/w{number}x/y?p{number}=1", 200, NEW))
    assert len(site.patterns) <= MAX_PATTERNS
    assert site.patterns["/cal?d="].state is PatternState.BLOCKED, "verdicts outlive what is merely known"
    assert len(trap_state_bytes(site)) < 40_000


def test_trap_state_round_trips() -> None:
    site = _visits(TrapState(), 0, 60, new=OLD)
    again = trap_state_of(trap_state_bytes(site))
    assert again.patterns.keys() == site.patterns.keys()
    assert trap_state_bytes(again) == trap_state_bytes(site)
    assert check_link(again, f"{SITE}/cal?d=1001").action is TrapAction.BLOCK
    assert trap_state_of(b"") == TrapState()
    assert trap_state_of(b"\xff" + trap_state_bytes(site)[1:]) == TrapState()


def test_a_wide_block_lets_a_kind_through_that_was_never_tried() -> None:
    site = TrapState()
    for number in range(60):
        for action in ("history", "info"):
            url = f"{SITE}/index.php?title=page-{number}&action={action}"
            site = record_visit(site, VisitObservation(url, 200, OLD))
    assert site.patterns["/index.php?*"].state is PatternState.BLOCKED
    assert check_queued(site, f"{SITE}/index.php?title=page-99&action=info").action is TrapAction.BLOCK
    page = f"{SITE}/index.php?title=list&pagefrom=m"
    assert check_link(site, page).action is TrapAction.ALLOW
    for number in range(3):
        url = f"{SITE}/index.php?title=list&pagefrom=page-{number}"
        site = record_visit(site, VisitObservation(url, 200, OLD, new_links=[f"{SITE}/wiki/page-{number}"]))
    assert check_link(site, page).action is TrapAction.ALLOW


def test_a_kind_that_was_tried_in_vain_shares_the_wide_block() -> None:
    site = TrapState()
    for number in range(60):
        site = record_visit(site, VisitObservation(f"{SITE}/index.php?title=page-{number}&action=info", 200, OLD))
    for number in range(3):
        site = record_visit(site, VisitObservation(f"{SITE}/index.php?title=page-{number}&back=yes", 200, OLD))
    assert check_queued(site, f"{SITE}/index.php?title=page-7&back=yes").action is TrapAction.BLOCK


def test_pages_with_paragraphs_of_their_own_are_finished_however_known_their_words() -> None:
    site = TrapState()
    for number in range(200):
        site = record_visit(site, VisitObservation(f"{SITE}/report?id={number}", 200, NewText(0.0, 0.0, 1.0)))
    assert site.patterns["/report?id="].state is PatternState.THROTTLED
    for number in range(200):
        site = record_visit(site, VisitObservation(f"{SITE}/login?next={number}", 200, NewText(0.0, 0.0, 0.0)))
    assert site.patterns["/login?next="].state is PatternState.BLOCKED
