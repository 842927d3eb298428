"""Answers arrive at the coordinator unchanged, and damaged ones are rejected."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from evercrawl.model.fetch import Exchange, Failed, Fault, Fetched, NotModified, Request
from evercrawl.model.settings import HttpSettings
from evercrawl.outpost.answers import (
    FAST_CHANGES,
    ChangeHistory,
    SharedExchange,
    classify_answer,
    decode_exchange,
    decode_result,
    encode_answer,
    failure_result,
    join_exchange,
    next_history,
    unfetched_result,
    wire_digest,
)
from evercrawl.outpost.messages import FetchJob, ResultKind

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
URL = "https://example.org/"
MAX_BYTES = 1 << 20
PAGE = b"<p>" + b" ".join(b"word%d" % (number * 7919 % 1009) for number in range(1500)) + b"</p>"


def _fetched(body: bytes, *, head: str = "") -> Fetched:
    raw = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{head}\r\n".encode()
    asked = b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n"
    exchange = Exchange(asked, raw, body, "192.0.2.1", NOW, timedelta(milliseconds=5))
    headers = (("Content-Type", "text/html"), *((tuple(head.strip().split(": ", 1)),) if head else ()))
    return Fetched(URL, 200, headers, body, exchange)


def _shared(result: Fetched) -> SharedExchange:
    exchange = result.exchange
    whole = join_exchange(exchange.request_head, exchange.response_head, exchange.wire_body)
    return SharedExchange(wire_digest(exchange.wire_body), whole)


def test_a_changed_answer_is_sent_as_a_small_patch_and_restored() -> None:
    before = _fetched(PAGE, head="Date: yesterday\r\n")
    after = _fetched(PAGE.replace(b"word3", b"changed", 1), head="Date: today\r\n")
    shared = _shared(before)
    job = FetchJob(1, URL, known_digest=shared.digest, base=shared.exchange_digest)
    result = encode_answer(job, after, after.exchange, kind=ResultKind.CHANGED, shared=shared)
    assert len(result.blob) < len(PAGE) / 50
    exchange, new = decode_exchange(result, shared, began=NOW, max_bytes=MAX_BYTES)
    assert decode_result(result, Request(URL), exchange, http=HttpSettings()) == after
    assert new == _shared(after)


def test_an_unchanged_body_costs_a_few_bytes_and_keeps_the_new_head() -> None:
    before, after = _fetched(PAGE, head="Date: yesterday\r\n"), _fetched(PAGE, head="Date: today\r\n")
    shared = _shared(before)
    job = FetchJob(1, URL, known_digest=shared.digest, base=shared.exchange_digest)
    result = encode_answer(job, after, after.exchange, kind=ResultKind.SAME, shared=shared)
    assert len(result.blob) < 60
    exchange, _ = decode_exchange(result, shared, began=NOW, max_bytes=MAX_BYTES)
    assert decode_result(result, Request(URL), exchange, http=HttpSettings()) == after


def test_an_outpost_without_its_copy_can_still_report_no_change() -> None:
    after = _fetched(PAGE)
    shared = _shared(after)
    job = FetchJob(1, URL, known_digest=shared.digest, base=shared.exchange_digest)
    result = encode_answer(job, after, after.exchange, kind=ResultKind.SAME, shared=None)
    assert not result.base
    exchange, _ = decode_exchange(result, shared, began=NOW, max_bytes=MAX_BYTES)
    assert exchange.wire_body == PAGE


def test_a_patch_against_another_exchange_is_rejected_even_with_the_same_body() -> None:
    shared, other = _shared(_fetched(PAGE, head="A: 1\r\n")), _shared(_fetched(PAGE, head="B: 2\r\n"))
    assert shared.digest == other.digest
    job = FetchJob(1, URL, known_digest=shared.digest, base=shared.exchange_digest)
    after = _fetched(PAGE + b"more")
    result = encode_answer(job, after, after.exchange, kind=ResultKind.CHANGED, shared=shared)
    for wrong in (other, None):
        with pytest.raises(ValueError, match="does not hold"):
            decode_exchange(result, wrong, began=NOW, max_bytes=MAX_BYTES)
    unbased = encode_answer(job, after, after.exchange, kind=ResultKind.CHANGED, shared=other)
    assert decode_exchange(unbased, None, began=NOW, max_bytes=MAX_BYTES)[0].wire_body == PAGE + b"more"


def test_a_body_with_the_wrong_digest_or_size_is_rejected() -> None:
    after = _fetched(PAGE)
    result = encode_answer(FetchJob(1, URL), after, after.exchange, kind=ResultKind.FIRST, shared=None)
    with pytest.raises(ValueError, match="digest"):
        decode_exchange(result._replace(digest=bytes(16)), None, began=NOW, max_bytes=MAX_BYTES)
    with pytest.raises(ValueError, match="claims"):
        decode_exchange(result, None, began=NOW, max_bytes=10)


def test_failures_and_not_modified_are_restored() -> None:
    failed = Failed(URL, Fault.CONNECT, "refused", timedelta(seconds=1))
    result = failure_result(FetchJob(1, URL), failed)
    assert decode_result(result, Request(URL), None, http=HttpSettings()) == failed
    withheld = unfetched_result(FetchJob(1, URL), ResultKind.WITHHELD, "because")
    blocked = decode_result(withheld, Request(URL), None, http=HttpSettings())
    assert isinstance(blocked, Failed)
    assert (blocked.fault, blocked.detail) == (Fault.WITHHELD, "because")
    raw = b"HTTP/1.1 304 Not Modified\r\n\r\n"
    same = NotModified(URL, (), Exchange(b"GET", raw, b"", None, NOW, timedelta(0)))
    result = encode_answer(FetchJob(1, URL), same, same.exchange, kind=ResultKind.FIRST, shared=None)
    exchange, _ = decode_exchange(result, None, began=NOW, max_bytes=MAX_BYTES)
    assert decode_result(result, Request(URL, etag='"x"'), exchange, http=HttpSettings()) == same


def test_new_content_is_sent_and_constantly_changing_content_is_withheld() -> None:
    def decide(new: bytes, *, has: bytes | None, history: ChangeHistory = ChangeHistory(), now: int = 0) -> ResultKind:  # noqa: B008
        return classify_answer(new, known_digest=has, history=history, now_us=now, resend_us=1000)

    assert decide(b"a", has=None) is ResultKind.FIRST
    assert decide(b"a", has=b"a") is ResultKind.SAME
    assert decide(b"b", has=b"a") is ResultKind.CHANGED
    fast = ChangeHistory(b"x", run=FAST_CHANGES - 1, sent_us=100)
    assert decide(b"b", has=b"a", history=fast, now=200) is ResultKind.WITHHELD
    assert decide(b"b", has=b"a", history=fast, now=1200) is ResultKind.CHANGED
    assert classify_answer(b"b", known_digest=b"a", history=fast, now_us=200, resend_us=None) is ResultKind.CHANGED
    rested = next_history(fast, b"x", now_us=300, sent=False)
    assert rested == ChangeHistory(b"x", 0, 100)
    assert next_history(ChangeHistory(), b"a", now_us=5, sent=True) == ChangeHistory(b"a", 0, 5)
