"""The fields of a collection: their rules, and their values in every stored version."""

from __future__ import annotations

import csv
import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from evercrawl.adapters.sql.listing_reader import StoredVersion, VersionReader
from evercrawl.collection.exchange.export_run import selected_versions
from evercrawl.collection.exchange.tables import escape_formula, parquet_from_lines
from evercrawl.collection.stored_pages import (
    StoredPage,
    decode_stored_body,
    load_page,
    parse_response,
    read_response,
    read_stored_record,
    select_bounded,
    utc_now,
)
from evercrawl.config import read_settings
from evercrawl.config.fields_file import (
    RepairState,
    StoredRepair,
    add_repair,
    add_rule,
    load_repairs,
    load_rules,
    remove_rule,
)
from evercrawl.core.fields.conditions import is_met, parse_condition
from evercrawl.core.fields.outline import mark_places, name_words
from evercrawl.core.fields.reading import page_part, read_field, read_fields, rules_for
from evercrawl.core.fields.repair import find_repair, part_selectors
from evercrawl.core.fields.selectors import PagePart, parse_selector
from evercrawl.core.fields.suggest import FieldSuggestion, field_name, suggest_fields, type_of
from evercrawl.core.url import matches_glob, site_of
from evercrawl.errors import ConfigError, EvercrawlError
from evercrawl.model.fields import FieldReading, FieldRepair, FieldRule, FieldType
from evercrawl.model.listing import VersionRecord, VersionSelection
from evercrawl.model.settings import Settings
from evercrawl.model.time import from_us

MAX_VERSIONS_BACK = 30  # Versions that are searched for the last one with a value.
MAX_PICKED = 5  # Selectors that are proposed for a part.
MAX_PAGES = 20  # Pages of one field that are searched.
log = logging.getLogger(__name__)


class RepairProposal(NamedTuple):
    """A field whose selector matches nothing in the newest version of a page, and where its value seems to be."""

    repair: FieldRepair
    checked: int = 0  # Earlier versions on which the new selector reads what was read then, or nothing.
    contradicted: int = 0  # Those on which it reads something else.


class _SeenVersion(NamedTuple):
    page: PagePart
    seen_at: str


def lost_fields(collection: Path) -> list[StoredRepair]:
    """Return the fields that crawls reported as lost or found elsewhere, and that no one has decided about."""
    rules = {(rule.name, rule.select): rule for rule in load_rules(collection)}
    return [
        one
        for one in load_repairs(collection)
        if one.state is RepairState.PROPOSED and (one.repair.name, one.repair.was) in rules
    ]


def propose_repairs(
    collection: Path, settings: Settings, names: Sequence[str] = (), *, pages: Iterable[tuple[str, str]] = ()
) -> Iterator[RepairProposal]:
    """Yield a proposal for each field that has no value in the newest version of a page; its selector is empty if
    the value is nowhere. This covers the fields and pages that crawls reported, and those in `pages`."""
    rules = load_rules(collection)
    counts: dict[str, int] = {}
    reported = [(one.repair.name, one.repair.url) for one in lost_fields(collection)]
    for name, url in dict.fromkeys([*reported, *pages]):
        rule = next((rule for rule in rules_for(url, rules) if rule.name == name), None)
        counts[name] = counts.get(name, 0) + 1
        if rule is None or (names and name not in names) or counts[name] > MAX_PAGES:
            continue
        try:
            found = propose_for_page(collection, settings, url, rule)
        except EvercrawlError as error:
            log.warning("fields: cannot look for %s on %s: %s", name, url, error)
            continue
        if found is not None:
            yield found


def propose_for_page(collection: Path, settings: Settings, url: str, rule: FieldRule) -> RepairProposal | None:
    """Return where a field of a page seems to be now; None: its selector finds it."""
    stored = load_page(collection, settings, url)
    versions = _versions(collection, settings, stored)
    newest = next(versions)
    now = read_field(newest.page, rule)
    if now.value is not None:
        return None
    lost = FieldRepair(rule.name, rule.select, "", url=stored.page.url, at=newest.seen_at)
    earlier: list[tuple[_SeenVersion, FieldReading]] = []
    for version in versions:
        was = read_field(version.page, rule, at=version.seen_at)
        if was.value is not None:
            earlier.append((version, was))
    if not earlier:
        return None
    before, was = earlier[0]
    pages = (before.page, newest.page)
    found = select_bounded(
        "repairing fields", find_repair, *pages, rule, was, now, chars=_chars(pages), limits=settings.parse
    )
    if found is None:
        return RepairProposal(lost._replace(text=was.text or ""))
    repair = found._replace(url=stored.page.url, at=newest.seen_at)
    new = replace(rule, select=repair.select, repairs=())
    values = [(read_field(version.page, new).value, reading.value) for version, reading in earlier]
    wrong = sum(value not in (None, truth) for value, truth in values)
    return RepairProposal(repair._replace(is_sure=repair.is_sure and not wrong), len(values) - wrong, wrong)


def _versions(collection: Path, settings: Settings, stored: StoredPage) -> Iterator[_SeenVersion]:
    """Yield the newest versions of a page, the newest first."""
    for kept in reversed(stored.versions[-MAX_VERSIONS_BACK:]):
        yield _SeenVersion(
            version_part(collection, settings, stored, kept), from_us(kept.seen_us).isoformat(timespec="seconds")
        )


def version_part(collection: Path, settings: Settings, stored: StoredPage, kept: VersionRecord) -> PagePart:
    """Return a version as selectors see it."""
    back = read_response(collection, settings, stored.shard, kept)
    document = parse_response(stored.page.url, back.headers, back.body, settings)
    return page_part(back.headers, back.body, document.text)


class PartSelector(NamedTuple):
    """A selector for a part of a page, with what it reads."""

    select: str
    text: str
    versions: int  # Versions that were read.
    found: int  # Those in which it finds something.


class PickedPart(NamedTuple):
    """A part of a page that a person pointed at."""

    name: str  # A name for the field.
    type: FieldType
    selectors: tuple[PartSelector, ...]  # The most robust first.


def marked_page(markup: str) -> str:
    """Return a page whose elements say their places, which `pick_part` understands."""
    return mark_places(markup)


def pick_part(collection: Path, settings: Settings, url: str, at: str | None, place: int) -> PickedPart:
    """Return selectors for the element at a place of a version, checked on other versions of the page."""
    stored = load_page(collection, settings, url)
    page = version_part(collection, settings, stored, stored.choose(at, now=utc_now()))
    others = [version.page for version in _versions(collection, settings, stored)]
    chars = _chars((page, *others))
    found: PickedPart | None = select_bounded(
        "finding selectors", part_at, page, others, place, chars=chars, limits=settings.parse
    )
    if found is None:
        raise ConfigError(f"there is no text at part {place} of {stored.page.url}; point at another part of the page")
    return found


def _chars(pages: Iterable[PagePart]) -> int:
    return sum(len(page.markup) for page in pages)


def part_at(page: PagePart, others: Sequence[PagePart], place: int) -> PickedPart | None:
    """Return selectors for the element at a place of a page; None: there is no element with text."""
    if not page.is_html or not 0 <= place < len(page.outline.elements):
        return None
    element = page.outline.elements[place]
    found = []
    for select in part_selectors(page.outline, element)[:MAX_PICKED]:
        texts = [text for text in parse_selector(select)(page) if text]
        reads = sum(any(parse_selector(select)(other)) for other in others)
        found.append(PartSelector(select, ", ".join(texts[:3]), len(others), reads))
    if not found:
        return None
    # Python's sort is stable: of equal ones, the more robust stays first.
    ranked = tuple(sorted(found, key=lambda one: -one.found))
    words = sorted(name_words(element)) or [element.tag]
    return PickedPart(field_name(words), type_of([ranked[0].text], "_".join(words)), ranked)


def repair_lost_fields(collection: Path, settings: Settings) -> int:
    """Use every repair of a lost field that is sure; return their number."""
    rules = {rule.name: rule for rule in load_rules(collection)}
    count = 0
    for found in propose_repairs(collection, settings) if any(rule.repair for rule in rules.values()) else ():
        if found.repair.is_sure and rules[found.repair.name].repair:
            add_repair(collection, found.repair, RepairState.ACCEPTED)
            count += 1
    return count


def decide_repair(collection: Path, name: str, proposed: Iterable[RepairProposal], *, accept: bool) -> FieldRepair:
    """Accept or reject what is proposed for a field; return it."""
    proposals = [one.repair for one in proposed if one.repair.select]
    stored = [one.repair for one in reversed(lost_fields(collection)) if one.repair.name == name and one.repair.select]
    found = next(iter([*proposals, *stored]), None)
    if found is None:
        raise ConfigError(f"nothing is proposed for the field {name}; see: evercrawl fields repair")
    add_repair(collection, found, RepairState.ACCEPTED if accept else RepairState.REJECTED)
    return found


MAX_COMPARED_PAGES = 8  # Pages that suggestions are made from.

__all__ = [
    "FieldRow", "SuggestedFields", "add_rule", "choose_rules", "field_rows", "load_rules", "remove_rule",
    "rows_where", "suggest_for", "table_rows", "write_table",
]  # fmt: skip


class FieldRow(NamedTuple):
    """The fields of one version of a page."""

    url: str
    version: int
    seen_at: datetime
    readings: Mapping[str, FieldReading]


def choose_rules(collection: Path, names: Sequence[str]) -> tuple[FieldRule, ...]:
    """Return the rules with these names; none given: all."""
    known = load_rules(collection)
    for name in names:
        if not any(rule.name == name for rule in known):
            raise ConfigError(f"there is no field {name}; list them with: evercrawl fields list")
    return tuple(rule for rule in known if not names or rule.name in names)


class SuggestedFields(NamedTuple):
    """Fields that pages of one template have."""

    pattern: str  # Of the pages.
    pages: tuple[str, ...]  # Those that were compared.
    fields: tuple[FieldSuggestion, ...]


def suggest_for(collection: Path, settings: Settings, url: str) -> SuggestedFields:
    """Suggest fields for a page from its newest version and those of pages with URLs like its own."""
    stored = load_page(collection, settings, url)
    pattern = page_pattern(stored.page.url)
    parts = {stored.page.url: version_part(collection, settings, stored, stored.versions[-1])}
    for reader, version in selected_versions(collection, VersionSelection(site=site_of(stored.page.url))):
        if len(parts) >= MAX_COMPARED_PAGES:
            break
        if pattern != stored.page.url and version.url not in parts and matches_glob(pattern, version.url):
            parts[version.url] = _part_of(collection, settings, reader, version)
    pages = list(parts.values())
    found = select_bounded("suggesting fields", suggest_fields, pages, chars=_chars(pages), limits=settings.parse)
    return SuggestedFields(pattern if len(parts) > 1 else stored.page.url, tuple(parts), tuple(found))


def page_pattern(url: str) -> str:
    """Return a pattern for pages like this one: anything in place of the last part of the path, and of its query."""
    plain, mark, _ = url.partition("?")
    folder, slash, name = plain.rpartition("/")
    is_home = not name or folder.endswith(("/", ":"))
    if mark:
        return f"{plain}?*"
    return url if is_home else f"{folder}{slash}*"


def field_rows(
    collection: Path,
    settings: Settings,
    rules: Sequence[FieldRule],
    selection: VersionSelection,
    pattern: str | None = None,
) -> Iterator[FieldRow]:
    """Yield the fields of every selected version that has some, page by page, oldest version first; with a pattern,
    only of pages whose URL matches it."""
    for reader, version in selected_versions(collection, selection):
        wanted = rules_for(version.url, rules)
        if not wanted or (pattern is not None and not matches_glob(pattern, version.url)):
            continue
        page = _part_of(collection, settings, reader, version)
        seen_at = from_us(version.seen_us).isoformat(timespec="seconds")
        found = select_bounded(
            "reading fields", read_fields, page, wanted, seen_at, chars=len(page.markup), limits=settings.parse
        )
        yield FieldRow(version.url, version.number, from_us(version.seen_us), found)


def _part_of(collection: Path, settings: Settings, reader: VersionReader, version: StoredVersion) -> PagePart:
    stored = read_stored_record(collection / "archive", reader, version)
    body = decode_stored_body(version, stored.http)
    document = parse_response(version.url, stored.http.headers, body, settings)
    return page_part(stored.http.headers, body, document.text)


def rows_where(rows: Iterable[FieldRow], where: str) -> Iterator[FieldRow]:
    """Return the rows for which a condition on a field is true, whatever the value was before."""
    condition = parse_condition(where)
    return (
        row
        for row in rows
        if (reading := row.readings.get(condition.name)) is not None and is_met(condition, reading.value)
    )


def has_values(collection: Path, url: str, number: int, conditions: Sequence[str]) -> bool:
    """Return whether the fields of a version fulfil all conditions, as they are read now."""
    settings = read_settings(collection).settings
    wanted = [parse_condition(text) for text in conditions]
    rules = [rule for rule in rules_for(url, load_rules(collection)) if rule.name in {one.name for one in wanted}]
    if len(rules) < len({one.name for one in wanted}):
        return False
    stored = load_page(collection, settings, url)
    kept = next((one for one in stored.versions if one.version.number == number), None)
    if kept is None:
        return False
    page = version_part(collection, settings, stored, kept)
    seen_at = from_us(kept.seen_us).isoformat(timespec="seconds")
    found = select_bounded(
        "reading fields", read_fields, page, rules, seen_at, chars=len(page.markup), limits=settings.parse
    )
    return all(is_met(one, found[one.name].value) for one in wanted)


def table_columns(rules: Sequence[FieldRule]) -> dict[str, str]:
    """Return the columns of the table of some fields, with their types in DuckDB."""
    columns = {"url": "VARCHAR", "version": "INTEGER", "seen_at": "TIMESTAMP"}
    for rule in rules:
        match rule.type:
            case FieldType.NUMBER:
                columns |= {rule.name: "DOUBLE", f"{rule.name}_unit": "VARCHAR"}
            case FieldType.DATE:
                columns[rule.name] = "DATE"
            case FieldType.LIST:
                columns[rule.name] = "VARCHAR[]"
            case FieldType.TEXT:
                columns[rule.name] = "VARCHAR"
    return columns


def table_rows(rules: Sequence[FieldRule], rows: Iterable[FieldRow]) -> Iterator[dict[str, Any]]:
    """Yield the versions as rows of a table: a column per field, and one for the unit of each number."""
    for row in rows:
        found: dict[str, Any] = {
            "url": row.url,
            "version": row.version,
            "seen_at": row.seen_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        for rule in rules:
            reading = row.readings.get(rule.name, FieldReading(None))
            found[rule.name] = list(reading.value) if isinstance(reading.value, tuple) else reading.value
            if rule.type is FieldType.NUMBER:
                found[f"{rule.name}_unit"] = reading.unit
        yield found


def write_table(rules: Sequence[FieldRule], rows: Iterable[FieldRow], target: Path) -> int:
    """Write a table of fields to a file, as its name says: .csv, .jsonl or .parquet; return the number of rows."""
    kind = target.suffix.lower()
    if kind not in (".csv", ".jsonl", ".parquet"):
        raise ConfigError(f"{target.name} must end in .csv, .jsonl or .parquet")
    with TemporaryDirectory(prefix=".evercrawl-", dir=target.parent) as folder:
        lines = Path(folder) / "fields"
        count = 0
        with lines.open("w", encoding="utf-8", errors="replace", newline="") as out:
            writer = csv.writer(out)
            if kind == ".csv":
                writer.writerow(table_columns(rules))
            for row in table_rows(rules, rows):
                count += 1
                if kind == ".csv":
                    writer.writerow([escape_formula(_cell(value)) for value in row.values()])
                else:
                    out.write(json.dumps(row, ensure_ascii=False) + "\n")
        if kind == ".parquet":
            parquet_from_lines(lines, Path(folder) / "table", table_columns(rules))
            lines = Path(folder) / "table"
        lines.replace(target)
    return count


def _cell(value: object) -> object:
    return "\n".join(value) if isinstance(value, list) else value
