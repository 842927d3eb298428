"""The file with the fields of a collection."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import asdict, replace
from enum import StrEnum
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from evercrawl.adapters.system import write_atomically
from evercrawl.core.fields.selectors import parse_selector
from evercrawl.errors import ConfigError, StoreUnavailable
from evercrawl.model.fields import FieldRepair, FieldRule, FieldType

RULES_FILE = "fields.json"
REPAIRS_FILE = "field-repairs.jsonl"  # New selectors, in the order in which they were found.
MAX_REPAIRS = 5000
MAX_PROPOSED = 50  # Of one field.
MAX_RULES = 1000
MAX_FILE_BYTES = 1024 * 1024
CHECK_EVERY_S = 0.1  # A running crawl checks the file no more often.
MAX_TEXT_CHARS = 500  # Of what a repaired selector reads.
_NAME = re.compile(r"[^\W\d]\w{0,63}")


class RepairState(StrEnum):
    """What became of a repair."""

    ACCEPTED = "accepted"  # In use.
    PROPOSED = "proposed"
    REJECTED = "rejected"


class StoredRepair(NamedTuple):
    """A repair and what became of it."""

    repair: FieldRepair
    state: RepairState


def load_rules(collection: Path) -> tuple[FieldRule, ...]:
    """Return the rules of a collection with their accepted repairs, in the order in which they were added."""
    rules = _load_plain_rules(collection)
    used = [one.repair for one in load_repairs(collection) if one.state is RepairState.ACCEPTED] if rules else []
    return tuple(
        replace(rule, repairs=tuple(one for one in used if (one.name, one.was) == (rule.name, rule.select)))
        for rule in rules
    )


def load_repairs(collection: Path) -> list[StoredRepair]:
    """Return the repairs in the order in which they were found; what was decided last about one counts."""
    try:
        with (collection / REPAIRS_FILE).open(encoding="utf-8") as file:
            lines = file.readlines(MAX_FILE_BYTES * 4)[:MAX_REPAIRS]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreUnavailable(f"{collection / REPAIRS_FILE} cannot be read: {error.strerror or error}") from error
    found: dict[tuple[str, str, str], StoredRepair] = {}
    for line in lines:
        try:
            row = json.loads(line)
            state = RepairState(row.pop("state"))
            repair = FieldRepair(**row)
            if repair.select:
                parse_selector(repair.select)
        except (ValueError, KeyError, TypeError, ConfigError):
            continue  # The last line of a process that was killed, or of an extra that is not installed any more.
        found[_key(repair)] = StoredRepair(repair, state)
    return list(found.values())


def _key(repair: FieldRepair) -> tuple[str, str, str]:
    """Return what makes two repairs the same: the new selector, or the page on which the value was lost."""
    return repair.name, repair.was, repair.select or repair.url


def add_repair(collection: Path, repair: FieldRepair, state: RepairState) -> None:
    """Add a repair, or what was decided about one; nothing is written if that is known."""
    if any(_key(one.repair) == _key(repair) and one.state is state for one in load_repairs(collection)):
        return
    short = repair._replace(text=repair.text[:MAX_TEXT_CHARS])
    line = json.dumps({**short._asdict(), "state": state}, ensure_ascii=False) + "\n"
    try:
        with (collection / REPAIRS_FILE).open("ab", buffering=0) as file:
            file.write(line.encode("utf-8", "replace"))  # One write, so that lines of two processes do not mix.
    except OSError as error:
        raise StoreUnavailable(f"{collection / REPAIRS_FILE} cannot be written: {error.strerror or error}") from error


class WatchedRules:
    """The rules of a running crawl, read again when their files change."""

    def __init__(self, collection: Path) -> None:
        self._collection = collection
        self._rules_file, self._repairs_file = (str(collection / name) for name in (RULES_FILE, REPAIRS_FILE))
        self._stamp: object = None
        self._check_at = 0.0
        self._rules: tuple[FieldRule, ...] = ()
        self.rules()

    def rules(self) -> tuple[FieldRule, ...]:
        """Return the rules, with the repairs up to now; every page asks for them."""
        now = monotonic()
        if now < self._check_at:
            return self._rules
        self._check_at = now + CHECK_EVERY_S
        stamp = _stamp(self._rules_file)
        stamp = stamp and (stamp, _stamp(self._repairs_file))
        if stamp != self._stamp:
            self._rules = load_rules(self._collection)
            self._stamp = stamp
        return self._rules

    def add_repair(self, repair: FieldRepair) -> None:
        """Store a repair: used from now on if it is sure, unless the user has rejected it; else proposed."""
        self._check_at = 0.0
        state = RepairState.ACCEPTED if repair.is_sure else RepairState.PROPOSED
        known = [one for one in load_repairs(self._collection) if one.repair.name == repair.name]
        if any(_key(one.repair) == _key(repair) and one.state is not RepairState.PROPOSED for one in known):
            return
        if state is RepairState.PROPOSED and len(known) >= MAX_PROPOSED:
            return
        add_repair(self._collection, repair, state)


def _stamp(path: str) -> object:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _load_plain_rules(collection: Path) -> tuple[FieldRule, ...]:
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
                bool(row.get("repair", True)),
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
    rows = [{name: value for name, value in asdict(rule).items() if name != "repairs"} for rule in rules]
    text = json.dumps(rows, indent=1, ensure_ascii=False) + "\n"
    write_atomically(collection / RULES_FILE, text.encode())
