"""Selectors of fields that stopped matching: where the value is now, checked on earlier versions."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from evercrawl.collection.stored_pages import StoredPage, load_page, parse_response, read_response, utc_now
from evercrawl.config.fields_file import RepairState, StoredRepair, add_repair, load_repairs, load_rules
from evercrawl.core.fields.outline import mark_places, name_words
from evercrawl.core.fields.reading import page_part, read_field, rules_for
from evercrawl.core.fields.repair import find_repair, part_selectors
from evercrawl.core.fields.selectors import PagePart, parse_selector
from evercrawl.core.fields.suggest import field_name, type_of
from evercrawl.errors import ConfigError, EvercrawlError
from evercrawl.model.fields import FieldReading, FieldRepair, FieldRule, FieldType
from evercrawl.model.listing import VersionRecord
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
    found = find_repair(before.page, newest.page, rule, was, now)
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
    if not page.is_html or not 0 <= place < len(page.outline.elements):
        raise ConfigError(f"there is no part {place} in {stored.page.url}; point at a part of the page again")
    element = page.outline.elements[place]
    others = [version.page for version in _versions(collection, settings, stored)]
    found = []
    for select in part_selectors(page.outline, element)[:MAX_PICKED]:
        texts = [text for text in parse_selector(select)(page) if text]
        reads = sum(any(parse_selector(select)(other)) for other in others)
        found.append(PartSelector(select, ", ".join(texts[:3]), len(others), reads))
    if not found:
        raise ConfigError("this part has no text; point at another one")
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
