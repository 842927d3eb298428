"""Watch the pages of the ten templates for some days, and compare every reading with the truth.

`python -m tests.worlds.values --days 60` prints the figures; with `--collection` a real collection crawls the pages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import NamedTuple

from evercrawl.core.fields.reading import compare_page_fields, page_part, read_field, repair_missing
from evercrawl.core.fields.selectors import PagePart
from evercrawl.engine.gather import VERSIONS_BACK
from evercrawl.model.fields import FieldReading, FieldRepair, FieldRule
from tests.worlds.values.facts import DayFacts, live
from tests.worlds.values.templates import TEMPLATES, ValueTemplate

FIRST_REDESIGN, LAST_REDESIGN = 0.15, 0.85
"""A page is redesigned twice within this part of the time."""


MEDIA_TYPES = {
    name: f"{kind}; charset=utf-8"
    for name, kind in {"html": "text/html", "json": "application/json", "xml": "text/xml", "text": "text/plain"}.items()
}


class PageDay(NamedTuple):
    """A page on one day: what it shows, in which design, and its markup."""

    facts: DayFacts
    design: int
    markup: str


def page_days(template: ValueTemplate, *, seed: int, days: int) -> list[PageDay]:
    """Return a page of a template on each day."""
    chance = Random(f"{seed} {template.name}")
    first, last = int(days * FIRST_REDESIGN), int(days * LAST_REDESIGN)
    starts = sorted(chance.sample(range(max(1, first), max(first + 3, last)), 2))
    order = [0, *chance.sample(range(1, len(template.designs)), 2)]
    found = []
    for day, facts in enumerate(live(template.subject, seed=f"{seed} {template.name}", days=days)):
        design = order[sum(day >= start for start in starts)]
        found.append(PageDay(facts, design, template.designs[design](facts, chance.randrange(1000))))
    return found


@dataclass
class Figures:
    """How the fields of the pages were read."""

    readings: int = 0
    right: int = 0
    wrong: Counter[str] = field(default_factory=Counter)  # Template, field and design -> readings.
    survived: int = 0  # Fields that read right at the first visit of a redesign.
    reported: int = 0  # Those that were reported as not found.
    mistaken: list[str] = field(default_factory=list)  # Those that were reported as read elsewhere, but wrongly.
    silent: list[str] = field(default_factory=list)  # Those that read wrong without a word.

    def add(self, name: str, is_right: bool) -> None:
        """Count one reading."""
        self.readings += 1
        self.right += is_right
        if not is_right:
            self.wrong[name] += 1

    @property
    def share(self) -> float:
        """Return the share of readings that are right."""
        return self.right / max(1, self.readings)


def is_right(template: ValueTemplate, name: str, facts: DayFacts, reading: FieldReading) -> bool:
    """Return whether a reading is the truth."""
    value = reading.value
    match name:
        case "price":
            return value == facts.price and (value is None or reading.unit == (template.unit or reading.unit))
        case "stated":
            return value == facts.price
        case "cell":
            return value == dict(facts.rows)[template.row]
        case "date":
            return value == facts.day.isoformat()
        case "items":
            return value == facts.items
        case _:
            texts = [" ".join(one.split()) for one in value] if isinstance(value, tuple) else []
            return [row for text in texts for row in facts.rows if row[0] in text and row[1] in text] == [*facts.rows]


def watch_template(template: ValueTemplate, figures: Figures, *, seed: int, days: int, accepts: bool = False) -> None:
    """Read the fields of a page on each day as a crawl does; with `accepts`, a person accepts what is proposed."""
    rules = template.rules("https://values.test/")
    before: PagePart | None = None
    versions: list[PagePart] = []
    design = 0
    for day in page_days(template, seed=seed, days=days):
        after = part_of(template, day.markup)
        compared = compare_page_fields(before, after, rules)
        for earlier in (versions[-1 - back] for back in VERSIONS_BACK if back < len(versions)):
            compared = repair_missing(compared, earlier, after, rules) if compared.missing else compared
        named = {one.name for one in compared.repairs} | {
            one.name for one in compared.differences if one.after.value is None
        }
        if day.design != design:
            _count_redesign(template, figures, day, compared.readings, named)
            design = day.design
        rules = tuple(_repaired(rule, compared.repairs) for rule in rules)
        if accepts:
            rules = tuple(_accepted(template, rule, compared.repairs, after, day.facts) for rule in rules)
        for name, reading in compared.readings.items():
            figures.add(f"{template.name} {name} design {day.design}", is_right(template, name, day.facts, reading))
        if before is None or compared.differences:
            before = after
            versions.append(after)


def _count_redesign(
    template: ValueTemplate, figures: Figures, day: PageDay, readings: Mapping[str, FieldReading], named: set[str]
) -> None:
    for name, reading in readings.items():
        if is_right(template, name, day.facts, reading):
            figures.survived += 1
        elif reading.value is None:
            figures.reported += 1  # Now, or at an earlier redesign.
        elif name in named:
            figures.mistaken.append(f"{template.name} {name} design {day.design}: {reading.value}")
        else:
            figures.silent.append(f"{template.name} {name} design {day.design}: {reading.value}")


def _repaired(rule: FieldRule, repairs: tuple[FieldRepair, ...]) -> FieldRule:
    found = [one for one in repairs if one.name == rule.name and one.is_sure]
    return replace(rule, repairs=(*rule.repairs, *found)) if found else rule


def _accepted(
    template: ValueTemplate, rule: FieldRule, repairs: tuple[FieldRepair, ...], page: PagePart, facts: DayFacts
) -> FieldRule:
    """Return the rule as a person leaves it who looks at what is proposed."""
    for one in repairs:
        if one.name == rule.name and one.select and not one.is_sure:
            repaired = replace(rule, repairs=(*rule.repairs, one))
            if is_right(template, rule.name, facts, read_field(page, repaired)):
                return repaired
    return rule


def part_of(template: ValueTemplate, markup: str) -> PagePart:
    """Return a page as selectors see it."""
    text = markup if template.media in ("json", "text") else re.sub(r"<[^>]*>", "\n", markup)
    return page_part((("content-type", MEDIA_TYPES[template.media]),), markup.encode(), text)


def watch_all(
    *, seed: int, days: int, accepts: bool = False, templates: tuple[ValueTemplate, ...] = TEMPLATES
) -> Figures:
    """Watch a page of each template."""
    figures = Figures()
    for template in templates:
        watch_template(template, figures, seed=seed, days=days, accepts=accepts)
    return figures


def lines_of(figures: Figures) -> Iterator[str]:
    """Yield the figures as lines."""
    yield f"readings {figures.readings}, right {figures.right} ({figures.share:.2%})"
    yield (
        f"redesigns: survived {figures.survived}, reported {figures.reported}, mistaken {len(figures.mistaken)},"
        f" silent {len(figures.silent)}"
    )
    yield from (f"  wrong {count}: {name}" for name, count in figures.wrong.most_common(40))
    yield from (f"  silent: {line}" for line in figures.silent)
    yield from (f"  mistaken: {line}" for line in figures.mistaken)
