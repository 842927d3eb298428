"""The fields of a collection: their rules, and their values in every stored version."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from evercrawl.adapters.system import write_atomically
from evercrawl.collection.exchange.export_run import selected_versions
from evercrawl.collection.stored_pages import (
    decode_html,
    decode_stored_body,
    page_content,
    parse_response,
    read_stored_record,
)
from evercrawl.core.document.media_type import HTML_TYPES, sniff_media_type
from evercrawl.core.fields.reading import read_field, read_fields, rules_for
from evercrawl.core.fields.selectors import PagePart, parse_selector
from evercrawl.errors import ConfigError, StoreUnavailable
from evercrawl.model.fetch import Headers
from evercrawl.model.fields import FieldReading, FieldRule, FieldType
from evercrawl.model.listing import VersionSelection
from evercrawl.model.settings import Settings
from evercrawl.model.time import from_us

RULES_FILE = "fields.json"
MAX_RULES = 1000
MAX_FILE_BYTES = 1024 * 1024
_NAME = re.compile(r"[^\W\d]\w{0,63}")


class FieldRow(NamedTuple):
    """The fields of one version of a page."""

    url: str
    version: int
    seen_at: datetime
    readings: Mapping[str, FieldReading]


def load_rules(collection: Path) -> tuple[FieldRule, ...]:
    """Return the rules of a collection, in the order in which they were added."""
    path = collection / RULES_FILE
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise ConfigError(f"{path} is too large; it may have {MAX_FILE_BYTES:,} bytes")
        rows = json.loads(path.read_text(encoding="utf-8"))
        rules = tuple(
            FieldRule(str(row["name"]), tuple(map(str, row["pages"])), str(row["select"]), FieldType(row["type"]))
            for row in rows[:MAX_RULES]
        )
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{path} is damaged: {error}; correct it, or delete it and add the fields again") from error
    for rule in rules:
        check_rule(rule)
    return rules


def check_rule(rule: FieldRule) -> None:
    """Raise ConfigError if a rule cannot be used."""
    if not _NAME.fullmatch(rule.name):
        raise ConfigError(f"{rule.name!r} cannot name a field; use letters, digits and _, such as price")
    if not rule.pages:
        raise ConfigError(f"the field {rule.name} has no pages; give a URL or a pattern such as https://example.org/*")
    parse_selector(rule.select)


def add_rule(collection: Path, rule: FieldRule, *, force: bool = False) -> None:
    """Add a field; with `force`, replace the one of this name."""
    check_rule(rule)
    known = load_rules(collection)
    if not force and any(one.name == rule.name for one in known):
        raise ConfigError(f"there is a field {rule.name} already; replace it with --force")
    others = [one for one in known if one.name != rule.name]
    if len(others) >= MAX_RULES:
        raise ConfigError(f"a collection has at most {MAX_RULES:,} fields; remove some first")
    _save_rules(collection, [*others, rule])


def remove_rule(collection: Path, name: str) -> FieldRule:
    """Remove a field; return its rule."""
    known = load_rules(collection)
    found = next((one for one in known if one.name == name), None)
    if found is None:
        raise ConfigError(f"there is no field {name}; list them with: evercrawl fields list")
    _save_rules(collection, [one for one in known if one is not found])
    return found


def _save_rules(collection: Path, rules: Sequence[FieldRule]) -> None:
    text = json.dumps([asdict(rule) for rule in rules], indent=1, ensure_ascii=False) + "\n"
    write_atomically(collection / RULES_FILE, text.encode())


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
        page = page_part(stored.http.headers, body, version.content_type, document.text)
        yield FieldRow(version.url, version.number, from_us(version.seen_us), read_fields(page, wanted))


def page_part(headers: Headers, body: bytes, content_type: str | None, text: str) -> PagePart:
    """Return what selectors are applied to."""
    is_html = sniff_media_type(headers, body) in HTML_TYPES
    return PagePart(decode_html(body, content_type), text, is_html)


def try_rule(collection: Path, settings: Settings, url: str, rule: FieldRule) -> FieldReading:
    """Return what a rule reads in the newest version of a page."""
    content = page_content(collection, settings, url)
    return read_field(page_part(content.headers, content.html, content.content_type, content.text), rule)
