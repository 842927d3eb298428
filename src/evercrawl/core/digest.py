"""Digests of content and text."""

from __future__ import annotations

from hashlib import sha1

from xxhash import xxh3_128_digest


def content_digest(body: bytes) -> bytes:
    """Return 16 bytes that identify a decoded body."""
    return xxh3_128_digest(body)


def text_digest(text: str) -> bytes:
    """Return 16 bytes that identify a main text with normalized space."""
    return xxh3_128_digest(text.encode("utf-8", "surrogatepass"))


def payload_sha1(payload: bytes) -> bytes:
    """Return the raw bytes of a WARC-Payload-Digest."""
    return sha1(payload, usedforsecurity=False).digest()
