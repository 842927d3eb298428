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
from typing import Any, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from evercrawl.core.alerts.headline import cut_at_word, event_headline, headline, page_name, significance, single_line
from evercrawl.core.alerts.html_message import MessageLinks, html_difference, html_message
from evercrawl.model.alerts import CHANGES, Alert, Event, EventKind, Frequency, PendingEvent
from evercrawl.model.change import Edit
from evercrawl.model.time import from_us

SCHEMA = "evercrawl.alert/1"
MAX_TITLE_CHARS = 300
MAX_MESSAGE_CHARS = 30_000  # Text of edits in a mail; mail programs cut longer ones.
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class MessageContent(NamedTuple):
    """What a message is about; a test has no changes, or examples."""

    alert: Alert
    changes: Sequence[PendingEvent]
    links: MessageLinks
    is_test: bool = False

    @property
    def summary(self) -> str:
        """What happened, in one sentence."""
        if not self.changes:
            return f"Test message of the alert {self.alert.name}"
        found = headline([change.event for change in self.changes])
        return f"Test: {found}" if self.is_test else found

    def groups(self) -> list[list[PendingEvent]]:
        """Return the changes as people read them: pages with the same change together, real edits first.
        After a lot of text, the first change of a group only says how many edits it has."""
        found: dict[tuple[object, ...], list[PendingEvent]] = {}
        for change in sorted(self.changes, key=lambda change: significance(change.event)):
            event = change.event
            same = tuple(edit.words for edit in event.edits) or (None, change.number)
            found.setdefault((event.kind, event.omitted, *same), []).append(change)
        chars = 0
        for group in found.values():
            event = group[0].event
            size = sum(len(run.text) for edit in event.edits for run in edit.words)
            if chars and chars + size > MAX_MESSAGE_CHARS:
                counted = event._replace(edits=(), omitted=event.omitted + len(event.edits))
                group[0], size = group[0]._replace(event=counted), 0
            chars += size
        return list(found.values())


def format_time(at_us: int) -> str:
    """Return ISO 8601 in UTC, to the second."""
    return from_us(at_us).strftime("%Y-%m-%dT%H:%M:%SZ")


# For programs


def change_fields(notice: PendingEvent, links: MessageLinks) -> dict[str, Any]:
    """Return a change as JSON fields."""
    event = notice.event
    fields = {
        "number": notice.number,
        "url": event.url,
        "class": event.kind.value,
        "summary": event_headline(event),
        "size": round(event.size, 4),
        "seen_at": format_time(event.at_us),
        "version": event.version,
        "title": event.title and cut_at_word(event.title, MAX_TITLE_CHARS),
        "edits": [_edit_fields(edit) for edit in event.edits],
        "more_edits": event.omitted,
        "excerpt": event.excerpt,
        "diff_url": links.difference(event),
        "mute_url": links.mute(notice.number) if event.edits else None,
    }
    if event.shift is not None:
        fields["sentiment"] = {"before": round(event.shift.before, 3), "after": round(event.shift.after, 3)}
    return fields


def _edit_fields(edit: Edit) -> dict[str, Any]:
    """Return an edit with both texts, and its words: each run with its sign, " ", "-" or "+"."""
    return {"removed": edit.removed, "added": edit.added, "words": [list(run) for run in edit.words]}


def message_fields(content: MessageContent, *, message_id: str, at_us: int) -> dict[str, Any]:
    """Return a message as JSON fields, the same at every attempt."""
    return {
        "schema": SCHEMA,
        "type": _type(content),
        "id": message_id,
        "alert": content.alert.name,
        "collection": content.links.collection,
        "timestamp": format_time(at_us),
        "summary": content.summary,
        "changes": [change_fields(change, content.links) for change in content.changes],
        "unsubscribe_url": content.links.unsubscribe(),
    }


def webhook_body(fields: dict[str, Any]) -> bytes:
    """Return the body of a webhook."""
    # ASCII only: a lone surrogate cannot be encoded otherwise.
    return json.dumps(fields, separators=(",", ":")).encode("ascii")


def _type(content: MessageContent) -> str:
    if content.is_test:
        return "alert.test"
    return "alert.changes" if content.alert.frequency is Frequency.AT_ONCE else "alert.digest"


# For people


def subject_line(content: MessageContent) -> str:
    """Return the subject of a message: what happened, on one line."""
    return single_line(content.summary)


def plain_text(content: MessageContent) -> str:
    """Return the message as plain text; the first line says what happened."""
    links = content.links
    if not content.changes:
        parts = [f"{content.summary}.\nThe alert works. Nothing has changed."]
    else:
        parts = [content.summary, *(_describe(group, links) for group in content.groups())]
    stop = links.unsubscribe() or links.unsubscribe_command()
    foot = f"--\nSent by evercrawl: alert {content.alert.name}, collection {links.collection}\nUnsubscribe: {stop}"
    return "\n\n".join([*parts, foot]) + "\n"


def _describe(group: Sequence[PendingEvent], links: MessageLinks) -> str:
    change = group[0]
    event = change.event
    lines = [page_name(event), event.url]
    if len(group) > 1:
        pages = [f"{page_name(one.event)}: {one.event.url}" for one in group]
        lines = [f"The same change on {len(group):,} pages", *pages]
    lines += [*plain_difference(event), seen_words(event)]
    difference = links.difference(event) or links.difference_command(event)
    lines.append(f"{'Full difference' if event.kind in CHANGES else 'History'}: {difference}")
    mute = (links.mute(change.number) if event.edits else None) or links.mute_command(event)
    if mute is not None and event.edits:
        lines.append(f"Mute this part: {mute}")
    return "\n".join(lines)


def plain_difference(event: Event) -> list[str]:
    """Return the edits as lines: − before, + after, with stars around the changed words."""
    if event.kind is EventKind.GONE:
        return ["− The page is gone."]
    if event.kind is EventKind.BACK and not event.edits:
        return ["+ The page is back."]
    lines = [f"+ {event.excerpt}"] if event.excerpt else []
    for edit in event.edits:
        is_mixed = any(run.sign == " " for run in edit.words)
        for sign, mark, text in (("-", "−", edit.removed), ("+", "+", edit.added)):
            if text.strip():
                lines.append(f"{mark} {_marked(edit, sign) if is_mixed else single_line(text)}")
    return lines + ([f"… and {event.omitted:,} more"] if event.omitted else [])


def _marked(edit: Edit, sign: str) -> str:
    """Return one text of an edit, with stars around the words that only it has."""
    runs = [run for run in edit.words if run.sign in (" ", sign)]
    return single_line("".join(run.text if run.sign == " " else _starred(run.text) for run in runs))


def _starred(text: str) -> str:
    inner = text.strip()
    start = text[: len(text) - len(text.lstrip())]
    return f"{start}*{inner}*{text[len(start) + len(inner) :]}" if inner else text


def seen_words(event: Event) -> str:
    """Return when the change was seen, how large it is, and how the sentiment changed."""
    seen = from_us(event.at_us).strftime("%Y-%m-%d %H:%M UTC")
    words = [f"New page, first seen {seen}" if event.kind is EventKind.NEW else f"Seen {seen}"]
    if event.kind in CHANGES and event.size:
        words.append("less than 1% of the text" if event.size < 0.01 else f"{event.size:.0%} of the text")
    if event.shift is not None:
        words.append(f"sentiment {event.shift.before:+.2f} to {event.shift.after:+.2f}")
    return ", ".join(words)


def html_text(content: MessageContent) -> str:
    """Return the message as an HTML document for mail programs."""
    return html_message(content.alert, content.groups(), content.links, content.summary, seen_words)


def atom_feed(content: MessageContent, *, feed_id: str) -> bytes:
    """Return the changes as a feed, newest first; the same changes give the same bytes."""
    newest = max((change.noted_us for change in content.changes), default=0)
    title = f"{content.alert.name}: changes in {content.links.collection}"
    head = (
        '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n'
        f"<id>{_xml(feed_id)}</id>\n<title>{_xml(title)}</title>\n"
        f"<updated>{format_time(newest)}</updated>\n<author><name>evercrawl</name></author>\n"
    )
    ordered = sorted(content.changes, key=lambda change: change.number, reverse=True)
    entries = "".join(_entry(change, feed_id, content.links) for change in ordered)
    return (head + entries + "</feed>\n").encode()


def _entry(change: PendingEvent, feed_id: str, links: MessageLinks) -> str:
    event = change.event
    difference = links.difference(event)
    related = f'<link rel="related" href={quoteattr(difference)}/>\n' if difference else ""
    return (
        f"<entry>\n<id>{_xml(feed_id)}:{change.number}</id>\n<title>{_xml(event_headline(event))}</title>\n"
        f'<link rel="alternate" href={quoteattr(_NOT_XML.sub("", event.url))}/>\n{related}'
        f"<updated>{format_time(event.at_us)}</updated>\n<category term={quoteattr(event.kind.value)}/>\n"
        f'<content type="html">{_xml(html_difference(change, links, seen_words(event)))}</content>\n</entry>\n'
    )


def _xml(text: str) -> str:
    return escape(_NOT_XML.sub("\ufffd", text))


# Signatures

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
