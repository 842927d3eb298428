"""Views and versions that are named by a segment of the path."""

from __future__ import annotations

import pytest

from evercrawl.core.credit.url_yield import MAX_VALUES, PathPlace, PathViews, _places_and_name

SITE = "https://a.test"
HASH = "9fceb02d0ae598e95dc970b74767f19372d61af8"
FILES = [f"src/module{letter}.py" for letter in "abcdefghijkl"]


def after(*paths: str, max_names: int = 1000) -> PathViews:
    views = PathViews(max_names)
    for path in paths:
        views.is_view(SITE + path)
    return views


def code_browser(version: str = "HEAD:") -> list[str]:
    return [f"/x.git/{view}/{version}/{file}" for file in FILES for view in ("blob", "blame", "history")]


def places_in(url: str) -> list[PathPlace]:
    """Return the segments of a URL that may choose a view, and the pairs of a view and a version."""
    places, name = _places_and_name(url)
    return [place._replace(rest=place.rest + name) for place, *_ in places]


def test_a_segment_is_what_is_before_it_its_value_and_the_rest() -> None:
    found = list(places_in(f"{SITE}/x.git/blob/{HASH}:/src/a.py?h=1"))
    assert [(place.before, place.value, place.rest) for place in found] == [
        (SITE, "x.git", "blob/:/src/a.py"),
        (f"{SITE}/x.git", "blob", ":/src/a.py"),
        (f"{SITE}/x.git/blob", ":", "src/a.py"),
        (f"{SITE}/x.git/blob/:", "src", "a.py"),
        (f"{SITE}//", "x.git/blob", ":/src/a.py"),
        (f"{SITE}/x.git//", "blob/#:", "src/a.py"),
    ]
    assert [place.has_hash for place in found] == [False, False, True, False, False, True]


@pytest.mark.parametrize("path", ["", "/", "/about", "/2026/11/", "/page/2", f"/commit/{HASH}", "/2026/report"])
def test_numbers_choose_nothing_and_numbers_and_hashes_are_no_rest(path: str) -> None:
    assert list(places_in(SITE + path)) == []


def test_the_first_view_of_a_file_is_its_page() -> None:
    views = after(*code_browser())
    assert not views.is_view(f"{SITE}/x.git/blob/HEAD:/{FILES[0]}")
    assert views.is_view(f"{SITE}/x.git/blame/HEAD:/{FILES[0]}")
    assert views.is_view(f"{SITE}/x.git/history/HEAD:/{FILES[-1]}")


def test_what_no_other_view_named_before_is_a_page_whatever_the_view_is_called() -> None:
    views = after(*code_browser())
    assert not views.is_view(f"{SITE}/x.git/blame/HEAD:/src/unknown.py")


def test_the_answer_for_a_url_stays_the_same() -> None:
    views = after(*code_browser())
    url = f"{SITE}/x.git/blame/HEAD:/{FILES[0]}"
    assert [views.is_view(url) for _ in range(3)] == [True] * 3


def test_versions_are_views_of_the_plain_path_even_if_they_were_found_first() -> None:
    views = after(*code_browser(f"{HASH}:"), *code_browser())
    assert not views.is_view(f"{SITE}/x.git/blob/HEAD:/{FILES[0]}")
    assert views.is_view(f"{SITE}/x.git/blob/{HASH}:/{FILES[0]}")


def test_differences_between_two_versions_are_views_of_the_file() -> None:
    old = HASH[::-1]
    views = after(*code_browser(f"{HASH}:"), *(f"/x.git/blobdiff/{old}..{HASH}:/{file}" for file in FILES))
    assert views.is_view(f"{SITE}/x.git/blobdiff/{old}..{HASH}:/{FILES[0]}")
    assert not views.is_view(f"{SITE}/x.git/blob/{HASH}:/{FILES[0]}")


def test_numbered_revisions_are_views_of_the_file_even_if_they_were_found_first() -> None:
    revisions = [f"/x/revision/{number}/{file}" for number in (18, 19) for file in FILES]
    files = [f"/x/view/head:/{file}" for file in FILES]
    views = after(*revisions, *files)
    assert all(views.is_view(SITE + path) for path in revisions)
    assert not any(views.is_view(SITE + path) for path in files)


def test_numbered_chapters_of_one_book_are_no_views_of_each_other() -> None:
    pages = [f"/manual/{version}/{file}" for version in ("5.1", "5.2", "6.0") for file in FILES]
    pages += [f"/user/{number}/{part}" for number in range(20) for part in ("profile", "posts", "likes", "photos")]
    views = after(*pages)
    assert not any(views.is_view(SITE + path) for path in pages)


def test_sections_of_a_site_are_no_choice_though_each_has_an_index() -> None:
    sections = [f"/section-{letter}" for letter in "abcdefghijkl"]
    pages = [f"{section}/{name}" for section in sections for name in ("index.html", "about.html")]
    own = [f"{section}/article-{section[-1]}-{word}.html" for section in sections for word in ("x", "y", "z", "w")]
    views = after(*pages, *own)
    assert not any(views.is_view(SITE + path) for path in pages + own)


def test_pages_of_many_people_with_the_same_parts_are_no_views() -> None:
    people = [f"/people/{first}{second}" for first in "abcdef" for second in "ghijklm"]
    assert len(people) > MAX_VALUES
    pages = [f"{person}/{part}" for person in people for part in "opqrstuvwxyz"]
    views = after(*pages)
    assert not any(views.is_view(SITE + path) for path in pages)


def test_few_rests_are_no_evidence() -> None:
    pages = [f"/tag/{tag}/{rest}" for tag in ("tea", "milk", "sugar") for rest in ("feed", "top", "page/2")]
    assert not any(after(*pages).is_view(SITE + path) for path in pages)


def test_a_view_names_the_page_that_it_shows() -> None:
    views = after(*code_browser())
    page = next(views.pages_of(f"{SITE}/x.git/blame/HEAD:/{FILES[0]}"))
    assert page == next(views.pages_of(f"{SITE}/x.git/history/HEAD:/{FILES[0]}"))
    assert list(views.pages_of(f"{SITE}/x.git/blob/HEAD:/{FILES[0]}")) == []


def test_memory_is_bounded() -> None:
    views = after(*(f"/x/blob/{letter}{number}" for letter in "abc" for number in range(100)), max_names=50)
    assert len(views._rests) == 50


def test_a_few_products_with_the_same_parts_are_no_views() -> None:
    parts = [f"part-{letter}" for letter in "abcdefghijkl"]
    pages = [f"/{product}/{part}" for product in ("cup", "pot", "pan", "jar", "lid") for part in parts]
    assert not any(after(*pages).is_view(SITE + path) for path in pages)


def test_another_name_of_the_same_version_does_not_hide_the_views() -> None:
    elsewhere = [f"/x.git/blob/refs/heads/main:/{file}" for file in FILES]
    views = after(*code_browser(), *elsewhere, *code_browser(f"{HASH}:"))
    assert views.is_view(f"{SITE}/x.git/blob/{HASH}:/{FILES[0]}")


def test_a_place_that_was_forgotten_is_learned_again() -> None:
    views = after(*code_browser(f"{HASH}:"))
    views._places.clear()
    assert not any(views.is_view(SITE + path) for path in code_browser()[:3])
