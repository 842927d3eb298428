"""How does a receiver know that a webhook is ours? Signed after Standard Webhooks 1.0.0: HMAC-SHA256 over the
message's id, the moment of the attempt and the body.
"""

from __future__ import annotations

import binascii
import hmac
from base64 import b64decode, b64encode
from datetime import datetime, timedelta
from hashlib import sha256

PREFIX = "whsec_"
FEWEST_BYTES, MOST_BYTES = 24, 64
TOLERANCE = timedelta(minutes=5)
"""A receiver should not believe a signature that is older, or from further in the future."""


def secret_of(random_bytes: bytes) -> str:
    """The written form of a secret."""
    return PREFIX + b64encode(random_bytes).decode()


def key_of_secret(secret: str) -> bytes:
    """The bytes of a written secret; ValueError where it is none."""
    try:
        key = b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("is not whsec_ followed by base64") from None
    if not FEWEST_BYTES <= len(key) <= MOST_BYTES:
        raise ValueError(f"holds {len(key)} bytes; it must be {FEWEST_BYTES} to {MOST_BYTES}")
    return key


def signature(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """The value of the header `webhook-signature`."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    digest = hmac.new(key_of_secret(secret), signed, sha256).digest()
    return f"v1,{b64encode(digest).decode()}"


def signed_headers(secret: str | None, message_id: str, body: bytes, *, now: datetime) -> tuple[tuple[str, str], ...]:
    """The header fields of one attempt; without a secret there is no signature."""
    timestamp = int(now.timestamp())
    fields = (("Idempotency-Key", message_id), ("webhook-id", message_id), ("webhook-timestamp", str(timestamp)))
    if secret is None:
        return fields
    return (*fields, ("webhook-signature", signature(secret, message_id, timestamp, body)))


def is_genuine(secret: str, *, message_id: str, timestamp: str, signatures: str, body: bytes, now: datetime) -> bool:
    """What a receiver checks: one of the signatures (divided by spaces) fits, and the attempt is recent."""
    if not timestamp.isascii() or not timestamp.isdigit():
        return False
    if abs(now.timestamp() - int(timestamp)) > TOLERANCE.total_seconds():
        return False
    expected = signature(secret, message_id, int(timestamp), body).encode()
    return any(hmac.compare_digest(expected, given.encode()) for given in signatures.split())
