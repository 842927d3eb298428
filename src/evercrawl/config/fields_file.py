"""The file with the fields of a collection."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from evercrawl.adapters.system import write_atomically
from evercrawl.core.fields.selectors import parse_selector
from evercrawl.errors import ConfigError, StoreUnavailable
from evercrawl.model.fields import FieldRule, FieldType

RULES_FILE = "fields.json"
MAX_RULES = 1000
MAX_FILE_BYTES = 1024 * 1024
_NAME = re.compile(r"[^\W\d]\w{0,63}")


def load_rules(collection: Path) -> tuple[FieldRule, ...]:
    """Return the rules of a collection, in the order in which they were added."""
    path = collection / RULES_FILE
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise ConfigError(f"{path} is too large; it may have {MAX_FILE_BYTES:,} bytes")
        rows = json.loads(path.read_text(encoding="utf-8"))
        rules = tuple(
            FieldRule(
                str(row["name"]),
                tuple(map(str, row["pages"])),
                str(row["select"]),
                FieldType(row["type"]),
                bool(row.get("only", False)),
            )
            for row in rows[:MAX_RULES]
        )
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
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
