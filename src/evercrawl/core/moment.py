"""Times at the borders: microseconds since the epoch, as the store and the queues hold them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

DAY_US = 86_400_000_000

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_us(moment: datetime) -> int:
    """Microseconds since the epoch."""
    return (moment - _EPOCH) // _MICROSECOND


def from_us(moment_us: int) -> datetime:
    """The aware moment of so many microseconds since the epoch."""
    return _EPOCH + timedelta(microseconds=moment_us)


def span_us(span: timedelta) -> int:
    """A span in microseconds."""
    return span // _MICROSECOND
