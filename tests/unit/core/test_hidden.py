"""Parents by truncation and numbered neighbours."""

from __future__ import annotations

from evercrawl.core.visit.links import MOST_NEIGHBOURS, numbered_neighbours, parent_urls


def test_parents_are_cut_off_from_the_end() -> None:
    assert parent_urls("https://x.org/a/b/c.html?d=1", 9) == [
        "https://x.org/a/b/c.html",
        "https://x.org/a/b/",
        "https://x.org/a/",
        "https://x.org/",
    ]
    assert parent_urls("https://x.org/a/b/", 1) == ["https://x.org/a/"]
    assert parent_urls("https://x.org/", 3) == []
    assert parent_urls("https://x.org/a/b", 0) == []


def test_neighbours_keep_the_form_of_the_number() -> None:
    assert numbered_neighbours("https://x.org/v2/page-09.html", 1) == [
        "https://x.org/v2/page-08.html",
        "https://x.org/v2/page-10.html",
    ]
    assert numbered_neighbours("https://x.org/item?id=0", 1) == ["https://x.org/item?id=1"]
    assert numbered_neighbours("https://x.org/about", 3) == []
    assert numbered_neighbours("https://x2.org/about", 3) == []
    assert numbered_neighbours("https://x.org/1234567890123", 3) == []
    assert len(numbered_neighbours("https://x.org/500", 999)) == 2 * MOST_NEIGHBOURS
