"""Open, throttled, fenced, and back."""

from __future__ import annotations

from evercrawl.core.traps.harvest import MOST_PATTERNS, Observation, SiteYield, book
from evercrawl.core.traps.novelty import NewText
from evercrawl.core.traps.packed import pack, unpack
from evercrawl.core.traps.probe import book_probe, probe_wanted
from evercrawl.core.traps.record import PARAMETERS_LEAST, State, Tried
from evercrawl.core.traps.ruling import PROBE_ONE_IN, PROBES_FIRST, Ruling, on_offer, on_turn, report
from evercrawl.core.traps.soft404 import Answer

SITE = "http://a.test"
NEW, OLD = NewText(1.0, 1.0), NewText(0.0, 0.0)


def _visits(site: SiteYield, start: int, count: int, *, new: NewText, duplicate: bool = False) -> SiteYield:
    for number in range(start, start + count):
        links = (f"{SITE}/cal?d={number + 1}",)
        site = book(site, Observation(f"{SITE}/cal?d={number}", 200, new, duplicate, new_links=links))
    return site


def test_a_pattern_that_yields_is_open() -> None:
    site = _visits(SiteYield(), 0, 200, new=NEW)
    assert on_turn(site, f"{SITE}/cal?d=999").ruling is Ruling.ALLOW
    assert report(site) == []


def test_one_that_yields_nothing_and_goes_on_is_fenced_with_evidence() -> None:
    site = _visits(SiteYield(), 0, 40, new=OLD)
    ruled = on_offer(site, f"{SITE}/cal?d=1001")
    assert ruled.ruling is Ruling.FENCE
    assert "requests" in ruled.evidence
    assert "without a new word" in ruled.evidence
    assert {one.state for one in report(site)} >= {"fenced"}
    assert on_offer(site, f"{SITE}/news/1").ruling is Ruling.ALLOW


def test_one_that_yields_nothing_but_ends_is_only_throttled() -> None:
    site = SiteYield()
    for number in range(100):
        site = book(site, Observation(f"{SITE}/tag/{number}", 200, OLD))
    assert on_turn(site, f"{SITE}/tag/100").ruling is Ruling.THROTTLE


def test_copies_with_parameters_are_fenced_even_where_they_end_and_paths_are_finished() -> None:
    site = SiteYield()
    for number in range(40):
        site = book(site, Observation(f"{SITE}/view?print={number}", 200, OLD, duplicate=True))
        site = book(site, Observation(f"{SITE}/da/{number}", 200, OLD, duplicate=True))
    assert site.records["/view?print="].state is State.FENCED
    assert site.records["/da/{n}"].state is State.THROTTLED


def test_dead_links_are_no_trap_however_many_there_are() -> None:
    site = SiteYield()
    for number in range(400):
        links = [f"{SITE}/missing/{number}-{way}" for way in range(3)]
        site = book(site, Observation(f"{SITE}/real/{number}", 200, NEW, new_links=links))
        site = book(site, Observation(f"{SITE}/missing/{number}-0", 404))
    assert all(record.state is not State.FENCED for record in site.records.values())
    assert not site.wasted


def test_a_path_on_a_site_that_knows_its_addresses_is_finished() -> None:
    """A manual whose every page leads to the next, in another version with hardly a new word."""
    site = SiteYield()
    for number in range(500):
        after = [f"{SITE}/v2/page{number + 1}.html"]
        site = book(site, Observation(f"{SITE}/v2/page{number}.html", 200, OLD, new_links=after))
        if number == 100:
            site = book_probe(site, "/v2/{word}.html", (Answer(404), Answer(404)))
    assert all(record.state is not State.FENCED for record in site.records.values())


def test_a_chain_is_tried_once_more_where_another_number_goes_on() -> None:
    site = SiteYield()
    for number in range(120):
        after = [f"{SITE}/like/{number % 3}/{number + 1}"]
        site = book(site, Observation(f"{SITE}/like/{number % 3}/{number}", 200, OLD, new_links=after))
        if number == 20:
            site = book_probe(site, "/like/{n}/{n}", (Answer(404), Answer(404)))
    assert site.records["/like/{n}/{n}"].state is State.THROTTLED
    assert probe_wanted(site, seed=1) is not None
    goes_on = Answer(200, "little", links=2, new_links=1, further=1)
    assert book_probe(site, "/like/{n}/{n}", (goes_on, goes_on)).records["/like/{n}/{n}"].tried is Tried.SAME
    again = book_probe(site, "/like/{n}/{n}", (Answer(404), Answer(404)))
    assert probe_wanted(again, seed=1) is None


def test_redirects_to_what_is_known_are_left_once_they_cost_most() -> None:
    site = SiteYield()
    for number in range(200):
        site = book(site, Observation(f"{SITE}/post/{number}/reply", 302, OLD, leads_back=True))
    assert on_offer(site, f"{SITE}/post/999/reply").ruling is Ruling.FENCE
    found = Observation(f"{SITE}/post/7/reply", 302, OLD, new_links=[f"{SITE}/page/1"])
    assert on_offer(book(site, found), f"{SITE}/post/999/reply").ruling is not Ruling.FENCE


def test_longer_paths_to_the_same_are_left_once_they_cost_most() -> None:
    site = SiteYield()
    for number in range(400):
        path = "/".join(("current", "latest")[number >> bit & 1] for bit in range(7))
        more = [f"{SITE}/maps/{path}/b{number}x", f"{SITE}/maps/{path}/c{number}x"]
        seen = Observation(f"{SITE}/maps/{path}/a", 200, OLD, True, f"{SITE}/maps/a", new_links=more)
        site = book(site, seen)
    assert site.is_overspent
    assert on_offer(site, f"{SITE}/maps/{path}/a/b/c/d").ruling is Ruling.FENCE


def test_near_copies_with_new_numbers_are_not_fenced_unless_they_grow() -> None:
    site = SiteYield()
    for number in range(100):
        site = book(site, Observation(f"{SITE}/data/{number}", 200, NewText(0.4, 0.0), duplicate=True))
    assert site.records["/data/{n}"].state is State.THROTTLED


def test_a_few_requests_go_on_behind_a_fence_and_heal_a_wrong_verdict() -> None:
    site, visits = SiteYield(), 0
    while on_offer(site, f"{SITE}/cal?d=1001").ruling is not Ruling.FENCE:
        site, visits = _visits(site, visits, 1, new=OLD), visits + 1
    assert visits <= PARAMETERS_LEAST
    probe = on_turn(site, f"{SITE}/cal?d=5000")
    assert probe.ruling is Ruling.ALLOW
    assert probe.is_probe
    spent = _visits(site, 100, PROBES_FIRST + 2, new=OLD)
    assert on_turn(spent, f"{SITE}/cal?d=5000").ruling is Ruling.FENCE
    healed = _visits(site, 200, 8, new=NEW)
    assert on_turn(healed, f"{SITE}/cal?d=5000") == on_turn(SiteYield(), f"{SITE}/cal?d=5000")


def test_some_links_behind_a_fence_stay_at_hand() -> None:
    site = _visits(SiteYield(), 0, 60, new=OLD)
    offers = [on_offer(site, f"{SITE}/cal?d={number}") for number in range(1000, 3000)]
    kept = sum(ruled.ruling is Ruling.THROTTLE and ruled.is_probe for ruled in offers)
    assert 0.5 < kept * PROBE_ONE_IN / len(offers) < 2


def test_the_narrowest_pattern_gets_the_blame() -> None:
    site = SiteYield()
    for number in range(80):
        site = book(site, Observation(f"{SITE}/list?page={number}", 200, NEW))
        site = book(site, Observation(f"{SITE}/list?page={number}&sort=up", 200, OLD, duplicate=True))
        site = book(site, Observation(f"{SITE}/list?page={number}&sort=down", 200, OLD, duplicate=True))
    assert on_turn(site, f"{SITE}/list?page=99").ruling is Ruling.ALLOW
    assert site.records["/list?sort="].state is State.FENCED
    assert site.records["/list?page="].state is State.OPEN


def test_failures_of_the_server_say_nothing() -> None:
    site = SiteYield()
    for status in (500, 503, 429, 408, 0):
        assert book(site, Observation(f"{SITE}/x", status)) is site


def test_memory_is_bounded_whatever_the_site_does() -> None:
    site = _visits(SiteYield(), 0, 60, new=OLD)
    for number in range(1500):
        site = book(site, Observation(f"{SITE}/w{number}x/y?p{number}=1", 200, NEW))
    assert len(site.records) <= MOST_PATTERNS
    assert site.records["/cal?d="].state is State.FENCED, "verdicts outlive what is merely known"
    assert len(pack(site)) < 40_000


def test_a_blob_gives_back_what_went_in() -> None:
    site = _visits(SiteYield(), 0, 60, new=OLD)
    again = unpack(pack(site))
    assert again.records.keys() == site.records.keys()
    assert pack(again) == pack(site)
    assert on_offer(again, f"{SITE}/cal?d=1001").ruling is Ruling.FENCE
    assert unpack(b"") == SiteYield()
    assert unpack(b"\xff" + pack(site)[1:]) == SiteYield()
