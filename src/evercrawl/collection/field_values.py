"""The fields of a collection: their rules, and their values in every stored version."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from evercrawl.adapters.sql.listing_reader import StoredVersion, VersionReader
from evercrawl.collection.exchange.export_run import selected_versions
from evercrawl.collection.exchange.tables import escape_formula, parquet_from_lines
from evercrawl.collection.field_repairs import version_part
from evercrawl.collection.stored_pages import decode_stored_body, load_page, parse_response, read_stored_record
from evercrawl.config.fields_file import add_rule, load_rules, remove_rule
from evercrawl.core.fields.conditions import is_met, parse_condition
from evercrawl.core.fields.reading import page_part, read_fields, rules_for
from evercrawl.core.fields.selectors import PagePart
from evercrawl.core.fields.suggest import FieldSuggestion, suggest_fields
from evercrawl.core.url import matches_glob, site_of
from evercrawl.errors import ConfigError
from evercrawl.model.fields import FieldReading, FieldRule, FieldType
from evercrawl.model.listing import VersionSelection
from evercrawl.model.settings import Settings
from evercrawl.model.time import from_us

MAX_COMPARED_PAGES = 8  # Pages that suggestions are made from.

__all__ = [
    "FieldRow",
    "SuggestedFields",
    "add_rule",
    "choose_rules",
    "field_rows",
    "load_rules",
    "remove_rule",
    "rows_where",
    "suggest_for",
    "table_rows",
    "write_table",
]


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
    found = suggest_fields(list(parts.values()))
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
        yield FieldRow(version.url, version.number, from_us(version.seen_us), read_fields(page, wanted, at=seen_at))


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
