"""Is this frame from whom it says, new, whole and small enough?

Every frame carries a truncated HMAC-SHA256 over the direction, its place in the conversation and its payload,
under a key that is made anew for each connection from a challenge of home. A frame that was recorded,
repeated, moved, cut or invented does not open; no clock is asked.
"""

from __future__ import annotations

import hmac
from hashlib import sha256

from evercrawl.outpost.protocol.code import derive_key

LENGTH_BYTES = 4
SIGNATURE_BYTES = 16
MOST_FRAME_BYTES = 40 * 1024 * 1024
"""A page of the largest size that is fetched, its heads and some room; a longer frame is not read."""
MAX_HANDSHAKE_BYTES = 4096
"""Before a peer is known it may say no more than this."""

FROM_COORDINATOR = b"home"
FROM_OUTPOST = b"outpost"


class NotAuthentic(Exception):
    """The frame is not to be believed; nothing of it may have an effect."""


class FrameSigner:
    """Seals the frames of one direction of one connection, in order."""

    def __init__(self, key: bytes, direction: bytes) -> None:
        self._key = derive_key(key, direction)
        self._place = 0

    def seal(self, payload: bytes) -> bytes:
        """The frame's content: seal and payload."""
        self._place += 1
        return _signature(self._key, self._place, payload) + payload


class FrameVerifier:
    """Opens the frames of the other direction: each once, and only in the order in which they were sealed."""

    def __init__(self, key: bytes, direction: bytes) -> None:
        self._key = derive_key(key, direction)
        self._place = 0

    def open(self, content: bytes) -> bytes:
        """The payload; NotAuthentic where the seal does not fit this place."""
        payload = content[SIGNATURE_BYTES:]
        if not hmac.compare_digest(content[:SIGNATURE_BYTES], _signature(self._key, self._place + 1, payload)):
            raise NotAuthentic("the seal of a frame does not fit")
        self._place += 1
        return payload


def handshake_proof(key: bytes, challenge: bytes, payload: bytes) -> bytes:
    """What shows, in a first message, that its sender has the key and heard this very challenge."""
    return derive_key(key, b"greeting", challenge, payload)[:SIGNATURE_BYTES]


def is_valid_proof(given: bytes, key: bytes, challenge: bytes, payload: bytes) -> bool:
    """The same, checked in constant time."""
    return hmac.compare_digest(given, handshake_proof(key, challenge, payload))


def _signature(key: bytes, place: int, payload: bytes) -> bytes:
    return hmac.new(key, place.to_bytes(8, "big") + payload, sha256).digest()[:SIGNATURE_BYTES]
