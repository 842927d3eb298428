"""File names for pages: nothing in a URL can make them more than names."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.collection.exchange.page_tree import LONGEST_NAME, LONGEST_PATH, mirror_path, unique_name
from evercrawl.core.url import canonical
from tests.shared import conformance_rows

SAFE_NAME = re.compile(r"[A-Za-z0-9_~%=+,@][A-Za-z0-9._~%=+,@-]*(?<!\.)")
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|\Z)", re.IGNORECASE)


def assert_safe(parts: tuple[str, ...]) -> None:
    assert len(parts) >= 2
    for name in parts:
        assert SAFE_NAME.fullmatch(name), name
        assert not RESERVED.match(name), name
        assert len(name) <= LONGEST_NAME
    assert len("/".join(parts)) <= LONGEST_PATH


@pytest.mark.parametrize(
    ("url", "path", "is_renamed"),
    [
        ("http://www.myfirstsite.com/d1/d2", "www.myfirstsite.com/d1/d2/index.html", False),
        ("http://a.test/", "a.test/index.html", False),
        ("http://a.test/x.html", "a.test/x.html", False),
        ("http://a.test/x.HTM", "a.test/x.HTM", False),
        ("http://a.test/x.php", "a.test/x.php.html", False),
        ("http://a.test:8080/x/", "a.test_8080/x/index.html", False),
        ("http://a.test/s?q=1", "a.test/s@q=1.html", False),
        ("http://a.test/?f=/etc/passwd", "a.test/index@f=%2Fetc%2Fpasswd.html", True),
        ("http://a.test/-rf", "a.test/%2Drf/index.html", True),
        ("http://a.test/.git/config", "a.test/%2Egit/config/index.html", True),
        ("http://a.test/a./b .html", "a.test/a%2E/b%20.html", True),
        ("http://a.test/con/NUL.txt", "a.test/_con/_NUL.txt.html", True),
        ("http://a.test//x", "a.test/x/index.html", True),
        ("http://a.test/a:b*c", "a.test/a%3Ab%2Ac/index.html", True),
        ("http://[::1]/x", "%3A%3A1/x/index.html", True),
    ],
)
def test_a_path_says_where_the_page_was(url: str, path: str, is_renamed: bool) -> None:
    name = canonical(url)
    assert name is not None
    found = mirror_path(name, ending=".html")
    assert "/".join(found.parts) == path
    assert found.is_renamed == is_renamed
    assert_safe(found.parts)


def test_every_hostile_link_of_the_catalogue_gets_a_harmless_path() -> None:
    rows = [row for row in conformance_rows("http_hostile/catalogue.jsonl") if row["name"].startswith("mirror-path-")]
    assert len(rows) >= 9
    for row in rows:
        for link in row["server"]["link"].split(" and "):
            name = canonical(link)
            if name is None:
                assert row["outcome"] == "rejected"
                continue
            assert_safe(mirror_path(name, ending=".html").parts)


@pytest.mark.parametrize("tail", ["a" * 4096, "/".join(["dir"] * 1300), "x/" + "%E2%80%AE" * 400, "?q=" + "b" * 4000])
def test_long_paths_are_cut_and_still_tell_apart(tail: str) -> None:
    one, other = (mirror_path(f"http://a.test/{tail}{end}", ending=".html") for end in "12")
    assert_safe(one.parts)
    assert one.is_renamed
    assert one.parts != other.parts


def test_another_name_keeps_the_ending_and_is_always_the_same() -> None:
    first = unique_name("index.html", "http://a.test/A")
    assert first.startswith("index~")
    assert first.endswith(".html")
    assert first == unique_name("index.html", "http://a.test/A") != unique_name("index.html", "http://a.test/a")
    assert_safe(("a", unique_name("a" * LONGEST_NAME, "http://a.test/A", 12)))


@given(st.text(max_size=200), st.sampled_from([".html", ".pdf", "", ".md"]))
def test_no_url_gives_a_name_that_is_more_than_a_name(tail: str, ending: str) -> None:
    name = canonical("http://a.test/" + tail)
    if name is not None:
        assert_safe(mirror_path(name, ending=ending).parts)
