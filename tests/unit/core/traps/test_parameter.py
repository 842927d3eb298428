from __future__ import annotations

from evercrawl.core.traps.harvest import SiteYield
from evercrawl.core.traps.parameter import (
    LEAST_SAME,
    LEAST_SAME_ON_SITE,
    MOST_PARTS,
    MOST_REMEMBERED,
    Parameters,
    identity,
    idle_parts,
    learn,
    seen_otherwise,
)
from evercrawl.core.traps.ruling import on_offer
from evercrawl.model.document import Link

PAGE = "http://a.test/page"


def _pairs(known: Parameters, count: int, *, same: bool = True) -> Parameters:
    for number in range(count):
        known = learn(known, f"{PAGE}?id={number}&ref=a", f"text {number}")
        known = learn(known, f"{PAGE}?id={number}&ref=b", f"text {number}" + ("" if same else " else"))
    return known


def test_nothing_is_assumed() -> None:
    assert idle_parts(Parameters()) == ()
    assert identity(Parameters(), f"{PAGE}?utm_source=x") == f"{PAGE}?utm_source=x"
    assert idle_parts(_pairs(Parameters(), LEAST_SAME - 1)) == ()


def test_a_parameter_that_alters_nothing_is_left_out_after_enough_pairs() -> None:
    known = _pairs(Parameters(), LEAST_SAME)
    assert idle_parts(known) == ("/page?ref=",)
    assert identity(known, f"{PAGE}?id=7&ref=c") == f"{PAGE}?id=7"
    assert identity(known, f"{PAGE}?id=7") == f"{PAGE}?id=7"
    assert seen_otherwise(known, f"{PAGE}?id=3&ref=new") == "/page?ref="
    assert seen_otherwise(known, f"{PAGE}?id=99&ref=new") is None


def test_a_page_without_the_parameter_is_a_partner_too() -> None:
    known = learn(Parameters(), "http://a.test/list?page=1", "a list")
    for number in range(LEAST_SAME):
        known = learn(known, f"http://a.test/p/{number}", f"text {number}")
        known = learn(known, f"http://a.test/p/{number}?ref=home", f"text {number}")
    assert idle_parts(known) == ("/p/{n}?ref=",)
    known = learn(known, "http://a.test/p/77", "text 77")
    assert seen_otherwise(known, "http://a.test/p/77?ref=home") == "/p/{n}?ref="
    assert seen_otherwise(known, "http://a.test/p/78?ref=home") is None


def test_what_a_page_repeats_is_named() -> None:
    site = SiteYield(parameters=_pairs(Parameters(), LEAST_SAME))
    ruled = on_offer(site, f"{PAGE}?id=3&ref=new")
    assert ruled.evidence.endswith(f"does not matter here; without it: {PAGE}?id=3")


def test_one_contradiction_takes_it_back() -> None:
    known = _pairs(_pairs(Parameters(), LEAST_SAME), 1, same=False)
    assert idle_parts(known) == ()
    assert identity(known, f"{PAGE}?id=7&ref=c") == f"{PAGE}?id=7&ref=c"


def test_a_parameter_that_matters_is_never_left_out() -> None:
    known = Parameters()
    for number in range(50):
        known = learn(known, f"{PAGE}?id={number}", f"text {number}")
    assert idle_parts(known) == ()


def test_sessions_in_the_path_are_learned_too() -> None:
    known = Parameters()
    for number in range(8):
        for session in ("9f8e7d6c5b4a3928", "1706f5e4d3c2b1a0"):
            known = learn(known, f"http://a.test/{session}/p/{number}", f"text {number}")
    assert seen_otherwise(known, "http://a.test/ffff00001111abcd/p/3") is not None
    assert seen_otherwise(known, "http://a.test/ffff00001111abcd/p/77") is None


def test_pages_without_text_are_no_evidence_and_memory_is_bounded() -> None:
    assert learn(Parameters(), f"{PAGE}?a=1", "  ") == Parameters()
    known = Parameters()
    for number in range(3000):
        known = learn(known, f"{PAGE}?a{number % 200}={number}&b={number}", "t")
    assert len(known.rests) <= MOST_REMEMBERED
    assert len(known.tallies) <= MOST_PARTS


def _visits(known: Parameters, sessions: list[str], *, pages: int = 6) -> Parameters:
    for place, session in enumerate(sessions):
        page = place % pages
        known = learn(known, f"http://a.test/{session}/p/{page}", f"text {page}", with_names=True)
    return known


def test_a_session_may_look_like_a_name() -> None:
    known = _visits(Parameters(), [f"{first}{second}x" for first in "bcdfg" for second in "hjklmn"])
    assert seen_otherwise(known, "http://a.test/qqx/p/3") is not None
    assert seen_otherwise(known, "http://a.test/qqx/p/77") is None


def test_languages_are_no_sessions_although_they_are_copies() -> None:
    known = Parameters()
    for page in range(20):
        for language in ("de", "en", "fr", "it", "nl", "pl"):
            known = learn(known, f"http://a.test/{language}/p/{page}", f"text {page}", with_names=True)
    assert seen_otherwise(known, "http://a.test/sv/p/3") is None


def test_lists_that_say_the_same_are_not_the_same() -> None:
    known = Parameters()
    for board in range(5):
        for start in range(0, 50, 10):
            links = [f"http://a.test/topic?t={board * 50 + start + place}" for place in range(10)]
            known = learn(
                known,
                f"http://a.test/board?f={board}&start={start}",
                f"Board {board}",
                links=[Link(link, "x", nofollow=False) for link in links],
                new_links=links,
            )
    assert idle_parts(known) == ()


def test_parameters_that_change_together_are_one_part() -> None:
    known = Parameters()
    for number in range(LEAST_SAME):
        for mark in (1, 2):
            url = f"{PAGE}?id={number}&from={number + mark}&pos={mark}"
            known = learn(known, url, f"text {number}", with_names=True)
    assert idle_parts(known) == ("/page?from&pos=",)
    assert seen_otherwise(known, f"{PAGE}?id=3&from=77&pos=9") == "/page?from&pos="
    assert seen_otherwise(known, f"{PAGE}?id=99&from=77&pos=9") is None
    assert identity(known, f"{PAGE}?id=3&from=77&pos=9") == f"{PAGE}?id=3"


def test_a_session_may_be_a_piece_of_a_segment() -> None:
    known = Parameters()
    for number in range(LEAST_SAME_ON_SITE):
        for turn in (0, 1):
            url = f"http://a.test/text/doc-{number},{17632800 + 7 * number + turn}.html"
            known = learn(known, url, f"text {number}", with_names=True)
    assert seen_otherwise(known, "http://a.test/text/doc-3,99999999.html") is not None
    assert seen_otherwise(known, "http://a.test/text/doc-99,17632800.html") is None


def test_editions_are_read_whole_however_many_of_their_pages_are_copies() -> None:
    """A manual in nine languages may have one translated page behind hundreds that are still in English."""
    known = Parameters()
    for number in range(100):
        for edition in ("da", "de", "en", "es", "fr", "ja", "ko", "pt", "tr"):
            url = f"http://a.test/{edition}/page-{number}"
            known = learn(known, url, f"text {number}", with_names=True)
    assert idle_parts(known) == ()
    assert seen_otherwise(known, "http://a.test/zh/page-3") is None
