"""gzip members with a stored end, read by the standard library."""

from __future__ import annotations

import gzip
import random

import pytest

from evercrawl.adapters.warc.gzip_members import compress_head, compress_record, decompress_at, decompress_member

HEAD = b"WARC/1.1\r\nWARC-Type: response\r\n" * 20


@pytest.mark.parametrize("size", [1, 4, 65_534, 65_535, 65_536, 131_070, 200_000])
def test_a_member_with_a_stored_end_decompresses_to_the_record(size: int) -> None:
    record = HEAD + random.Random(size).randbytes(size)
    member = compress_head(record, 1, stored=size)
    assert gzip.decompress(member) == record
    assert decompress_member(member) == record
    assert record[len(HEAD) :][:65_535] in member


def test_the_next_member_is_found_after_a_stored_end() -> None:
    first = compress_head(HEAD + b"body", 1, stored=4)
    assert decompress_at(first + compress_record(b"next", 1), 0) == (HEAD + b"body", len(first))


def test_damage_in_the_stored_end_is_detected() -> None:
    record = HEAD + random.Random(1).randbytes(1000)
    member = bytearray(compress_head(record, 1, stored=1000))
    member[-500] ^= 1
    with pytest.raises(ValueError, match="damaged"):
        decompress_member(bytes(member))
    with pytest.raises(gzip.BadGzipFile):
        gzip.decompress(bytes(member))


def test_compressed_payloads_do_not_grow() -> None:
    words = [f"{random.Random(number).getrandbits(24):x}" for number in range(400)]
    body = gzip.compress(" ".join(random.Random(1).choices(words, k=5000)).encode())
    record = HEAD + body
    assert len(compress_head(record, 1, stored=len(body))) <= len(compress_record(record, 1)) + 16
