"""Which bytes, which words: fixed-size names of content."""

from __future__ import annotations

from hashlib import sha1

from xxhash import xxh3_128_digest


def content_digest(body: bytes) -> bytes:
    """16 bytes that stand for a decoded body."""
    return xxh3_128_digest(body)


def text_digest(text: str) -> bytes:
    """16 bytes that stand for a main text, in which space is normal already."""
    return xxh3_128_digest(text.encode("utf-8", "surrogatepass"))


def payload_sha1(payload: bytes) -> bytes:
    """What WARC-Payload-Digest says, as raw bytes."""
    return sha1(payload, usedforsecurity=False).digest()
