"""Read the fields of a page, and compare two readings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from evercrawl.core.change.detectors import bytes_change
from evercrawl.core.change.text_diff import make_edit
from evercrawl.core.digest import text_digest
from evercrawl.core.document.bounds import truncate_markup
from evercrawl.core.document.encoding import decode_body, detect_charset
from evercrawl.core.document.html import open_shadow_roots
from evercrawl.core.document.media_type import HTML_TYPES, sniff_media_type
from evercrawl.core.fields.repair import find_repair
from evercrawl.core.fields.selectors import PagePart, parse_selector
from evercrawl.core.fields.values import read_text
from evercrawl.core.url import matches_glob
from evercrawl.model.change import Change, ChangeClass, Edit
from evercrawl.model.document import FieldValue
from evercrawl.model.fetch import Headers, header
from evercrawl.model.fields import FieldReading, FieldRepair, FieldRule, FieldType

NOTHING = FieldReading(None)
MAX_SHOWN_CHARS = 80  # Of what a proposed selector reads.
SELECTED_FIELD = "evercrawl-selected"  # Header field of a version that is the text of a selector, not a page.
_PRICE_NAME = re.compile(r"(?i)(?<=\.)(?:low|high)?price$|(?<=price:)amount$")  # schema.org; Open Graph.
_CURRENCY_CODE = re.compile(r"[A-Za-z]{3}")


def rules_for(url: str, rules: Iterable[FieldRule]) -> tuple[FieldRule, ...]:
    """Return the rules for a page."""
    return tuple(rule for rule in rules if any(url == page or matches_glob(page, url) for page in rule.pages))


def is_data(headers: Headers, body: bytes) -> bool:
    """Return whether an answer is JSON or XML, whose values can be read although it is no page."""
    kind = sniff_media_type(headers, body)
    return kind.partition("/")[2] in ("json", "xml") or kind.endswith(("+json", "+xml"))


def page_part(headers: Headers, body: bytes, text: str) -> PagePart:
    """Return what selectors are applied to: the decoded body, up to where it is too costly to parse, and the text."""
    is_html = sniff_media_type(headers, body) in HTML_TYPES
    kept = truncate_markup(open_shadow_roots(body) if is_html else body)
    charset = detect_charset(kept, header(headers, "content-type"))
    markup = decode_body(kept[charset.bom_bytes :], charset.encoding)
    return PagePart(markup, text, is_html, header(headers, SELECTED_FIELD) or "")


def read_fields(page: PagePart, rules: Iterable[FieldRule], at: str | None = None) -> dict[str, FieldReading]:
    """Return the reading of each rule on a page as it was at a time; None: now."""
    return {rule.name: read_field(page, rule, at=at) for rule in rules}


def read_field(page: PagePart, rule: FieldRule, *, at: str | None = None) -> FieldReading:
    """Return the value of a field on a page: of the first of its selectors that finds one."""
    first: FieldReading | None = None
    for select in rule.selectors(at):
        is_part = select == page.selected
        found = [text for text in (page.markup.splitlines() if is_part else parse_selector(select)(page)) if text]
        if not found:
            continue
        reading = read_text(found, rule.type, lang=page.lang)._replace(select=select)
        if reading.value is not None:
            return reading._replace(unit=reading.unit or _stated_currency(page, rule, select))
        first = first or reading
    return first or NOTHING


def _stated_currency(page: PagePart, rule: FieldRule, select: str) -> str | None:
    """Return the currency that structured data states beside a price."""
    if rule.type is not FieldType.NUMBER or not select.startswith("data:"):
        return None
    beside = _PRICE_NAME.sub(lambda found: "currency" if found[0].lower() == "amount" else "priceCurrency", select)
    texts = parse_selector(beside)(page) if beside != select else []
    return next((text.upper() for text in texts if _CURRENCY_CODE.fullmatch(text)), None)


class FieldDifference(NamedTuple):
    """A field that differs between two versions."""

    name: str
    before: FieldReading
    after: FieldReading
    repair: FieldRepair | None = None  # Where the field seems to be now, if that is not sure.

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
    repairs: tuple[FieldRepair, ...] = ()  # New selectors for those that stopped matching; empty: not found.

    missing: frozenset[str] = frozenset()  # Fields without a value in the newest version: to be found, or just back.

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
LAST = "_last"  # Follows the name of a field that was missing: its last value.


def _differs(was: FieldReading, now: FieldReading) -> bool:
    is_currency = was.unit is not None and len(was.unit) == 3 and was.unit.isupper()
    return was.value != now.value or (is_currency and now.unit is None)


def compare_page_fields(before: PagePart | None, after: PagePart, rules: tuple[FieldRule, ...]) -> FieldComparison:
    """Return the fields of a page; `before` is its newest version, None: there is none. A field whose selector stopped
    matching is read by its repair, if that is sure."""
    readings = read_fields(after, rules)
    only = any(rule.only for rule in rules)
    if before is None:
        return FieldComparison(readings, only=only)
    earlier = read_fields(before, rules)
    repairs = []
    for rule in rules:
        was, now = earlier[rule.name], readings[rule.name]
        repair = find_repair(before, after, rule, was, now) if _differs(was, now) else None
        if repair is None:
            continue
        repair = repair._replace(is_sure=repair.is_sure and rule.repair)
        repairs.append(repair)
        if repair.is_sure:
            readings[rule.name] = read_field(after, replace(rule, repairs=(*rule.repairs, repair)))
    proposed = {repair.name: repair for repair in repairs if not repair.is_sure}
    differences = compare_fields(earlier, readings)
    selectors = {rule.name: rule.select for rule in rules}
    repairs += [
        FieldRepair(one.name, selectors[one.name], "", one.before.text or "")
        for one in differences
        if one.is_lost and one.name not in proposed
    ]
    return FieldComparison(
        readings,
        tuple(one._replace(repair=proposed.get(one.name)) for one in differences),
        only,
        tuple(repairs),
        frozenset(rule.name for rule in rules if rule.repair and earlier[rule.name].value is None)
        & {name for name, reading in readings.items() if reading.text is None or reading.value is not None},
    )


def repair_missing(
    found: FieldComparison, earlier: PagePart, after: PagePart, rules: tuple[FieldRule, ...]
) -> FieldComparison:
    """Return the fields of a page with those found again that have been missing since an earlier version."""
    readings, missing = dict(found.readings), set(found.missing)
    repairs, differences = list(found.repairs), list(found.differences)
    for rule in [rule for rule in rules if rule.name in missing]:
        was = read_field(earlier, rule)
        if was.value is None:
            continue
        missing.discard(rule.name)
        repair = find_repair(earlier, after, rule, was, readings[rule.name])
        if repair is not None and repair.is_sure:
            repairs.append(repair)
            readings[rule.name] = read_field(after, replace(rule, repairs=(*rule.repairs, repair)))
            differences = [one for one in differences if one.name != rule.name]
            differences.append(FieldDifference(rule.name, NOTHING, readings[rule.name]))
    return found._replace(
        readings=readings, differences=tuple(differences), repairs=tuple(repairs), missing=frozenset(missing)
    )


def judge_field_change(change: Change, fields: FieldComparison) -> Change:
    """Return the change of a page with fields: a field that differs is content, whatever else is noise; on a page of
    which only fields count, the rest is noise."""
    edits = tuple(map(_field_edit, fields.differences))
    if edits:
        is_unknown = change.edits == bytes_change().edits  # Of data pages, only the fields say what changed.
        others = () if fields.only or is_unknown else tuple(edit for edit in change.edits if not edit.is_template)
        key = edits[0].key if change.edit_key is None or fields.only else change.edit_key
        size = change.size or 1 / 1000
        return replace(change, kind=ChangeClass.CONTENT, size=size, edits=(*edits, *others), edit_key=key)
    if fields.only and change.changed:
        return replace(change, kind=ChangeClass.NOISE, edits=(), edit_key=None, noise=change.edits or change.noise)
    return change


def _field_edit(one: FieldDifference) -> Edit:
    before, after = (f"{one.name}: {_words(reading)}" for reading in (one.before, one.after))
    if one.repair is not None:
        after += f" (perhaps {one.repair.select}: {one.repair.text[:MAX_SHOWN_CHARS]})"
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
