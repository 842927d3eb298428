"""Detection of mirrored hosts."""

from __future__ import annotations

import pytest

from evercrawl.core.duplicates.repeats import (
    MAX_SAMPLES,
    HostEvidence,
    MirrorRegistry,
    are_name_variants,
    choose_original,
    compare_hosts,
    wilson_lower_bound,
)

A, B = HostEvidence("https://a.org", 10), HostEvidence("https://b.net", 20)


def sample(count: int, *, different: int = 0) -> dict[str, bytes]:
    return {f"/{n}": (f"other{n}" if n < different else f"same{n}").encode() for n in range(count)}


def test_a_complete_mirror() -> None:
    mirror = compare_hosts(A, B, samples=(sample(32), sample(32, different=1)))
    assert mirror is not None
    assert (mirror.site, mirror.of, mirror.same, mirror.compared) == (A.site, B.site, 31, 32)
    assert mirror.detail == "https://a.org is a copy of https://b.net: 31 of 32 compared pages are the same"


@pytest.mark.parametrize(
    ("here", "there"),
    [
        (sample(20), sample(20)),
        (sample(40), sample(40, different=12)),
        (sample(30), {f"/x{n}": b"same" for n in range(30)}),
        ({}, {}),
    ],
    ids=["too few", "too many differ", "no path in common", "nothing"],
)
def test_not_a_mirror(here: dict[str, bytes], there: dict[str, bytes]) -> None:
    assert compare_hosts(A, B, samples=(here, there)) is None


def test_a_server_with_one_answer_is_no_evidence() -> None:
    same = {f"/{n}": b"welcome" for n in range(100)}
    assert compare_hosts(A, B, samples=(same, same)) is None


def test_name_variants_need_less_evidence() -> None:
    plain, www = HostEvidence("http://a.org", 1), HostEvidence("https://www.a.org", 1)
    assert compare_hosts(plain, www, samples=(sample(2), sample(2))) is None
    mirror = compare_hosts(plain, www, samples=(sample(4), sample(4)))
    assert mirror is not None
    assert (mirror.site, mirror.of) == (plain.site, www.site)
    assert compare_hosts(plain, www, samples=(sample(9), sample(9, different=6))) is None


@pytest.mark.parametrize(
    ("one", "other", "are"),
    [
        ("http://a.org", "https://a.org", True),
        ("http://www.a.org", "http://a.org", True),
        ("http://a.org:8080", "http://a.org", False),
        ("http://a.org", "http://a.org", False),
        ("http://m.a.org", "http://a.org", False),
    ],
)
def test_name_variants(one: str, other: str, are: bool) -> None:
    assert are_name_variants(one, other) is are


def test_the_original_of_two_mirrors() -> None:
    assert choose_original(A, B)[0] is B
    assert choose_original(A._replace(redirected_to=3), B)[0].site == A.site
    assert choose_original(B._replace(site="http://b.net", credit=99), A)[0] is A


def test_the_lower_bound_grows_with_the_evidence() -> None:
    assert wilson_lower_bound(0, 0) == 0
    assert wilson_lower_bound(4, 4) < wilson_lower_bound(40, 40) < 1
    assert 0.59 < wilson_lower_bound(4, 4) < 0.6


ONE, WWW, OTHER = "https://a.test", "https://www.a.test", "https://b.test"


def content(number: int, salt: str = "") -> bytes:
    return f"content {number}{salt}".encode()


def filled(*sites: str, pages: int, salts: tuple[str, ...] = ()) -> MirrorRegistry:
    mirrors = MirrorRegistry(is_on=True)
    for number in range(pages):
        for place, site in enumerate(sites):
            salt = salts[place] if salts else ""
            mirrors.add_page(f"{site}/page/{number}", content(number, salt))
    return mirrors


def test_a_mirror_is_detected_and_the_shorter_name_is_the_original():
    mirrors = filled(WWW, ONE, pages=12)
    found = mirrors.of(WWW)
    assert found is not None
    assert found.of == ONE
    assert mirrors.of(ONE) is None


def test_other_names_need_more_evidence():
    assert filled(ONE, OTHER, pages=5).of(OTHER) is None
    assert filled(ONE, OTHER, pages=40).of(OTHER) is not None


def test_other_contents_are_no_mirror():
    assert filled(ONE, WWW, pages=60, salts=("", "x")).of(WWW) is None


def test_one_content_for_all_paths_is_no_evidence():
    mirrors = MirrorRegistry(is_on=True)
    for number in range(50):
        for site in (ONE, WWW):
            mirrors.add_page(f"{site}/{number}", b"not found")
    assert mirrors.of(WWW) is None


def test_a_site_that_redirects_to_another_is_its_mirror():
    mirrors = MirrorRegistry(is_on=True)
    for number in range(20):
        mirrors.add_redirect(f"http://a.test/{number}", f"https://a.test/{number}")
    found = mirrors.of("http://a.test")
    assert found is not None
    assert found.of == "https://a.test"


def test_redirects_to_the_front_page_are_no_mirror():
    mirrors = MirrorRegistry(is_on=True)
    for number in range(20):
        mirrors.add_redirect(f"http://a.test/{number}", "https://a.test/")
    assert mirrors.of("http://a.test") is None


def test_a_mirror_that_diverges_is_dropped():
    mirrors = filled(ONE, WWW, pages=20)
    assert mirrors.of(WWW) is not None
    for number in range(20):
        mirrors.add_page(f"{WWW}/page/{number}", content(number, "changed"))
    assert mirrors.of(WWW) is None
    assert not mirrors.is_saved


def test_mirrors_survive_a_restart_and_samples_are_limited():
    mirrors = filled(ONE, WWW, pages=10 * MAX_SAMPLES)
    later = MirrorRegistry(is_on=True)
    later.restore(mirrors.to_bytes())
    assert later.of(WWW) == mirrors.of(WWW)
    assert mirrors.is_saved
    assert all(len(sample.contents) <= MAX_SAMPLES for sample in mirrors._samples.values())


def test_without_the_setting_nothing_is_a_mirror():
    mirrors = MirrorRegistry(is_on=False)
    for number in range(30):
        mirrors.add_page(f"{ONE}/{number}", content(number))
        mirrors.add_page(f"{WWW}/{number}", content(number))
    assert mirrors.of(WWW) is None
