"""Cursors of paged lists."""

from __future__ import annotations

import pytest

from evercrawl.collection.listings import cursor_key, cursor_number, decode_cursor, encode_cursor
from evercrawl.errors import ConfigError


def test_a_cursor_round_trips():
    shard, inside = decode_cursor(encode_cursor(7, b"\x01\xff"))
    assert (shard, cursor_key(inside)) == (7, b"\x01\xff")
    shard, inside = decode_cursor(encode_cursor(3, 255))
    assert (shard, cursor_number(inside)) == (3, 255)
    assert decode_cursor(None) == (0, "")


@pytest.mark.parametrize("word", ["x", "1", "1.g", "12345.00", "1." + "0" * 65, "1.00 "])
def test_invalid_cursors_are_rejected(word: str):
    with pytest.raises(ConfigError):
        decode_cursor(word)


def test_odd_and_huge_places_are_harmless():
    assert cursor_key("abc") == b"\xab"
    assert cursor_number("f" * 64) == 2**63 - 1
