from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.core.search.query_parser import MAX_QUERY_CHARS, MAX_TERMS, parse_query
from evercrawl.errors import ConfigError
from evercrawl.model.search import Query, QueryField, Term, Tone

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


def parsed(text: str) -> Query:
    return parse_query(text, now=NOW)


def test_all_words_are_required():
    assert parsed("crash  safety").groups == ((Term("crash"),), (Term("safety"),))


def test_or_joins_adjacent_terms():
    assert parsed("a1 b1 OR c1 d1").groups == ((Term("a1"),), (Term("b1"), Term("c1")), (Term("d1"),))
    assert parsed("OR a1 OR").groups == ((Term("a1"),),)


def test_a_quoted_phrase_is_literal_even_if_it_looks_like_an_operator():
    assert parsed('"to be or not" x1').groups == ((Term("to be or not", True),), (Term("x1"),))
    assert parsed('"site:example.org"').groups == ((Term("site:example.org", True),),)
    assert parsed('"never closed').groups == ((Term("never closed", True),),)


def test_what_only_looks_like_an_operator_is_words():
    assert parsed("std::move").groups == ((Term("std::move"),),)
    assert parsed("https://example.org/x").groups == ((Term("https://example.org/x"),),)


def test_a_minus_excludes():
    query = parsed('ship -sail -"old mast" -site:example.org -title:gone')
    assert query.without == (Term("sail"), Term("old mast", True), Term("gone", False, QueryField.TITLE))
    assert query.not_sites == ("example.org",)


def test_operators_are_parsed():
    query = parsed("SITE:https://Docs.Example.org/guide/ lang:de-AT title:Handbuch url:faq sentiment:negative")
    assert query.sites == ("docs.example.org/guide",)
    assert query.langs == ("de",)
    assert query.groups == ((Term("Handbuch", False, QueryField.TITLE),), (Term("faq", False, QueryField.URL),))
    assert query.tone is Tone.NEGATIVE


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("changed:>7d", datetime(2026, 11, 8, 12, tzinfo=UTC), None),
        ("changed:7d", datetime(2026, 11, 8, 12, tzinfo=UTC), None),
        ("changed:>=2026-05-01", datetime(2026, 5, 1, tzinfo=UTC), None),
        ("changed:<2026-05", None, datetime(2026, 5, 1, tzinfo=UTC)),
        ("changed:2026-05", datetime(2026, 5, 1, tzinfo=UTC), datetime(2026, 5, 31, 23, 59, 59, 999999, UTC)),
    ],
)
def test_changed_sets_a_time_range(text: str, first: datetime | None, last: datetime | None):
    query = parsed(text)
    assert (query.changed_from, query.changed_until) == (first, last)


def test_as_of_a_month_means_its_end():
    assert parsed("x1 as-of:2026-05").as_of == datetime(2026, 5, 31, 23, 59, 59, 999999, UTC)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("   !? ", "empty"),
        ("-x1", "only excludes"),
        ("as-of:2026-05", "empty"),
        ("changed:>soon", "changed:>soon cannot be read"),
        ("as-of:someday x", "as-of:someday cannot be read"),
        ("sentiment:angry", "pos, neg or neutral"),
        ("lang:12", "is not a language code"),
        ("site: x", "site: needs a value"),
        ('title:""', "title: needs a value"),
        ("-lang:de x", "you can exclude"),
        ("x" * (MAX_QUERY_CHARS + 1), "the limit is"),
        ("ab " * (MAX_TERMS + 1), "the limit is"),
    ],
)
def test_errors_say_what_is_wrong(text: str, said: str):
    with pytest.raises(ConfigError, match=said.replace("?", r"\?").replace("+", r"\+")):
        parsed(text)


@given(st.text(max_size=80))
def test_any_text_is_a_query_or_a_clear_error(text: str):
    try:
        query = parsed(text)
    except ConfigError:
        return
    filters = (query.sites, query.langs, query.tone, query.changed_from, query.changed_until)
    assert query.groups or any(filters)
