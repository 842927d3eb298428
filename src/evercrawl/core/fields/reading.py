"""Read the fields of a page, and compare two readings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from evercrawl.core.fields.selectors import PagePart, parse_selector
from evercrawl.core.fields.values import find_date, find_number
from evercrawl.core.url import matches_glob
from evercrawl.model.fields import FieldReading, FieldRule, FieldType

NOTHING = FieldReading(None)


def rules_for(url: str, rules: Iterable[FieldRule]) -> tuple[FieldRule, ...]:
    """Return the rules for a page."""
    return tuple(rule for rule in rules if any(url == page or matches_glob(page, url) for page in rule.pages))


def read_fields(page: PagePart, rules: Iterable[FieldRule]) -> dict[str, FieldReading]:
    """Return the reading of each rule on a page."""
    return {rule.name: read_field(page, rule) for rule in rules}


def read_field(page: PagePart, rule: FieldRule) -> FieldReading:
    """Return the value of a field on a page."""
    found = [text for text in parse_selector(rule.select)(page) if text]
    if not found:
        return NOTHING
    match rule.type:
        case FieldType.LIST:
            return FieldReading(tuple(found), "\n".join(found))
        case FieldType.NUMBER:
            number = find_number(found[0])
            return (
                FieldReading(None, found[0]) if number is None else FieldReading(number.number, found[0], number.unit)
            )
        case FieldType.DATE:
            day = find_date(found[0])
            return FieldReading(None if day is None else day.isoformat(), found[0])
        case FieldType.TEXT:
            return FieldReading(found[0], found[0])


class FieldDifference(NamedTuple):
    """A field that differs between two versions."""

    name: str
    before: FieldReading
    after: FieldReading

    @property
    def is_lost(self) -> bool:
        """Return whether the selector matched before and matches nothing now."""
        return self.before.text is not None and self.after.text is None


def compare_fields(
    before: Mapping[str, FieldReading], after: Mapping[str, FieldReading]
) -> tuple[FieldDifference, ...]:
    """Return the fields whose value differs; fields that only one of the versions was read for do not count."""
    return tuple(
        FieldDifference(name, before[name], reading)
        for name, reading in after.items()
        if name in before and (before[name].value, before[name].unit) != (reading.value, reading.unit)
    )
