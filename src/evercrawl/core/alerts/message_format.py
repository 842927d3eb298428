"""Content of alert messages: JSON for programs, text for people, an Atom feed (RFC 4287), webhook signatures."""

from __future__ import annotations

import binascii
import hmac
import json
import re
from base64 import b64decode, b64encode
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from evercrawl.model.alerts import Alert, Event, EventKind, Frequency, PendingEvent
from evercrawl.model.time import from_us

SCHEMA = "evercrawl.alert/1"
MAX_TITLE_CHARS = 300
MAX_SUBJECT_CHARS = 200
_KIND_WORDS = {
    EventKind.CONTENT: "changed",
    EventKind.METADATA: "changed its description",
    EventKind.NEW: "is new",
    EventKind.GONE: "was removed",
}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def truncate(text: str, longest: int) -> str:
    """Return the start of a text, with an ellipsis if it was cut."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def single_line(text: str) -> str:
    """Return the text on one line without control or direction characters."""
    return " ".join(_CONTROL.sub(" ", text).split())


def format_time(at_us: int) -> str:
    """Return ISO 8601 in UTC, to the second."""
    return from_us(at_us).strftime("%Y-%m-%dT%H:%M:%SZ")


def change_fields(notice: PendingEvent) -> dict[str, Any]:
    """Return a change as JSON fields."""
    event = notice.event
    fields = {
        "number": notice.number,
        "url": event.url,
        "class": event.kind.value,
        "size": round(event.size, 4),
        "seen_at": format_time(event.at_us),
        "version": event.version,
        "title": event.title and truncate(event.title, MAX_TITLE_CHARS),
        "edits": [{"removed": edit.removed, "added": edit.added} for edit in event.edits],
    }
    if event.shift is not None:
        fields["sentiment"] = {"before": round(event.shift.before, 3), "after": round(event.shift.after, 3)}
    return fields


def webhook_body(
    alert: Alert, notices: Sequence[PendingEvent], *, message_id: str, collection: str, at_us: int
) -> bytes:
    """Return the body of a webhook, the same at every attempt; without notices it is a test."""
    fields = {
        "schema": SCHEMA,
        "type": _type(alert, notices),
        "id": message_id,
        "alert": alert.name,
        "collection": collection,
        "timestamp": format_time(at_us),
        "changes": [change_fields(notice) for notice in notices],
    }
    # ASCII only: a lone surrogate cannot be encoded otherwise.
    return json.dumps(fields, separators=(",", ":")).encode("ascii")


def _type(alert: Alert, notices: Sequence[PendingEvent]) -> str:
    if not notices:
        return "alert.test"
    return "alert.changes" if alert.frequency is Frequency.AT_ONCE else "alert.digest"


def subject_line(alert: Alert, notices: Sequence[PendingEvent]) -> str:
    """Return the subject of a message."""
    if not notices:
        return f"[evercrawl] {alert.name}: a test"
    if len(notices) > 1:
        return f"[evercrawl] {alert.name}: {len(notices)} pages changed"
    return truncate(f"[evercrawl] {alert.name}: {_headline(notices[0].event)}", MAX_SUBJECT_CHARS)


def _headline(event: Event) -> str:
    name = single_line(event.title or "") or event.url
    return f"{name} {_KIND_WORDS[event.kind]}"


def plain_text(alert: Alert, notices: Sequence[PendingEvent], *, collection: str) -> str:
    """Return the message as plain text."""
    if not notices:
        return f"This is a test of the alert {alert.name} of {collection}. Nothing has changed.\n"
    parts = [_describe(notice.event) for notice in notices]
    return "\n\n".join(parts) + f"\n\n--\nevercrawl, alert {alert.name} of {collection}\n"


def _describe(event: Event) -> str:
    lines = [event.url, f"{_headline(event)} ({_measure(event)}, seen {format_time(event.at_us)})"]
    for edit in event.edits:
        lines += [f"  - {single_line(edit.removed)}"] if edit.removed.strip() else []
        lines += [f"  + {single_line(edit.added)}"] if edit.added.strip() else []
    return "\n".join(lines)


def _measure(event: Event) -> str:
    words = [] if event.kind in (EventKind.NEW, EventKind.GONE) else [f"{event.size:.0%} of it"]
    if event.shift is not None:
        words.append(f"sentiment {event.shift.before:+.2f} to {event.shift.after:+.2f}")
    return ", ".join([*words, f"version {event.version}"])


def atom_feed(alert: Alert, notices: Sequence[PendingEvent], *, feed_id: str, collection: str) -> bytes:
    """Return the notices as a feed, newest first; the same notices give the same bytes."""
    newest = max((notice.noted_us for notice in notices), default=0)
    head = (
        '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n'
        f"<id>{_xml(feed_id)}</id>\n<title>{_xml(alert.name)}: changes in {_xml(collection)}</title>\n"
        f"<updated>{format_time(newest)}</updated>\n<author><name>evercrawl</name></author>\n"
    )
    ordered = sorted(notices, key=lambda notice: notice.number, reverse=True)
    return (head + "".join(_entry(notice, feed_id) for notice in ordered) + "</feed>\n").encode()


def _entry(notice: PendingEvent, feed_id: str) -> str:
    event = notice.event
    return (
        f"<entry>\n<id>{_xml(feed_id)}:{notice.number}</id>\n<title>{_xml(_headline(event))}</title>\n"
        f'<link rel="alternate" href={quoteattr(_NOT_XML.sub("", event.url))}/>\n'
        f"<updated>{format_time(event.at_us)}</updated>\n<category term={quoteattr(event.kind.value)}/>\n"
        f'<content type="text">{_xml(_describe(event))}</content>\n</entry>\n'
    )


def _xml(text: str) -> str:
    return escape(_NOT_XML.sub("\ufffd", text))


SECRET_PREFIX = "whsec_"
MIN_SECRET_BYTES, MAX_SECRET_BYTES = 24, 64


def format_secret(random_bytes: bytes) -> str:
    """Return the written form of a secret."""
    return SECRET_PREFIX + b64encode(random_bytes).decode()


def parse_secret(secret: str) -> bytes:
    """Return the bytes of a written secret; raises ValueError if it is invalid."""
    try:
        key = b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("is not whsec_ followed by base64") from None
    if not MIN_SECRET_BYTES <= len(key) <= MAX_SECRET_BYTES:
        raise ValueError(f"holds {len(key)} bytes; it must be {MIN_SECRET_BYTES} to {MAX_SECRET_BYTES}")
    return key


def webhook_signature(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """Return the value of the header `webhook-signature` (Standard Webhooks 1.0.0)."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    digest = hmac.new(parse_secret(secret), signed, sha256).digest()
    return f"v1,{b64encode(digest).decode()}"


def webhook_headers(secret: str | None, message_id: str, body: bytes, *, now: datetime) -> tuple[tuple[str, str], ...]:
    """Return the headers of one attempt; without a secret there is no signature."""
    timestamp = int(now.timestamp())
    fields = (("Idempotency-Key", message_id), ("webhook-id", message_id), ("webhook-timestamp", str(timestamp)))
    if secret is None:
        return fields
    return (*fields, ("webhook-signature", webhook_signature(secret, message_id, timestamp, body)))
