"""Which POST requests of scripts are sent."""

from __future__ import annotations

import pytest

from evercrawl.core.post_requests import MAX_POST_BYTES, PostRequest, post_refusal, posted_query, posted_url

PAGE = "https://app.example.org/list"
JSON = "application/json"
QUERY = b'{"query": "query Items { items { title } }", "variables": {}}'


@pytest.mark.parametrize(
    ("url", "kind", "content_type", "body"),
    [
        ("https://app.example.org/search", "fetch", JSON, b'{"q": "tea"}'),
        ("https://api.example.org/search", "xhr", "application/x-www-form-urlencoded", b"q=tea"),
        ("https://graph.example.com/", "fetch", JSON, QUERY),
        ("https://graph.example.com/", "fetch", JSON, b"[" + QUERY + b"," + QUERY + b"]"),
        ("https://graph.example.com/", "fetch", JSON, b'{"query": "{ mutation { title } }"}'),
        ("https://graph.example.com/", "fetch", "application/graphql", b"# no mutation\n{ items }"),
    ],
)
def test_requests_that_read_are_sent(url: str, kind: str, content_type: str, body: bytes) -> None:
    assert post_refusal(PostRequest(url, kind, content_type, body), PAGE) == ""


@pytest.mark.parametrize(
    ("url", "kind", "content_type", "body", "reason"),
    [
        (
            "https://app.example.org/save",
            "document",
            "application/x-www-form-urlencoded",
            b"a=b",
            "no request for data",
        ),
        ("https://app.example.org/beacon", "ping", "text/plain", b"a", "no request for data"),
        ("https://stats.example.com/", "fetch", JSON, b'{"seen": 1}', "other sites"),
        ("https://stats.example.com/", "fetch", JSON, b'{"query": "tea"}', "other sites"),
        ("https://app.example.org/graphql", "fetch", JSON, b'{"query": "mutation M { buy }"}', "GraphQL"),
        ("https://app.example.org/graphql", "fetch", JSON, b'{"query": "query A { a } mutation B { b }"}', "GraphQL"),
        ("https://app.example.org/graphql", "fetch", JSON, b"[" + QUERY + b',{"query": "mutation{a}"}]', "GraphQL"),
        ("https://app.example.org/up", "fetch", "multipart/form-data; boundary=x", b"a", "uploads"),
        ("https://app.example.org/up", "fetch", JSON, b" " * (MAX_POST_BYTES + 1), "uploads"),
    ],
)
def test_requests_that_may_change_something_are_refused(
    url: str, kind: str, content_type: str, body: bytes, reason: str
) -> None:
    assert reason in post_refusal(PostRequest(url, kind, content_type, body), PAGE)


def test_nothing_is_sent_where_there_are_credentials() -> None:
    post = PostRequest("https://api.example.org/", "fetch", JSON, QUERY)
    assert "signed in" in post_refusal(post, PAGE, signed_in={"https://api.example.org"})
    assert "signed in" in post_refusal(post, PAGE, signed_in={"https://app.example.org"})


def test_after_a_press_only_known_addresses_get_more() -> None:
    post = PostRequest("https://app.example.org/more", "fetch", JSON, b"{}")
    assert "button" in post_refusal(post, PAGE, is_pressed=True)
    assert post_refusal(post, PAGE, is_pressed=True, posted={post.url}) == ""
    assert post_refusal(post._replace(body=QUERY), PAGE, is_pressed=True) == ""


def test_answers_are_stored_under_the_body_as_a_query() -> None:
    search = "https://app.example.org/search"
    assert posted_url(
        search, JSON, b'{"q": "a b", "page": {"size": 10.0, "all": true, "q": null}, "tags": ["x", "y"]}'
    ) == (f"{search}?__wb_method=POST&q=a+b&size=10&all=true&q.2_=null&tags=x&tags.2_=y")
    assert posted_url(f"{search}?v=1", "text/plain", b"x") == f"{search}?v=1&__wb_method=POST&__wb_post_data=eA=="
    form = posted_url(search, "application/x-www-form-urlencoded; charset=utf-8", "q=a%20b&ü".encode())
    assert form == f"{search}?__wb_method=POST&q=a%20b&%C3%BC"
    assert posted_query(form, search) == "q=a%20b&%C3%BC"
    assert posted_query(search, search) is None
    assert posted_url(search, JSON, b"no JSON") == f"{search}?__wb_method=POST&"
    deep = posted_url(search, JSON, b"[" * 900 + b"1" + b"]" * 900)
    assert deep == f"{search}?__wb_method=POST&=1"
    assert len(posted_url(search, JSON, b'"%s"' % (b"x" * 10_000))) < 5000
