"""Messages survive a round trip, and anything else is rejected."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.core.document.compression import make_patch
from evercrawl.core.scope.selection import Selection
from evercrawl.model.fetch import Fault
from evercrawl.outpost.messages import (
    MAX_TABLE_BYTES,
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
LINKS = Selection().conditions(is_seed=False)
OWN = Selection(media_types=("text/*",), max_bytes=10).conditions(is_seed=False)
RESULT = JobResult(
    3, ResultKind.CHANGED, bytes(16), b"blob", bytes(6), 1000, 2000, "192.0.2.1", True, Fault.TIMEOUT, "x", "r", URL
)
MESSAGES = [
    Heartbeat(5),
    LeaseRenewal(5, 120),
    AgentReady((1, 2), 64),
    JobBatch((FetchJob(1, URL), FetchJob(2, URL, '"e"', "date", 10, bytes(16), bytes(6), 99))),
    JobBatch((FetchJob(1, URL, conditions=LINKS), FetchJob(2, URL, conditions=OWN), FetchJob(3, URL, conditions=OWN))),
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


def test_only_unusual_conditions_are_sent() -> None:
    usual = encode_message(JobBatch((FetchJob(1, URL, conditions=LINKS),)))
    assert len(usual) < len(encode_message(JobBatch((FetchJob(1, URL),)))) + 5


def test_a_compression_bomb_is_rejected_before_decompression() -> None:
    import zstandard

    bomb = zstandard.ZstdCompressor().compress(b" " * (64 << 20))
    payload = bytes((5, 1)) + len(bomb).to_bytes(4, "big") + bomb
    with pytest.raises(NotUnderstood, match="claims"):
        decode_message(payload)


def _packed(kind: int, table: bytes) -> bytes:
    packed = make_patch(table, b"", level=3)
    return bytes((kind, 1)) + len(packed).to_bytes(4, "big") + packed


@pytest.mark.parametrize(
    "table",
    [
        b"[[" + b"[]," * 2_700_000 + b"[]]]",
        b"[1]\n" + b"[]\n" * 2_700_000,
        b"\n".join([b"[1]", *([b"[" + b"[]," * 900_000 + b"[]]"] * 3)]),
        b"[" * 4_000_000,
        b'["' + b"x" * 8_000_000 + b'"]',
    ],
    ids=["one list", "rows", "long rows", "deep", "text"],
)
@pytest.mark.parametrize("kind", [0, 3, 4])
def test_a_small_frame_cannot_fill_the_memory(kind: int, table: bytes) -> None:
    frame = _packed(kind, table)
    assert len(frame) < 20_000
    tracemalloc.start()
    try:
        with pytest.raises(NotUnderstood):
            decode_message(frame)
        assert tracemalloc.get_traced_memory()[1] < 4 * MAX_TABLE_BYTES
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("field", ["etag", "last_modified"])
def test_a_job_cannot_add_header_fields(field: str) -> None:
    job = FetchJob(1, URL)._replace(**{field: "x\r\nHost: 127.0.0.1"})
    with pytest.raises(NotUnderstood, match="header field"):
        decode_message(encode_message(JobBatch((job,))))


def test_numbers_fit_into_the_database() -> None:
    with pytest.raises(NotUnderstood, match="number"):
        decode_message(encode_message(Acknowledgement(2**63)))
