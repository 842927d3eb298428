from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from evercrawl.core.robots.robots_rules import (
    MAX_RETRY,
    MIN_LIFETIME,
    QUICK_RETRY,
    compile_robots,
    redirect_loop_record,
    robots_record_of,
)
from evercrawl.model.fetch import Exchange, Failed, Fault, Fetched, FetchResult, Headers, Moved, NotModified, Truncation
from evercrawl.model.reason import Reason
from evercrawl.model.settings import RobotsSettings
from evercrawl.model.site import RobotsRecord
from evercrawl.model.time import from_us, to_us
from tests.shared import conformance_rows

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SETTINGS = RobotsSettings()
URL = "http://site.test/robots.txt"
EXCHANGE = Exchange(b"", b"", b"", "192.0.2.1", NOW, timedelta(0))
RULES = b"User-agent: *\nDisallow: /private\n"


def fetched(
    body: bytes = RULES, status: int = 200, headers: Headers = (), truncated: Truncation | None = None
) -> Fetched:
    return Fetched(URL, status, headers, body, EXCHANGE, truncated)


def answered(status: int, headers: Headers = ()) -> Failed:
    faults = {404: Fault.NOT_FOUND, 410: Fault.GONE, 429: Fault.THROTTLED}
    fault = faults.get(status, Fault.SERVER_ERROR if status >= 500 else Fault.HTTP_ERROR)
    return Failed(URL, fault, f"HTTP {status}", timedelta(0), status, headers, EXCHANGE)


def broken(fault: Fault, status: int | None = None) -> Failed:
    return Failed(URL, fault, f"it was {fault}", timedelta(0), status)


def judge(
    result: FetchResult, *, before: RobotsRecord | None = None, now: datetime = NOW, settings: RobotsSettings = SETTINGS
) -> RobotsRecord:
    return robots_record_of(before, result, now=now, settings=settings)


def may_fetch(record: RobotsRecord, url: str = "http://site.test/page") -> bool:
    return compile_robots(record, "TestBot").verdict(url).allowed


def lifetime(record: RobotsRecord, now: datetime = NOW) -> timedelta:
    return from_us(record.expires_us) - now


def test_a_success_is_obeyed_for_a_day_and_keeps_its_validators():
    record = judge(fetched(headers=(("ETag", '"x"'), ("Last-Modified", "Sun, 01 Mar 2026 00:00:00 GMT"))))
    assert (record.policy, record.status, record.body, record.etag) == ("obey", 200, RULES, '"x"')
    assert record.last_modified == "Sun, 01 Mar 2026 00:00:00 GMT"
    assert lifetime(record) == timedelta(days=1)
    assert not may_fetch(record, "http://site.test/private/x")


def test_a_verdict_names_line_rule_and_age():
    verdict = compile_robots(judge(fetched()), "TestBot").verdict("http://site.test/private/x")
    assert verdict.reason is Reason.ROBOTS
    assert verdict.line == 2
    assert verdict.detail == "line 2: Disallow: /private (fetched 2026-03-01 12:00 UTC)"


def test_an_allowed_url_has_no_reason():
    rules = compile_robots(judge(fetched(b"User-agent: *\nAllow: /a\nCrawl-delay: 4\nSitemap: /s.xml")), "TestBot")
    assert rules.verdict("http://site.test/a")[:3] == (True, 2, None)
    assert rules.verdict("http://site.test/b")[:3] == (True, None, None)
    assert rules.crawl_delay == 4.0
    assert rules.sitemaps == ("/s.xml",)


@pytest.mark.parametrize(
    ("control", "expected"),
    [
        ("max-age=3600", timedelta(hours=1)),
        ("public, max-age=999999999", timedelta(days=1)),
        ("max-age=0", MIN_LIFETIME),
        ("no-cache", MIN_LIFETIME),
        ("private", timedelta(days=1)),
        ("s-max-age=60", timedelta(days=1)),
    ],
)
def test_cache_control_shortens_the_use_of_a_copy_within_bounds(control: str, expected: timedelta):
    assert lifetime(judge(fetched(headers=(("Cache-Control", control),)))) == expected


def test_no_content_means_no_rules():
    assert judge(fetched(b"", 204)).policy == "allow"


def test_html_has_no_rules():
    assert may_fetch(judge(fetched(b"<html><p>Disallow nothing</p></html>")))


def test_a_body_cut_at_a_limit_is_obeyed_without_its_last_line():
    record = judge(fetched(RULES + b"Disallow: /", truncated=Truncation.WIRE))
    assert record.body == RULES
    assert may_fetch(record)
    assert judge(fetched(RULES + b"x" * 100), settings=RobotsSettings(max_bytes=len(RULES) + 5)).body == RULES


def test_304_keeps_the_copy_and_renews_it():
    before = judge(fetched(headers=(("ETag", '"x"'),)))
    later = NOW + timedelta(days=2)
    record = judge(NotModified(URL, (), EXCHANGE), before=before, now=later)
    assert (record.body, record.etag, record.policy) == (RULES, '"x"', "obey")
    assert record.fetched_us == to_us(later)
    assert lifetime(record, later) == timedelta(days=1)


def test_304_without_a_copy_is_no_answer():
    assert compile_robots(judge(NotModified(URL, (), EXCHANGE)), "TestBot").is_unreachable


@pytest.mark.parametrize("status", [400, 402, 404, 406, 410, 418, 451])
def test_client_errors_mean_no_rules(status: int):
    record = judge(answered(status))
    assert (record.policy, record.status) == ("allow", status)
    assert may_fetch(record)


@pytest.mark.parametrize("status", [401, 403])
def test_forbidden_file_forbids_unless_configured(status: int):
    rules = compile_robots(judge(answered(status)), "TestBot")
    verdict = rules.verdict("http://site.test/page")
    assert (verdict.allowed, verdict.reason, rules.is_unreachable) == (False, Reason.ROBOTS, False)
    assert rules.verdict(URL).allowed
    assert may_fetch(judge(answered(status), settings=RobotsSettings(forbid_on_403=False)))


UNREACHABLE = [
    answered(429),
    answered(500),
    answered(503),
    answered(599),
    *(broken(fault) for fault in (Fault.DNS, Fault.CONNECT, Fault.TLS, Fault.TIMEOUT, Fault.RESET)),
    broken(Fault.INCOMPLETE, 200),
    broken(Fault.BAD_CONTENT_ENCODING, 200),
    broken(Fault.UNEXPECTED_206, 206),
]


def test_file_at_a_private_address_is_refused_with_that_reason():
    record = judge(broken(Fault.PRIVATE_ADDRESS))
    rules = compile_robots(record, "TestBot")
    verdict = rules.verdict("http://site.test/page")
    assert (verdict.allowed, verdict.reason) == (False, Reason.PRIVATE_ADDRESS)
    assert not rules.is_unreachable
    assert lifetime(record) == SETTINGS.retry_delay


@pytest.mark.parametrize("result", UNREACHABLE, ids=lambda result: f"{result.fault}-{result.status}")
def test_unreachable_file_forbids_and_is_retried_soon(result: Failed):
    record = judge(result)
    rules = compile_robots(record, "TestBot")
    verdict = rules.verdict("http://site.test/page")
    assert (verdict.allowed, verdict.reason) == (False, Reason.ROBOTS_UNREACHABLE)
    assert rules.is_unreachable
    assert lifetime(record) == QUICK_RETRY
    assert rules.crawl_delay is None


def test_copy_is_obeyed_while_the_file_is_unreachable():
    before = judge(fetched())
    later = NOW + timedelta(days=1)
    record = judge(answered(503), before=before, now=later)
    assert (record.policy, record.body, record.fetched_us) == ("obey", RULES, before.fetched_us)
    assert "the copy of 2026-03-01 12:00 UTC still applies" in record.detail
    assert lifetime(record, later) == SETTINGS.retry_delay
    assert may_fetch(record)
    assert not may_fetch(record, "http://site.test/private")
    assert not compile_robots(record, "TestBot").is_unreachable


def test_missing_file_that_becomes_unreachable_forbids():
    assert judge(answered(503), before=judge(answered(404))).policy == "forbid"


def test_the_wait_doubles_up_to_a_day_and_ends_at_the_limit():
    record, now, waits = None, NOW, []
    while now - NOW < SETTINGS.unreachable_timeout:
        record = judge(broken(Fault.TIMEOUT), before=record, now=now)
        assert record.policy == "forbid"
        waits.append(lifetime(record, now))
        now = from_us(record.expires_us)
    assert waits[:2] == [QUICK_RETRY, SETTINGS.retry_delay]
    assert waits[2] == SETTINGS.retry_delay + QUICK_RETRY
    assert waits[3] == 2 * waits[2]
    assert max(waits) == MAX_RETRY
    given_up = judge(broken(Fault.TIMEOUT), before=record, now=now)
    assert given_up.policy == "allow"
    assert "so no rules apply" in given_up.detail
    assert judge(broken(Fault.TIMEOUT), before=given_up, now=now + timedelta(days=1)).policy == "allow"
    assert judge(fetched(), before=given_up, now=now).unreachable_since_us is None


def test_an_old_copy_is_given_up_at_the_limit():
    before = judge(answered(500), before=judge(fetched()))
    assert judge(answered(500), before=before, now=NOW + SETTINGS.unreachable_timeout).policy == "allow"


def test_retry_after_is_respected_up_to_a_day():
    assert lifetime(judge(answered(503, (("Retry-After", "7200"),)))) == timedelta(hours=2)
    assert lifetime(judge(answered(429, (("Retry-After", "999999"),)))) == MAX_RETRY
    assert lifetime(judge(answered(503, (("Retry-After", "1"),)))) == timedelta(seconds=1)


def test_redirects_without_end_mean_no_rules():
    assert may_fetch(redirect_loop_record(now=NOW, settings=SETTINGS))
    assert may_fetch(judge(Moved(URL, 302, URL, (), EXCHANGE)))
    assert may_fetch(judge(broken(Fault.BAD_REDIRECT, 302)))


BEHAVIOURS = {
    "refused": broken(Fault.CONNECT),
    "reset-after-bytes": broken(Fault.RESET, 200),
    "tls-cert-invalid": broken(Fault.TLS),
}


def played(response: dict[str, Any]) -> FetchResult:
    """Return the fetch result of a row's response."""
    if "behaviour" in response:
        return BEHAVIOURS[response["behaviour"]]
    status, headers = response["status"], response.get("headers", {})
    if "Location" in headers:
        if "169.254." in headers["Location"]:
            return broken(Fault.PRIVATE_ADDRESS)
        return Moved(URL, status, headers["Location"], (), EXCHANGE)
    if status >= 400:
        return answered(status)
    body = content(response)
    limit = SETTINGS.max_bytes
    return fetched(body[:limit], status, truncated=Truncation.DECODED if len(body) > limit else None)


def content(response: dict[str, Any]) -> bytes:
    if "body_b64" in response:
        return base64.b64decode(response["body_b64"])
    made = response.get("body_gen")
    if made is None:
        return str(response.get("body", response.get("body_gzip", ""))).encode()
    filler = made.get("filler") or made["gzip_of"]
    size = min(made.get("total_bytes", made.get("until_bytes")), 2 * SETTINGS.max_bytes)
    text = made.get("prefix", "") + filler * (size // len(filler)) + made.get("suffix", "")
    return text.encode()


def test_fetch_semantics():
    settings = RobotsSettings(forbid_on_403=False)
    wrong = []
    for row in conformance_rows("robots/fetch_semantics.jsonl"):
        result = next((answer for each in row["responses"] if not isinstance(answer := played(each), Moved)), None)
        if result is None:
            record = redirect_loop_record(now=NOW, settings=settings)
        else:
            record = judge(result, settings=settings)
        rules, expect = compile_robots(record, row["user_agent"]), row["expect"]
        verdict = rules.verdict(row["url"])
        fits = expect["allowed"] in (None, verdict.allowed)
        fits &= not expect.get("deferred") or rules.is_unreachable
        fits &= "crawl_delay" not in expect or rules.crawl_delay == expect["crawl_delay"]
        fits &= "refetch_after_s" not in expect or lifetime(record).total_seconds() == expect["refetch_after_s"]
        if not fits:
            wrong.append((row["name"], verdict))
    assert wrong == []
