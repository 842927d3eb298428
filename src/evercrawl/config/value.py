"""How is one value written, and what does a written value mean?"""

from __future__ import annotations

import json
import math
import re
import tomllib
from datetime import timedelta
from typing import Any

from evercrawl.config.known import KnownSetting, check_of

NONE = "none"
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}
_BYTES = {
    "": 1, "B": 1,
    "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
    "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40,
}  # fmt: skip
_QUANTITY = re.compile(r"([0-9][0-9_]*(?:\.[0-9]+)?)\s*([A-Za-z]*)")
_TRUTH = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def value_of(known: KnownSetting, written: object) -> Any:
    """The typed value of a text (flag, variable) or TOML value; ValueError says what it must be."""
    if written is None or written == NONE:
        if not known.optional:
            raise ValueError(f"must be {_meaning(known)}, not none")
        return None
    value = _typed(known, written)
    check = check_of(known)
    wrong = check(value) if check else None
    if wrong:
        raise ValueError(f"must be {wrong}")
    return value


def written_form(known: KnownSetting, value: Any) -> str:
    """The value as TOML; `value_of` of what this parses to is the value again."""
    if value is None:
        return f'"{NONE}"'
    if known.is_size:
        return _size_form(value)
    match value:
        case bool():
            return "true" if value else "false"
        case timedelta():
            return f'"{_span_form(value)}"'
        case tuple():
            return "[" + ", ".join(_quoted(item) if isinstance(item, str) else str(item) for item in value) + "]"
        case str():
            return _quoted(value)
        case _:
            return repr(value)


def _typed(known: KnownSetting, written: object) -> Any:
    wrong = ValueError(f"must be {_meaning(known)}")
    shape = known.shape
    if shape is bool:
        return _truth(written, wrong)
    if shape is int:
        return _whole(written, _BYTES if known.is_size else {"": 1}, wrong)
    if shape is float:
        return _quantity(written, {"": 1}, wrong)
    if shape is timedelta:
        return _span(written, wrong)
    if shape is str:
        return _text(written, wrong)
    items = _items(written, wrong)
    return tuple(_whole(item, {"": 1}, wrong) if shape == tuple[int, ...] else _text(item, wrong) for item in items)


def _truth(written: object, wrong: ValueError) -> bool:
    if isinstance(written, bool):
        return written
    if isinstance(written, str) and written.strip().lower() in _TRUTH:
        return _TRUTH[written.strip().lower()]
    raise wrong


def _text(written: object, wrong: ValueError) -> str:
    if not isinstance(written, str) or not written or any(ord(char) < 32 for char in written):
        raise wrong
    return written


def _whole(written: object, units: dict[str, int], wrong: ValueError) -> int:
    value = _quantity(written, dict(units), wrong)
    if value != int(value):
        raise wrong
    return int(value)


def _span(written: object, wrong: ValueError) -> timedelta:
    try:
        return timedelta(seconds=_quantity(written, {"": 1, **_SECONDS}, wrong))
    except OverflowError:
        raise wrong from None


def _quantity(written: object, units: dict[str, float], wrong: ValueError) -> float:
    """A number with one of the units; whole numbers stay exact."""
    if isinstance(written, bool):
        raise wrong
    if isinstance(written, (int, float)):
        if not math.isfinite(written):
            raise wrong
        return written
    found = _QUANTITY.fullmatch(written.strip()) if isinstance(written, str) else None
    if found is None or found[2] not in units:
        raise wrong
    number = found[1].replace("_", "")
    return (float(number) if "." in number else int(number)) * units[found[2]]


def _items(written: object, wrong: ValueError) -> list[object]:
    """A list as TOML has it, also in text; text without brackets is divided at commas."""
    if isinstance(written, (list, tuple)):
        return list(written)
    if not isinstance(written, str):
        raise wrong
    if written.strip().startswith("["):
        try:
            listed = tomllib.loads(f"items = {written}")["items"]
        except tomllib.TOMLDecodeError:
            raise wrong from None
        return list(listed)
    return [item.strip() for item in written.split(",") if item.strip()]


def _meaning(known: KnownSetting) -> str:
    return meaning_of(known) + (f", or {NONE}" if known.optional else "")


def meaning_of(known: KnownSetting) -> str:
    """The type of a setting, in words for users."""
    if known.is_size:
        return "a size such as 16MiB"
    meanings: dict[Any, str] = {
        bool: "true or false",
        int: "a whole number",
        float: "a number",
        timedelta: "a duration such as 500ms, 1.5s, 2m, 1h or 7d",
        str: "text",
        tuple[str, ...]: 'a list such as ["a", "b"]',
        tuple[int, ...]: "a list of whole numbers",
    }
    return meanings[known.shape]


def _quoted(text: str) -> str:
    """A basic TOML string; JSON's escapes are a part of TOML's."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _span_form(span: timedelta) -> str:
    micros = round(span.total_seconds() * 1e6)
    for unit in ("d", "h", "m", "s", "ms"):
        size = round(_SECONDS[unit] * 1e6)
        if micros and micros % size == 0:
            return f"{micros // size}{unit}"
    return f"{micros / 1e6:.6f}".rstrip("0").rstrip(".") + "s"


def _size_form(size: int) -> str:
    for unit in ("GiB", "MiB", "KiB", "GB", "MB"):
        if size and size % _BYTES[unit] == 0:
            return f'"{size // _BYTES[unit]}{unit}"'
    return str(size)
