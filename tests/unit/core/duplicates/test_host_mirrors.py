"""Detection of mirrored hosts."""

from __future__ import annotations

import pytest

from evercrawl.core.duplicates.host_mirrors import (
    HostEvidence,
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
