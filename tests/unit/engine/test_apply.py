from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from evercrawl.core.visit.outcome import judge_failed, judge_fetched
from evercrawl.engine.apply import visit_row
from evercrawl.engine.decision import Content, Decision
from evercrawl.model.change import Change, ChangeClass
from evercrawl.model.fetch import Exchange, Failed, Fault, Fetched, Headers
from evercrawl.model.page import Page

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
URL = "http://site.test/"
PAGE = Page(1, b"k", URL, 1, 0, 0, 0, 0, version=1, etag='"old"', digest=b"old")
EXCHANGE = Exchange(b"GET", b"HTTP/1.1 200 OK\r\n\r\n", b"body", "192.0.2.1", NOW, timedelta(0))
VALIDATORS: Headers = (("ETag", '"new"'), ("Last-Modified", "Sun, 01 Mar 2026 11:00:00 GMT"))


def failed(fault: Fault) -> Decision:
    result = Failed(URL, fault, "broken", timedelta(0), 200, VALIDATORS, EXCHANGE)
    return Decision(judge_failed(PAGE, result, asked=None, now=NOW), result)


def fetched() -> Decision:
    result = Fetched(URL, 200, VALIDATORS, b"body", EXCHANGE)
    outcome = judge_fetched(PAGE, result, change=Change(ChangeClass.CONTENT, 1.0), copy_of=None)
    return Decision(outcome, result, Content(b"new", b"s"))


@pytest.mark.parametrize("fault", [Fault.INCOMPLETE, Fault.UNEXPECTED_206, Fault.SERVER_ERROR, Fault.BAD_REDIRECT])
def test_an_answer_that_is_not_the_page_gives_no_validators(fault: Fault):
    visited = visit_row(PAGE, failed(fault), now=NOW)
    assert (visited.etag, visited.last_modified) == (None, None)


def test_an_answer_that_is_the_page_does():
    visited = visit_row(PAGE, fetched(), now=NOW)
    assert (visited.etag, visited.last_modified) == ('"new"', "Sun, 01 Mar 2026 11:00:00 GMT")
