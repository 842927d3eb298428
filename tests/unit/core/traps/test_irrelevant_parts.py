from __future__ import annotations

from evercrawl.core.traps.irrelevant_parts import (
    MAX_PARTS,
    MAX_VARIANTS,
    MIN_SAME,
    MIN_SAME_ON_SITE,
    UrlPartStats,
    known_variant,
    learn_parts,
    url_identity,
)
from evercrawl.core.traps.trap_state import TrapState
from evercrawl.core.traps.trap_verdict import check_link
from evercrawl.model.document import Link

PAGE = "http://a.test/page"


def _pairs(known: UrlPartStats, count: int, *, same: bool = True) -> UrlPartStats:
    for number in range(count):
        known = learn_parts(known, f"{PAGE}?id={number}&ref=a", f"text {number}")
        known = learn_parts(known, f"{PAGE}?id={number}&ref=b", f"text {number}" + ("" if same else " else"))
    return known


def test_no_part_is_irrelevant_without_evidence() -> None:
    assert UrlPartStats().irrelevant == ()
    assert url_identity(UrlPartStats(), f"{PAGE}?utm_source=x") == f"{PAGE}?utm_source=x"
    assert _pairs(UrlPartStats(), MIN_SAME - 1).irrelevant == ()


def test_parameter_is_irrelevant_after_enough_equal_pairs() -> None:
    known = _pairs(UrlPartStats(), MIN_SAME)
    assert known.irrelevant == ("/page?ref=",)
    assert url_identity(known, f"{PAGE}?id=7&ref=c") == f"{PAGE}?id=7"
    assert url_identity(known, f"{PAGE}?id=7") == f"{PAGE}?id=7"
    assert known_variant(known, f"{PAGE}?id=3&ref=new") == "/page?ref="
    assert known_variant(known, f"{PAGE}?id=99&ref=new") is None


def test_page_without_the_parameter_counts_as_a_pair() -> None:
    known = learn_parts(UrlPartStats(), "http://a.test/list?page=1", "a list")
    for number in range(MIN_SAME):
        known = learn_parts(known, f"http://a.test/p/{number}", f"text {number}")
        known = learn_parts(known, f"http://a.test/p/{number}?ref=home", f"text {number}")
    assert known.irrelevant == ("/p/{n}?ref=",)
    known = learn_parts(known, "http://a.test/p/77", "text 77")
    assert known_variant(known, "http://a.test/p/77?ref=home") == "/p/{n}?ref="
    assert known_variant(known, "http://a.test/p/78?ref=home") is None


def test_evidence_names_the_repeated_page() -> None:
    site = TrapState(url_parts=_pairs(UrlPartStats(), MIN_SAME))
    ruled = check_link(site, f"{PAGE}?id=3&ref=new")
    assert ruled.evidence.endswith(f"does not matter here; without it: {PAGE}?id=3")


def test_one_contradiction_makes_a_part_relevant_again() -> None:
    known = _pairs(_pairs(UrlPartStats(), MIN_SAME), 1, same=False)
    assert known.irrelevant == ()
    assert url_identity(known, f"{PAGE}?id=7&ref=c") == f"{PAGE}?id=7&ref=c"


def test_relevant_parameter_is_never_ignored() -> None:
    known = UrlPartStats()
    for number in range(50):
        known = learn_parts(known, f"{PAGE}?id={number}", f"text {number}")
    assert known.irrelevant == ()


def test_session_ids_in_the_path_are_learned() -> None:
    known = UrlPartStats()
    for number in range(8):
        for session in ("9f8e7d6c5b4a3928", "1706f5e4d3c2b1a0"):
            known = learn_parts(known, f"http://a.test/{session}/p/{number}", f"text {number}")
    assert known_variant(known, "http://a.test/ffff00001111abcd/p/3") is not None
    assert known_variant(known, "http://a.test/ffff00001111abcd/p/77") is None


def test_empty_pages_are_no_evidence_and_memory_is_bounded() -> None:
    assert learn_parts(UrlPartStats(), f"{PAGE}?a=1", "  ") == UrlPartStats()
    known = UrlPartStats()
    for number in range(3000):
        known = learn_parts(known, f"{PAGE}?a{number % 200}={number}&b={number}", "t")
    assert len(known.variants) <= MAX_VARIANTS
    assert len(known.evidence) <= MAX_PARTS


def _visits(known: UrlPartStats, sessions: list[str], *, pages: int = 6) -> UrlPartStats:
    for place, session in enumerate(sessions):
        page = place % pages
        known = learn_parts(known, f"http://a.test/{session}/p/{page}", f"text {page}", with_names=True)
    return known


def test_session_id_may_look_like_a_name() -> None:
    known = _visits(UrlPartStats(), [f"{first}{second}x" for first in "bcdfg" for second in "hjklmn"])
    assert known_variant(known, "http://a.test/qqx/p/3") is not None
    assert known_variant(known, "http://a.test/qqx/p/77") is None


def test_languages_are_not_sessions() -> None:
    known = UrlPartStats()
    for page in range(20):
        for language in ("de", "en", "fr", "it", "nl", "pl"):
            known = learn_parts(known, f"http://a.test/{language}/p/{page}", f"text {page}", with_names=True)
    assert known_variant(known, "http://a.test/sv/p/3") is None


def test_lists_with_equal_text_and_other_links_are_different() -> None:
    known = UrlPartStats()
    for board in range(5):
        for start in range(0, 50, 10):
            links = [f"http://a.test/topic?t={board * 50 + start + place}" for place in range(10)]
            known = learn_parts(
                known,
                f"http://a.test/board?f={board}&start={start}",
                f"Board {board}",
                links=[Link(link, "x", nofollow=False) for link in links],
                new_links=links,
            )
    assert known.irrelevant == ()


def test_parameters_that_change_together_count_as_one_part() -> None:
    known = UrlPartStats()
    for number in range(MIN_SAME):
        for mark in (1, 2):
            url = f"{PAGE}?id={number}&from={number + mark}&pos={mark}"
            known = learn_parts(known, url, f"text {number}", with_names=True)
    assert known.irrelevant == ("/page?from&pos=",)
    assert known_variant(known, f"{PAGE}?id=3&from=77&pos=9") == "/page?from&pos="
    assert known_variant(known, f"{PAGE}?id=99&from=77&pos=9") is None
    assert url_identity(known, f"{PAGE}?id=3&from=77&pos=9") == f"{PAGE}?id=3"


def test_session_id_may_be_a_piece_of_a_segment() -> None:
    known = UrlPartStats()
    for number in range(MIN_SAME_ON_SITE):
        for turn in (0, 1):
            url = f"http://a.test/text/doc-{number},{17632800 + 7 * number + turn}.html"
            known = learn_parts(known, url, f"text {number}", with_names=True)
    assert known_variant(known, "http://a.test/text/doc-3,99999999.html") is not None
    assert known_variant(known, "http://a.test/text/doc-99,17632800.html") is None


def test_translated_editions_are_read_completely() -> None:
    """A manual in nine languages may have one translated page behind hundreds still in English."""
    known = UrlPartStats()
    for number in range(100):
        for edition in ("da", "de", "en", "es", "fr", "ja", "ko", "pt", "tr"):
            url = f"http://a.test/{edition}/page-{number}"
            known = learn_parts(known, url, f"text {number}", with_names=True)
    assert known.irrelevant == ()
    assert known_variant(known, "http://a.test/zh/page-3") is None
