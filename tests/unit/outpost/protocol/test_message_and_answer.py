"""Messages come back as they were, answers too, and nothing else has a meaning."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.model.fetch import Exchange, Failed, Fault, Fetched, NotModified, Request
from evercrawl.model.settings import HttpSettings
from evercrawl.outpost.protocol.answer import (
    Held,
    answered_item,
    exchange_in,
    failed_item,
    flat,
    result_in,
    unasked_item,
)
from evercrawl.outpost.protocol.compare import FAST_RUN, Habit, Verdict, after_answer, verdict_on, wire_digest
from evercrawl.outpost.protocol.message import (
    Beat,
    Bye,
    Deliver,
    Item,
    Job,
    Lease,
    NotUnderstood,
    Ready,
    Taken,
    Welcome,
    Work,
    from_bytes,
    to_bytes,
)

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
URL = "https://example.org/"
MOST = 1 << 20
ITEM = Item(
    3, Verdict.CHANGED, bytes(16), b"blob", bytes(6), 1000, 2000, "192.0.2.1", True, Fault.TIMEOUT, "x", "r", URL
)
MESSAGES = [
    Beat(5),
    Lease(5, 120),
    Ready((1, 2), 64),
    Work((Job(1, URL), Job(2, URL, '"e"', "date", 10, bytes(16), bytes(6), 99))),
    Deliver(9, (ITEM, ITEM._replace(fault=None, detail="", run=None, url=None, is_cut=False, blob=b"other"))),
    Taken(9),
    Welcome("run", "name", 3, 120),
    Bye(),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_a_message_comes_back_as_it_was(message: object) -> None:
    assert from_bytes(to_bytes(message)) == message  # type: ignore[arg-type]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_what_is_cut_or_longer_is_not_understood(message: object) -> None:
    payload = to_bytes(message)  # type: ignore[arg-type]
    for wrong in (payload[:-1], payload + b"x", payload[:5]):
        with pytest.raises(NotUnderstood):
            from_bytes(wrong)


@given(st.binary(max_size=200))
def test_noise_is_not_understood_and_never_an_accident(noise: bytes) -> None:
    try:
        from_bytes(noise)
    except NotUnderstood:
        pass


def test_a_table_that_unpacks_to_gigabytes_is_not_unpacked() -> None:
    import zstandard

    bomb = zstandard.ZstdCompressor().compress(b" " * (64 << 20))
    payload = bytes((5, 1)) + len(bomb).to_bytes(4, "big") + bomb
    with pytest.raises(NotUnderstood, match="claims"):
        from_bytes(payload)


def _fetched(body: bytes, *, head: str = "") -> Fetched:
    raw = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{head}\r\n".encode()
    asked = b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n"
    exchange = Exchange(asked, raw, body, "192.0.2.1", NOW, timedelta(milliseconds=5))
    headers = (("Content-Type", "text/html"), *((tuple(head.strip().split(": ", 1)),) if head else ()))
    return Fetched(URL, 200, headers, body, exchange)


def _held(result: Fetched) -> Held:
    exchange = result.exchange
    whole = flat(exchange.request_head, exchange.response_head, exchange.wire_body)
    return Held(wire_digest(exchange.wire_body), whole)


PAGE = b"<p>" + b" ".join(b"word%d" % (number * 7919 % 1009) for number in range(1500)) + b"</p>"


def test_an_answer_comes_home_as_if_home_had_asked() -> None:
    before = _fetched(PAGE, head="Date: yesterday\r\n")
    after = _fetched(PAGE.replace(b"word3", b"changed", 1), head="Date: today\r\n")
    held = _held(before)
    job = Job(1, URL, home_has=held.digest, base=held.mark)
    item = answered_item(job, after, after.exchange, verdict=Verdict.CHANGED, held=held)
    assert len(item.blob) < len(PAGE) / 50
    exchange, new = exchange_in(item, held, began=NOW, most_bytes=MOST)
    assert result_in(item, Request(URL), exchange, http=HttpSettings()) == after
    assert new == _held(after)


def test_nothing_new_is_said_in_a_few_bytes_with_the_true_head() -> None:
    before, after = _fetched(PAGE, head="Date: yesterday\r\n"), _fetched(PAGE, head="Date: today\r\n")
    held = _held(before)
    job = Job(1, URL, home_has=held.digest, base=held.mark)
    item = answered_item(job, after, after.exchange, verdict=Verdict.SAME, held=held)
    assert len(item.blob) < 60
    exchange, _ = exchange_in(item, held, began=NOW, most_bytes=MOST)
    assert result_in(item, Request(URL), exchange, http=HttpSettings()) == after


def test_an_outpost_that_lost_its_copies_still_says_only_that_nothing_changed() -> None:
    after = _fetched(PAGE)
    held = _held(after)
    job = Job(1, URL, home_has=held.digest, base=held.mark)
    item = answered_item(job, after, after.exchange, verdict=Verdict.SAME, held=None)
    assert not item.base
    exchange, _ = exchange_in(item, held, began=NOW, most_bytes=MOST)
    assert exchange.wire_body == PAGE


def test_a_patch_on_another_base_is_refused_even_with_the_same_body() -> None:
    held, other = _held(_fetched(PAGE, head="A: 1\r\n")), _held(_fetched(PAGE, head="B: 2\r\n"))
    assert held.digest == other.digest
    job = Job(1, URL, home_has=held.digest, base=held.mark)
    after = _fetched(PAGE + b"more")
    item = answered_item(job, after, after.exchange, verdict=Verdict.CHANGED, held=held)
    for wrong in (other, None):
        with pytest.raises(ValueError, match="does not hold"):
            exchange_in(item, wrong, began=NOW, most_bytes=MOST)
    unbased = answered_item(job, after, after.exchange, verdict=Verdict.CHANGED, held=other)
    assert exchange_in(unbased, None, began=NOW, most_bytes=MOST)[0].wire_body == PAGE + b"more"


def test_a_body_that_is_not_the_announced_one_is_refused() -> None:
    after = _fetched(PAGE)
    item = answered_item(Job(1, URL), after, after.exchange, verdict=Verdict.AT_ONCE, held=None)
    with pytest.raises(ValueError, match="digest"):
        exchange_in(item._replace(digest=bytes(16)), None, began=NOW, most_bytes=MOST)
    with pytest.raises(ValueError, match="claims"):
        exchange_in(item, None, began=NOW, most_bytes=10)


def test_failures_and_304_come_home_too() -> None:
    failed = Failed(URL, Fault.CONNECT, "refused", timedelta(seconds=1))
    item = failed_item(Job(1, URL), failed)
    assert result_in(item, Request(URL), None, http=HttpSettings()) == failed
    withheld = unasked_item(Job(1, URL), Verdict.WITHHELD, "because")
    result = result_in(withheld, Request(URL), None, http=HttpSettings())
    assert isinstance(result, Failed)
    assert (result.fault, result.detail) == (Fault.WITHHELD, "because")
    raw = b"HTTP/1.1 304 Not Modified\r\n\r\n"
    same = NotModified(URL, (), Exchange(b"GET", raw, b"", None, NOW, timedelta(0)))
    item = answered_item(Job(1, URL), same, same.exchange, verdict=Verdict.AT_ONCE, held=None)
    exchange, _ = exchange_in(item, None, began=NOW, most_bytes=MOST)
    assert result_in(item, Request(URL, etag='"x"'), exchange, http=HttpSettings()) == same


def test_the_comparator_sends_once_what_is_new_and_not_each_time_what_never_rests() -> None:
    def decide(new: bytes, *, has: bytes | None, habit: Habit = Habit(), now: int = 0) -> Verdict:  # noqa: B008
        return verdict_on(new, home_has=has, habit=habit, now_us=now, resend_us=1000)

    assert decide(b"a", has=None) is Verdict.AT_ONCE
    assert decide(b"a", has=b"a") is Verdict.SAME
    assert decide(b"b", has=b"a") is Verdict.CHANGED
    fast = Habit(b"x", run=FAST_RUN - 1, sent_us=100)
    assert decide(b"b", has=b"a", habit=fast, now=200) is Verdict.WITHHELD
    assert decide(b"b", has=b"a", habit=fast, now=1200) is Verdict.CHANGED
    assert verdict_on(b"b", home_has=b"a", habit=fast, now_us=200, resend_us=None) is Verdict.CHANGED
    rested = after_answer(fast, b"x", now_us=300, sent=False)
    assert rested == Habit(b"x", 0, 100)
    assert after_answer(Habit(), b"a", now_us=5, sent=True) == Habit(b"a", 0, 5)
