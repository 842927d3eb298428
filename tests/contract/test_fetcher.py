"""What every Fetcher promises, whatever web is behind it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import NamedTuple

import pytest

from evercrawl.core.http.http1 import ReadLimits, parse_response_head
from evercrawl.engine.ports import Fetcher
from evercrawl.model.fetch import Failed, Fault, Fetched, FetchResult, Moved, NotModified, Request, header
from evercrawl.testing import NO_FAULTS, SimWeb, run
from evercrawl.testing.site_plan import PageKind

LIMITS = ReadLimits(header_bytes=100_000, header_count=100, body_bytes=10**8)


class Web(NamedTuple):
    """A fetcher and URLs that show each behaviour."""

    fetcher: Fetcher
    run: Callable[[Awaitable[FetchResult]], FetchResult]
    page: str
    with_etag: str
    moved: str
    missing: str
    no_host: str


def simulated() -> Web:
    web = SimWeb(3, sites=20, pages_per_site=40, faults=NO_FAULTS)
    tagged = [url for url in web.pages() if header(run(web.fetch(Request(url))).headers, "etag")]
    return Web(
        fetcher=web,
        run=run,
        page=web.pages()[0],
        with_etag=tagged[0],
        moved=web.pages(PageKind.MOVED)[0],
        missing=web.pages(PageKind.MISSING)[0],
        no_host="https://nowhere.invalid/",
    )


@pytest.fixture(params=[simulated], ids=["simulated"])
def web(request) -> Web:
    return request.param()


def test_a_page_is_fetched_with_what_went_over_the_wire(web):
    result = web.run(web.fetcher.fetch(Request(web.page)))
    assert isinstance(result, Fetched)
    assert (result.url, result.status, result.truncated) == (web.page, 200, None)
    head = parse_response_head(result.exchange.response_head, LIMITS)
    assert (head.status, head.headers) == (result.status, result.headers)
    assert result.exchange.request_head.startswith(b"GET /")
    assert result.exchange.request_head.endswith(b"\r\n\r\n")
    assert result.exchange.took > timedelta(0)
    assert result.body


def test_a_validator_that_still_holds_gives_not_modified(web):
    first = web.run(web.fetcher.fetch(Request(web.with_etag)))
    again = web.run(web.fetcher.fetch(Request(web.with_etag, etag=header(first.headers, "etag"))))
    assert isinstance(again, NotModified)
    assert again.exchange.wire_body == b""
    assert b"If-None-Match" in again.exchange.request_head


def test_a_redirect_is_not_followed(web):
    result = web.run(web.fetcher.fetch(Request(web.moved)))
    assert isinstance(result, Moved)
    assert result.target.startswith(("http://", "https://"))
    assert 300 < result.status < 400


def test_an_error_status_keeps_its_answer(web):
    result = web.run(web.fetcher.fetch(Request(web.missing)))
    assert isinstance(result, Failed)
    assert (result.fault, result.status) == (Fault.NOT_FOUND, 404)
    assert result.exchange.wire_body


def test_a_host_that_does_not_exist_is_a_value(web):
    result = web.run(web.fetcher.fetch(Request(web.no_host)))
    assert isinstance(result, Failed)
    assert (result.fault, result.status, result.exchange) == (Fault.DNS, None, None)
