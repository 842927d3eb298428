from __future__ import annotations

import pytest

from evercrawl.core.traps.url_pattern import Breadth, is_extension, lengthens, patterns_of, shape_of


@pytest.mark.parametrize(
    ("path", "shape"),
    [
        ("/", "/"),
        ("/about", "/about"),
        ("/product/17", "/product/{n}"),
        ("/product/blue-shoe.html", "/product/{word}.html"),
        ("/people/anna.kolo", "/people/{word}"),
        ("/2024/03/12/title", "/{n}/{n}/{n}/title"),
        ("/events/2024-03-12", "/events/{date}"),
        ("/c/9f8e7d6c5b4a", "/c/{id}"),
        ("/(S(lit3py55t21z5v55vlm25s55))/x.aspx", "/{id}/x.aspx"),
        ("/shop/red+small", "/shop/{word+}"),
        ("/shop?size=m&color=red", "/shop?color&size"),
        ("/shop/?b", "/shop/?b"),
    ],
)
def test_urls_are_generalised(path: str, shape: str) -> None:
    assert shape_of("http://a.test" + path) == shape


def test_a_url_belongs_to_its_folders_and_parameters() -> None:
    names = {pattern.name: pattern.breadth for pattern in patterns_of("http://a.test/a/b/c/d/e?x=1&y=2")}
    assert names["/a/{word}/{word}/{word}/{word}?x&y"] is Breadth.SHAPE
    assert names["/a/{word}/{word}/{word}/{word}?x="] is Breadth.PARAMETER
    assert names["/a/{word}/{word}/{word}/{word}?*"] is Breadth.FAMILY
    assert names["/a/b/**"] is Breadth.FOLDER
    assert "/a/b/c/d/**" not in names


def test_longer_urls_extend_a_pattern() -> None:
    short, long = patterns_of("http://a.test/m/x"), patterns_of("http://a.test/m/x/y")
    assert is_extension(short[0], long)
    assert not is_extension(long[0], short)
    assert lengthens(long, "/m/{word}")
    assert not lengthens(patterns_of("http://a.test/n/x"), "/m/{word}")
    facets = patterns_of("http://a.test/s?a=1&b=2")
    assert is_extension(patterns_of("http://a.test/s?a=1")[0], facets)
    assert not is_extension(patterns_of("http://a.test/t?a=1")[0], facets)
