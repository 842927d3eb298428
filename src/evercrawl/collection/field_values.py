"""The fields of a collection: their rules, and their values in every stored version."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from evercrawl.collection.exchange.export_run import selected_versions
from evercrawl.collection.stored_pages import decode_stored_body, parse_response, read_stored_record
from evercrawl.config.fields_file import add_rule, load_rules, remove_rule
from evercrawl.core.fields.reading import page_part, read_fields, rules_for
from evercrawl.errors import ConfigError
from evercrawl.model.fields import FieldReading, FieldRule
from evercrawl.model.listing import VersionSelection
from evercrawl.model.settings import Settings
from evercrawl.model.time import from_us

__all__ = ["FieldRow", "add_rule", "choose_rules", "field_rows", "load_rules", "remove_rule"]


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


def field_rows(
    collection: Path, settings: Settings, rules: Sequence[FieldRule], selection: VersionSelection
) -> Iterator[FieldRow]:
    """Yield the fields of every selected version that has some, page by page, oldest version first."""
    for reader, version in selected_versions(collection, selection):
        wanted = rules_for(version.url, rules)
        if not wanted:
            continue
        stored = read_stored_record(collection / "archive", reader, version)
        body = decode_stored_body(version, stored.http)
        document = parse_response(version.url, stored.http.headers, body, settings)
        page = page_part(stored.http.headers, body, document.text)
        seen_at = from_us(version.seen_us).isoformat(timespec="seconds")
        yield FieldRow(version.url, version.number, from_us(version.seen_us), read_fields(page, wanted, at=seen_at))
