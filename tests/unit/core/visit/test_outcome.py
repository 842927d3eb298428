"""What the end of a visit means."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from evercrawl.core.visit.outcome import (
    MAX_FRESH,
    RECHECK,
    fresh_for,
    judge_failed,
    judge_fetched,
    judge_moved,
    judge_not_modified,
    judge_refused,
)
from evercrawl.model.change import NO_CHANGE, Change, ChangeClass
from evercrawl.model.fetch import Exchange, Failed, Fault, Fetched, Moved, Truncation
from evercrawl.model.page import Page
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.time import to_us

NOW = datetime(2026, 11, 15, tzinfo=UTC)
EXCHANGE = Exchange(b"", b"", b"", None, NOW, timedelta(0))
URL = "http://a.test/"
NEW = Page(1, b"k" * 16, URL, 1, 0, 0, 0, 1)
KNOWN = NEW._replace(version=3, digest=b"old", interval_s=86_400, visits=3)


def fetched(truncated: Truncation | None = None) -> Fetched:
    return Fetched(URL, 200, (), b"body", EXCHANGE, truncated)


CONTENT, NOISE = Change(ChangeClass.CONTENT, 0.5), Change(ChangeClass.NOISE)


def judged(
    page: Page, change: Change | None = None, *, copy_of: str | None = None, truncated: Truncation | None = None
):
    return judge_fetched(page, fetched(truncated), change=change, copy_of=copy_of)


def test_a_first_visit_is_new():
    judgement = judged(NEW)
    assert (judgement.outcome, judgement.reason) == (Outcome.FETCHED, Reason.NEW)
    assert judgement.is_new_version
    assert (judgement.due_us, judgement.changed) == (None, True), "when to come again is the policy's to say"


def test_a_change_is_told_from_none():
    changed, same = judged(KNOWN, CONTENT), judged(KNOWN, NO_CHANGE)
    assert (changed.reason, same.reason) == (Reason.CHANGED, Reason.SAME_CONTENT)
    assert same.outcome is Outcome.UNCHANGED
    assert changed.is_new_version
    assert not same.is_new_version
    assert (changed.changed, same.changed) == (True, False)


def test_noise_is_no_version_and_says_so():
    judgement = judged(KNOWN, NOISE)
    assert (judgement.outcome, judgement.reason) == (Outcome.UNCHANGED, Reason.NOISE)
    assert not judgement.is_new_version
    assert judgement.changed is False


def test_the_same_body_under_another_url_is_a_duplicate_with_a_version_of_its_own():
    judgement = judged(NEW, copy_of="http://a.test/other")
    assert (judgement.outcome, judgement.reason) == (Outcome.DUPLICATE, Reason.DUPLICATE)
    assert judgement.is_new_version
    assert "http://a.test/other" in judgement.detail


@pytest.mark.parametrize(
    ("cause", "reason"),
    [
        (Truncation.WIRE, Reason.BODY_TOO_LARGE),
        (Truncation.DECODED, Reason.DECODED_TOO_LARGE),
        (Truncation.RATIO, Reason.COMPRESSION_RATIO),
    ],
)
def test_a_body_that_was_cut_off_says_so(cause: Truncation, reason: Reason):
    judgement = judged(NEW, truncated=cause)
    assert (judgement.outcome, judgement.reason) == (Outcome.TRUNCATED, reason)


def test_a_page_that_took_too_long_to_parse_is_stored_and_says_so():
    stopped = "parsing took more than 20 s of CPU time"
    judgement = judge_fetched(NEW, fetched(), change=None, copy_of=None, stopped=stopped)
    assert (judgement.outcome, judgement.reason) == (Outcome.TRUNCATED, Reason.PARSE_LIMIT)
    assert judgement.is_new_version
    assert judgement.detail == f"{stopped}; all bytes are kept"


def test_not_modified_keeps_the_version():
    judgement = judge_not_modified()
    assert (judgement.outcome, judgement.reason) == (Outcome.UNCHANGED, Reason.NOT_MODIFIED)
    assert not judgement.is_new_version


def moved(page: Page, target: str, *, refused: tuple[Reason, str] | None = None, loops: bool = False):
    result = Moved(page.url, 301, target, (), EXCHANGE)
    return judge_moved(page, result, refused=refused, loops=loops, most_hops=10)


def test_redirects():
    assert moved(NEW, "http://a.test/b").reason is Reason.REDIRECT
    assert moved(NEW, URL).reason is Reason.REDIRECT_LOOP
    assert moved(NEW, "http://a.test/b", loops=True).reason is Reason.REDIRECT_LOOP
    far = NEW._replace(hops=10)
    assert moved(far, "http://a.test/b").reason is Reason.TOO_MANY_REDIRECTS
    away = moved(NEW, "http://b.test/", refused=(Reason.OUT_OF_SCOPE, "host b.test"))
    assert (away.outcome, away.reason) == (Outcome.REJECTED, Reason.OUT_OF_SCOPE)
    assert "http://b.test/" in away.detail


def failure(fault: Fault, **more: object) -> Failed:
    return Failed(URL, fault, "words", timedelta(seconds=1), **more)  # type: ignore[arg-type]


def test_a_failure_is_tried_again_and_then_not_by_itself():
    page, dues = NEW, []
    for _ in range(10):
        judgement = judge_failed(page, failure(Fault.TIMEOUT), asked=None, now=NOW)
        dues.append(judgement.due_us)
        page = page._replace(tries=judgement.tries)
    assert dues[0] is not None
    assert dues[0] > to_us(NOW)
    assert dues[-1] is None


def test_a_withheld_page_keeps_its_tries_and_is_never_given_up():
    page = KNOWN
    for _ in range(20):
        judgement = judge_failed(page, failure(Fault.WITHHELD), asked=None, now=NOW)
        assert (judgement.outcome, judgement.reason) == (Outcome.DEFERRED, Reason.WITHHELD)
        assert (judgement.tries, judgement.due_us) == (0, to_us(NOW + timedelta(hours=6)))
        page = page._replace(tries=judgement.tries)


def test_what_the_server_asks_for_delays_the_page_too():
    judgement = judge_failed(NEW, failure(Fault.THROTTLED), asked=timedelta(hours=3), now=NOW)
    assert judgement.outcome is Outcome.DEFERRED
    assert judgement.due_us == to_us(NOW + timedelta(hours=3))


@pytest.mark.parametrize("scheme", ["file", "data", "javascript", "dict", "ws"])
def test_a_redirect_that_leaves_the_web_is_refused(scheme: str):
    result = failure(Fault.BAD_REDIRECT, status=302, headers=(("Location", f"{scheme}://127.0.0.1/x"),))
    judgement = judge_failed(NEW, result, asked=None, now=NOW)
    assert (judgement.outcome, judgement.reason) == (Outcome.REJECTED, Reason.UNSUPPORTED_SCHEME)


def test_a_redirect_to_nowhere_is_an_error():
    result = failure(Fault.BAD_REDIRECT, status=302, headers=(("Location", "http://[::bad"),))
    judgement = judge_failed(NEW, result, asked=None, now=NOW)
    assert (judgement.outcome, judgement.reason) == (Outcome.ERROR, Reason.BAD_REDIRECT)


def test_a_refused_page_is_considered_again_later():
    judgement = judge_refused(NEW, Reason.ROBOTS, "line 3", now=NOW)
    assert judgement.outcome is Outcome.REJECTED
    assert judgement.due_us == to_us(NOW + RECHECK)


@pytest.mark.parametrize(
    ("control", "age", "seconds"),
    [
        ("max-age=600", None, 600),
        ("public, MAX-AGE = 600", "200", 400),
        ('max-age="60"', None, 60),
        ("max-age=60", "90", 0),
        ("max-age=600, no-cache", None, 0),
        ("no-store", None, 0),
        ("s-maxage=600", None, 0),
        ("max-age=600", "soon", 600),
        ("max-age=99999999", None, MAX_FRESH.total_seconds()),
        ("", None, 0),
    ],
)
def test_how_long_an_answer_is_fresh(control: str, age: str | None, seconds: float):
    headers = (("Cache-Control", control),) + ((("Age", age),) if age is not None else ())
    assert fresh_for(headers) == timedelta(seconds=seconds)
