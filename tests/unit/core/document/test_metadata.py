"""Author, dates and robots directives."""

from __future__ import annotations

import json

import pytest

from evercrawl.core.document.elements import Elements, parse_tree
from evercrawl.core.document.metadata import (
    MAX_JSON_VALUES,
    PageMetadata,
    extract_metadata,
    parse_author,
    parse_date,
    parse_directives,
)
from evercrawl.model.document import Directives
from evercrawl.model.user_agent import product_token


def facts(markup: str) -> PageMetadata:
    tree = parse_tree(markup)
    return extract_metadata(tree, Elements(tree))


def linked_data(value: object) -> str:
    return f"<script type=application/ld+json>{json.dumps(value)}</script>"


def test_a_page_without_metadata_has_none() -> None:
    assert facts("<meta charset=utf-8><script src=x></script><time datetime=2020-01-01>then</time>") == PageMetadata()


def test_meta_elements_have_many_names() -> None:
    assert facts(
        "<meta name=Author content=' Jane  Roe '><meta property=article:published_time"
        " content=2019-11-19T20:59:00Z><meta property=og:updated_time content='2019-11-20 08:00:00+01:00'>"
    ) == PageMetadata("Jane Roe", "2019-11-19T20:59:00+00:00", "2019-11-20T08:00:00+01:00")


def test_meta_elements_override_json_ld() -> None:
    graph = {
        "@graph": [
            {"@type": "Organization", "name": "Post", "datePublished": "1999-01-01"},
            {
                "@type": ["NewsArticle"],
                "author": [{"@type": "Person", "name": "Jane Roe"}, "John Doe"],
                "datePublished": "2020-02-03",
                "dateModified": "Tue, 04 Feb 2020 10:00:00 GMT",
            },
        ]
    }
    assert facts(linked_data(graph)) == PageMetadata("Jane Roe, John Doe", "2020-02-03", "2020-02-04T10:00:00+00:00")
    assert facts("<meta name=author content=Other>" + linked_data(graph)).author == "Other"


def test_time_elements_count_in_articles() -> None:
    time = "<time itemprop=datePublished datetime=2021-05-06>May</time>"
    assert facts(time) == PageMetadata()
    assert facts("<meta property=og:type content=article>" + time).published == "2021-05-06"


@pytest.mark.parametrize("script", ["{", "", "[" * 100_000, "null", '{"@type": 7, "author": {"name": []}}'])
def test_broken_or_deep_json_ld_is_ignored(script: str) -> None:
    assert facts(f"<script type=application/ld+json>{script}</script>") == PageMetadata()


def test_json_ld_is_limited() -> None:
    many = [{"x": 1}] * MAX_JSON_VALUES + [{"@type": "Article", "datePublished": "2020-01-01"}]
    assert facts(linked_data(many)) == PageMetadata()


@pytest.mark.parametrize("stated", ["yesterday", "", "2020", "x" * 100, None, 5, "9999999999999999"])
def test_unreadable_dates_are_none(stated: object) -> None:
    assert parse_date(stated) is None


def test_urls_are_not_authors() -> None:
    assert parse_author("https://example.org/jane") is None
    assert parse_author([{"name": "Jane"}, {"name": "Jane"}, {"url": "x"}, 5]) == "Jane"


def test_directives_for_all_and_for_us_are_combined() -> None:
    found = parse_directives(
        "evercrawl", [("Robots", "NoIndex"), ("EverCrawl", "nofollow"), ("other", "noarchive")], []
    )
    assert found == Directives(noindex=True, nofollow=True)


def test_none_means_noindex_and_nofollow_and_cannot_be_revoked() -> None:
    assert parse_directives("x", [("robots", "none, index, follow")], []) == Directives(noindex=True, nofollow=True)


def test_a_robot_name_applies_to_the_end_of_the_field() -> None:
    assert parse_directives("me", [], ["you: noindex, nofollow"]) == Directives()
    assert parse_directives("me", [], ["you: noindex, me: nofollow, noarchive"]) == Directives(
        nofollow=True, noarchive=True
    )
    assert parse_directives("me", [], ["*: nocache"]) == Directives(noarchive=True)


def test_a_rule_with_a_value_is_not_a_robot_name() -> None:
    rules = ["unavailable_after: Fri, 25 Jun 2010 15:00:00 PST, noindex", "max-snippet: 5, nofollow"]
    assert parse_directives("me", [], rules) == Directives(noindex=True, nofollow=True)


def test_rules_must_match_whole_words() -> None:
    assert parse_directives("", [("robots", "noindexing"), ("", "noindex")], []) == Directives()


def test_our_robot_name_is_the_product_token() -> None:
    assert product_token("EverCrawl/1.2 (+https://operator.test)") == "evercrawl"
    assert product_token("1") == ""
