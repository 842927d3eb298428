"""Rechecks of duplicate pages."""

from __future__ import annotations

import pytest

from evercrawl.core.duplicates.minhash import text_signature
from evercrawl.core.duplicates.repeats import (
    can_represent,
    is_plainer,
    is_still_duplicate,
    should_recheck,
    titles_match,
)
from evercrawl.model.page import DuplicateCandidate

TEXT = " ".join(f"word{number * 7919 % 1009}" for number in range(400))
OTHER = " ".join(f"thing{number * 7919 % 1009}" for number in range(400))


def twin(text: str, **fields: object) -> DuplicateCandidate:
    known = DuplicateCandidate(1, "https://a.test/", 1, text_signature(text), None, None, None, text.encode(), 200)
    return known._replace(**fields)  # type: ignore[arg-type]


def test_the_first_change_always_rechecks_the_duplicate() -> None:
    assert all(should_recheck(bytes([number]), visits=1, version=2, weight=0.0) for number in range(20))


def test_later_changes_recheck_by_weight() -> None:
    rechecks = [
        should_recheck(bytes([number]), visits=5, version=version, weight=0.25)
        for number in range(40)
        for version in range(40)
    ]
    assert 0.2 < sum(rechecks) / len(rechecks) < 0.3


def test_pages_stay_duplicates_while_they_are_similar() -> None:
    assert is_still_duplicate(twin(TEXT), twin(TEXT), enough=0.9)
    assert is_still_duplicate(twin(TEXT), twin(TEXT + " more"), enough=0.9)
    assert not is_still_duplicate(twin(TEXT), twin(OTHER), enough=0.9)
    assert is_still_duplicate(twin(TEXT, signature=None), twin(TEXT, signature=None), enough=0.9)
    assert not is_still_duplicate(twin(TEXT, signature=None), twin(OTHER), enough=0.9)


def test_gone_or_moved_pages_cannot_represent() -> None:
    for left in (twin(TEXT, status=404), twin(TEXT, status=410), twin(TEXT, moved_to="https://b.test/")):
        assert not can_represent(left)
        assert not is_still_duplicate(twin(TEXT), left, enough=0.9)
    assert not is_still_duplicate(twin(TEXT), None, enough=0.9)
    assert can_represent(twin(TEXT, status=503)), "a fault that passes"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("News", "News"),
        ("News", "News, to print"),
        ("News", "Printable version: NEWS"),
        ("Tide table - Harbour", "tide table | harbour"),
        (None, "News"),
        (None, None),
    ],
)
def test_titles_of_possible_duplicates(one: str | None, other: str | None) -> None:
    assert titles_match(one, other)
    assert titles_match(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Map - Library 2.11 - lib.Map", "Set - Library 2.11 - lib.Set"),
        ("Note - Library - lib.note.Note", "getter - Library - lib.note.meta.getter"),
        ("Release 3.14 on 2016-08-08", "Release 3.14.1 on 2016-08-11"),
        ("Gallery", "Gallery, page 2"),
        ("Red shoes", "Blue shoes"),
    ],
)
def test_titles_of_different_pages(one: str, other: str) -> None:
    assert not titles_match(one, other)
    assert not titles_match(other, one)


@pytest.mark.parametrize(
    ("url", "other"),
    [
        ("/tea", "/tea?print=1"),
        ("/2024/05/tea/", "/?p=12"),
        ("/index?title=Tea", "/index?title=Tea&oldid=7"),
        ("/index?title=Tea", "/index?oldid=7;title=Tea"),
        ("/tea", "/tea/print"),
        ("/tea", "/print/tea"),
        ("/", "/index.html"),
    ],
)
def test_the_plainer_url_is_the_page(url: str, other: str) -> None:
    assert is_plainer("http://a.test" + url, "http://a.test" + other)
    assert not is_plainer("http://a.test" + other, "http://a.test" + url)


def test_equally_plain_urls_and_other_sites_keep_their_order() -> None:
    assert not is_plainer("http://a.test/tree/x", "http://a.test/plain/x")
    assert not is_plainer("http://a.test/x", "http://b.test/x?y=1")
