"""Which validator of an answer may be sent back to the server?"""

from __future__ import annotations

from datetime import datetime

from evercrawl.core.faults import http_date
from evercrawl.model.fetch import Headers, header


def trusted_last_modified(headers: Headers, *, seen_at: datetime) -> str | None:
    """The Last-Modified field, unless it lies in the future.

    RFC 9110 section 8.8.2.1 forbids such dates: asked with one, a server would call every change before it
    not modified.
    """
    value = header(headers, "last-modified")
    moment = http_date(value) if value is not None else None
    return None if moment is None or moment > seen_at else value
