"""What pages ask of robots."""

from __future__ import annotations

from evercrawl.core.document.metadata import parse_directives
from evercrawl.model.document import Directives
from evercrawl.model.user_agent import product_token


def test_what_is_said_to_all_and_to_us_is_joined() -> None:
    found = parse_directives(
        "evercrawl", [("Robots", "NoIndex"), ("EverCrawl", "nofollow"), ("other", "noarchive")], []
    )
    assert found == Directives(noindex=True, nofollow=True)


def test_none_means_both_and_nothing_takes_it_back() -> None:
    assert parse_directives("x", [("robots", "none, index, follow")], []) == Directives(noindex=True, nofollow=True)


def test_a_header_names_robots_up_to_its_end() -> None:
    assert parse_directives("me", [], ["you: noindex, nofollow"]) == Directives()
    assert parse_directives("me", [], ["you: noindex, me: nofollow, noarchive"]) == Directives(
        nofollow=True, noarchive=True
    )
    assert parse_directives("me", [], ["*: nocache"]) == Directives(noarchive=True)


def test_a_colon_of_a_value_is_no_robot() -> None:
    rules = ["unavailable_after: Fri, 25 Jun 2010 15:00:00 PST, noindex", "max-snippet: 5, nofollow"]
    assert parse_directives("me", [], rules) == Directives(noindex=True, nofollow=True)


def test_words_must_be_whole() -> None:
    assert parse_directives("", [("robots", "noindexing"), ("", "noindex")], []) == Directives()


def test_our_name_is_the_product_token() -> None:
    assert product_token("EverCrawl/1.2 (+https://operator.test)") == "evercrawl"
    assert product_token("1") == ""
