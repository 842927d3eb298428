"""Values as JSON has them; times are ISO 8601 in UTC, whatever form they are kept in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from typing import Any

import orjson

from evercrawl.model.time import from_us


def moment_text(at: datetime) -> str:
    """A time in UTC, to the second."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def plain(value: Any) -> Any:
    """The value in lists, mappings, texts and numbers; fields in microseconds become moments."""
    match value:
        case None | bool() | int() | float():
            return value
        case Enum():
            return value.value
        case str():
            return value.encode("utf-8", "replace").decode()
        case datetime():
            return moment_text(value)
        case date():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case bytes():
            return value.hex()
        case Mapping():
            return {_word(key): plain(one) for key, one in value.items()}
        case tuple() if hasattr(value, "_fields"):
            return dict(_field(name, one) for name, one in zip(value._fields, value, strict=True))
        case list() | tuple() | set() | frozenset():
            return [plain(one) for one in value]
        case _ if is_dataclass(value) and not isinstance(value, type):
            return dict(_field(one.name, getattr(value, one.name)) for one in fields(value))
    raise TypeError(f"{type(value).__name__} has no JSON form here")


def _word(key: Any) -> str:
    return key.isoformat() if isinstance(key, date) else str(key)


def _field(name: str, value: Any) -> tuple[str, Any]:
    if name.endswith("_us"):
        return name.removesuffix("_us"), None if value is None else moment_text(from_us(value))
    return name, plain(value)


def json_bytes(schema: str, data: Mapping[str, Any]) -> bytes:
    """One JSON object, its schema first."""
    return orjson.dumps({"schema": f"evercrawl.{schema}/1", **plain(data)}, option=orjson.OPT_NON_STR_KEYS)


def json_line(data: Mapping[str, Any]) -> bytes:
    """One JSON object on a line."""
    return orjson.dumps(plain(data)) + b"\n"
