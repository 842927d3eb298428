"""Parents by truncation and numbered neighbours."""

from __future__ import annotations

from evercrawl.core.hidden import MOST_NEIGHBOURS, neighbours_of, parents_of


def test_parents_are_cut_off_from_the_end() -> None:
    assert parents_of("https://x.org/a/b/c.html?d=1", 9) == [
        "https://x.org/a/b/c.html",
        "https://x.org/a/b/",
        "https://x.org/a/",
        "https://x.org/",
    ]
    assert parents_of("https://x.org/a/b/", 1) == ["https://x.org/a/"]
    assert parents_of("https://x.org/", 3) == []
    assert parents_of("https://x.org/a/b", 0) == []


def test_neighbours_keep_the_form_of_the_number() -> None:
    assert neighbours_of("https://x.org/v2/page-09.html", 1) == [
        "https://x.org/v2/page-08.html",
        "https://x.org/v2/page-10.html",
    ]
    assert neighbours_of("https://x.org/item?id=0", 1) == ["https://x.org/item?id=1"]
    assert neighbours_of("https://x.org/about", 3) == []
    assert neighbours_of("https://x2.org/about", 3) == []
    assert neighbours_of("https://x.org/1234567890123", 3) == []
    assert len(neighbours_of("https://x.org/500", 999)) == 2 * MOST_NEIGHBOURS
