"""Pages and their views: what a URL looks like, and what its kind has yielded."""

from __future__ import annotations

import pytest

from evercrawl.core.credit.url_yield import (
    MAX_KINDS,
    Endings,
    Form,
    PathViews,
    SiteYield,
    Tier,
    UrlName,
    after_visit,
    expected_yield,
    has_version,
    hashes_in,
    kinds_of,
    looks_like_view,
    names_in,
    parameters_of,
    parents_of,
    plainer_urls,
    tier_of,
    without_format,
    yield_bytes,
    yield_of,
)

SITE = "https://a.test"
HASH = "9fceb02d0ae598e95dc970b74767f19372d61af8"


def visited(*visits: tuple[str, float]) -> SiteYield:
    site = SiteYield()
    for path, gain in visits:
        site = after_visit(site, SITE + path, gain)
    return site


@pytest.mark.parametrize(
    "path", ["/wiki/Tea?oldid=7", "/index?title=Tea&action=history", "/index?action=history;title=Tea"]
)
def test_a_url_that_adds_to_a_known_one_looks_like_a_view(path: str) -> None:
    known = {SITE + "/wiki/Tea", SITE + "/index?title=Tea"}
    assert looks_like_view(SITE + path, known.__contains__)


@pytest.mark.parametrize("path", ["/wiki/Tea", f"/objects/{HASH}", "/shop?article=12", "/shop?q=deadbeef"])
def test_other_urls_are_pages(path: str) -> None:
    assert not looks_like_view(SITE + path, {SITE + "/wiki"}.__contains__)


def test_plainer_urls_leave_out_the_query_or_one_parameter() -> None:
    assert list(plainer_urls("x?a=1;b=2")) == ["x", "x?b=2", "x?a=1"]
    assert list(plainer_urls("x?a=1")) == ["x"]


def test_a_url_names_its_parameters_but_no_hashes() -> None:
    code = f"{SITE}/?p=x.git;a=blob;f=src/a.py;h={HASH};n=2"
    assert hashes_in(code) == 1
    assert [name.text for name in names_in(code) if name.is_word] == [
        f"{SITE}?p=x.git",
        f"{SITE}?a=blob",
        f"{SITE}?f=src/a.py",
    ]
    assert names_in(code)[-1] == UrlName(f"{SITE}/?n=2")
    assert names_in(f"{SITE}/code/a.py?id={HASH}") == names_in(f"{SITE}/code/a.py?id={HASH[::-1]}")
    assert parameters_of(code) == "a&f&h&n&p"


@pytest.mark.parametrize("digits", [40, 12])
def test_a_hash_at_the_end_of_a_path_is_a_name_and_before_other_segments_a_version(digits: int) -> None:
    one, other = HASH[:digits], HASH[::-1][:digits]
    assert names_in(f"{SITE}/commit/{one}") == names_in(f"{SITE}/diff/{one}/") != names_in(f"{SITE}/commit/{other}")
    assert names_in(f"{SITE}/file/{one}/a.py") == names_in(f"{SITE}/file/{other}/a.py")


def test_digits_alone_are_no_short_hash() -> None:
    assert [hashes_in(f"{SITE}/log/{name}") for name in ("20261118061500", "20261118a6c5", "2026a")] == [0, 1, 0]


def test_a_deep_path_is_also_a_kind_by_its_third_segment() -> None:
    copies, others = f"{SITE}/x.git/blob/main/", f"{SITE}/x.git/blob/HEAD/"
    site = SiteYield()
    for n in range(12):
        site = after_visit(after_visit(site, f"{copies}a{n}/b.py", 0.0), f"{others}a{n}/c.py", 1.0)
    assert tier_of(expected_yield(site, f"{copies}z/d.py", Form.PAGE)) is Tier.POOR
    assert tier_of(expected_yield(site, f"{others}z/d.py", Form.PAGE)) is Tier.PAGE


def test_a_name_may_be_the_whole_query_or_another_page() -> None:
    (bare,) = names_in(f"{SITE}/wiki.pl?Tea_Pot")
    assert bare.is_word
    assert [name.bare for name in names_in(f"{SITE}/wiki.pl?action=diff&id=Tea_Pot")] == [f"{SITE}?diff", bare.text]
    (login,) = names_in(f"{SITE}/login?next=/topic/5/%3Fpage%3D2")
    assert login.target == f"{SITE}/topic/5/?page=2"


def test_what_views_yield_says_nothing_about_the_first_urls_of_their_kind() -> None:
    site = SiteYield()
    for n in range(12):
        site = after_visit(site, f"{SITE}/?a=blob;f=src/a{n}.py", 0.0, Form.VIEW)
    assert tier_of(expected_yield(site, f"{SITE}/?a=blob;f=src/b.py", Form.FIRST_VERSION)) is Tier.PAGE
    assert tier_of(expected_yield(site, f"{SITE}/?a=blob;f=src/b.py", Form.VIEW)) is Tier.POOR


def test_kinds_generalize_numbers_and_keep_choices() -> None:
    assert kinds_of(SITE + "/t/msg243") == kinds_of(SITE + "/t/msg7")
    assert kinds_of(SITE + "/i?action=raw&title=Tea9") != kinds_of(SITE + "/i?action=history&title=Tea9")
    assert kinds_of(SITE + "/repo/blame/a/b.py")[0] == kinds_of(SITE + "/repo/blame/c.py")[0]
    assert kinds_of(SITE + "/Tea/Green/history")[1] == kinds_of(SITE + "/Tea/Black/history")[1]


def test_unknown_views_come_after_unknown_pages() -> None:
    site = SiteYield()
    assert tier_of(expected_yield(site, SITE + "/x", Form.PAGE)) is Tier.PAGE
    assert tier_of(expected_yield(site, SITE + "/x?v=1", Form.VIEW)) is Tier.VIEW


def test_what_a_kind_yields_corrects_its_tier() -> None:
    site = visited(*[(f"/repo/blame/f{n}", 0.0) for n in range(12)])
    for n in range(2):
        site = after_visit(site, f"{SITE}/list/all?page={n}", 0.6, Form.VIEW)
    assert tier_of(expected_yield(site, SITE + "/repo/blame/new", Form.PAGE)) is Tier.POOR
    assert tier_of(expected_yield(site, SITE + "/repo/tree/new", Form.PAGE)) is Tier.PAGE
    assert tier_of(expected_yield(site, SITE + "/list/all?page=9", Form.VIEW)) is Tier.PAGE


def test_memory_is_bounded_and_stored() -> None:
    site = visited(*[(f"/{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}/x{chr(97 + n // 676)}", 0.5) for n in range(900)])
    assert len(site.kinds) <= MAX_KINDS
    assert yield_of(yield_bytes(site)) == site
    assert yield_of(None) == SiteYield()


@pytest.mark.parametrize(
    ("path", "plain"),
    [("/issues/12.json", "/issues/12"), ("/a/b.atom", "/a/b"), ("/a", None), ("/a.json?x=1", None), ("/v1.2", None)],
)
def test_the_ending_of_a_format_leaves_the_url_of_the_page(path: str, plain: str | None) -> None:
    assert without_format(SITE + path) == (None if plain is None else SITE + plain)


def test_a_hash_before_other_segments_is_a_version_and_at_the_end_a_name() -> None:
    assert has_version(f"{SITE}/file/{HASH}/src/a.py")
    assert has_version(f"{SITE}/commit/?id={HASH}")
    assert not has_version(f"{SITE}/commit/{HASH}")
    assert not has_version(f"{SITE}/file/tip/src/a.py")


def test_an_index_file_is_another_format_of_its_folder() -> None:
    assert without_format(f"{SITE}/tea/index.md") == f"{SITE}/tea/"
    assert without_format(f"{SITE}/tea.json") == f"{SITE}/tea"
    assert without_format(f"{SITE}/?file=index.md") is None


@pytest.mark.parametrize(
    ("path", "parents"),
    [
        ("/wiki/Tea/history", ("/wiki/Tea/", "/wiki/Tea")),
        ("/wiki/Tea/history/", ("/wiki/Tea/", "/wiki/Tea")),
        ("/wiki/Tea/2", ()),
        ("/history", ()),
        ("/wiki/Tea/history?page=a", ()),
    ],
)
def test_a_word_at_the_end_may_name_a_view_of_the_page_before_it(path: str, parents: tuple[str, ...]) -> None:
    assert parents_of(SITE + path) == tuple(SITE + parent for parent in parents)


def test_a_word_that_follows_many_pages_names_views_of_them() -> None:
    endings, known = Endings(), {f"{SITE}/wiki/{name}" for name in ("tea", "milk", "rice", "salt", "corn")}
    found = [endings.page_of(f"{page}/raw", known.__contains__) for page in sorted(known)]
    assert found[:3] == [None] * 3
    assert found[3:] == sorted(known)[3:]
    assert endings.page_of(f"{SITE}/wiki/unknown/raw", known.__contains__) is None
    assert endings.page_of(f"{SITE}/wiki/tea/history", known.__contains__) is None


def test_the_version_that_was_found_before_the_current_page_is_remembered() -> None:
    views = PathViews(100)
    version, current = f"{SITE}/file/{HASH}/src/a.py", f"{SITE}/file/tip/src/a.py"
    assert not views.is_view(version)
    assert not views.is_view(current)
    assert hash(version) in views.versions_of(current)
    assert list(views.versions_of(version)) == []
