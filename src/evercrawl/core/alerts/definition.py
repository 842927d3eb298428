"""Validation of alerts, their stored form as JSON, and the apprise services allowed over the web.
Those have a fixed host on the Internet; other apprise addresses can be programs, files or hosts of this network."""

from __future__ import annotations

import json
import re
from datetime import time
from typing import Any
from urllib.parse import unquote

from evercrawl.core.alerts.matching import parse_alert_query
from evercrawl.core.alerts.message_format import parse_secret
from evercrawl.core.change.text_diff import pack_edit, unpack_edit
from evercrawl.core.fields.conditions import parse_condition
from evercrawl.core.politeness import parse_hours
from evercrawl.errors import ConfigError
from evercrawl.model.alerts import (
    Alert,
    AlertFilter,
    Channel,
    Destination,
    Event,
    EventKind,
    Frequency,
    MessageTemplates,
    SentimentShift,
)

HOSTED_SERVICES = frozenset({
    "dingtalk", "discord", "feishu", "gchat", "guilded", "ifttt", "join", "lark", "line", "opsgenie",
    "pagerduty", "pbul", "pover", "prowl", "pushme", "schan", "simplepush", "slack", "tgram", "threema",
    "twilio", "wecombot", "whatsapp", "wxteams",
})  # fmt: skip
"""Apprise schemes without a host in their address."""
PLAIN_OPTIONS = frozenset({
    "cto", "emojis", "format", "image", "overflow", "retry", "rto", "tz", "wait",  # of all services
    "action", "alias", "avatar", "batch", "class", "dedup", "detect", "entity", "expire", "fields", "flags", "footer",
    "footer_logo", "from", "group", "interval", "key", "lang", "mode", "ping", "preview", "priority", "region",
    "secret", "severity", "silent", "sound", "tags", "thread", "to", "token", "topic", "tts",
})  # fmt: skip
"""Options of these services that neither name a file nor a document to fetch."""
FETCHING_OPTIONS = frozenset({"attach", "attachment", "cert", "certfile", "config", "include", "keyfile", "template"})
"""Options that are refused for every service, because they read files or fetch documents."""


def apprise_service(address: str) -> str | None:
    """Return the scheme of an apprise address; None if it has none."""
    scheme, found, _ = address.partition("://")
    return scheme.strip().lower() if found else None


def apprise_problem(address: str, *, is_own: bool = False) -> str | None:
    """Return what is wrong with an apprise address; None if it is allowed.
    `is_own`: it is from the command line, where any service may be used."""
    service = apprise_service(address)
    if address.count("://") > 1 or any(character.isspace() for character in address.strip()):
        # apprise accepts several addresses in one text: a second could be any host.
        return "enter a single apprise address"
    options = _option_names(address)
    refused = options & FETCHING_OPTIONS if is_own else options - PLAIN_OPTIONS
    if (is_own or service in HOSTED_SERVICES) and refused:
        why = "it reads files or fetches documents" if refused & FETCHING_OPTIONS else "it is not a plain option"
        return f"the option {min(refused)[:40]!r} is not allowed here: {why}"
    if is_own or service in HOSTED_SERVICES:
        return None
    named = f"{service[:40]!r} is not one of them" if service else "write it like tgram://TOKEN/CHAT"
    known = ", ".join(sorted(HOSTED_SERVICES))
    return f"only these apprise services are allowed here: {known}; {named}. Add others on the command line"


def _option_names(address: str) -> set[str]:
    """Return the names after the question mark as apprise reads them: `&` and `;` separate, `%74` is a letter."""
    pairs = address.partition("?")[2].replace(";", "&").replace("?", "&").split("&")
    return {unquote(pair.partition("=")[0]).strip().lower() for pair in pairs if pair}


def redact_address(address: str) -> str:
    """Return the address with only its service visible."""
    return f"{apprise_service(address) or 'apprise'}://…"


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_MAIL = re.compile(r"[^\s@<>,;:\"()\[\]\\]{1,64}@[A-Za-z0-9.-]{1,253}")
MAX_PAGES = 1000
MAX_PER_MESSAGE = 500


def alert_problem(alert: Alert) -> str | None:
    """Return what is wrong with an alert; None if it is valid."""
    subject, target = alert.filter, alert.destination
    if not _NAME.fullmatch(alert.name):
        return f"the name {alert.name!r} must be up to 64 letters, digits, - and _"
    if len(subject.pages) + len(subject.patterns) > MAX_PAGES:
        return f"an alert has at most {MAX_PAGES} pages and patterns"
    if not 0.0 <= subject.min_size <= 1.0:
        return "the minimum change must be from 0 to 1"
    if not subject.kinds:
        return "an alert needs at least one kind: content, metadata, new or removed"
    if subject.sentiment_shift and EventKind.CONTENT not in subject.kinds:
        return "an alert about sentiment needs the kind content"
    if not 1 <= alert.max_changes <= MAX_PER_MESSAGE:
        return f"a message holds 1 to {MAX_PER_MESSAGE} changes"
    if target.channel is Channel.MAIL and not (target.address.isascii() and _MAIL.fullmatch(target.address)):
        return f"{target.address!r} is not a mail address; write it like you@example.org"
    return _field_problem(alert)


def _field_problem(alert: Alert) -> str | None:
    try:
        if alert.filter.query is not None:
            parse_alert_query(alert.filter.query)
        if alert.filter.field is not None:
            parse_condition(alert.filter.field)
        for hours in alert.quiet_hours:
            parse_hours(hours)
    except (ConfigError, ValueError) as error:
        return str(error)
    try:
        if alert.destination.secret is not None:
            parse_secret(alert.destination.secret)
    except ValueError as error:
        return f"the secret {error}"
    return None


def alert_fields(alert: Alert, *, with_secret: bool) -> dict[str, Any]:
    """Return the alert as JSON fields."""
    subject, target = alert.filter, alert.destination
    is_hidden = target.channel is Channel.APPRISE and not with_secret
    fields: dict[str, Any] = {
        "name": alert.name,
        "pages": list(subject.pages),
        "patterns": list(subject.patterns),
        "query": subject.query,
        "classes": sorted(kind.value for kind in subject.kinds),
        "min_size": subject.min_size,
        "sentiment_shift": subject.sentiment_shift,
        "field": subject.field,
        "channel": target.channel.value,
        "address": redact_address(target.address) if is_hidden else target.address,
        "frequency": alert.frequency.value,
        "daily_at": alert.daily_at.strftime("%H:%M"),
        "quiet_hours": list(alert.quiet_hours),
        "max_changes": alert.max_changes,
        "templates": dict(alert.templates.given()),
    }
    return fields | ({"secret": target.secret} if with_secret else {"signed": target.secret is not None})


def alert_to_json(alert: Alert) -> str:
    """Return the stored form with its secret."""
    return json.dumps(alert_fields(alert, with_secret=True))


def alert_from_json(stored: str) -> Alert:
    """Read the stored form of an alert."""
    fields = json.loads(stored)
    return Alert(
        name=fields["name"],
        filter=AlertFilter(
            pages=tuple(fields["pages"]),
            patterns=tuple(fields["patterns"]),
            query=fields["query"],
            kinds=frozenset(map(EventKind, fields["classes"])),
            min_size=fields["min_size"],
            sentiment_shift=fields["sentiment_shift"],
            field=fields["field"],
        ),
        destination=Destination(Channel(fields["channel"]), fields["address"], fields["secret"]),
        frequency=Frequency(fields["frequency"]),
        daily_at=time.fromisoformat(fields["daily_at"]),
        quiet_hours=tuple(fields["quiet_hours"]),
        max_changes=fields["max_changes"],
        templates=MessageTemplates(**fields["templates"]),
    )


def event_to_json(event: Event) -> str:
    """Return the stored form of an event."""
    return json.dumps(event._replace(edits=tuple(map(pack_edit, event.edits))))  # type: ignore[arg-type]


def event_from_json(stored: str) -> Event:
    """Read the stored form of an event."""
    event = Event._make(json.loads(stored))
    return event._replace(
        kind=EventKind(event.kind),
        edits=tuple(map(unpack_edit, event.edits)),
        shift=None if event.shift is None else SentimentShift._make(event.shift),
    )
