"""The check of webhook signatures that a receiver makes."""

from __future__ import annotations

import hmac
from datetime import datetime, timedelta

from evercrawl.core.alerts.message_format import webhook_signature

MAX_CLOCK_SKEW = timedelta(minutes=5)
"""Receivers should reject older or future signatures."""


def verify_signature(
    secret: str, *, message_id: str, timestamp: str, signatures: str, body: bytes, now: datetime
) -> bool:
    """Return whether one of the space-separated signatures is valid and the attempt is recent."""
    if not timestamp.isascii() or not timestamp.isdigit():
        return False
    if abs(now.timestamp() - int(timestamp)) > MAX_CLOCK_SKEW.total_seconds():
        return False
    expected = webhook_signature(secret, message_id, int(timestamp), body).encode()
    return any(hmac.compare_digest(expected, given.encode()) for given in signatures.split())
