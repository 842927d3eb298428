"""Read the fields of a page, and compare two readings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from evercrawl.core.change.text_diff import make_edit
from evercrawl.core.digest import text_digest
from evercrawl.core.document.bounds import truncate_markup
from evercrawl.core.document.encoding import decode_body, detect_charset
from evercrawl.core.document.media_type import HTML_TYPES, sniff_media_type
from evercrawl.core.fields.selectors import PagePart, parse_selector
from evercrawl.core.fields.values import find_date, find_number
from evercrawl.core.url import matches_glob
from evercrawl.model.change import Change, ChangeClass, Edit
from evercrawl.model.document import FieldValue
from evercrawl.model.fetch import Headers, header
from evercrawl.model.fields import FieldReading, FieldRule, FieldType

NOTHING = FieldReading(None)


def rules_for(url: str, rules: Iterable[FieldRule]) -> tuple[FieldRule, ...]:
    """Return the rules for a page."""
    return tuple(rule for rule in rules if any(url == page or matches_glob(page, url) for page in rule.pages))


def page_part(headers: Headers, body: bytes, text: str) -> PagePart:
    """Return what selectors are applied to: the decoded body, up to where it is too costly to parse, and the text."""
    kept = truncate_markup(body)
    charset = detect_charset(kept, header(headers, "content-type"))
    markup = decode_body(kept[charset.bom_bytes :], charset.encoding)
    return PagePart(markup, text, sniff_media_type(headers, body) in HTML_TYPES)


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


class FieldComparison(NamedTuple):
    """The fields of a page at this visit, and those that differ from its newest version."""

    readings: Mapping[str, FieldReading]
    differences: tuple[FieldDifference, ...] = ()
    only: bool = False  # Changes elsewhere on the page do not count.

    def values(self) -> dict[str, FieldValue]:
        """Return what is stored with a new version: each value, its unit, and the value before if it differs."""
        found: dict[str, FieldValue] = {}
        for name, reading in self.readings.items():
            found[name] = _plain(reading)
            if reading.unit is not None:
                found[f"{name}_unit"] = reading.unit
        for one in self.differences:
            found[f"{one.name}{BEFORE}"] = _plain(one.before)
        return found


BEFORE = "_before"  # Follows the name of a field that has changed.


def compare_page_fields(before: PagePart | None, after: PagePart, rules: tuple[FieldRule, ...]) -> FieldComparison:
    """Return the fields of a page; `before` is its newest version, None: there is none."""
    readings = read_fields(after, rules)
    differences = () if before is None else compare_fields(read_fields(before, rules), readings)
    return FieldComparison(readings, differences, any(rule.only for rule in rules))


def judge_field_change(change: Change, fields: FieldComparison) -> Change:
    """Return the change of a page with fields: a field that differs is content, whatever else is noise; on a page of
    which only fields count, the rest is noise."""
    edits = tuple(map(_field_edit, fields.differences))
    if edits:
        others = () if fields.only else tuple(edit for edit in change.edits if not edit.is_template)
        key = edits[0].key if change.edit_key is None or fields.only else change.edit_key
        size = change.size or 1 / 1000
        return replace(change, kind=ChangeClass.CONTENT, size=size, edits=(*edits, *others), edit_key=key)
    if fields.only and change.changed:
        return replace(change, kind=ChangeClass.NOISE, edits=(), edit_key=None, noise=change.edits or change.noise)
    return change


def _field_edit(one: FieldDifference) -> Edit:
    before, after = (f"{one.name}: {_words(reading)}" for reading in (one.before, one.after))
    key = int.from_bytes(text_digest(f"{before}\n{after}")[:7])
    return make_edit(key, before, after, is_template=False)


def _words(reading: FieldReading) -> str:
    if reading.text is None:
        return "(not found)"
    if reading.value is None:
        return reading.text
    return ", ".join(reading.value) if isinstance(reading.value, tuple) else reading.text


def _plain(reading: FieldReading) -> FieldValue:
    return "\n".join(reading.value) if isinstance(reading.value, tuple) else reading.value
