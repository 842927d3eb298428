"""What names say."""

from __future__ import annotations

import pytest

from evercrawl.core.document.boilerplate import (
    ASIDE,
    BODY,
    LAYOUT_ASIDE,
    LINKED_ASIDE,
    PLAIN,
    SMALL_ASIDE,
    SURE_ASIDE,
    verdict_of,
)


@pytest.mark.parametrize(
    ("names", "verdict"),
    [
        ("related-posts", ASIDE),
        ("relatedArticles", ASIDE),
        ("c-comments__list", ASIDE),
        ("sidebar", ASIDE),
        ("left-sidebar", LAYOUT_ASIDE),
        ("breadcrumbs", SURE_ASIDE),
        ("entry-meta", SMALL_ASIDE),
        ("wp-caption", SMALL_ASIDE),
        ("hidden", SMALL_ASIDE),
        ("news-teaser", LINKED_ASIDE),
        ("td-post-content", BODY),
        ("storyText", BODY),
        ("with-sidebar", PLAIN),
        ("grid-for-nav", PLAIN),
        ("field--label-hidden", PLAIN),
        ("tag-comments category-share", PLAIN),
        ("hJpAdR", PLAIN),
        ("downloads adapter shared", PLAIN),
        ("--", PLAIN),
    ],
)
def test_a_class_or_an_id_says(names: str, verdict: int) -> None:
    assert verdict_of(names, None) == verdict
    if " " not in names:
        assert verdict_of(None, names) == verdict


def test_class_and_id_that_contradict_each_other_say_nothing() -> None:
    assert verdict_of("teaser_blog_text", "article_content") == PLAIN
    assert verdict_of("box", "comments") == ASIDE


def test_ids_that_tools_made_are_not_looked_at() -> None:
    assert verdict_of(None, "comment-12345") == PLAIN
    assert verdict_of("box", "comments" * 10) == PLAIN
