"""Tests of boilerplate detection."""

from __future__ import annotations

import pytest

from evercrawl.core.document.boilerplate import (
    ASIDE,
    COMMENTS,
    CONTENT,
    LAYOUT_ASIDE,
    LINKED_ASIDE,
    NEUTRAL,
    SMALL_ASIDE,
    SURE_ASIDE,
    classify_names,
)


@pytest.mark.parametrize(
    ("names", "verdict"),
    [
        ("related-posts", ASIDE),
        ("relatedArticles", ASIDE),
        ("c-comments__list", COMMENTS),
        ("sidebar", ASIDE),
        ("left-sidebar", LAYOUT_ASIDE),
        ("breadcrumbs", SURE_ASIDE),
        ("entry-meta", SMALL_ASIDE),
        ("wp-caption", SMALL_ASIDE),
        ("hidden", SMALL_ASIDE),
        ("news-teaser", LINKED_ASIDE),
        ("td-post-content", CONTENT),
        ("storyText", CONTENT),
        ("with-sidebar", NEUTRAL),
        ("grid-for-nav", NEUTRAL),
        ("field--label-hidden", NEUTRAL),
        ("tag-comments category-share", NEUTRAL),
        ("hJpAdR", NEUTRAL),
        ("downloads adapter shared", NEUTRAL),
        ("--", NEUTRAL),
    ],
)
def test_class_or_id_classifies_an_element(names: str, verdict: int) -> None:
    assert classify_names(names, None) == verdict
    if " " not in names:
        assert classify_names(None, names) == verdict


def test_contradicting_class_and_id_are_neutral() -> None:
    assert classify_names("teaser_blog_text", "article_content") == NEUTRAL
    assert classify_names("box", "comments") == COMMENTS


def test_generated_ids_are_ignored() -> None:
    assert classify_names(None, "comment-12345") == NEUTRAL
    assert classify_names("box", "comments" * 10) == NEUTRAL
