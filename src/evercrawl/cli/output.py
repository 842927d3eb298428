"""How data leaves a command: JSON for programs, safe text for people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import click

_BYTE_UNITS = ("B", "kB", "MB", "GB", "TB")


def emit_json(name: str, fields: Mapping[str, Any]) -> None:
    """One JSON object on one line of stdout, its schema first.

    Everything beyond printable ASCII is escaped: nothing is lost, and the line is harmless on a terminal.
    """
    line = json.dumps({"schema": f"evercrawl.{name}/1", **fields}, default=_plain)
    click.echo(line.replace("\x7f", "\\u007f"))


def _plain(value: object) -> object:
    match value:
        case datetime():
            return moment(value)
        case timedelta():
            return value.total_seconds()
        case Mapping():
            return dict(value)
        case bytes():
            return value.decode("utf-8", "replace")
        case _:
            raise TypeError(f"{type(value).__name__} has no JSON form here")


def moment(at: datetime) -> str:
    """A time as ISO 8601 in UTC, to the second."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def size(count: int) -> str:
    """Bytes for people: 41 MB."""
    amount = float(count)
    for unit in _BYTE_UNITS:
        if amount < 1000 or unit == _BYTE_UNITS[-1]:
            return f"{amount:.1f} {unit}" if amount < 10 and unit != "B" else f"{amount:,.0f} {unit}"
        amount /= 1000
    raise AssertionError("the last unit takes everything")


def counted(count: int, noun: str) -> str:
    """A number of things: 1 page, 2,000 pages."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def span(seconds: float) -> str:
    """A duration for people: 42 s, 29 min, 3 h 20 min, 4 days."""
    if seconds < 90:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    if minutes < 48 * 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes // 1440} days"
