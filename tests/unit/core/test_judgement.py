"""What the end of a visit means, in words that can be read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from evercrawl.core.fault import FAULT_RULES
from evercrawl.core.judgement import judge_failed
from evercrawl.model.fetch import Failed, Fault
from evercrawl.model.page import Page
from evercrawl.model.reason import REASON_TEXT, Outcome, Reason

NOW = datetime(2026, 11, 15, tzinfo=UTC)
PAGE = Page(1, b"k" * 16, "https://example.org/a", site_id=1, depth=1, hops=0, band=1, seq=1)


def _detail(fault: Fault, words: str) -> str:
    return judge_failed(PAGE, Failed(PAGE.url, fault, words, timedelta(0)), asked=None, now=NOW).detail


@pytest.mark.parametrize("fault", Fault)
def test_every_fault_has_words_and_says_nothing_twice(fault: Fault) -> None:
    text = REASON_TEXT[FAULT_RULES[fault].reason]
    assert _detail(fault, "") == text
    if fault is not Fault.INTERNAL:
        assert _detail(fault, "what the fetcher saw") == "what the fetcher saw"
        assert _detail(fault, text) == text


def test_a_defect_of_ours_says_that_it_is_one() -> None:
    assert _detail(Fault.INTERNAL, "TypeError: x") == f"{REASON_TEXT[Reason.INTERNAL]}: TypeError: x"


def test_a_redirect_to_another_scheme_is_a_refusal() -> None:
    headers = (("Location", "mailto:me@example.org"),)
    failed = Failed(PAGE.url, Fault.BAD_REDIRECT, "a redirect", timedelta(0), 302, headers)
    judged = judge_failed(PAGE, failed, asked=None, now=NOW)
    assert (judged.outcome, judged.reason) == (Outcome.REJECTED, Reason.SCHEME)
    assert "mailto" in judged.detail


@pytest.mark.parametrize(("asked_h", "wait_h"), [(None, 1), (5, 5)])
def test_a_page_waits_as_long_as_its_fault_or_the_server_says(asked_h: int | None, wait_h: int) -> None:
    asked = None if asked_h is None else timedelta(hours=asked_h)
    failed = Failed(PAGE.url, Fault.BAD_HTTP, "", timedelta(0))
    judged = judge_failed(PAGE, failed, asked=asked, now=NOW)
    assert judged.due_us == int((NOW + timedelta(hours=wait_h)).timestamp() * 1_000_000)
    last = judge_failed(PAGE._replace(tries=9), failed, asked=asked, now=NOW)
    assert last.due_us is None, "enough tries: not again by itself"
