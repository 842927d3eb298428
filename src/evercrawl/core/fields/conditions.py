"""Conditions on fields: when a change of a value is worth an alert.

price                  any change
price appears          a value where there was none; price disappears: the opposite
price below 50         the number was not below and is now; also: above
price changes by 10%   a change by 10 % or more, up or down; also: changes by 5
title matches (?i)sale the text did not match an RE2 expression and does now

While a value is missing, the last one counts: 45, sold out, 48 crosses no limit of 50.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple, TypeGuard

from evercrawl.core.fields.reading import BEFORE, LAST
from evercrawl.core.fields.selectors import compile_expression
from evercrawl.errors import ConfigError
from evercrawl.model.document import FieldValue

_CONDITION = re.compile(
    r"(?P<name>[^\W\d]\w*)(?:\s+(?:(?P<word>changes|appears|disappears)"
    r"|(?P<side>above|below)\s+(?P<limit>-?\d+(?:\.\d+)?)"
    r"|changes\s+by\s+(?P<step>\d+(?:\.\d+)?)(?P<percent>\s*%)?|matches\s+(?P<pattern>.+)))?",
    re.DOTALL,
)
_HELP = "write it like: price, price below 50, price changes by 10%, price appears, title matches sale"


class FieldCondition(NamedTuple):
    """A condition on one field."""

    name: str
    kind: str = "changes"  # changes, appears, disappears, above, below, step, share or matches.
    number: float = 0.0
    pattern: str = ""


@lru_cache(maxsize=256)
def parse_condition(text: str) -> FieldCondition:
    """Return the condition that a text means; raise ConfigError if it is not valid."""
    found = _CONDITION.fullmatch(text.strip())
    if found is None:
        raise ConfigError(f"{text!r} is not a condition on a field; {_HELP}")
    name = found["name"]
    if found["side"]:
        return FieldCondition(name, found["side"], float(found["limit"]))
    if found["step"]:
        number = float(found["step"])
        return FieldCondition(name, "share", number / 100) if found["percent"] else FieldCondition(name, "step", number)
    if found["pattern"]:
        compile_expression(found["pattern"])
        return FieldCondition(name, "matches", pattern=found["pattern"])
    return FieldCondition(name, found["word"] or "changes")


def condition_holds(condition: FieldCondition, values: Mapping[str, FieldValue]) -> bool:
    """Return whether a change fulfils a condition. `values` are those stored with the version after it."""
    if condition.name + BEFORE not in values:
        return False
    before, after = values[condition.name + BEFORE], values.get(condition.name)
    last = before if before is not None else values.get(condition.name + LAST)
    match condition.kind:
        case "appears":
            return before is None and after is not None
        case "disappears":
            return before is not None and after is None
        case "above" | "below" | "matches":
            return after is not None and is_met(condition, after) and not (last is not None and is_met(condition, last))
        case "step" | "share":
            if not _is_number(last) or not _is_number(after):
                return False
            least = condition.number if condition.kind == "step" else abs(last) * condition.number
            return abs(after - last) >= least * (1 - 1e-9)
        case _:
            return True


def is_met(condition: FieldCondition, value: FieldValue | tuple[str, ...]) -> bool:
    """Return whether a value is above or below the limit, or matches; for other conditions, whether there is one."""
    if value is None:
        return condition.kind == "disappears"
    if condition.kind == "matches":
        text = "\n".join(value) if isinstance(value, tuple) else str(value)
        return compile_expression(condition.pattern).search(text) is not None
    if condition.kind not in ("above", "below"):
        return condition.kind != "disappears"
    if isinstance(value, tuple) or not _is_number(value):
        return False
    return value > condition.number if condition.kind == "above" else value < condition.number


def with_last_values(analyses: Mapping[int, Mapping[str, FieldValue]], version: int) -> dict[str, FieldValue]:
    """Return the values of a version, and for those that were missing before it the last ones that were there."""
    values = dict(analyses.get(version, {}))
    for name in [name for name, value in values.items() if name.endswith(BEFORE) and value is None]:
        field = name.removesuffix(BEFORE)
        earlier = (analyses[at].get(field) for at in sorted(analyses, reverse=True) if at < version)
        values[field + LAST] = next((value for value in earlier if value is not None), None)
    return values


def _is_number(value: FieldValue) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
