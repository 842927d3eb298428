"""Messages come back as they were, answers too, and nothing else has a meaning."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from evercrawl.outpost.messages import (
    Acknowledgement,
    AgentReady,
    FetchJob,
    Goodbye,
    Heartbeat,
    JobBatch,
    JobResult,
    LeaseRenewal,
    NotUnderstood,
    ResultBatch,
    ResultKind,
    Welcome,
    decode_message,
    encode_message,
)

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
URL = "https://example.org/"
MOST = 1 << 20
ITEM = JobResult(
    3, ResultKind.CHANGED, bytes(16), b"blob", bytes(6), 1000, 2000, "192.0.2.1", True, Fault.TIMEOUT, "x", "r", URL
)
MESSAGES = [
    Heartbeat(5),
    LeaseRenewal(5, 120),
    AgentReady((1, 2), 64),
    JobBatch((FetchJob(1, URL), FetchJob(2, URL, '"e"', "date", 10, bytes(16), bytes(6), 99))),
    ResultBatch(9, (ITEM, ITEM._replace(fault=None, detail="", run=None, url=None, is_cut=False, blob=b"other"))),
    Acknowledgement(9),
    Welcome("run", "name", 3, 120),
    Goodbye(),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_a_message_comes_back_as_it_was(message: object) -> None:
    assert decode_message(encode_message(message)) == message  # type: ignore[arg-type]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_what_is_cut_or_longer_is_not_understood(message: object) -> None:
    payload = encode_message(message)  # type: ignore[arg-type]
    for wrong in (payload[:-1], payload + b"x", payload[:5]):
        with pytest.raises(NotUnderstood):
            decode_message(wrong)


@given(st.binary(max_size=200))
def test_noise_is_not_understood_and_never_an_accident(noise: bytes) -> None:
    try:
        decode_message(noise)
    except NotUnderstood:
        pass


def test_a_table_that_unpacks_to_gigabytes_is_not_unpacked() -> None:
    import zstandard

    bomb = zstandard.ZstdCompressor().compress(b" " * (64 << 20))
    payload = bytes((5, 1)) + len(bomb).to_bytes(4, "big") + bomb
    with pytest.raises(NotUnderstood, match="claims"):
        decode_message(payload)


def _fetched(body: bytes, *, head: str = "") -> Fetched:
    raw = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{head}\r\n".encode()
    asked = b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n"
    exchange = Exchange(asked, raw, body, "192.0.2.1", NOW, timedelta(milliseconds=5))
    headers = (("Content-Type", "text/html"), *((tuple(head.strip().split(": ", 1)),) if head else ()))
    return Fetched(URL, 200, headers, body, exchange)


def _held(result: Fetched) -> SharedExchange:
    exchange = result.exchange
    whole = join_exchange(exchange.request_head, exchange.response_head, exchange.wire_body)
    return SharedExchange(wire_digest(exchange.wire_body), whole)


PAGE = b"<p>" + b" ".join(b"word%d" % (number * 7919 % 1009) for number in range(1500)) + b"</p>"


def test_an_answer_comes_home_as_if_home_had_asked() -> None:
    before = _fetched(PAGE, head="Date: yesterday\r\n")
    after = _fetched(PAGE.replace(b"word3", b"changed", 1), head="Date: today\r\n")
    held = _held(before)
    job = FetchJob(1, URL, known_digest=held.digest, base=held.exchange_digest)
    item = encode_answer(job, after, after.exchange, kind=ResultKind.CHANGED, held=held)
    assert len(item.blob) < len(PAGE) / 50
    exchange, new = decode_exchange(item, held, began=NOW, max_bytes=MOST)
    assert decode_result(item, Request(URL), exchange, http=HttpSettings()) == after
    assert new == _held(after)


def test_nothing_new_is_said_in_a_few_bytes_with_the_true_head() -> None:
    before, after = _fetched(PAGE, head="Date: yesterday\r\n"), _fetched(PAGE, head="Date: today\r\n")
    held = _held(before)
    job = FetchJob(1, URL, known_digest=held.digest, base=held.exchange_digest)
    item = encode_answer(job, after, after.exchange, kind=ResultKind.SAME, held=held)
    assert len(item.blob) < 60
    exchange, _ = decode_exchange(item, held, began=NOW, max_bytes=MOST)
    assert decode_result(item, Request(URL), exchange, http=HttpSettings()) == after


def test_an_outpost_that_lost_its_copies_still_says_only_that_nothing_changed() -> None:
    after = _fetched(PAGE)
    held = _held(after)
    job = FetchJob(1, URL, known_digest=held.digest, base=held.exchange_digest)
    item = encode_answer(job, after, after.exchange, kind=ResultKind.SAME, held=None)
    assert not item.base
    exchange, _ = decode_exchange(item, held, began=NOW, max_bytes=MOST)
    assert exchange.wire_body == PAGE


def test_a_patch_on_another_base_is_refused_even_with_the_same_body() -> None:
    held, other = _held(_fetched(PAGE, head="A: 1\r\n")), _held(_fetched(PAGE, head="B: 2\r\n"))
    assert held.digest == other.digest
    job = FetchJob(1, URL, known_digest=held.digest, base=held.exchange_digest)
    after = _fetched(PAGE + b"more")
    item = encode_answer(job, after, after.exchange, kind=ResultKind.CHANGED, held=held)
    for wrong in (other, None):
        with pytest.raises(ValueError, match="does not hold"):
            decode_exchange(item, wrong, began=NOW, max_bytes=MOST)
    unbased = encode_answer(job, after, after.exchange, kind=ResultKind.CHANGED, held=other)
    assert decode_exchange(unbased, None, began=NOW, max_bytes=MOST)[0].wire_body == PAGE + b"more"


def test_a_body_that_is_not_the_announced_one_is_refused() -> None:
    after = _fetched(PAGE)
    item = encode_answer(FetchJob(1, URL), after, after.exchange, kind=ResultKind.FIRST, held=None)
    with pytest.raises(ValueError, match="digest"):
        decode_exchange(item._replace(digest=bytes(16)), None, began=NOW, max_bytes=MOST)
    with pytest.raises(ValueError, match="claims"):
        decode_exchange(item, None, began=NOW, max_bytes=10)


def test_failures_and_304_come_home_too() -> None:
    failed = Failed(URL, Fault.CONNECT, "refused", timedelta(seconds=1))
    item = failure_result(FetchJob(1, URL), failed)
    assert decode_result(item, Request(URL), None, http=HttpSettings()) == failed
    withheld = unfetched_result(FetchJob(1, URL), ResultKind.WITHHELD, "because")
    result = decode_result(withheld, Request(URL), None, http=HttpSettings())
    assert isinstance(result, Failed)
    assert (result.fault, result.detail) == (Fault.WITHHELD, "because")
    raw = b"HTTP/1.1 304 Not Modified\r\n\r\n"
    same = NotModified(URL, (), Exchange(b"GET", raw, b"", None, NOW, timedelta(0)))
    item = encode_answer(FetchJob(1, URL), same, same.exchange, kind=ResultKind.FIRST, held=None)
    exchange, _ = decode_exchange(item, None, began=NOW, max_bytes=MOST)
    assert decode_result(item, Request(URL, etag='"x"'), exchange, http=HttpSettings()) == same


def test_the_comparator_sends_once_what_is_new_and_not_each_time_what_never_rests() -> None:
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
