"""Where a document leads, and what is refused on the way."""

from __future__ import annotations

from dataclasses import replace

from evercrawl.core.duplicates.url_seen import UrlCache
from evercrawl.core.scope.scope import Scope
from evercrawl.core.url import key_of
from evercrawl.core.visit.links import (
    MAX_NEIGHBOURS,
    FoundLinks,
    add_url,
    links_of_document,
    numbered_neighbours,
    parent_urls,
    refusal_key,
)
from evercrawl.model.document import Alternate, Directives, Document, Link, Refresh
from evercrawl.model.page import Page
from evercrawl.model.reason import Reason
from evercrawl.model.settings import ScopeSettings

PAGE = Page(7, key_of("http://a.test/x"), "http://a.test/x", 1, 2, 0, 1, 1)
SCOPE = Scope(ScopeSettings(seeds=("http://a.test/",)))
DOCUMENT = Document(
    "utf-8",
    PAGE.url,
    links=(
        Link("http://a.test/one", "", False),
        Link("http://b.test/", "", False),
        Link("http://a.test/hidden", "", True),
    ),
    canonical="http://a.test/canonical",
    alternates=(
        Alternate("http://a.test/de", "de", None),
        Alternate("http://a.test/feed", None, "application/rss+xml"),
    ),
)


def offers(document: Document = DOCUMENT, scope: Scope = SCOPE, popular: UrlCache | None = None) -> FoundLinks:
    return links_of_document(
        document, PAGE, scope=scope, popular=UrlCache(64) if popular is None else popular, most_hops=10, now_us=5
    )


def test_links_canonical_and_translations_are_offered_with_their_depth_and_parent():
    found = {candidate.url: candidate for candidate in offers().candidates}
    assert set(found) == {"http://a.test/one", "http://a.test/canonical", "http://a.test/de"}
    one = found["http://a.test/one"]
    assert (one.depth, one.hops, one.parent, one.parent_id) == (3, 0, PAGE.url, 7)
    assert one.key == key_of(one.url)


def test_refusals_carry_reason_parent_and_depth():
    refused = {refusal.url: refusal for refusal in offers().refusals}
    assert refused["http://b.test/"].reason is Reason.OUT_OF_SCOPE
    assert refused["http://a.test/hidden"].reason is Reason.NOFOLLOW
    assert refused["http://b.test/"].parent == PAGE.url
    assert refused["http://b.test/"].depth == 3


def test_what_was_met_lately_is_not_offered_again_but_nofollow_is_no_memory():
    popular = UrlCache(64)
    offers(popular=popular)
    again = offers(popular=popular)
    assert again.candidates == []
    followed = replace(DOCUMENT, links=(Link("http://a.test/hidden", "", False),))
    assert "http://a.test/hidden" in [c.url for c in offers(followed, popular=popular).candidates]


def test_a_page_that_asks_not_to_be_followed_is_not():
    shy = replace(DOCUMENT, robots=Directives(nofollow=True))
    assert offers(shy).candidates == []
    bold = Scope(ScopeSettings(seeds=("http://a.test/",), follow_nofollow=True))
    assert len(offers(shy, bold).candidates) == 4


def test_a_refresh_counts_as_a_redirect():
    document = Document("utf-8", PAGE.url, refresh=Refresh(0, "http://a.test/next"))
    (candidate,) = offers(document).candidates
    assert (candidate.depth, candidate.hops) == (PAGE.depth, PAGE.hops + 1)


def test_a_refresh_is_not_followed_without_end_nor_by_a_link_to_the_same_place():
    onward = "http://a.test/next"
    document = Document("utf-8", PAGE.url, links=(Link(onward, "", False),), refresh=Refresh(0, onward))
    found = links_of_document(
        document, PAGE._replace(hops=10), scope=SCOPE, popular=UrlCache(64), most_hops=10, now_us=5
    )
    assert found.candidates == []
    assert [refusal.reason for refusal in found.refusals] == [Reason.TOO_MANY_REDIRECTS]


def test_a_url_that_is_too_long_is_found_by_its_whole_and_by_its_beginning():
    found, url = FoundLinks(), "http://a.test/?" + "x" * 5000
    add_url(found, url, depth=1, hops=0, parent=PAGE, scope=SCOPE, now_us=0)
    (refusal,) = found.refusals
    assert refusal.key == refusal_key(url) == refusal_key(refusal.url)


def test_a_url_longer_than_any_server_accepts_is_refused_with_its_length():
    found = FoundLinks()
    refused = add_url(found, "http://a.test/" + "x" * 70_000, depth=1, hops=0, parent=PAGE, scope=SCOPE, now_us=0)
    assert refused == (Reason.URL_TOO_LONG, "70014 characters, at most 65536")
    assert [refusal.reason for refusal in found.refusals] == [Reason.URL_TOO_LONG]


def test_urls_that_name_no_page_are_refused_with_a_key_of_their_own():
    found = FoundLinks()
    for url in ("mailto:x@a.test", "http://", "javascript:void(0)"):
        add_url(found, url, depth=1, hops=0, parent=PAGE, scope=SCOPE, now_us=0)
    assert [refusal.reason for refusal in found.refusals] == [
        Reason.UNSUPPORTED_SCHEME,
        Reason.INVALID_URL,
        Reason.UNSUPPORTED_SCHEME,
    ]
    assert len({refusal.key for refusal in found.refusals}) == 3
    assert all(refusal.key == refusal_key(refusal.url) for refusal in found.refusals)


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
    assert len(numbered_neighbours("https://x.org/500", 999)) == 2 * MAX_NEIGHBOURS


def test_user_names_and_passwords_in_links_are_not_stored():
    links = (
        Link("http://me:secret@a.test/one?at=@", "", False),
        Link("http://me:secret@b.test/", "", False),
        Link("http://me:secret@a.test/two", "", True),
        Link("http://a.test/@name", "", False),
    )
    found = offers(replace(DOCUMENT, links=links, canonical=None, alternates=()))
    assert [candidate.url for candidate in found.candidates] == ["http://a.test/one?at=@", "http://a.test/@name"]
    assert [refusal.url for refusal in found.refusals] == ["http://b.test/", "http://a.test/two"]
