"""Copies of whole sites: told from what they hold, and taken back when that is wrong."""

from __future__ import annotations

from evercrawl.core.duplicates.site_mirrors import SAMPLES, Mirrors

ONE, WWW, OTHER = "https://a.test", "https://www.a.test", "https://b.test"


def content(number: int, salt: str = "") -> bytes:
    return f"content {number}{salt}".encode()


def filled(*sites: str, pages: int, salts: tuple[str, ...] = ()) -> Mirrors:
    mirrors = Mirrors(is_on=True)
    for number in range(pages):
        for place, site in enumerate(sites):
            salt = salts[place] if salts else ""
            mirrors.add_page(f"{site}/page/{number}", content(number, salt))
    return mirrors


def test_a_copy_is_recognised_and_the_shorter_name_stands_for_both():
    mirrors = filled(WWW, ONE, pages=12)
    found = mirrors.of(WWW)
    assert found is not None
    assert found.of == ONE
    assert mirrors.of(ONE) is None


def test_another_name_needs_more_evidence():
    assert filled(ONE, OTHER, pages=5).of(OTHER) is None
    assert filled(ONE, OTHER, pages=40).of(OTHER) is not None


def test_the_same_paths_with_other_contents_are_no_copy():
    assert filled(ONE, WWW, pages=60, salts=("", "x")).of(WWW) is None


def test_one_answer_for_everything_proves_nothing():
    mirrors = Mirrors(is_on=True)
    for number in range(50):
        for site in (ONE, WWW):
            mirrors.add_page(f"{site}/{number}", b"not found")
    assert mirrors.of(WWW) is None


def test_a_site_that_leads_to_another_is_its_copy():
    mirrors = Mirrors(is_on=True)
    for number in range(20):
        mirrors.add_redirect(f"http://a.test/{number}", f"https://a.test/{number}")
    found = mirrors.of("http://a.test")
    assert found is not None
    assert found.of == "https://a.test"


def test_redirects_to_the_front_page_make_no_copy():
    mirrors = Mirrors(is_on=True)
    for number in range(20):
        mirrors.add_redirect(f"http://a.test/{number}", "https://a.test/")
    assert mirrors.of("http://a.test") is None


def test_a_copy_that_goes_its_own_way_is_asked_again():
    mirrors = filled(ONE, WWW, pages=20)
    assert mirrors.of(WWW) is not None
    for number in range(20):
        mirrors.add_page(f"{WWW}/page/{number}", content(number, "changed"))
    assert mirrors.of(WWW) is None
    assert not mirrors.is_saved


def test_copies_survive_a_restart_and_samples_are_bounded():
    mirrors = filled(ONE, WWW, pages=10 * SAMPLES)
    later = Mirrors(is_on=True)
    later.recall(mirrors.to_bytes())
    assert later.of(WWW) == mirrors.of(WWW)
    assert mirrors.is_saved
    assert all(len(sample.contents) <= SAMPLES for sample in mirrors._samples.values())


def test_switched_off_nothing_is_a_copy():
    mirrors = Mirrors(is_on=False)
    for number in range(30):
        mirrors.add_page(f"{ONE}/{number}", content(number))
        mirrors.add_page(f"{WWW}/{number}", content(number))
    assert mirrors.of(WWW) is None
