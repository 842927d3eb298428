"""Messages survive a round trip, and anything else is rejected."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.model.fetch import Fault
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

URL = "https://example.org/"
RESULT = JobResult(
    3, ResultKind.CHANGED, bytes(16), b"blob", bytes(6), 1000, 2000, "192.0.2.1", True, Fault.TIMEOUT, "x", "r", URL
)
MESSAGES = [
    Heartbeat(5),
    LeaseRenewal(5, 120),
    AgentReady((1, 2), 64),
    JobBatch((FetchJob(1, URL), FetchJob(2, URL, '"e"', "date", 10, bytes(16), bytes(6), 99))),
    ResultBatch(9, (RESULT, RESULT._replace(fault=None, detail="", run=None, url=None, is_cut=False, blob=b"other"))),
    Acknowledgement(9),
    Welcome("run", "name", 3, 120),
    Goodbye(),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_a_message_survives_a_round_trip(message: object) -> None:
    assert decode_message(encode_message(message)) == message  # type: ignore[arg-type]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_a_truncated_or_extended_message_is_rejected(message: object) -> None:
    payload = encode_message(message)  # type: ignore[arg-type]
    for wrong in (payload[:-1], payload + b"x", payload[:5]):
        with pytest.raises(NotUnderstood):
            decode_message(wrong)


@given(st.binary(max_size=200))
def test_random_bytes_never_raise_anything_but_not_understood(noise: bytes) -> None:
    try:
        decode_message(noise)
    except NotUnderstood:
        pass


def test_a_compression_bomb_is_rejected_before_decompression() -> None:
    import zstandard

    bomb = zstandard.ZstdCompressor().compress(b" " * (64 << 20))
    payload = bytes((5, 1)) + len(bomb).to_bytes(4, "big") + bomb
    with pytest.raises(NotUnderstood, match="claims"):
        decode_message(payload)
